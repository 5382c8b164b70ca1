# SPDX-License-Identifier: Apache-2.0
"""Sentences of an explanation: the headline of a cell, a sentence for each of its causes, and what stands behind it.

The headline names the entries of the list of causes below it, with the same numbers. The terminal, `quiclab explain`,
its JSON and the report all take their sentences from here.
"""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.compare.comparison_words import least_pairs_words
from quiclab.compare.model import Conclusion, StudyAnalysis
from quiclab.compare.statistics import smallest_p
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.cause import Why
from quiclab.report.words import together
from quiclab.report.words.account import interval_of, longer, other_time_note, single_look_note, time_text
from quiclab.report.words.confirmation import in_a_line
from quiclab.why.accounts import Step
from quiclab.why.cause_parts import FactOfArms, Follower
from quiclab.why.causes import Status, Verdict
from quiclab.why.confirm.records import Confirmation
from quiclab.why.explanation import DifferencePart, Explanation, readable_explanations
from quiclab.why.mechanisms import BY_NAME
from quiclab.why.prediction.conditions import SLOW_START
from quiclab.why.prediction.effects import LARGE_INITIAL_WINDOW
from quiclab.why.prediction.in_arm import Range

_MOST = 3
"""Parts that are named where none is shown."""
_CANCELS = 0.25
"""Share of the gains that losses must reach (or the reverse) for the two to be told as cancelling."""
PARTED_BY_CAUSE = "Waits and causes split the same difference in two ways: do not add them up"
"""Sentence that tells a list of causes from the waits of a breakdown."""
UNPROVEN = (
    "A cause is what the records show in the time that differs. Only a run without it proves it: "
    "quiclab explain STUDY CELL --confirm."
)
"""Basis of verdicts, and what proves one."""


def because_lines(study: Study, analysis: StudyAnalysis) -> list[str]:
    """Return one line for each judged cell with an account; one that says so where the metric is another than that of
    the accounts. The reason why a cell is not judged is told before them, once for all cells."""
    cells = readable_explanations(study.directory, analysis, foretold=False) or ()
    found = [each for each in cells if each.waterfall.pairs and each.judged]
    if not found:
        return []
    if note := other_time_note(analysis.metric.name, found[0].waterfall.of, study.directory.name):
        return [note]
    notes = [note] if (note := single_look_note(analysis)) else []
    other = f" --metric {analysis.metric.name}" if analysis.page != "report" else ""
    more = f"More: quiclab explain {number_text.from_here(study.directory)}{other}"
    return [*(f"{compared_in(each, analysis)}: {headline(each)}" for each in found), *notes, more]


def compared_in(explanation: Explanation, analysis: StudyAnalysis) -> str:
    """Name of a cell, with both of its arms where several pairs of arms are compared."""
    pairs = {(each.baseline.arm, each.other.arm) for each in analysis.comparisons}
    compared = explanation.comparison
    return explanation.cell_name + (f", {compared.other.arm} against {compared.baseline.arm}" if len(pairs) > 1 else "")


def headline(explanation: Explanation) -> str:
    """Say by how much the other arm's mean time differs, which of the causes below are shown, and which are unclear.

    Where the cell's tables name no causes, the waits of the account stand in their place.
    """
    return " ".join(filter(None, (*_because(explanation), _typical_pair(explanation))))


def lead(explanation: Explanation) -> str:
    """Return the headline's first sentence: the difference with the causes that are shown, or without any; and with it
    the typical pair where that shows something else."""
    first, *_ = _because(explanation)
    return " ".join(filter(None, (first, _typical_pair(explanation))))


def further(explanation: Explanation) -> str:
    """Return the headline without its `lead`: what cancels, what is mostly chance and what is unclear; may be empty."""
    _, *told = _because(explanation)
    return " ".join(told)


