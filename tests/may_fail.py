# SPDX-License-Identifier: Apache-2.0
"""`experiments/STUDY/may-fail.toml`: which trials of a study may fail, with which reason, and why that is no fault."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class MayFail:
    """Trials of one arm that may end with one reason."""

    arm: str
    reason: str
    """Stands in the trial's own."""
    why: str
    """For the reader: what the program or the network does that makes it so."""
    workload: str | None = None
    """None is any, as for the path."""
    path: str | None = None
    most: int = 1
    """How many of them, controls included."""

    def covers(self, row: Mapping[str, Any], reason: str) -> bool:
        """Whether it speaks of a trial that failed so."""
        own = self.arm == row["arm_name"] and self.reason in reason
        return own and self.workload in (None, row["workload"]) and self.path in (None, row["path"])


def read_may_fail(study: Path) -> tuple[MayFail, ...]:
    """Of a folder of experiments; none where there is no such file. A wrong key is a TypeError."""
    file = study / "may-fail.toml"
    if not file.exists():
        return ()
    return tuple(MayFail(**each) for each in tomllib.loads(file.read_text())["failure"])
