# SPDX-License-Identifier: Apache-2.0
"""Agreement of the levels of evidence over all trials of a study, in lines of text."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from quiclab.evidence.metrics import evidence_of
from quiclab.logs.decoders import decode_trial
from quiclab.why.account.coarsening import Compared, Refused, coarsening


def levels_of_study(study: Path) -> dict[str, list[Compared | Refused]]:
    """Trial → what was compared; trials without a full account have nothing."""
    found = {}
    for folder in sorted((study / "trials").iterdir()):
        trial = json.loads((folder / "trial.json").read_text())
        found[folder.name] = coarsening(folder, evidence_of(decode_trial(folder).tables, trial))
    return found


def in_lines(found: dict[str, list[Compared | Refused]]) -> tuple[list[str], int]:
    """Lines that say how far the levels agree, and how many parts of trials do not."""
    rows: defaultdict[tuple[str, str], list[tuple[str, Compared]]] = defaultdict(list)
    refused: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for trial, each in found.items():
        for one in each:
            if isinstance(one, Refused):
                refused[one.level, one.reason].append(trial)
            else:
                rows[one.level, one.part or "whole time"].append((trial, one))
    lines = [f"{'level':6}{'part':18}{'trials':>7}{'mean |diff|':>13}{'worst diff':>12}{'beyond':>8}  worst trial"]
    for (level, part), several in sorted(rows.items()):
        differences = [abs(one.alone.ms - one.full_ms) for _, one in several]
        trial, worst = max(several, key=lambda one: (one[1].beyond_ms, abs(one[1].alone.ms - one[1].full_ms)))
        beyond = sum(one.beyond_ms > 0 for _, one in several)
        lines.append(
            f"{level:6}{part:18}{len(several):7}{sum(differences) / len(differences):10.2f} ms"
            f"{worst.alone.ms - worst.full_ms:+9.2f} ms{beyond:8}  {trial}"
        )
    if not_of_it := sum(1 for each in found.values() if not each):
        lines.append(
            f"{not_of_it} of {len(found)} trials are not compared: they have no account, or not of one download by "
            "itself over one link (a page, a video, an upload, several objects, a proxy, another address, other flows)"
        )
    lines += [f"{level}: {len(trials)} refused ({trials[0]}): {reason}" for (level, reason), trials in refused.items()]
    return lines, sum(one.beyond_ms > 0 for several in rows.values() for _, one in several)