def _because(explanation: Explanation) -> list[str]:
    """Sentences, the first with the difference."""
    if not explanation.waterfall.pairs:
        return ["no pair has an account of its time."]
    if not explanation.judged:
        return [f"not judged. {explanation.comparison.why}".rstrip()]
    waterfall, parts = explanation.waterfall, explanation.parts
    told, noun = _whole(explanation), "cause" if explanation.causes else "wait"
    shown = [each for each in parts if each.shown and not each.luck]
    luck = [each for each in parts if each.shown and each.luck]
    unclear = [each for each in parts if not each.shown]
    pairs = number_text.counted(waterfall.pairs, "pair")
    if not shown and not luck:
        verb = "shows" if waterfall.pairs == 1 else "show"
        named = [f"Largest on average: {_listed(unclear[:_MOST])}."] if unclear else []
        return [f"{told}; {pairs} {verb} no {noun}.", *named]
    cancels = _one_wait(explanation) or _cancelling(shown)
    sentences = [f"{told}: {_listed(shown)}." if shown else f"{told}.", cancels]
    if luck:
        sentences.append(f"Mostly chance: {_listed(luck)}.")
    if unclear:
        sentences.append(f"Unclear with {pairs}: {_listed(unclear)}.")
    return [*filter(None, sentences)]


def clause(part: DifferencePart) -> str:
    """Return a part as the headline has it: its name and its number."""
    return f"{part.name} ({signed(part.difference_ms)})"


def signed(difference_ms: float) -> str:
    """Return a difference with its sign: `−1.21 s`; positive where the other arm takes longer."""
    return f"{'+' if difference_ms > 0 else '−'}{time_text(abs(difference_ms))}"


def _whole(explanation: Explanation) -> str:
    """Say what the pairs show of the mean times: one verdict, and an interval that agrees with it."""
    total, alpha, pairs = explanation.waterfall.total, explanation.alpha, explanation.waterfall.pairs
    interval = f" ({interval_of(total)})" if total.interval_ms else ""
    takes = f"{explanation.comparison.other.arm} takes {longer(total.difference_ms)} on average"
    if total.differs(alpha):
        return f"{takes}{interval}"
    if smallest_p(pairs) > alpha:
        few, verb = number_text.counted(pairs, "pair"), "is" if pairs == 1 else "are"
        return f"{takes}, and {few} {verb} too few to show a difference ({least_pairs_words(alpha)})"
    return f"{takes}{interval}, not significant with {number_text.counted(pairs, 'pair')}"


def _typical_pair(explanation: Explanation) -> str:
    """Say what the typical pair shows where the mean times say something else, so that neither contradicts the other:
    times add up in means, and the answer of a cell is that of the typical pair, which single trials hardly move."""
    if not explanation.waterfall.pairs:
        return ""
    comparison, total = explanation.comparison, explanation.waterfall.total
    shown, pct = total.differs(explanation.alpha), comparison.difference_pct
    if shown and comparison.conclusion in (Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE):
        return "In the typical pair, which the answer is about, the arms are equivalent."
    if not comparison.conclusion.found or pct is None or (shown and (total.difference_ms < 0) == (pct < 0)):
        return ""
    less = "less" if pct < 0 else "more"
    takes = f"{comparison.other.arm} takes {number_text.percent(abs(pct), signed=False)} {less} time"
    why = "single trials far off move the mean" if shown else "the mean, which single trials move, does not show it"
    return f"In the typical pair, which the answer is about, {takes}: {why}."


def _listed(parts: Sequence[DifferencePart]) -> str:
    return number_text.listed([clause(each) for each in parts])


def _cancelling(shown: Sequence[DifferencePart]) -> str:
    """Say so where gains and losses are both large: their sum alone would hide them."""
    more = sum(each.difference_ms for each in shown if each.difference_ms > 0)
    less = -sum(each.difference_ms for each in shown if each.difference_ms < 0)
    if min(more, less) < _CANCELS * max(more, less) or not min(more, less):
        return ""
    return f"{time_text(more)} more and {time_text(less)} less partly cancel out."


