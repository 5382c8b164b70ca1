# SPDX-License-Identifier: Apache-2.0
"""Sentences about causes: what a verdict says of one part of a cell's difference, and what its evidence is."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.model import number_text
from quiclab.report.words.account import longer
from quiclab.report.words.confirmation import in_a_line
from quiclab.why.accounts import Waterfall
from quiclab.why.cause_parts import FactOfArms, Follower
from quiclab.why.causes import Status, Verdict
from quiclab.why.mechanisms import BY_NAME


def sentence(verdict: Verdict, waterfall: Waterfall) -> str:
    """Say what one part takes in both arms, by how much they differ in it, and what is known of its cause."""
    base, other = waterfall.comparison.baseline.arm, waterfall.comparison.other.arm
    step, pairs = verdict.step, number_text.counted(waterfall.pairs, "pair")
    took = f"{_ms(step.other_ms)} against {_ms(step.baseline_ms)}"
    told = (
        f"{title(verdict)}: {other} takes {longer(step.difference_ms)} ({took}{_interval(verdict)}){_followed(verdict)}"
    )
    decided = f" ({', '.join(verdict.evidence)})" if verdict.evidence else ""
    if verdict.status.names_one:
        return f"{told}{decided}.{_fixed(verdict)}{_tested(verdict)}"
    if verdict.status is Status.LUCK:
        return f"{told}. Mostly luck: had both arms lost as many of their packets, less than half of it would be left."
    if verdict.status is Status.SEVERAL:
        names = "; ".join(each.title for each in verdict.rivals)
        return f"{told}. The records do not tell which of these it is{decided}: {names}."
    if verdict.status is Status.UNKNOWN:
        return f"{told}. No mechanism that quiclab knows fits what the records show{decided}."
    if verdict.status is Status.UNDECIDED:
        more = (verdict.pairs_needed or 0) > waterfall.pairs
        show = "does not show it" if waterfall.pairs == 1 else "do not show it"
        needed = f"; about {verdict.pairs_needed} would" if more else ""
        return f"{title(verdict)}: {longer(step.difference_ms)} in {other} on average; {pairs} {show}{needed}."
    return f"{title(verdict)}: in both arms, {_ms(step.baseline_ms)} in {base} and {_ms(step.other_ms)} in {other}."


def _followed(verdict: Verdict) -> str:
    """Say how much of the time is that of mechanisms which follow from this one."""
    if not verdict.followers:
        return ""
    parts = [f"{_ms(abs(each.difference_ms))} of {each.mechanism.title}" for each in verdict.followers]
    return f", with {number_text.listed(parts)} that follow from it"


def _fixed(verdict: Verdict) -> str:
    """Say by which count the records show the difference, where they do so by themselves."""
    fixed = verdict.fixed
    if fixed is None:
        return ""
    other, baseline = (_number(each, "") for each in (fixed.other, fixed.baseline))
    unit = fixed.counted.unit or fixed.counted.fact.replace("_", " ")
    return f" Shown by the records: {other} against {baseline} {unit}, alike in every one of {fixed.pairs} pairs."


def _tested(verdict: Verdict) -> str:
    test = verdict.tested
    if test is None or verdict.mechanism is None:
        return ""
    return f" {in_a_line(test.declared, test.judgement, verdict.mechanism.title, test.sound)}"


def title(verdict: Verdict) -> str:
    """Return the name of a part, as the beginning of a sentence."""
    return verdict.title[:1].upper() + verdict.title[1:]


def rest_ms(waterfall: Waterfall, found: Sequence[Verdict]) -> float | None:
    """Difference of the parts that are too small to be told; None where no part is told."""
    if not found or not waterfall.pairs:
        return None
    return waterfall.total.difference_ms - sum(verdict.step.difference_ms for verdict in found)


def details(verdict: Verdict, waterfall: Waterfall, found: Sequence[Verdict]) -> list[str]:
    """Say what is behind a verdict: its numbers in both arms, what speaks against it, and which rivals take no time.

    `found` has all verdicts of the cell.
    """
    if verdict.mechanism is None:
        return [*map(_why_it_follows, verdict.followers)]
    lines = []
    shown = [fact for fact in verdict.facts if fact.name != "waits"]
    if shown:
        arms = f"{waterfall.comparison.baseline.arm} / {waterfall.comparison.other.arm}"
        lines.append(f"Means of {arms}, over the trials that show it: {'; '.join(map(_fact, shown))}.")
    lines += [*map(_why_it_follows, verdict.followers), *verdict.against]
    if verdict.status.names_one and verdict.status is not Status.REJECTED:
        there = {each.mechanism.name for each in found if each.mechanism}
        absent = [
            f"{BY_NAME[rival.name].title} ({rival.told_apart_by})"
            for rival in verdict.mechanism.rivals
            if rival.name in BY_NAME and rival.name not in there
        ]
        if absent:
            lines.append(f"No wait is due to: {'; '.join(absent)}.")
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
        return number_text.quantity(value, "ms")
    told = number_text.number(value) if abs(value) < 1000 else f"{value:,.0f}"
    return f"{told} {unit}".rstrip()


def _interval(verdict: Verdict) -> str:
    interval = verdict.step.interval_ms
    # What the records show by themselves needs no interval, and one that the pairs do not bound says nothing of it.
    if interval is None or interval.low <= 0 <= interval.high:
        return ""
    return f"; {_signed(interval.low)} … {_signed(interval.high)}"


def _signed(value: float) -> str:
    if value == float("inf") or value == float("-inf"):
        return "+∞" if value > 0 else "−∞"
    return f"{'−' if value < 0 else '+'}{number_text.quantity(abs(value), 'ms')}"


def _ms(value: float) -> str:
    return number_text.quantity(value, "ms")


PARTED_BY_CAUSE = "Waits and causes split the same difference in two ways: do not add them up"
"""Sentence that tells a list of causes from the waits of a breakdown."""
UNPROVEN = (
    "A cause is what the records show in the time that differs. Only a run without it proves it: "
    "quiclab explain STUDY CELL --confirm."
)
"""Basis of verdicts, and what proves one."""
