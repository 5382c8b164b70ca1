# SPDX-License-Identifier: Apache-2.0
"""Sentences about a cause that is put to the test: what is declared, what the run showed, and what to try next.

Three numbers keep their names: the *share* of an account that a cause has, the *prediction* that was declared, and the
*effect* that a run without it measured.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from quiclab.compare.statistics import Interval
from quiclab.model import number_text
from quiclab.why.account import Why
from quiclab.why.confirm.declaration import (
    DOSE,
    FAST,
    FAST_WITHOUT,
    LEAST_REMOVED,
    NOT_APPLICABLE,
    REPLAY,
    SHAM,
    WITH,
    WITHOUT,
    Declared,
    Value,
)
from quiclab.why.confirm.judge import Check, Effect, Judgement, State, Verdict

_LETTERS = {"removed": "a", "moved": "b", "stayed_away": "c", "dose": "d", "sham": "e", "given": "f"}
_NAMES = {
    "removed": "removed",
    "moved": "moved",
    "stayed_away": "did not come back",
    "dose": "dose",
    "sham": "sham",
    "given": "makes the difference",
}


def setting(declared: Declared, value: Value | None = None) -> str:
    """The setting with its value: `sender.stream_window = 1 MiB`."""
    shown = declared.value if value is None else value
    return f"{declared.table}.{declared.key} = {value_text(shown)}"


def declaration(declared: Declared, title: str) -> list[str]:
    """Declaration before the run, a line each."""
    predicted, low_high = declared.predicted, declared.expected_ms
    blocks = number_text.counted(predicted.blocks, "block")
    within = in_ms(declared.tolerance_ms)
    roles = _roles(declared)
    width = max(len(role) for role, _ in roles)
    share = (
        f"takes {in_ms(declared.share_ms)} more in {declared.arm} than in {declared.other}, of "
        f"{in_ms(declared.total_ms)}"
        if declared.equal
        else f"has a share of {in_ms(declared.share_ms)} in the {in_ms(declared.total_ms)} of {declared.arm}"
    )
    if declared.replaced_ms:
        share += f"; {would_go(declared)}"
    return [
        f"{declared.cell}: {title} ({declared.mechanism}) {share} (medians; "
        f"{span(predicted.low_ms, predicted.high_ms)} in {blocks}, at {number_text.level(predicted.confidence)}).",
        f"Put to the test by {setting(declared)}{_kind(declared)}. Each block runs, in random order and with one seed:",
        *(f"  {role:{width}}  {told}" for role, told in roles),
        *(f"  not run: {each}" for each in declared.left_out if not each.startswith(NOT_APPLICABLE)),
        f"Declared before the run (sha256 {declared.sha256[:16]}…), of medians over the blocks:",
        f"  (a) removed: at least {LEAST_REMOVED:.0%} of {_own(declared)} is gone in {WITHOUT}".replace("%", " %"),
        f"  (b) moved: the whole time falls, by {span(*low_high)}{_beyond(declared)}",
        f"  (c) did not come back: the whole falls by no less than the cause's own time less {within}",
        f"  (d) dose: {_dose(declared)}",
        f"  (e) sham: it moves the whole by no more than {within}",
        f"  (f) makes the difference: {_difference(declared)}",
        f"{'A condition' if declared.is_of_path else 'Confirmed'} if all hold; rejected if (a) and (e) hold and the "
        f"whole stays within {within}; else inconclusive.",
    ]


def _kind(declared: Declared) -> str:
    """Say what a run without it can show of the arms' difference."""
    if declared.is_of_path:
        return ", which both arms share: it can show a condition of their difference, not which of them makes it"
    return f", which makes {declared.arm} equal to {declared.other} in it" if declared.equal else ""


def _own(declared: Declared) -> str:
    if declared.equal:
        return f"what {declared.arm} has more of it than {declared.other}"
    return "the cause's own time"


def _roles(declared: Declared) -> list[tuple[str, str]]:
    arm, other = declared.arm, declared.other
    of_path = declared.is_of_path
    told = {
        REPLAY: f"{arm} as it is",
        WITHOUT: f"{arm} {'over the path ' if of_path else ''}with {setting(declared)}",
        SHAM: f"{arm} {'as' if declared.sham.startswith('the same') else 'with'} {declared.sham}",
        FAST: f"{other} as it is",
        WITH: f"{other} with the value that {arm} has",
        FAST_WITHOUT: f"{other} over the path with {setting(declared)}",
        **{f"{DOSE}{at + 1}": f"{arm} with {setting(declared, dose)}" for at, dose in enumerate(declared.doses)},
    }
    return [(role, told[role]) for role in told if role in declared.places]


def _dose(declared: Declared) -> str:
    if not declared.doses:
        return "not run, the setting has no degrees"
    return (
        f"of two of {number_text.listed(declared.dose_roles)} that differ in the cause's own time by more than "
        f"{in_ms(declared.tolerance_ms)}, the one with less of it is faster"
    )