def _one_wait(explanation: Explanation) -> str:
    """Say how much longer two causes take together where one is a part of the other's waits and only their shares
    moved: each number alone would tell of a difference that their sum does not have."""
    found = [each for each in explanation.causes if each.status.names_one and each.mechanism is not None]
    for part in found:
        divided = part.mechanism.divides.mechanisms if part.mechanism and part.mechanism.divides else ()
        whole = [each for each in found if each.name in divided]
        more, less = part.step.difference_ms, sum(each.step.difference_ms for each in whole)
        if more * less < 0 and min(abs(more), abs(less)) >= _CANCELS * max(abs(more), abs(less)):
            titles = number_text.listed([each.title for each in whole])
            takes = f"{explanation.comparison.other.arm} takes {longer(more + less)}"
            return f"{_title(part)} is counted apart from {titles}: together {takes}."
    return ""


def parting(explanation: Explanation) -> str:
    """Say in which stage of the transfer the arms first differ; empty where there is nothing to say of it."""
    first = explanation.first_stage
    if first is None or first.label is None:
        return ""
    other = explanation.comparison.other.arm
    return f"They first differ in the {first.label.heading}, where {other} takes {longer(first.difference_ms)}."


def sentence(verdict: Verdict, explanation: Explanation, *, evidence: bool = True) -> str:
    """Say what one part takes in both arms, by how much they differ in it, and what is known of its cause; with
    `evidence` also which tables decided it."""
    base, other = explanation.comparison.baseline.arm, explanation.comparison.other.arm
    step, pairs = verdict.step, explanation.waterfall.pairs
    took = f"{time_text(step.other_ms)} against {time_text(step.baseline_ms)}"
    told = (
        f"{_title(verdict)}: {other} takes {longer(step.difference_ms)} ({took}{_interval(step)}){_followed(verdict)}"
    )
    decided = f" ({', '.join(verdict.evidence)})" if evidence and verdict.evidence else ""
    if verdict.status.names_one:
        return f"{told}{decided}.{_fixed(verdict)}{_without(verdict, explanation)}{_tested(verdict)}"
    if verdict.status is Status.LUCK:
        return f"{told}. Mostly chance: had both arms lost as many of their packets, less than half of it would remain."
    if verdict.status is Status.SEVERAL:
        names = "; ".join(each.title for each in verdict.rivals)
        return f"{told}. The records do not tell which of these it is{decided}: {names}."
    if verdict.status is Status.UNKNOWN:
        return f"{told}. No mechanism that quiclab knows fits what the records show{decided}."
    if verdict.status is Status.UNDECIDED:
        show = "is too few to be sure" if pairs == 1 else "are too few to be sure"
        needed = f", about {verdict.pairs_needed} would be enough" if (verdict.pairs_needed or 0) > pairs else ""
        average = f"{longer(step.difference_ms)} in {other} on average"
        return f"{_title(verdict)}: {average}; {number_text.counted(pairs, 'pair')} {show}{needed}."
    both = f"{time_text(step.baseline_ms)} in {base} and {time_text(step.other_ms)} in {other}"
    return f"{_title(verdict)}: in both arms, {both}."


def _title(verdict: Verdict) -> str:
    """Return the name of a part, as the beginning of a sentence."""
    return verdict.title[:1].upper() + verdict.title[1:]


def _interval(step: Step) -> str:
    interval = step.interval_ms
    # What the records show by themselves needs no interval, and one that the pairs do not bound says nothing of it.
    if interval is None or interval.low <= 0 <= interval.high:
        return ""
    return f"; {number_text.ends_text(interval.low, interval.high, signed)}"


def _followed(verdict: Verdict) -> str:
    """Say how much of the time is that of mechanisms which follow from this one."""
    if not verdict.followers:
        return ""
    parts = [f"{time_text(abs(each.difference_ms))} of {each.mechanism.title}" for each in verdict.followers]
    return f", with {number_text.listed(parts)} that follow from it"


def _fixed(verdict: Verdict) -> str:
    """Say by which count the records show the difference, where they do so by themselves."""
    fixed = verdict.fixed
    if fixed is None:
        return ""
    other, baseline = (_number(each, "") for each in (fixed.other, fixed.baseline))
    unit = fixed.counted.unit or fixed.counted.fact.replace("_", " ")
    return f" Shown by the records: {other} against {baseline} {unit}, the same in each of {fixed.pairs} pairs."


