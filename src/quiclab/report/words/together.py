# SPDX-License-Identifier: Apache-2.0
"""Sentences about two or three causes that are taken away in all combinations."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.compare.statistics import Interval
from quiclab.model import number_text
from quiclab.report.words.confirmation import in_ms, span, value_text
from quiclab.why.confirm.factorial import Difference, Part, Together
from quiclab.why.confirm.joint_declaration import DeclaredTogether
from quiclab.why.confirm.joint_records import KeptTogether


def declaration(declared: DeclaredTogether, titles: Mapping[str, str]) -> list[str]:
    """Declaration before the run, a line each."""
    lines = [
        f"{declared.cell}: {number_text.listed([titles[cause] for cause in declared.predicted])} in {declared.arm}, "
        f"which takes {in_ms(declared.total_ms)} (median)."
    ]
    for cause, predicted in declared.predicted.items():
        table, key, value = declared.settings[cause]
        lines.append(
            f"  {cause}: share {in_ms(predicted.ms)} ({span(predicted.low_ms, predicted.high_ms)}); taken away by "
            f"{table}.{key} = {value_text(value)}"
        )
    arms = ", ".join(place.arm for place in declared.places.values())
    lines.append(f"Each block runs {declared.arm} in all combinations, in random order and with one seed: {arms}.")
    lines.append(
        f"Declared before the run (sha256 {declared.sha256[:16]}…): each cause's part is its Shapley value, and "
        "decided where its interval excludes 0 or lies within a quarter of its share."
    )
    return lines


def result(declared: DeclaredTogether, found: Together, titles: Mapping[str, str]) -> list[str]:
    """Result of the run, a line each."""
    blocks = number_text.counted(found.blocks, "block")
    lines = [
        f"Without all of them {declared.cell} in {declared.arm} takes {_time_text(found.whole)} less, in {blocks}."
    ]
    lines += [
        f"  {titles[each.cause]}: {_time_text(each.part)} of it ({_orders(each)}{_removed(each)})"
        for each in found.parts
    ]
    lines.append(
        "The parts are Shapley values, means over all orders; in each block they add up to the whole. A cause that "
        "takes less when it goes first than when it goes last hides behind another one."
    )
    return lines


def in_a_line(kept: KeptTogether, titles: Mapping[str, str]) -> str:
    """The result in one sentence, for a list of causes."""
    if not kept.sound:
        named = number_text.listed([titles.get(cause, cause) for cause in kept.parts_ms])
        return (
            f"{named} together: the declaration was changed after it had been kept, so that the run counts for nothing."
        )
    parts = [f"{titles.get(cause, cause)} {_ms_or_unknown(ms)}" for cause, ms in kept.parts_ms.items()]
    still = f"; not decided: {number_text.listed([titles.get(each, each) for each in kept.open_parts])}" * bool(
        kept.open_parts
    )
    return (
        f"Run without several causes: {kept.cell} in {kept.arm} takes {_ms_or_unknown(kept.whole_ms)} less without all "
        f"of them, in {number_text.counted(kept.blocks, 'block')}; of it {number_text.listed(parts)}{still}."
    )


def _ms_or_unknown(ms: float | None) -> str:
    return "an unknown time" if ms is None else in_ms(ms)


def document(declared: DeclaredTogether, found: Together) -> dict[str, object]:
    """The result as JSON has it."""
    return {
        "arm": declared.arm,
        "blocks": found.blocks,
        "whole": _json(found.whole),
        "parts": [
            {
                "cause": part.cause,
                "removed_share": part.removed_share,
                "part": _json(part.part),
                "first": _json(part.first),
                "last": _json(part.last),
                "decided": part.decided,
            }
            for part in found.parts
        ],
    }


def _orders(part: Part) -> str:
    return f"{_time_text(part.first)} where it goes first, {_time_text(part.last)} where it goes last"


def _removed(part: Part) -> str:
    return "" if part.removed_share is None else f"; {100 * part.removed_share:.0f} % of its own time is gone"


def _time_text(difference: Difference) -> str:
    if difference.ms is None:
        return "an unknown time"
    interval = difference.interval
    return in_ms(difference.ms) + ("" if interval is None else f" [{span(interval.low, interval.high)}]")


def _json(difference: Difference) -> dict[str, object]:
    return {"ms": _finite(difference.ms), "interval": _ends(difference.interval)}


def _ends(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_finite(interval.low), _finite(interval.high)]


def _finite(value: float | None) -> float | None:
    return None if value is None or value in (float("inf"), -float("inf")) else value
