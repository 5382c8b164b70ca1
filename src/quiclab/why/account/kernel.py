# SPDX-License-Identifier: Apache-2.0
"""Evidence for *why*: samples of the kernel's own account of a TCP sender (table `tcp_info`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.cause import Why
from quiclab.why.account.edges import Reason
from quiclab.why.account.series import Steps
from quiclab.why.account.window import History

_NEAR_NS = 20_000_000
"""Age up to which a sample before a time tells of that time."""
_UNSET = 0x7FFFFFFF
_NO_LIMIT = (2**64 - 1, 2**32 - 1)
"""The bound of a socket's rate where nothing limits it."""
_FOR_A_BURST = 3
"""One part in so many of its window may a sender leave free, so as to send a longer burst."""
_ENDS = r"^(.*):\d+-(.*):\d+$"
"""Addresses of the client and of the server in the name of a connection."""
_COLUMNS = (
    "time_ns", "ca_state", "snd_cwnd", "snd_ssthresh", "notsent_bytes", "rwnd_limited_us", "sndbuf_limited_us",
    "unacked", "sacked", "lost", "retrans", "wmem_queued_bytes", "sndbuf_bytes", "snd_mss_bytes", "snd_wnd_bytes",
)  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """One sample of a connection."""

    time_ns: int
    ca_state: str | None
    window: int | None
    threshold: int | None
    unsent_bytes: int | None
    receive_limited_us: int | None
    buffer_limited_us: int | None
    unacked: int | None
    sacked: int | None
    lost: int | None
    retrans: int | None
    queued_bytes: int | None
    buffer_bytes: int | None
    full_bytes: int | None = None
    """Data in a full segment."""
    room_bytes: int | None = None
    """The receiver's window."""

    @property
    def keeps_a_piece(self) -> bool:
        """True if it keeps less than a full segment back although the window has room for one."""
        if not self.unsent_bytes or not self.full_bytes or self.window is None or self.in_flight is None:
            return False
        return self.unsent_bytes < self.full_bytes and self.in_flight < self.window

    @property
    def unwritable(self) -> bool:
        """True if poll(2) calls the socket unwritable: its queue holds more than two thirds of the send buffer."""
        return 3 * (self.queued_bytes or 0) > 2 * (self.buffer_bytes or 0) > 0

    @property
    def in_flight(self) -> int | None:
        """Segments that the kernel holds to be on their way; None where it does not tell."""
        parts = (self.unacked, self.sacked, self.lost, self.retrans)
        if any(part is None for part in parts):
            return None
        unacked, sacked, lost, retrans = (part or 0 for part in parts)
        return unacked - sacked - lost + retrans

    @property
    def window_free(self) -> bool:
        """True if bytes wait to be sent although more of the window is free than a longer burst asks for."""
        if not self.unsent_bytes or self.window is None or self.in_flight is None:
            return False
        return _FOR_A_BURST * (self.window - self.in_flight) > self.window


