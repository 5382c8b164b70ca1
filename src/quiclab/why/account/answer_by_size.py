# SPDX-License-Identifier: Apache-2.0
"""Request and answer of a recording in which nothing can be read: by the sizes, the order and the flags of packets."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.one_end import Instant
from quiclab.why.account.recorded import Recorded

_LARGE = 0.8
"""Share of the largest datagram from which one is taken for data where nothing can be read."""
_LAST_LARGE = 20
"""Large packets whose distance says how soon the next one would have come."""
_USUAL_BYTES = 1_500
"""Size of a full packet on usual paths: what is larger in a capture was mostly put together by a network card."""
ANSWERED_NS = 50_000_000
"""Time within which a client that is still there acknowledges data: 25 ms (RFC 9000 section 18.2), and as much for a
machine that is busy."""
_FIN_OR_RST = 5


def asked(of: Recorded) -> Instant:
    """The first packet of the client that can carry a request; without contents QUIC's may be the one after it, or a
    later one of those that leave together."""
    can = of.up.filter("app")["time_ns"].to_list()
    if not can:
        if of.transport == "tcp" and of.table("http_requests").height:
            raise Unknown(
                "its request is not encrypted: explain takes HTTP over TLS or QUIC, whose time begins with a handshake"
            )
        raise Unknown("the connection is never set up: the client sends nothing that can carry a request")
    if of.transport == "tcp":
        return Instant.exactly(can[0])
    if of.opened:
        frames = of.table("frames").filter(pl.col("direction") == "up", pl.col("frame_type") == "stream")
        first = frames.filter(pl.col("packet_type").is_in(["0RTT", "1RTT"]))["time_ns"].min()
        if not isinstance(first, int):
            raise Unknown("the connection carries no request")
        return Instant.exactly(first)
    together = bisect_right(can, can[0] + PROMPT_NS) - 1
    return Instant(can[0], can[0], can[max(together, min(1, len(can) - 1))])


def guessed(of: Recorded, request: Instant, slack_ns: int = 0) -> tuple[int, Instant, int]:
    """The answer's first and last packet and its earliest beginning, by the sizes and the order of packets.

    Before the answer a server sends small packets of its own (tickets, settings); after it, too. So the answer begins
    with the first large packet, or earlier, and ends with the last packet before the client closes, or earlier: of
    QUIC likely with what follows on the last large one at once, or as soon as large ones on each other. A QUIC
    handshake packet, which its header shows, is none of it; nor is one larger than the large one after it, or the last
    before it, which looks for the path's MTU.
    """
    quic = of.transport == "quic"
    down = of.down.filter(
        pl.col("time_ns") > request.at_ns, pl.col("payload_bytes") > 0, pl.lit(not quic) | pl.col("app")
    )
    if down.is_empty():
        raise Unknown("it holds no answer to the request: record until the connection closes")
    full = min(_USUAL_BYTES, int(down["size_bytes"].max()))  # type: ignore[arg-type]
    large = down.filter(pl.col("size_bytes") >= _LARGE * full)
    close_ns = closed_ns(of) + slack_ns
    before = down.filter(pl.col("time_ns") <= close_ns, ~pl.col("again") | quic)
    whole = large.filter(pl.col("time_ns") <= close_ns)
    if quic and large["time_ns"][-1] > close_ns and not _has_left(of, close_ns):
        raise Unknown(
            "data came after the client's last packet, and without keys nothing shows if the client had closed by then "
            "or the recording was cut: record for some seconds more, or give the keys"
        )
    if whole.is_empty():
        raise Unknown("it holds no answer to the request: record until the connection closes")
    probes = int(quic and whole.height > 1 and whole["size_bytes"][0] > whole["size_bytes"][1])
    first_ns, last_ns = int(whole["time_ns"][probes]), int(before["time_ns"][-1])
    while quic and whole.height > probes + 1 and whole["size_bytes"][-1] > whole["size_bytes"][-2]:
        whole = whole[:-1]
    early_ns = min(int(whole["time_ns"][-1]), last_ns)
    ends_ns = _last_at_once(before["time_ns"].to_list(), early_ns, _usual_gap_ns(whole)) if quic else last_ns
    return first_ns, Instant(ends_ns, early_ns, last_ns), int(down["time_ns"][0])


def _usual_gap_ns(large: pl.DataFrame) -> int:
    """Time from one large packet to the next: the median of the last ones."""
    gap_ns = large["time_ns"].tail(_LAST_LARGE).cast(pl.Int64).diff().median()
    return int(gap_ns) if isinstance(gap_ns, int | float) else 0


def _last_at_once(came_ns: list[int], from_ns: int, gap_ns: int) -> int:
    """Last of the packets that follow on each other at once, or as large ones do, from an instant on."""
    for at_ns in came_ns[bisect_right(came_ns, from_ns) :]:
        if at_ns - from_ns > max(PROMPT_NS, gap_ns):
            break
        from_ns = at_ns
    return from_ns


def closed_ns(of: Recorded) -> int:
    """Instant at which the client closes: of QUIC its last packet, as nothing shows more."""
    if of.transport == "quic":
        return int(of.up["time_ns"][-1])
    closing = of.up.filter((pl.col("flags") & _FIN_OR_RST) > 0)["time_ns"].min()
    if not isinstance(closing, int):
        raise Unknown(
            "without keys the end of an answer shows only in the connection's end, which it does not hold: record "
            "until the client closes, or give the keys"
        )
    return closing


def _has_left(of: Recorded, close_ns: int) -> bool:
    """True if a client was gone after its last packet of QUIC.

    It leaves data unanswered that came well before the recording ends. Or its last packet follows the one before at
    once, with nothing to acknowledge in between, as a close follows the last acknowledgment, and then nothing comes for
    half a round trip, as where only lost data are on their way.
    """
    late_ns = int(of.down.filter(pl.col("time_ns") > close_ns)["time_ns"][0])
    end_ns = int(of.tables["ip_packets"]["time_ns"].max()) if is_captured(of) else 0  # type: ignore[arg-type]
    if end_ns - late_ns > ANSWERED_NS:
        return True
    if of.up.height < 2 or late_ns - close_ns < round_trip_ns(of) / 2:
        return False
    before_ns = int(of.up["time_ns"][-2])
    came = of.down.filter(pl.col("time_ns").is_between(before_ns, close_ns, closed="right"))
    return came.is_empty() and close_ns - before_ns <= PROMPT_NS


def is_captured(of: Recorded) -> bool:
    return "ip_packet" in of.packets.columns


def round_trip_ns(of: Recorded) -> int:
    came = int(of.down["time_ns"][0])
    sent: list[int] = of.up["time_ns"].to_list()
    return max(1, came - sent[max(0, bisect_left(sent, came) - 1)])
