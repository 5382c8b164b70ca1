# SPDX-License-Identifier: Apache-2.0
"""Time that the laboratory itself added to a trial: late packets, and waits of its programs for a processor.

Only what is on the critical path counts: a packet that leaves late delays what waits for it, and one that meets a queue
behind it costs nothing. Where a trial has an account of its time, its edges tell what is on that path; elsewhere a
bound does, which no chain of packets can exceed (docs/decisions/0004-how-late-is-too-late.md).

A laboratory owes each program one processor. Threads of a program that wait beyond that wait for each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.model.host_findings import RunDelay
from quiclab.model.trial_record import DisturbedPart, EstimatedDisturbance, TrialRecord
from quiclab.why.account.hop import ROUNDING_NS

FEW_PROCESSES = 4
"""Most processes of a program whose waits are added up: those of a browser wait for one another by design."""
GRAIN_NS = 20_000
"""Wait of each turn of a thread that delays nothing: a packet wakes it, and the next one comes later than that."""
ROLES = ("client", "server", "proxy")
LONG_NS = 2_000_000
"""Time of a program on the critical path that is long for what it has to do there."""
_LEAST_ROUND_TRIP_NS = 1_000_000
_PACED = (str(Why.PACING), str(Why.PACING_OR_PROGRAM))
"""Waits that a program spends asleep: one that is woken late sends the more at once, and loses nothing."""
_ALL_HELD_NS = pl.coalesce("held_ns", "waited_ns")
"""Waits of all threads that their program does not explain."""
_HELD_NS = pl.coalesce("longest_held_ns", "longest_ns")
"""Longest wait of a thread that its own program does not explain."""
_WAYS = (str(What.PROPAGATION_UP), str(What.PROPAGATION_DOWN))

Span = tuple[int, int]
"""Begin and end, in ns."""


@dataclass(frozen=True)
class Added:
    """Time that one part of the laboratory added to a trial."""

    cost_ns: int
    """Estimate of it."""
    most_ns: int
    """Upper bound: what it held up may have waited for something else meanwhile."""


@dataclass(frozen=True)
class Disturbance:
    """Time that the laboratory added to a trial."""

    time_ns: int
    """The trial's time, of which the cost is a part."""
    parts: Mapping[str, Added]
    """`link`, `repeats` (what was sent again because something had been held up), and each of the roles `client`,
    `server` and `proxy` that was watched."""
    by: Literal["account", "bound"]
    """Source of the estimate: the critical path, or a bound that no path can exceed."""

    @property
    def cost_ns(self) -> int:
        """Estimate for all parts."""
        return min(self.time_ns, sum(part.cost_ns for part in self.parts.values()))

    @property
    def most_ns(self) -> int:
        """Upper bound for all parts."""
        return min(self.time_ns, sum(part.most_ns for part in self.parts.values()))

    def record(self) -> EstimatedDisturbance:
        """Return it as trial.json has it."""
        parts = {name: DisturbedPart(part.cost_ns, part.most_ns) for name, part in self.parts.items()}
        return EstimatedDisturbance(self.time_ns, self.cost_ns, self.most_ns, parts, self.by)


def disturbance_of(evidence: Evidence, account: pl.DataFrame) -> Disturbance | None:
    """Estimate what the laboratory added to a trial; `account` is its table of that name, without rows if it has none.

    None where the trial's time is not known.
    """
    trial = evidence.trial
    roles, looks = _watched(trial), evidence.table("run_delays").drop_nulls("since_ns").sort("time_ns")
    looks = looks.filter(pl.col("time_ns") > _begin_ns(trial))
    of_role = {role: looks.filter(pl.col("role") == role) for role in ROLES}
    if not account.is_empty():
        ends = {role: _waited(_busy(evidence, account, role), of_role[role]) for role in roles}
        time_ns = int((account["until_ns"] - account["from_ns"]).sum())
        parts = {"link": _late_on_path(evidence, account), "repeats": _needless(evidence, account), **ends}
        return Disturbance(time_ns, _blamed(parts, of_role, trial), "account")
    time_ns = trial.time_ns.get("transfer", 0)
    if not time_ns:
        return None
    costs = trial.host.cost
    ends = {role: _longest_wait(costs[role].run_delay, of_role[role]) for role in roles}
    return Disturbance(time_ns, _blamed({"link": _late_at_most(evidence), **ends}, of_role, trial), "bound")


