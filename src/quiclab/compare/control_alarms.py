# SPDX-License-Identifier: Apache-2.0
"""Each arm against itself: what this laboratory measures where there is no difference, and when it finds one."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.compare import comparison_words
from quiclab.compare.model import Comparison, StudyAnalysis
from quiclab.model import number_text
from quiclab.model.text_table import TextTable


def is_alarm(control: Comparison, alpha: float) -> bool:
    """True if an arm was found to differ from itself: by its test, or by an interval that excludes zero."""
    interval = control.interval_pct or control.interval
    excludes = interval is not None and (interval.low > 0 or interval.high < 0)
    return excludes or (control.p is not None and control.p <= alpha)


def control_notes(controls: Sequence[Comparison], alpha: float) -> tuple[str, ...]:
    """Return the sentence that must stand at the answer where an arm differs from itself."""
    alarms = [control for control in controls if is_alarm(control, alpha)]
    if not alarms:
        return ()
    found = number_text.listed([_found(control) for control in alarms])
    chance = 100 * (1 - (1 - alpha) ** len(controls))
    return (
        f"False alarm in the A/A control: {found}, although both runs are of the same program on the same network. "
        f"With {number_text.counted(len(controls), 'control')} this happens by chance in about {chance:.0f} % of "
        "studies; it also happens where something disturbs the trials one after another. Doubt differences of that "
        "size, and run the study again with another seed: an alarm that comes back is the laboratory's.",
    )


def control_table(analysis: StudyAnalysis) -> TextTable:
    """Return the table of the A/A cells."""
    rows = tuple(
        (
            _arm(c),
            comparison_words.cell_name(c, analysis),
            comparison_words.estimate_text(c, analysis.metric),
            comparison_words.estimate_interval(c, analysis.metric, 1 - analysis.alpha),
            number_text.p_text(c.p),
            str(c.pairs),
            "differs from itself: a false alarm" if is_alarm(c, analysis.alpha) else "",
        )
        for c in analysis.controls
    )
    return TextTable(
        "Each arm against itself (A/A)",
        "What this laboratory measures where there is no difference: the interval of the difference is the noise of "
        "that cell. Both trials of a pair meet the same draws of loss and jitter with the same program: "
        "this noise lacks what two protocols make of the same draws. The p-values are not corrected: "
        f"each control is a false alarm in at most {100 * analysis.alpha:g} % of studies.",
        (
            "arm",
            "cell",
            comparison_words.difference_heading(analysis.metric),
            f"its {number_text.level(1 - analysis.alpha)} interval",
            "p",
            "pairs",
            "",
        ),
        rows,
        "No A/A cell was run: the noise floor is unknown.",
    )


def _found(control: Comparison) -> str:
    interval = number_text.interval_text(control.interval_pct, unit=" %")
    told = [f"interval {interval}"] if interval else []
    if control.p is not None:
        told.append(f"p {number_text.p_sign(control.p)}")
    return f"{_arm(control)} differs from itself ({', '.join(told)})"


def _arm(control: Comparison) -> str:
    return control.baseline.arm.partition("#")[0]