@dataclass(frozen=True)
class Kernel:
    """A TCP sender by its kernel's samples."""

    at_ns: list[int]
    samples: list[Sample]
    history: History
    paces: bool = False
    """True if the socket can pace: by its congestion control, by a limit of its rate, or by the queue below it."""

    @property
    def full_bytes(self) -> int | None:
        """Data in a full segment; None where no sample tells."""
        return max((sample.full_bytes or 0 for sample in self.samples), default=0) or None

    @property
    def receive_window(self) -> Steps[int]:
        """The receiver's window over time, in bytes."""
        told = [(each.time_ns, each.room_bytes) for each in self.samples if each.room_bytes]
        return Steps([at for at, _ in told], [room for _, room in told])

    def near(self, from_ns: int, until_ns: int) -> list[Sample]:
        """Samples within a time; without any the last one before it, where that is not old."""
        first, end = bisect_right(self.at_ns, from_ns), bisect_right(self.at_ns, until_ns)
        if first < end:
            return self.samples[first:end]
        return self.samples[first - 1 : first] if first and from_ns - self.at_ns[first - 1] <= _NEAR_NS else []

    def limited(self, from_ns: int, until_ns: int) -> Why | None:
        """Limit that the kernel's clocks counted for most of a time: receive window or send buffer; None for
        neither."""
        first = max(0, bisect_right(self.at_ns, from_ns) - 1)
        end = min(len(self.samples) - 1, bisect_right(self.at_ns, until_ns))
        if end <= first:
            return None
        before, after = self.samples[first], self.samples[end]
        half_us = (until_ns - from_ns) / 2000
        if 0 < _grown(before.receive_limited_us, after.receive_limited_us) >= half_us:
            return Why.RECEIVE_WINDOW
        if 0 < _grown(before.buffer_limited_us, after.buffer_limited_us) >= half_us:
            return Why.SEND_BUFFER
        return None

    def had_data(self, from_ns: int, until_ns: int) -> bool | None:
        """True if the send buffer held bytes that were not sent yet; None where no sample tells."""
        told = [s.unsent_bytes for s in self.near(from_ns, until_ns) if s.unsent_bytes is not None]
        return any(told) if told else None

    def kept(self, from_ns: int, until_ns: int) -> bool:
        """True if a sample within a time shows bytes that were handed over and not sent."""
        first, end = bisect_right(self.at_ns, from_ns), bisect_left(self.at_ns, until_ns)
        return any(sample.unsent_bytes for sample in self.samples[first:end])

    def keeps_a_piece(self, from_ns: int, until_ns: int) -> bool:
        """True if the last sample within a time shows less than a full segment unsent, and a window with room."""
        first, end = bisect_right(self.at_ns, from_ns), bisect_left(self.at_ns, until_ns)
        return first < end and self.samples[end - 1].keeps_a_piece

    def free(self, from_ns: int, until_ns: int) -> bool:
        """True if the last sample within a time shows bytes to send, and a window with room for them."""
        first, end = bisect_right(self.at_ns, from_ns), bisect_left(self.at_ns, until_ns)
        return first < end and self.samples[end - 1].window_free

    def buffer_full(self, from_ns: int, until_ns: int) -> bool:
        """True if the send buffer had no room for more at any sample of a time, with all that it held sent already.

        A program that asks poll(2) before it writes waits then, which the kernel's own clock may not count.
        """
        near = self.near(from_ns, until_ns)
        return bool(near) and all(sample.unwritable and sample.unsent_bytes == 0 for sample in near)

    def owed(self, until_ns: int, sent_again: Callable[[int], int]) -> bool:
        """True if it knew by an instant of more lost segments than it had sent again: `sent_again` counts since when.

        False where no sample near that instant tells.
        """
        last = bisect_right(self.at_ns, until_ns) - 1
        sample = self.samples[last] if last >= 0 and until_ns - self.at_ns[last] <= _NEAR_NS else None
        if sample is None or sample.lost is None or sample.retrans is None:
            return False
        return sample.lost - sample.retrans > sent_again(sample.time_ns)


