# SPDX-License-Identifier: Apache-2.0
"""One transfer as a capture between client and server shows it: the level E5.

All instants are those at which the client's packets pass. What the client sends then left it a way earlier, as
everything before did, and what the server sends is there a round trip to the client after it has passed. Where packets
wait behind the capture, TCP's acknowledgments tell when they had come. Nothing that is encrypted is read.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from dataclasses import replace

import numpy as np
import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.why.account.answer_by_size import ANSWERED_NS, asked, closed_ns, guessed, round_trip_ns
from quiclab.why.account.arrivals import Arrivals
from quiclab.why.account.capture_place import NEVER, Acknowledgments, CapturePlace, Int64s, acknowledgments
from quiclab.why.account.edges import PROMPT_NS
from quiclab.why.account.levels import Level
from quiclab.why.account.one_end import Instant, Seen, Side
from quiclab.why.account.recorded import Recorded

_READ_LATE_NS = 500_000
"""Step of the instants that acknowledgments tell: each stands for the packets since the one before."""
_PASSING_NS = 200_000
"""Time by which the ways of two packets of one size to the capture may differ."""
_SLACK_NS = 10_000_000
"""Most by which the server's packets count that seem to come after the client's last one."""
_NEAR_SERVICES, _LATE_MOST_NS = 0.25, 1_000_000
"""Services of a packet, and time, within which an acknowledgment follows on it where it did not wait on its way."""
_QUEUED_SERVICES = 4
"""Services of a packet beyond which it has waited for others: an acknowledgment is late by up to two of its own."""
_FEWEST = 2
"""Acknowledgments of an answer below which they have no order."""
_PROMPT_SHARE = 0.3
"""Least share of packets that must be acknowledged so soon: a client acknowledges every second one at once."""


def seen_from_between(of: Recorded, place: CapturePlace) -> Seen:
    """Transfer as packets pass, with the way from the client on top of every instant. Raises Unknown where it is not
    one transfer from its beginning to its end."""
    unsure_ns = place.client_ns - place.client_least_ns
    client = as_at_client(of, place.client_ns)
    sent = asked(client)
    answer_ns, last, early_ns = guessed(client, sent, min(unsure_ns, _SLACK_NS))
    came = client.down.filter(pl.col("time_ns").is_between(answer_ns, last.at_ns))
    if came.is_empty():
        raise Unknown("no packet of its answer is found")
    arrivals = Arrivals(came["time_ns"].cast(pl.Int64).to_numpy(), came["size_bytes"].cast(pl.Int64).to_numpy())
    step_ns, faster, slower = of.resolution_ns, None, None
    least_ns = (last.at_ns - arrivals.at_ns[0]) / max(1, int(arrivals.size_bytes.sum()))
    ns_per_byte = max(least_ns, _slowest_way_up(of))
    if of.transport == "tcp":
        acks = acknowledgments(of, "up")
        told = _acknowledged(came, acks)
        passed_ns, last = last.at_ns, _last_of_tcp(client, came, last, acks)
        behind = _behind(arrivals, came, acks, told, step_ns)
        if behind is Behind.NOTHING:
            slower, last = told, _without_delay(client, last, passed_ns)
        else:
            faster = None if behind is Behind.QUEUE else arrivals
            arrivals, step_ns = told, max(step_ns, _READ_LATE_NS)
    else:
        last = _last_of_quic(client, last)
    # A large packet of the client takes longer to the capture than the small ones after it.
    begins = client.up.filter(pl.col("time_ns") <= client.up["time_ns"][0] + PROMPT_NS)
    begun = 0 if of.transport == "tcp" else int(begins["size_bytes"].sum())
    request = _queued_bytes(of.up, sent.at_ns, ns_per_byte)
    return Seen(
        Level.E5,
        of.transport,
        int(client.packets["time_ns"][0]),
        0,
        Instant(sent.at_ns, sent.early_ns - _passing_ns(request, ns_per_byte), sent.late_ns + _PASSING_NS),
        Instant(last.at_ns, min(last.at_ns, last.early_ns - unsure_ns), last.late_ns),
        arrivals,
        min(early_ns, int(arrivals.at_ns[0])) - unsure_ns,
        int(client.down.filter(pl.col("time_ns").is_between(sent.at_ns, answer_ns, closed="left"))["size_bytes"].sum()),
        round_trip_ns(client),
        step_ns,
        opened=False,
        between=Side(place, _client_side_ns(of, sent.at_ns)),
        faster=faster,
        slower=slower,
        # Acknowledgments that come together look like a rate, were as much lateness allowed as in their instants.
        clock_ns=of.resolution_ns,
        rate_is_shown=of.transport == "tcp",
        zero_early_ns=_passing_ns(begun, ns_per_byte),
    )


def _passing_ns(size_bytes: int, ns_per_byte: float) -> int:
    """Time by which a packet of the client may have been slower than a small one."""
    return _PASSING_NS + round(size_bytes * ns_per_byte)


def _slowest_way_up(of: Recorded) -> float:
    """Most time for each byte of the client on its way to the capture, in ns: no two of its packets are nearer."""
    gaps = of.up.select(pl.col("time_ns").diff() / pl.col("size_bytes")).to_series().drop_nulls()
    least = gaps.filter(gaps > 0).min()
    return least if isinstance(least, float) else 0.0


def _queued_bytes(up: pl.DataFrame, at_ns: int, ns_per_byte: float) -> int:
    """Bytes of a packet and of those in front of it on their way."""
    found, behind_ns = 0, at_ns
    for time_ns, size in up.filter(pl.col("time_ns") <= at_ns).select("time_ns", "size_bytes").reverse().iter_rows():
        if behind_ns - time_ns > max(PROMPT_NS, (1 + _NEAR_SERVICES) * found * ns_per_byte):
            break
        found, behind_ns = found + size, time_ns
    return found


def as_at_client(of: Recorded, client_ns: int) -> Recorded:
    """The recording as if it had been taken at the client."""
    late = pl.when(pl.col("direction") == "down").then(client_ns).otherwise(0)
    packets = of.packets.with_columns(time_ns=pl.col("time_ns") + late).sort("time_ns", maintain_order=True)
    return replace(of, packets=packets, opened=False)


def _last_bytes(came: pl.DataFrame) -> Int64s:
    """Number of the last byte of each segment."""
    end = pl.col("number").cast(pl.Int64) + pl.col("payload_bytes").cast(pl.Int64) - 1
    found: Int64s = came.select(end).to_series().to_numpy()
    return found


def _acknowledged(came: pl.DataFrame, acks: Acknowledgments) -> Arrivals:
    """The answer's packets, as many at once as an acknowledgment is the first to name."""
    rows = pl.DataFrame({"at": acks.first_ns(_last_bytes(came)), "size": came["size_bytes"].cast(pl.Int64)})
    rows = rows.filter(~came["again"], pl.col("at") < NEVER)
    groups = rows.group_by("at").agg(pl.col("size").sum()).sort("at")
    return Arrivals(groups["at"].to_numpy(), groups["size"].to_numpy())


