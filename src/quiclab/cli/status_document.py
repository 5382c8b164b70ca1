# SPDX-License-Identifier: Apache-2.0
"""Dataclasses for JSON about a run's trials: how far it is, and how they ended.

Nothing is imported for it that a verb would wait for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

VERSION = 1
"""Version of every document's form. It grows where a key goes or changes its meaning, and not where one is added."""


@dataclass(frozen=True)
class TrialCounts:
    """Numbers of a study's trials by how they ended; each is counted once, by its last attempt."""

    planned: int
    """Trials that are planned now: those of the spec, with what `--until` and `ask` added."""
    verified: int
    """Trials that count."""
    failed: int
    """Trials that failed or reached their time limit: they rank worst."""
    unproven: int
    """Trials without a proof of what their client got: in no comparison."""
    void: int
    """Trials that the laboratory disturbed, and those of the same blocks: in no comparison."""
    damaged: int
    """Verified trials whose files are no longer whole: without a result."""
    not_run: int
    """Planned trials that have not been tried yet."""


@dataclass(frozen=True)
class CellStatus:
    """Numbers of one arm's trials in one cell by how they ended."""

    cell_id: str
    """The cell: `WORKLOAD/PATH`."""
    arm: str
    """Name of the arm."""
    trials: TrialCounts
    """Numbers by how the trials ended."""


@dataclass(frozen=True)
class TroubleEntry:
    """Attempts that ended the same way for the same reason, whatever numbers it has."""

    status: str
    """`failed`, `unproven`, `void` or `damaged`."""
    reason: str
    """Reason of the latest of them, as far as it is known."""
    attempts: int
    """Number of attempts."""
    latest: str
    """Place of that one: cell, arm and block."""


@dataclass(frozen=True)
class StatusDocument:
    """Progress of a study."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    running: bool
    """True if a process works on it."""
    pid: int | None
    """Number of that process; null where it cannot be seen from here."""
    trials: TrialCounts
    """Numbers of all trials by how they ended."""
    cells: tuple[CellStatus, ...]
    """Numbers of each cell and arm by how their trials ended."""
    left_ms: float
    """Time that the rest takes, at the pace of the latest trials and with as many repeats as so far."""
    since_last_ms: float | None
    """Time since the last attempt began that has ended; null where none has."""
    trouble: tuple[TroubleEntry, ...]
    """Troubles in all attempts so far, the most frequent first."""
    pressure_pct: Mapping[str, float]
    """Share of the last ten seconds in which a task of this machine waited for `cpu`, `io` or `memory`; what the kernel
    does not tell is left out."""