def _grown(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def sender_samples(evidence: Evidence) -> pl.DataFrame:
    """Samples of the sender's connections to another host; of all its connections where there is none.

    A connection whose two ends have one address does not use the link: by such ones the laboratory finds out that a
    server is ready, and fetches from it what is to be warm.
    """
    rows = evidence.table("tcp_info").filter(pl.col("vantage") == evidence.sender)
    ends = pl.col("connection").str.extract_groups(_ENDS).struct
    over_a_link = rows.filter(ends.field("1").ne_missing(ends.field("2")))
    return over_a_link if over_a_link.height else rows


def kernel(evidence: Evidence) -> Kernel:
    """The samples of the connection that sent the most; none where the trial has none."""
    rows = sender_samples(evidence)
    if rows.height:
        sent = rows.group_by("connection").agg(pl.col("data_segs_out").max(), pl.len()).sort("data_segs_out", "len")
        rows = rows.filter(pl.col("connection") == sent["connection"][-1])
    samples = [Sample(*row) for row in rows.sort("time_ns").select(_COLUMNS).iter_rows()]
    return Kernel([each.time_ns for each in samples], samples, _history(evidence, samples), _paces(evidence, rows))


def models_the_path(congestion_control: str | None) -> bool:
    """True for BBR in each version: window and pace follow a model of the path, and not the losses."""
    return (congestion_control or "").startswith("bbr")


def _paces(evidence: Evidence, rows: pl.DataFrame) -> bool:
    """True if a socket can pace. Linux's TCP does if the congestion control wants it (BBR), if the program or the
    laboratory limits its rate (SO_MAX_PACING_RATE), and if the queue fq stands below it."""
    controls = rows["congestion_control"].drop_nulls().unique().to_list()
    limits = rows["max_pacing_rate_bytes_per_s"].drop_nulls().unique().to_list()
    return (
        any(models_the_path(each) for each in controls)
        or any(each not in _NO_LIMIT for each in limits)
        or ("fq" in evidence.trial.host.tcp_queues)
    )


def _history(evidence: Evidence, samples: list[Sample]) -> History:
    """Each change of the threshold, with the first loss that the capture shows since the sample before.

    A threshold above the window, which an earlier connection may have left, ends slow start only when that reaches it.
    """
    losses = (
        evidence.table("losses")
        .filter(pl.col("vantage") == evidence.sender, pl.col("direction") == evidence.way)
        .sort("time_ns")
    )
    lost_ns = losses["time_ns"].to_list()
    lost = in_the_links_log(evidence, losses)
    events: list[tuple[int, Reason]] = []
    threshold: int | None = _UNSET
    before_ns = samples[0].time_ns if samples else 0
    for sample in samples:
        if sample.threshold is not None and sample.threshold != threshold:
            first, end = bisect_right(lost_ns, before_ns - 1_000_000), bisect_right(lost_ns, sample.time_ns)
            change = _change(sample, lost_ns[first:end], lost[first:end])
            if change.why is not Why.WINDOW_AFTER_EXIT or (sample.window or 0) >= sample.threshold:
                events.append((sample.time_ns, change))
                threshold = sample.threshold
        before_ns = sample.time_ns
    placed = sorted(((min(r.event_ns or at, at), r) for at, r in events), key=lambda event: event[0])
    return History(Steps([at for at, _ in placed], [reason for _, reason in placed]), "tcp_info", bool(samples))


def in_the_links_log(evidence: Evidence, losses: pl.DataFrame) -> list[int | None]:
    """`index` in link_packets of each segment that was lost; None where it is not found.

    The segments of one burst may have one time in the capture: the sequence number tells them apart.
    """
    sent = evidence.table("packets").filter(
        pl.col("vantage") == evidence.sender, pl.col("direction") == evidence.way, pl.col("transport") == "tcp"
    )
    columns = ("connection", "time_ns", "packet_number")
    index_of = {tuple(key): index for *key, index in sent.select(*columns, "packet_index").iter_rows()}
    return [index_of.get(key) for key in losses.select("connection", "sent_ns", "packet_number").iter_rows()]


def _change(sample: Sample, lost_ns: list[int], lost: list[int | None]) -> Reason:
    if lost_ns:
        return Reason(Why.WINDOW_AFTER_LOSS, "tcp_info", lost_ns[0], lost[0])
    if sample.ca_state in ("recovery", "loss"):
        return Reason(Why.WINDOW_AFTER_LOSS, "tcp_info", sample.time_ns)
    if sample.ca_state == "open":
        return Reason(Why.WINDOW_AFTER_EXIT, "tcp_info", sample.time_ns)
    return Reason(Why.WINDOW, "tcp_info", sample.time_ns)