class Behind(enum.Enum):
    """Delay of packets between a capture and the client."""

    NOTHING = enum.auto()
    """Hardly any: packets came as they had passed."""
    SERVICE = enum.auto()
    """Services of their own: packets came later by no more than some."""
    QUEUE = enum.auto()
    """A queue: packets waited for others, so that acknowledgments follow on each other as the path serves."""


def _behind(arrivals: Arrivals, came: pl.DataFrame, acks: Acknowledgments, told: Arrivals, step_ns: int) -> Behind:
    if len(told.at_ns) < _FEWEST:
        return Behind.NOTHING
    late_ns = acks.first_ns(_last_bytes(came)) - arrivals.at_ns
    service_ns = float(arrivals.size_bytes.max()) * 8e9 / told.rate(step_ns)
    prompt = late_ns <= min(_LATE_MOST_NS, _NEAR_SERVICES * service_ns) + 2 * step_ns
    if float(prompt.mean()) >= _PROMPT_SHARE:
        return Behind.NOTHING
    return Behind.QUEUE if float(np.median(late_ns)) > _QUEUED_SERVICES * service_ns else Behind.SERVICE


def _last_of_tcp(client: Recorded, came: pl.DataFrame, last: Instant, acks: Acknowledgments) -> Instant:
    """Acknowledgment of all bytes of the answer, or the instant at which a client closes without."""
    acked_ns = acks.whole_ns(int(_last_bytes(came).max()))
    late_ns = max(min(acked_ns, closed_ns(client)), last.early_ns)
    return Instant(late_ns, min(last.early_ns, late_ns), late_ns)


def _without_delay(client: Recorded, last: Instant, passed_ns: int) -> Instant:
    """Passing of the last packet, where it was not sent again and its acknowledgment was only held back."""
    again = client.down.filter("again", pl.col("time_ns").is_between(passed_ns, last.late_ns))
    if again.height or last.late_ns - passed_ns > ANSWERED_NS:
        return last
    return replace(last, at_ns=min(passed_ns, last.late_ns))


def _last_of_quic(client: Recorded, last: Instant) -> Instant:
    """The client's last packet of those that follow on each other after the last of the answer had passed.

    A client acknowledges what comes, or closes. Packets of the answer may have waited behind the capture until then.
    """
    sent: list[int] = client.up["time_ns"].to_list()
    late_ns = last.at_ns
    for at_ns in sent[bisect_right(sent, last.early_ns) :]:
        if at_ns - late_ns > ANSWERED_NS:
            break
        late_ns = max(late_ns, at_ns)
    return Instant(late_ns, last.early_ns, late_ns)


def _client_side_ns(of: Recorded, until_ns: int) -> int:
    """Time until an instant that was passed on the client's side of the capture, by the packet that ended each stretch.

    An end that sends again what had passed waits for the other side.
    """
    rows = of.packets.filter(pl.col("time_ns") <= until_ns)
    own = (pl.col("direction") == "up") != pl.col("again")
    return int(rows.select((pl.col("time_ns").diff() * own).sum()).item() or 0)
