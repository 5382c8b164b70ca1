# SPDX-License-Identifier: Apache-2.0
"""Cost of each program to its machine between the request and the client's end, by itself and for the bytes it
moved."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.program import BROWSERS
from quiclab.model.trial_record import TrialRecord

Role = Literal["client", "server", "proxy"]
_NS_PER_MS, _BYTES_PER_MB = 1e6, 1e6
_WINDOW_NS = 1_000_000_000
_DURING = "from the request to the client's end"


def _sum(evidence: Evidence, role: Role, *names: str) -> float:
    """Sum of fields of the program's use of the machine during the transfer. Raises Unknown where one is not told."""
    cost = evidence.trial.host.cost.get(role)
    if cost is None:
        raise Unknown(f"the trial does not tell what a {role} cost")
    values = [getattr(cost.transfer, name, None) for name in names]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        raise Unknown(f"the trial does not tell what the {role} cost during the transfer")
    return float(sum(known))


def tells_switches(trial: TrialRecord, role: str) -> bool:
    """Threads that end take theirs with them, and a browser ends many: in some trials 7 of 400 were left."""
    return role != "client" or trial.client is None or not BROWSERS & trial.client.versions.keys()


def _switches(evidence: Evidence, role: Role) -> float:
    if not tells_switches(evidence.trial, role):
        raise Unknown("threads of a browser that ended took their context switches with them")
    return _sum(evidence, role, "voluntary_switches", "involuntary_switches")


def _cpu_ms(evidence: Evidence, role: Role) -> float:
    return _sum(evidence, role, "cpu_ns") / _NS_PER_MS


def _cpu_peak_pct(evidence: Evidence, role: Role) -> float:
    """The largest use within a window of a second, or of as little more as lies between two looks."""
    looks = evidence.table("process_usage").filter(
        pl.col("role") == role, pl.col("scope") == "sample", pl.col("time_ns") >= evidence.zero_ns
    )
    looks = looks.drop_nulls("cpu_ns").select("time_ns", "cpu_ns").sort("time_ns")
    # With a child that ends, all that it ever used falls out of the sum: that step says nothing, and the others do.
    steps = pl.col("cpu_ns").cast(pl.Int64).diff().fill_null(0).clip(lower_bound=0)
    looks = looks.with_columns(cpu_ns=steps.cum_sum())
    later = looks.select("cpu_ns", at_ns="time_ns", time_ns=pl.col("time_ns") - _WINDOW_NS).sort("time_ns")
    windows = looks.join_asof(later, on="time_ns", strategy="forward").drop_nulls("at_ns")
    if windows.is_empty() and role == "client" and looks.height > 1:
        # It has ended since, and used nothing in the rest of that second.
        return 100 * float(looks["cpu_ns"][-1] - looks["cpu_ns"][0]) / _WINDOW_NS
    if windows.is_empty():
        raise Unknown(f"the {role} was not looked at for a whole second after the client's first packet")
    used = (pl.col("cpu_ns_right") - pl.col("cpu_ns")) / (pl.col("at_ns") - pl.col("time_ns"))
    return 100 * float(windows.select(used.max()).item())


def _system_calls(evidence: Evidence, role: Role) -> float:  # noqa: ARG001 - no trial's own tables have them
    raise Unknown("system calls are counted in trials of their own (count_system_calls), and not of this trial")


def _cpu_ms_per_mb(evidence: Evidence, role: Role) -> float:
    cpu_ms = _cpu_ms(evidence, role)
    transferred = _transferred_bytes(evidence)
    if not transferred:
        raise Unknown("no bodies were transferred")
    return cpu_ms / (transferred / _BYTES_PER_MB)


def _transferred_bytes(evidence: Evidence) -> int:
    """Bytes of the bodies; where nobody knows beforehand how much of them will come, of the packets that arrived."""
    expected, competition = evidence.trial.expected, evidence.trial.competition
    by_the_clock = competition is not None and competition.lasts_ns is not None
    if expected.video is None and not by_the_clock:
        return expected.body_bytes or 0
    came = evidence.packets(evidence.receiver, evidence.way)
    return int(came.filter(pl.col("dropped").is_null())["size_bytes"].sum())


def _metrics(role: Role) -> tuple[Metric, ...]:
    def metric(name: str, title: str, unit: str, doc: str, compute: Any) -> Metric:
        title = title.format(role)
        return Metric(
            f"{role}_{name}", title, unit, "lower", doc, lambda evidence: compute(evidence, role), of_processor=True
        )

    return (
        metric(
            "cpu_ms_per_mb",
            "processor time of the {} per MB",
            "ms/MB",
            f"Processor time of the {role} with its children {_DURING}, per million bytes of the bodies that were to "
            "be transferred (of a video, or where a clock ends a competition, of the IP packets that arrived): user "
            "and system together, so that what the kernel does for it counts where it is booked "
            "on it. 1 ms/MB is 1 ns per byte.",
            _cpu_ms_per_mb,
        ),
        metric(
            "cpu_ms",
            "processor time of the {}",
            "ms",
            f"Processor time of the {role} with its children {_DURING}.",
            _cpu_ms,
        ),
        metric(
            "cpu_peak_pct",
            "greatest processor load of the {}",
            "%",
            f"The largest share of one processor that the {role} with its children used within a window of a second "
            "after the client's first packet, by looks every 100 ms, without those in which a child ended. "
            + (
                "Where it ended sooner, the share of that second that it used until the last look."
                if role == "client"
                else "Unknown where it was looked at for less."
            ),
            _cpu_peak_pct,
        ),
        metric(
            "context_switches",
            "context switches of the {}",
            "",
            f"Context switches of the {role} {_DURING}, because it waited or because another was to run. Unknown of "
            "browsers, whose threads come and go.",
            _switches,
        ),
        metric(
            "page_faults",
            "page faults of the {}",
            "",
            f"Page faults of the {role} {_DURING}, with and without reading from a disk.",
            lambda evidence, role: _sum(evidence, role, "minor_faults", "major_faults"),
        ),
        metric(
            "system_calls",
            "system calls of the {}",
            "",
            f"System calls of the {role} with all its threads and children over its whole life, failed ones included, "
            "in a trial of the same block, arm and seed that ran once more under strace and was not timed "
            '(`count_system_calls = "every block"`). '
            + ("Of a browser that includes its start, its end and an earlier visit. " if role == "client" else "")
            + "Unknown where that trial went wrong, or nothing was counted.",
            _system_calls,
        ),
    )


COST = (*_metrics("client"), *_metrics("server"), *_metrics("proxy")[:1])