def _blamed(parts: Mapping[str, Added], looks: Mapping[str, pl.DataFrame], trial: TrialRecord) -> Mapping[str, Added]:
    """The parts as they are; in a trial whose endpoints failed without what the programs of others took of more than a
    processor each, as no failure is excused by what a program of the trial did to another one."""
    if not trial.own_failure:
        return parts
    beyond_ns = pl.max_horizontal(pl.col("ran_ns") - (pl.col("time_ns") - pl.col("since_ns")), 0)
    taken_ns = {role: int(each.select(beyond_ns.sum()).item()) for role, each in looks.items()}
    found = {}
    for name, part in parts.items():
        by_others_ns = sum(taken for role, taken in taken_ns.items() if role != name)
        found[name] = Added(max(0, part.cost_ns - by_others_ns), max(0, part.most_ns - by_others_ns))
    return found


def _begin_ns(trial: TrialRecord) -> int:
    """Instant at which the transfer began, by the steps of the trial before it; 0 where that is not known."""
    steps = trial.time_ns
    before = [*steps][: [*steps].index("transfer")] if "transfer" in steps else []
    return (trial.started_monotonic_ns or 0) + sum(steps[step] for step in before)


def _watched(trial: TrialRecord) -> list[str]:
    """Roles whose waits for a processor are the laboratory's fault: not those that the spec slows down, and not
    programs of many processes."""
    host = trial.host
    measured = {role: cost for role, cost in host.cost.items() if role in ROLES and role not in host.slow_cpu}
    return [role for role, cost in measured.items() if (cost.most_processes or 0) <= FEW_PROCESSES]


def _late_on_path(evidence: Evidence, account: pl.DataFrame) -> Added:
    """Lateness of the packets on the critical path: edges that say so, and what was too short to be one."""
    late = account.filter(pl.col("what") == str(What.LATE))
    told_ns = int((late["until_ns"] - late["from_ns"]).sum())
    ways = account.filter(pl.col("what").is_in(_WAYS)).select("link", "direction", "packet_index")
    packets = evidence.table("link_packets").select("lateness_ns", "direction", link="source", packet_index="index")
    short = ways.join(packets, on=("link", "direction", "packet_index")).filter(pl.col("lateness_ns") <= ROUNDING_NS)
    cost_ns = told_ns + int(short["lateness_ns"].sum())
    return Added(cost_ns, cost_ns)


def _busy(evidence: Evidence, account: pl.DataFrame, role: str) -> list[Span]:
    """Stretches of the critical path in which a role's program had something to do.

    Behind a proxy that is the client of the links to its origin. What passes between a proxy and a server beside it is
    on no link, and belongs to both. A TCP receiver's kernel needs no program for its acknowledgments.
    """
    origins = [f"raw/{link.packet_log}" for link in evidence.trial.links_of("origin")]
    behind = pl.col("link").is_in(origins).fill_null(value=False)
    what, quic, awake = pl.col("what"), evidence.quic, ~pl.col("why").is_in(_PACED)
    client, server = what == str(What.CLIENT), what == str(What.SERVER)
    holds = (what == str(What.ACK_HELD)) & quic
    if evidence.upload:
        server = server | holds
    else:
        client = client | holds
    of_role = {
        "client": client & ~behind,
        "proxy": (server & ~behind) | (client & behind),
        "server": (server & behind) if origins else server,
    }
    return [*account.filter(of_role[role] & awake).select("from_ns", "until_ns").iter_rows()]


def _waited(edges: Sequence[Span], looks: pl.DataFrame) -> Added:
    """Cost of a program's waits for a processor, by their sums between two looks.

    At most all of them were on the critical path, as far as the program was on it at all. A long stretch is estimated
    to be long because of them; of the short ones the path has the share that it has in all that the program ran and
    waited.
    """
    cost_ns, most_ns = 0.0, 0
    columns = ("since_ns", "time_ns", "ran_ns", "held")
    for since_ns, until_ns, ran_ns, waited_ns in looks.with_columns(held=_ALL_HELD_NS).select(columns).iter_rows():
        within = [(end - begin, max(0, min(end, until_ns) - max(begin, since_ns))) for begin, end in edges]
        long_ns = min(waited_ns, sum(inside for length, inside in within if length >= LONG_NS))
        short_ns, left_ns = sum(inside for length, inside in within if length < LONG_NS), waited_ns - long_ns
        active_ns = (ran_ns or 0) + waited_ns
        most_ns += min(waited_ns, sum(inside for _, inside in within))
        cost_ns += long_ns + (min(short_ns, left_ns * short_ns / active_ns) if active_ns else 0)
    return Added(round(cost_ns), most_ns)


