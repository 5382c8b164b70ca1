# SPDX-License-Identifier: Apache-2.0
"""Evidence for when a server had the request that it answers first, when its answer begins, and what else held it back.

Packets that have nothing to do with an answer come while a program makes it: acknowledgments of its settings, of a
handshake, updates of credit. The wait for an answer begins with the request, and another packet ends it only where the
server's transport could not send before that came.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from quiclab.evidence.metrics import Evidence, quic
from quiclab.evidence.metrics.evidence import CAPTURES
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.amplification import Amplification
from quiclab.why.account.contents import Content
from quiclab.why.account.critical_path import Path
from quiclab.why.account.edges import PROMPT_NS, Reason
from quiclab.why.account.kernel import Kernel, kernel
from quiclab.why.account.objects import requests_came
from quiclab.why.account.small_segments import small_segments
from quiclab.why.account.window import LoggedWindow, logged_window


@dataclass(frozen=True)
class Answering:
    """A server that has a request."""

    evidence: Evidence
    path: Path
    limit: Amplification
    came_ns: int
    """Instant at which the whole request had come; of an upload its last byte."""

    def has_it(self, sent_ns: int) -> bool:
        """True if the request had come when the server sent a packet."""
        return self.came_ns <= sent_ns

    def let_go(self, came: int, sent_ns: int) -> bool:
        """True if the packet at a position up, which came after the request, let the server send at an instant.

        It came just before, and carries what a server may wait for (the end of a handshake, of an upload), or the
        transport had no room until then.
        """
        arrived_ns = self.path.up.written[came] or 0
        if sent_ns - arrived_ns > PROMPT_NS:
            return False
        content = self.path.content(self.path.up, came)
        if content is None or content.set_up:
            return True
        if self.evidence.upload:
            return content.what is not What.ACKNOWLEDGMENTS
        return self.limit.limited(sent_ns, arrived_ns) or self.held(sent_ns, arrived_ns)

    def held(self, sent_ns: int, arrived_ns: int) -> bool:
        """True if the server had the answer, and its transport kept it until a packet came."""
        if sent_ns - arrived_ns > PROMPT_NS:
            return False
        if self.evidence.quic:
            return bool(self._window.full(arrived_ns))
        return self._kernel.kept(self.came_ns, arrived_ns)

    def kept_for(self, sent_ns: int, arrived_ns: int) -> Reason:
        """Reason for which the server's transport kept an answer until a packet came."""
        if self.evidence.quic:
            return Reason(Why.AWAITING_ACKS, "transport_metrics")
        small = small_segments(self.evidence, self._kernel.full_bytes)
        piece = self._kernel.keeps_a_piece(self.came_ns, arrived_ns) and small.let_go(sent_ns, arrived_ns)
        return Reason(Why.NAGLE if piece else Why.AWAITING_ACKS, "tcp_info")

    @cached_property
    def _kernel(self) -> Kernel:
        return kernel(self.evidence)

    @cached_property
    def _window(self) -> LoggedWindow:
        return logged_window(self.evidence, {})


def request_came_ns(evidence: Evidence) -> int | None:
    """Instant at which the server had the whole of the request that it answers first; None where nothing shows it.

    The server's capture tells it where it can be opened, else its log; over QUIC also the packets in which the client's
    log has the request. Without keys a capture over TCP shows neither requests nor answers.
    """
    rows = evidence.table("http_requests").filter(pl.col("vantage") == "server")
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = rows.filter(pl.col("source").is_in(captures))
    first = (captured if captured.height else rows).drop_nulls("headers_ns").sort("headers_ns").head(1)
    came_ns = None if first.is_empty() else first["send_end_ns"][0]
    streams = first["stream_id"].drop_nulls().to_list()
    if evidence.quic and (came_ns is None or not streams):
        came = requests_came(evidence)
        streams = streams or [stream for stream in came["stream_id"] if quic.is_request_stream(stream)]
        came_ns = came.filter(pl.col("stream_id").is_in(streams))["came_ns"].min() if came_ns is None else came_ns
    late = first["headers_ns"].min()
    if not isinstance(came_ns, int) or (isinstance(late, int) and came_ns > late):
        return None
    return readable_ns(evidence, came_ns, streams)


def readable_ns(evidence: Evidence, came_ns: int, streams: Sequence[int | None]) -> int:
    """Instant from which the server could read a request that had come at another one, on one of some streams.

    A server processes no packet of 1-RTT before the client's Finished (RFC 9001 section 5.7). It may keep what comes
    earlier, and acknowledges it then, or throw it away: the client has to send it again. Early data waits for nothing.
    """
    up = pl.col("vantage") == "server", pl.col("direction") == "up"
    finished_ns = evidence.table("handshake").filter(*up, pl.col("step") == "finished")["time_ns"].min()
    if not evidence.quic or not isinstance(finished_ns, int) or finished_ns <= came_ns:
        return came_ns
    pieces = evidence.table("frames").filter(
        *up,
        pl.col("frame_type") == "stream",
        pl.col("packet_type") == "1RTT",
        pl.col("stream_id").is_in([stream for stream in streams if stream is not None]),
    )
    early = pieces.filter(pl.col("time_ns") < finished_ns)
    if early.is_empty():
        return came_ns
    lost = [number for number in early["packet_number"].drop_nulls() if not _acknowledged(evidence, number)]
    needed = early.filter(pl.col("packet_number").is_in(lost)).select("stream_id", "offset").unique()
    again = pieces.filter(pl.col("time_ns") >= finished_ns).join(needed, on=["stream_id", "offset"], nulls_equal=True)
    again_ns = again.group_by("stream_id", "offset").agg(pl.col("time_ns").min())["time_ns"].max()
    return again_ns if isinstance(again_ns, int) else finished_ns


def _acknowledged(evidence: Evidence, number: int) -> bool:
    """True if the server acknowledged the packet of 1-RTT with a number."""
    rows = evidence.table("acks").filter(
        pl.col("vantage") == "server", pl.col("direction") == "down", pl.col("packet_type") == "1RTT"
    )
    return not rows.filter(pl.col("first") <= number, pl.col("last") >= number).is_empty()


def answers_ns(evidence: Evidence, sent: Iterable[tuple[int, Content]]) -> int | None:
    """Instant at which the response begins: its headers in the server's capture or log, else the first data.

    Over TCP a capture shows headers when their TLS record is whole, round trips after they left with its beginning.
    """
    rows = evidence.table("http_requests").filter(pl.col("vantage") == evidence.sender)
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    captured = rows.filter(pl.col("source").is_in(captures))
    first = (captured if captured.height else rows)["headers_ns"].min()
    if isinstance(first, int):
        return first if evidence.quic or captured.is_empty() else _record_begun(evidence, first, captured)
    if not evidence.quic:
        return None
    return next((at for at, content in sent if content.reached and content.reached.bodies), None)


def _record_begun(evidence: Evidence, whole_ns: int, requests: pl.DataFrame) -> int:
    """Instant at which the server sent the first segment of the TLS record that it had sent whole at an instant."""
    asked_ns = requests["send_end_ns"].min()
    sent = evidence.packets(evidence.sender, evidence.way).filter(pl.col("time_ns") <= whole_ns)
    begun_ns = sent.filter(pl.col("tls_application_data").fill_null(value=False))["time_ns"].max()
    known = isinstance(begun_ns, int) and isinstance(asked_ns, int) and begun_ns >= asked_ns
    return begun_ns if known else whole_ns  # type: ignore[return-value]