def _beyond(declared: Declared) -> str:
    if declared.beyond_ms < 0.05:
        return ""
    return f", of which up to {in_ms(declared.beyond_ms)} may be of other causes that go with it"


def _difference(declared: Declared) -> str:
    if WITH in declared.places:
        told = f"{declared.other} takes longer in {WITH} than in {FAST}"
    elif FAST_WITHOUT in declared.places:
        told = f"{declared.arm} gains more without it than {declared.other} does"
    elif not declared.applicable:
        return f"not applicable, {_cannot(declared)}"
    else:
        return f"not run, the mechanism cannot be given to {declared.other}"
    return f"{told}; it fails where that is surely less than {in_ms(declared.tolerance_ms)}"


def _cannot(declared: Declared) -> str:
    """The clause by which the other arm's transport cannot have the mechanism."""
    told = (each for each in declared.left_out if each.startswith(NOT_APPLICABLE))
    return next(told, "").removeprefix(f"{NOT_APPLICABLE}: ")


def time_needed(minutes: float, block_ms: float, least: int, needed: int | None) -> str:
    """Say how many blocks fit into the minutes, and what so many can decide."""
    fit = int(minutes * 60_000 / block_ms)
    told = (
        f"A block takes about {in_ms(block_ms)}: {minutes:g} min hold about {number_text.counted(fit, 'block')}. "
        f"{least} are the least that decide anything"
    )
    if needed is None:
        return f"{told}; by the noise of the stored trials hundreds would be needed: probably inconclusive."
    enough = f"{told}; by the noise of the stored trials about {max(least, needed)} are enough"
    return f"{enough}." if needed <= fit else f"{enough}, so that it will probably stay inconclusive."


def verdict(declared: Declared, judgement: Judgement, title: str) -> list[str]:
    """Result of the run: the verdict, the checks that it rests on, and what limits next."""
    lines = [_headline(declared, judgement, title)]
    lines += [
        f"  ({_LETTERS[each.name]}) {_NAMES[each.name]}: {_check_line(each, declared)}" for each in judgement.checks
    ]
    effects = {each.name: each for each in judgement.effects}
    if "gap" in effects and "gap_without" in effects:
        lines.append(_gap(declared, effects["gap"], effects["gap_without"]))
    if _is_condition(declared, judgement):
        lines.append(
            f"Both arms share the path: this shows that it costs {declared.arm} more than {declared.other}, and not "
            "which setting makes it so."
        )
    if judgement.limits_next is not None:
        lines.append(
            f"What grew most without it: {Why(judgement.limits_next).heading}, by {in_ms(judgement.limits_next_ms)}."
        )
    if judgement.lacking:
        lines.append(
            f"{number_text.counted(judgement.lacking, 'block')} without an account of both is left out."
            if judgement.lacking == 1
            else f"{judgement.lacking} blocks without an account of both are left out."
        )
    return lines


def in_a_line(declared: Declared, judgement: Judgement | None, title: str, sound: bool = True) -> str:
    """The verdict in one sentence, for a list of causes."""
    named = title[:1].upper() + title[1:]
    if not sound:
        changed = "declaration, spec or verdict was changed after it had been kept"
        return f"{named}: {changed}, so that the run counts for nothing."
    return f"{named}: declared, not judged yet." if judgement is None else _headline(declared, judgement, title)


def _is_condition(declared: Declared, judgement: Judgement) -> bool:
    """True if all checks hold of a setting of the path. Runs of earlier versions called that confirmed."""
    return judgement.verdict is Verdict.CONDITION or (declared.is_of_path and judgement.verdict is Verdict.CONFIRMED)


def would_go(declared: Declared) -> str:
    """Say how much of a share is predicted to go, where another limit would hold next."""
    return f"by its records {in_ms(declared.predicted.ms)} of it would go, as another limit would hold next"


def _headline(declared: Declared, judgement: Judgement, title: str) -> str:
    effect = judgement.effects[0]
    blocks = number_text.counted(judgement.blocks, "block")
    where = f"{declared.cell} in {declared.arm}"
    if _is_condition(declared, judgement):
        return (
            f"A condition: over a path with {declared.key} = {value_text(declared.value)}, without {title}, {where} "
            f"takes {_less(effect)}, in {blocks}, and gains more by it than {declared.other}."
        )
    if judgement.verdict is Verdict.CONFIRMED and declared.equal:
        return (
            f"Confirmed: with as much of {title} as {declared.other} has, {where} takes {_less(effect)}, in {blocks}; "
            f"it had {in_ms(declared.share_ms)} more of it."
        )
    if judgement.verdict is Verdict.CONFIRMED:
        return (
            f"Confirmed: without {title}, {where} takes {_less(effect)}, in {blocks}; its share of the account "
            f"was {in_ms(declared.share_ms)}."
        )
    if judgement.verdict is Verdict.REJECTED:
        return (
            f"Rejected: {title} was removed, and the time of {where} stayed within {in_ms(declared.tolerance_ms)}: it "
            f"takes {_less(effect)}, in {blocks}."
        )
    failed = [each for each in judgement.checks if each.state is State.FAILS]
    if failed:
        named = number_text.listed([f"({_LETTERS[each.name]}) “{_NAMES[each.name]}”" for each in failed])
        checks = "check" if len(failed) == 1 else "checks"
        return f"Inconclusive: {title} in {where} failed the {checks} {named} after {blocks}."
    still = number_text.listed(
        [f"({_LETTERS[each.name]}) {_NAMES[each.name]}" for each in judgement.checks if each.state is State.OPEN]
    )
    why = f"{still} open" if still else "too many blocks have no account"
    return f"Inconclusive: of {title} in {where}, {blocks} leave {why}; the same command goes on with more blocks."