def _needless(evidence: Evidence, account: pl.DataFrame) -> Added:
    """Time in which the bottleneck served again what had come, because an endpoint took it for lost.

    A sender does so if an acknowledgment comes an eighth of a round trip late (RFC 9002 section 6.1.2). Where the path
    itself keeps the order and something was held up for that long in the two round trips before, that was the cause.
    """
    needless = account.filter(pl.col("what") == str(What.NEEDLESS)).select("from_ns", "until_ns")
    packets = _delivered(evidence)
    if needless.is_empty() or _overtakes(packets):
        return Added(0, 0)
    ways = packets.group_by("source", "direction").agg(least=(pl.col("due_ns") - pl.col("arrival_ns")).min())
    round_trip_ns = max(_LEAST_ROUND_TRIP_NS, int(ways["least"].sum()))
    late = packets.select("due_ns", held_ns="lateness_ns").filter(pl.col("held_ns") * 8 >= round_trip_ns)
    waits = evidence.table("run_delays").drop_nulls("since_ns").filter((_HELD_NS * 8).ge(round_trip_ns))
    total_ns = 0
    for from_ns, until_ns in needless.iter_rows():
        since_ns = from_ns - 2 * round_trip_ns
        held_up = late.filter(pl.col("due_ns").is_between(since_ns, from_ns))
        waited = waits.filter(pl.col("since_ns") <= from_ns, pl.col("time_ns") >= since_ns)
        if held_up.height or waited.height:
            total_ns += until_ns - from_ns
    return Added(total_ns, total_ns)


def _delivered(evidence: Evidence) -> pl.DataFrame:
    """Packets that the links wrote at the far end."""
    return evidence.table("link_packets").filter(pl.col("action") == "delivered").drop_nulls("lateness_ns")


def _overtakes(packets: pl.DataFrame) -> bool:
    """True if the model of a link let a packet be overtaken by a later one."""
    ordered = packets.sort("source", "direction", "index")
    behind = pl.col("due_ns") < pl.col("due_ns").cum_max().over("source", "direction")
    return not ordered.filter(behind).is_empty()


def _longest_wait(delay: RunDelay, looks: pl.DataFrame) -> Added:
    """Waits of the thread of a program that waited longest, without those that `looks` at it show to be its own affair;
    short ones of many turns are estimated to cost nothing."""
    longest_ns, turns = delay.longest_ns or 0, delay.longest_turns or 0
    unseen_ns = max(0, longest_ns - int(looks["longest_ns"].sum()))
    longest_ns = min(longest_ns, unseen_ns + int(looks.select(_HELD_NS.sum()).item()))
    return Added(max(0, longest_ns - GRAIN_NS * turns), longest_ns)


def _late_at_most(evidence: Evidence) -> Added:
    """Lateness that a chain of packets and answers can meet: one packet a round trip in each direction of each link."""
    cost_ns = most_ns = 0.0
    for (_,), of_link in _delivered(evidence).group_by("source"):
        ways = [way for _, way in of_link.group_by("direction")]
        round_trip_ns = max(_LEAST_ROUND_TRIP_NS, sum(_least_ns(way) for way in ways))
        for way in ways:
            each = way.group_by(pl.col("arrival_ns") // round_trip_ns).agg(
                mean=pl.col("lateness_ns").mean(), most=pl.col("lateness_ns").max()
            )
            together_ns = _union_ns(way)
            cost_ns += min(float(each["mean"].sum()), together_ns)
            most_ns += min(float(each["most"].sum()), together_ns)
    return Added(round(cost_ns), round(most_ns))


def _least_ns(way: pl.DataFrame) -> int:
    """Shortest time that the model gave a packet of one direction."""
    least = (way["due_ns"] - way["arrival_ns"]).min()
    return least if isinstance(least, int) else 0


def _union_ns(way: pl.DataFrame) -> int:
    """Time in which some packet of one direction was due and not written yet."""
    total_ns, until_ns = 0, 0
    for due_ns, late_ns in way.sort("due_ns").select("due_ns", "lateness_ns").iter_rows():
        written_ns = due_ns + late_ns
        total_ns += max(0, written_ns - max(due_ns, until_ns))
        until_ns = max(until_ns, written_ns)
    return total_ns
