# SPDX-License-Identifier: Apache-2.0
"""Packets that an end threw away though they had arrived: a loss that the machine or the program adds to the path's."""

from __future__ import annotations

from quiclab.compare.metric_values import by_path_and_arm, middle, worst
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.text_table import TextTable

_ENDS = ("client", "server")


def refusal_notes(study: Study) -> list[str]:
    """Return a sentence for each end and arm that refused packets in any verified trial."""
    notes = []
    for end in _ENDS:
        trials: dict[str, list[float]] = {}
        for _, arm, values in by_path_and_arm(study, f"{end}_refused_packets"):
            trials.setdefault(arm, []).extend(values.to_list())
        for arm, counts in trials.items():
            if hit := [count for count in counts if count]:
                of = f"{len(hit)} of {number_text.counted(len(counts), 'trial')} of {arm}"
                notes.append(
                    f"In {of} the {end} threw away QUIC packets that had arrived, up to {max(hit):.0f}: it did not "
                    "keep up, and the sender took that for congestion."
                )
    return notes


def refusal_table(study: Study, analysis: StudyAnalysis) -> TextTable:
    """Table of refused packets by network, arm and end, with a row where there were any."""
    rows = [
        (
            analysis.path_titles.get(path, path),
            arm,
            end,
            f"{values.filter(values > 0).len()} of {values.len()}",
            _packets(middle(values)),
            _packets(worst(values)),
        )
        for end in _ENDS
        for path, arm, values in by_path_and_arm(study, f"{end}_refused_packets")
        if worst(values) > 0
    ]
    return TextTable(
        "Packets that an end refused",
        "QUIC packets that had arrived and that the kernel or the program threw away, its buffer or queue being full: "
        "loss that no path caused. A faster machine, or a slower path, has less of it.",
        ("network", "arm", "end", "trials with any", "median trial", "worst trial"),
        tuple(rows),
        "No end is known to have dropped a packet that had arrived.",
    )


def _packets(number: float) -> str:
    return f"{number_text.count(number)} packet{'' if number == 1 else 's'}"
