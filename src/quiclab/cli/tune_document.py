# SPDX-License-Identifier: Apache-2.0
"""The JSON document of `quiclab tune`."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.study.tune.result import TuningResult


@dataclass(frozen=True)
class TuneDocument:
    """A search for settings: the plan, and what it found."""

    version: int
    """Version of the document's form."""
    directory: str
    """Folder of its studies."""
    exit_code: int
    """Exit code of the command."""
    arm: str
    """The arm that is tuned."""
    candidates: tuple[str, ...]
    """Settings of the first heat, for which the minutes surely suffice, each as `table.key = value`."""
    left_out: tuple[str, ...]
    """Settings of further heats, which race as far as the first leaves time; `result` has those that did."""
    networks: tuple[str, ...]
    """Neighbouring networks on which the chosen setting is checked."""
    result: TuningResult | None
    """Result of the search, as `tuning.json` in that folder keeps it; null with --dry-run."""