def _without(verdict: Verdict, explanation: Explanation) -> str:
    """Say by how much the arm would be faster without the mechanism, where its records tell that another limit would
    then hold, or that something else goes with it."""
    effect, step, comparison = verdict.without, verdict.step, explanation.comparison
    arm, took_ms = (
        (comparison.other.arm, step.other_ms) if step.difference_ms > 0 else (comparison.baseline.arm, step.baseline_ms)
    )
    if effect is None or (effect.next_why is None and effect.gone.low_ms <= took_ms <= effect.gone.high_ms):
        return ""
    told = f" {_absent(verdict)} {arm} would take {_range_text(effect.gone)} less, by its records"
    if effect.next_why is None or effect.next_why is Why.LABORATORY:  # a little lateness of the laboratory is no limit
        return f"{told}."
    following = effect.next.title if effect.next is not None else effect.next_why.heading
    both = effect.gone_of_both
    beside = f" (without both: {_range_text(both)} less)" if both is not None else ""
    return f"{told}: {following} would hold it back next{beside}."


def _absent(verdict: Verdict) -> str:
    """Say what the prediction leaves out. A transfer without slow start is one with a large window to begin with."""
    slow_start = verdict.mechanism is not None and verdict.mechanism.name == SLOW_START
    return f"With an initial window of {LARGE_INITIAL_WINDOW} packets" if slow_start else "Without it"


def _range_text(gone: Range) -> str:
    return number_text.ends_text(gone.low_ms, gone.high_ms, time_text)


def _tested(verdict: Verdict) -> str:
    return "" if verdict.tested is None or verdict.mechanism is None else f" {_run(verdict.tested)}"


def run_lines(explanation: Explanation) -> list[str]:
    """Say what runs without a cause showed, where no verdict of the cell does, and those without several causes."""
    titles = {name: mechanism.title for name, mechanism in BY_NAME.items()}
    joint = (together.in_a_line(each, titles) for each in explanation.joint_runs)
    return [*map(_run, explanation.runs_beside), *joint]


def _run(run: Confirmation) -> str:
    cause = run.declared.mechanism
    title = BY_NAME[cause].title if cause in BY_NAME else cause
    return in_a_line(run.declared, run.judgement, title, run.sound)


def details(verdict: Verdict, explanation: Explanation) -> list[str]:
    """Say what is behind a verdict: its numbers in both arms, what speaks against it, and the rivals ruled out."""
    if verdict.mechanism is None:
        return [*map(_why_it_follows, verdict.followers)]
    lines = []
    shown = [fact for fact in verdict.facts if fact.name != "waits"]
    if shown:
        arms = f"{explanation.comparison.baseline.arm} / {explanation.comparison.other.arm}"
        lines.append(f"Means of {arms}, over the trials that show it: {'; '.join(map(_fact, shown))}.")
    lines += [*map(_why_it_follows, verdict.followers), *verdict.against]
    if verdict.status.names_one and verdict.status is not Status.REJECTED:
        there = {each.mechanism.name for each in explanation.causes if each.mechanism}
        absent = [
            f"{BY_NAME[rival.name].title} (sign: {rival.told_apart_by})"
            for rival in verdict.mechanism.rivals
            if rival.name in BY_NAME and rival.name not in there
        ]
        if absent:
            lines.append(f"Ruled out, as their signs are missing: {'; '.join(absent)}.")
    return lines


def _why_it_follows(follower: Follower) -> str:
    named = follower.mechanism.title[:1].upper() + follower.mechanism.title[1:]
    numbers = "; ".join(map(_fact, follower.facts))
    shown = f": {numbers}" if numbers else ", as far as the records show"
    return f"{named} takes longer and does not differ by itself{shown}."


def _fact(fact: FactOfArms) -> str:
    name = fact.name.replace("_", " ")
    return f"{name} {_number(fact.baseline, fact.unit)} / {_number(fact.other, fact.unit)}"


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "ms":
        return time_text(value)
    told = number_text.number(value) if abs(value) < 1000 else f"{value:,.0f}"
    return f"{told} {unit}".rstrip()
