# SPDX-License-Identifier: Apache-2.0
"""Facts about programs that their own logs contradict: what quiclab knows of a program was read in its source, and the
build that ran may be another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from quiclab.lab.endpoints import SizesDatagrams, find
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Arm, Role, Study
from quiclab.store.layout import StudyDir
from quiclab.study.specs import in_versions

_MOST_TRIALS = 5
"""Trials of an arm that are looked at: all of them ran the same program."""
_LEAST_REDUCTIONS = 3
_REDUCED, _COLLAPSED = 0.95, 0.3
"""Share of the window that is left from which on a fall counts as a reduction after a loss, and below which it is the
fall to the least window after a timeout."""
_BETA_TOLERANCE = 0.1
"""Tolerance of that share: what arrives between two lines of a log may be in the window before or after it."""


def contradicted(
    study_dir: StudyDir, study: Study, versions: Mapping[str, str], rows: Iterable[PlanRow]
) -> tuple[str, ...]:
    """Return a sentence for each fact that the log of an arm's server or proxy contradicts, of the first window and of
    what a loss leaves of a window; `rows` are those of the plan."""
    trials: dict[str, list[str]] = {}
    for row in rows:
        if row.kind == "main":
            trials.setdefault(row.arm_name, []).append(row.trial_id)
    found = []
    for arm in study.measured_arms:
        # Behind a proxy over QUIC the log of the connection to the origin would be taken for the proxy's.
        if arm.protocol == "h3" and not (arm.proxy and arm.origin_protocol == "h3"):
            windows = _windows(study_dir, trials.get(arm.name, []))
            found += _contradictions(in_versions(arm, versions), windows) if windows else []
    return tuple(found)


def _contradictions(arm: Arm, windows: Sequence[pl.Series]) -> list[str]:
    role: Role = "proxy" if arm.proxy else "server"
    endpoint = find(role, arm.front.name)
    facts = endpoint.traits(arm.front, "h3", arm.tcp)
    sentences = []
    packets = re.match(r"(\d+) packets", facts.get("initial_window", ""))
    if packets is not None and isinstance(endpoint, SizesDatagrams):
        first = {int(each[0]) for each in windows}
        known = int(packets[1]) * endpoint.first_payload(arm.front, 4)
        if all(abs(each - known) > known // 100 for each in first):
            seen = " or ".join(f"{each:,}" for each in sorted(first))
            sentences.append(f"its first window is {seen} bytes by its log, and {known:,} by what quiclab knows of it")
    beta = re.search(r"beta (0\.\d+)", facts.get("congestion_control", ""))
    left = pl.concat([(each / each.shift(1)).drop_nulls() for each in windows])
    left = left.filter((left < _REDUCED) & (left > _COLLAPSED))
    median = left.median()
    if beta is not None and isinstance(median, float) and left.len() >= _LEAST_REDUCTIONS:
        told = f"a loss leaves {median:.2f} of its window by its log, and {beta[1]} by what quiclab knows of it"
        sentences += [told] if abs(median - float(beta[1])) > _BETA_TOLERANCE else []
    return [f"Arm {arm.name}, {role} {arm.front.name}: {each}." for each in sentences]


def _windows(study_dir: StudyDir, trials: Sequence[str]) -> list[pl.Series]:
    """Congestion windows of the sender by its own log, in order, of each of these trials' first ones that has some."""
    files = [study_dir.tables / "transport_metrics" / f"{trial}.parquet" for trial in trials]
    found: list[pl.Series] = []
    for file in [each for each in files if each.is_file()][:_MOST_TRIALS]:
        with file.open("rb") as opened:  # by its name Polars reads no file of a folder whose name is not UTF-8
            metrics = pl.read_parquet(opened)
        rows = metrics.filter(
            pl.col("vantage") == "server",
            pl.col("transport") == "quic",
            ~pl.col("estimate").fill_null(value=False),
            pl.col("cwnd_bytes") > 0,
        )
        connections = [each for _, each in rows.group_by(["source", "connection"], maintain_order=True)]
        if connections:
            found.append(max(connections, key=len).sort("time_ns", maintain_order=True)["cwnd_bytes"])
    return found
