# SPDX-License-Identifier: Apache-2.0
"""Sentences about a search for settings: its plan, and what fresh blocks say of what it chose."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from quiclab.cli.confirm import typed_path
from quiclab.model.number_text import counted, ends_text, level, listed, percent, quantity, span
from quiclab.study.tune.minutes import FRESH_ENDS, RACE, race_s
from quiclab.study.tune.result import JudgedDifference, SideEffect, TuningResult
from quiclab.study.tune.tuning_plan import TuningPlan, neighbour_pairs


def plan_lines(plan: TuningPlan) -> list[str]:
    """The plan, a line each."""
    arm = plan.cell.arm
    programs = listed([f"{program.name} ({role})" for role, program, _ in arm.programs()])
    why = f", {plan.why_this_arm}" if plan.why_this_arm else ""
    blocks = counted(plan.least_pairs, "fresh pair")
    lines = [
        *_before(plan),
        f"Tunes {arm.name}{why}, in {plan.cell.name}: {programs}, by {plan.metric}.",
        f"{plan.minutes:g} min at {plan.trial_s:.1f} s a trial. {counted(len(plan.candidates), 'setting')} race:",
        *_in_columns([each.text for each in plan.candidates]),
    ]
    if plan.left_out:
        every = len(plan.candidates) + len(plan.left_out)
        needed = math.ceil(race_s(every, plan.trial_s) / RACE / 60)
        more = counted(len(plan.left_out), "more setting")
        lines.append(
            f"Left for further heats, as far as this one leaves time: {more}, which --json lists. "
            f"--minutes {needed} is enough for all in any case; --knob or --end choose."
        )
    lines.append(
        f"The fastest then runs against {arm.name} as it is: {blocks} at least, about {plan.fits.fresh_blocks} by "
        f"{span(60 * FRESH_ENDS * plan.minutes)}. Gain and verdict come from these alone."
    )
    if plan.neighbours:
        pairs = counted(neighbour_pairs(plan), "pair")
        lines.append(f"If it is faster, {pairs} each check it with {listed([str(each) for each in plan.neighbours])}.")
    if plan.unchecked:
        lines.append(f"Too few minutes to check it with {listed([str(each) for each in plan.unchecked])}.")
    return lines


def _before(plan: TuningPlan) -> Iterator[str]:
    """Say what an earlier search that was ended is for this one."""
    if plan.progress is not None:
        spent = span(plan.progress.spent_s)
        yield (
            f"Goes on with {typed_path(plan.directory)}, of whose {plan.minutes:g} min {spent} are used up. For a new "
            "search move that folder away."
        )
    if plan.passed_over:
        yield f"Does not go on, a new search begins: {plan.passed_over}."


def result_lines(result: TuningResult) -> list[str]:
    """The result, a line each."""
    settings = counted(len(result.candidates), "setting")
    if result.setting is None:
        if not result.rounds:
            return ["Nothing was measured."]
        none = f"No setting of these {len(result.candidates)} was shown to be faster: none was in the race."
        return [none, *_not_raced(result)]
    if result.found is None:
        best = f"Best so far: {result.setting}. It is not tested: no fresh blocks have judged it."
        return [best, *_not_raced(result)]
    lines = ["", _verdict(result, settings)]
    found = result.found
    if found.verdict == "faster":
        lines += [*_networks(result), *_besides(result), *_paste(result)]
    elif found.verdict in ("not shown", "equivalent", "slower"):
        lines.append(f"No setting of these {len(result.candidates)} was shown to be faster.")
    lines += _not_raced(result)
    if result.fresh_directory is not None:
        lines += ["", f"The fresh blocks are a study of their own: quiclab report {typed_path(_path(result))}"]
    return lines


def _not_raced(result: TuningResult) -> Iterator[str]:
    if result.left_out:
        yield f"{counted(len(result.left_out), 'more setting')} did not race:"
        yield from _in_columns(list(result.left_out))


def _path(result: TuningResult) -> Path:
    return Path(result.fresh_directory or "")


def _verdict(result: TuningResult, settings: str) -> str:
    found = result.found
    assert found is not None, "what is not tested has no verdict"
    pairs = counted(found.pairs, "fresh pair")
    behind = f"({_interval(found)}, {pairs}; median {_medians(found, result.unit)}; chosen from {settings})"
    amount = percent(abs(found.difference_pct), signed=False) if found.difference_pct is not None else "not"
    name = f"{result.arm} in {result.cell}"
    if found.verdict in ("faster", "slower"):
        how = found.verdict if result.metric.endswith("_ms") else {"faster": "better", "slower": "worse"}[found.verdict]
        return f"{name} is {amount} {how} with {result.setting} {behind}."
    if found.verdict == "equivalent":
        return f"{name} is equivalent with {result.setting} {behind}."
    if found.verdict == "not judged":
        return f"{name} with {result.setting} is not judged: the machine disturbed the trials. Run it while less runs."
    return f"{name} is not shown to be faster with {result.setting} {behind}."


def _interval(found: JudgedDifference) -> str:
    if found.low_pct is None or found.high_pct is None:
        return percent(found.difference_pct)
    ends = ends_text(found.low_pct, found.high_pct, lambda value: percent(value).removesuffix(" %"), " %")
    return f"{percent(found.difference_pct)}, {ends} at {level(found.confidence)}"


def _medians(found: JudgedDifference, unit: str) -> str:
    return f"{quantity(found.before_in_unit, unit)} → {quantity(found.after_in_unit, unit)}"


def _networks(result: TuningResult) -> Iterator[str]:
    if not result.neighbours:
        yield "It was not checked over other networks."
        return
    yield "Over neighbouring networks, which did not choose it:"
    width = max(len(each.network) for each in result.neighbours)
    for each in result.neighbours:
        yield f"  {each.network:{width}}  {each.found.verdict} ({_interval(each.found)}, {each.found.pairs} pairs)"


def _besides(result: TuningResult) -> Iterator[str]:
    if not result.side_effects:
        yield "No other metric of those that were looked at is shown to differ."
        return
    yield "It changes besides:"
    width = max(len(each.title) for each in result.side_effects)
    for each in result.side_effects:
        change = f" ({percent(each.difference_pct)})" if each.difference_pct is not None else ""
        medians = f"{_value(each, each.before_in_unit)} → {_value(each, each.after_in_unit)}"
        yield f"  {each.title:{width}}  {medians}{change}"


def _value(effect: SideEffect, value: float | None) -> str:
    if effect.unit == "bytes" and value is not None and math.isfinite(value):
        return f"{value:,.0f} B".replace(",", "\u2009")
    return quantity(value, effect.unit)


def _paste(result: TuningResult) -> Iterator[str]:
    yield "To paste into a spec:"
    for line in (result.arm_table or "").splitlines():
        yield f"  {line}"
    for each in result.program_lines:
        if each.is_ours:
            yield f"{each.program}: a knob of quiclab's own program around the library, which reads no configuration."
            continue
        yield f"{each.program}:"
        for line in each.lines:
            yield f"  {line}"


def _in_columns(texts: list[str], width: int = 100) -> list[str]:
    """Texts in lines of several."""
    longest = max(map(len, texts)) + 2
    columns = max(1, width // longest)
    rows = [texts[first : first + columns] for first in range(0, len(texts), columns)]
    return ["  " + "".join(f"{each:{longest}}" for each in row).rstrip() for row in rows]