def _check_line(check: Check, declared: Declared) -> str:
    state = check.state.value
    if check.state is State.NOT_APPLICABLE:
        return f"not applicable: {_cannot(declared)}"
    if check.state is State.NOT_RUN:
        return "not run"
    if check.median is None and check.name == "dose":
        return f"{state}: in no block do two doses differ in the cause's own time"
    if check.median is None:
        told = f"{REPLAY} shows nothing of the cause" if check.blocks else "no block has it"
        return f"{state}: {told}"
    blocks = number_text.counted(check.blocks, "block")
    within = _interval(check.interval)
    if check.name == "removed":
        of = f"what {declared.arm} had more of it" if declared.equal else "its time"
        return f"{state}: {100 * check.median:.1f} % of {of} is gone ({blocks})"
    if check.name == "dose":
        ordered = 100 * (1 + check.median) / 2
        return f"{state}: in the median block {ordered:.0f} % of the pairs of doses are in order ({blocks})"
    if check.name == "moved":
        bounds = span(*declared.expected_ms)
        return f"{state}: fall of the whole {in_ms(check.median)}{within}; declared {bounds} ({blocks})"
    if check.name == "stayed_away":
        came = f"{in_ms(check.median)}{within} came back" if check.median > 0 else f"nothing came back{within}"
        return f"{state}: {came}; at most {in_ms(declared.tolerance_ms)} may ({blocks})"
    if check.name == "given":
        return f"{state}: {in_ms(check.median, signed=True)}{within} ({blocks})"
    return f"{state}: {in_ms(check.median, signed=True)}{within}; at most ±{in_ms(declared.tolerance_ms)} ({blocks})"


def _gap(declared: Declared, before: Effect, after: Effect) -> str:
    told = f"{declared.arm} − {declared.other}: "
    if before.ms is None or after.ms is None:
        return f"{told}not known."
    return (
        f"{told}{in_ms(before.ms, signed=True)}{_interval(before.interval)} as they are, "
        f"{in_ms(after.ms, signed=True)}{_interval(after.interval)} without it."
    )


def next_to_try(
    declared: Declared, judgement: Judgement, gain: str, also: Sequence[str], own: Sequence[str]
) -> list[str]:
    """The setting as the program at hand has it, with what it gained here and what else it changes."""
    if judgement.verdict is not Verdict.CONFIRMED or declared.is_of_path:
        return []
    written = f" ({'; '.join(own)})" if own else ""
    lines = [f"To try: {setting(declared)}{written}. {gain} Here it gained {_gained(judgement.effects[0], declared)}."]
    if also:
        lines.append(f"It also changes: {'; '.join(also)}.")
    return lines


def _gained(effect: Effect, declared: Declared) -> str:
    ms = effect.ms or 0.0
    return f"{in_ms(ms)} of {in_ms(declared.total_ms)}{_interval(effect.interval)}"


def _less(effect: Effect) -> str:
    if effect.ms is None:
        return "an unknown time"
    return f"{in_ms(abs(effect.ms))} {'less' if effect.ms >= 0 else 'more'}{_interval(effect.interval)}"


def _interval(interval: Interval | None) -> str:
    return "" if interval is None else f" ({span(interval.low, interval.high)})"


def span(low: float, high: float) -> str:
    """Return two ends in one unit, that of the larger: `0.88 … 1.14 s`."""
    largest = max((abs(each) for each in (low, high) if math.isfinite(each)), default=0.0)
    if largest >= 1000:
        return number_text.ends_text(low / 1000, high / 1000, lambda end: _number(end, 2), " s")
    return number_text.ends_text(low, high, lambda end: _number(end, 1 if largest < 100 else 0), " ms")


def in_ms(value: float, *, signed: bool = False) -> str:
    """Return a time in the unit that suits it: `97.9 ms`, `1.03 s`."""
    if abs(value) >= 1000:
        return f"{_number(value / 1000, 2, signed=signed)} s"
    return f"{_number(value, 1 if abs(value) < 100 else 0, signed=signed)} ms"


def _number(value: float, digits: int, *, signed: bool = False) -> str:
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    plain = round(value, digits) + 0.0
    return (f"{plain:+.{digits}f}" if signed and plain else f"{plain:.{digits}f}").replace("-", "−")


def value_text(value: Value) -> str:
    """Return a value as a spec has it, a single one without quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple) else str(value)
