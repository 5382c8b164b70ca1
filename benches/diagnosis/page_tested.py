# SPDX-License-Identifier: Apache-2.0
"""Two sections of docs/reference/diagnosis-accuracy.md: verdicts put to the test, and causes in real programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from confirmed_cases import SHARED, Tested
from real import CASES
from scoring import both_named, bound, first_name, is_named, names, score_of, share, top, wrong_of_null
from trials import Result

from quiclab.compare.statistics import share_interval
from quiclab.why.confirm.judge import Verdict


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines) + "\n"


_CONFIRMED = """\
## Put to the test

Each answer that names a mechanism is tested as `quiclab explain --confirm` does it, in virtual time: blocks of new
seeds with the mechanism, without it, with a sham, and with doses where its setting has some. The prediction is made
from the case's own trials before; the checks are those of [Confirm a cause](../how-to/confirm-a-cause.md). A name is
*wrong* if it is not that of a planted cause. What a setting of the path takes away is a *condition* of the difference.
A name whose setting has one value in both arms is not put to the test: it is not what makes them differ.
"""


def confirmed(tests: Sequence[Tested], results: Sequence[Result]) -> str:
    """Tables of what became of the names that `results` gave: their verdicts, the wrong names apart, and the shares of
    effects that predictions cover."""
    ran = [each for each in tests if each.setting and (each.blocks or each.verdict == SHARED)]
    rows = []
    for heading, some in (
        ("right names, one cause", [each for each in ran if each.kind == "one" and each.right]),
        ("right names, one of two causes", [each for each in ran if each.kind == "two" and each.right]),
        ("wrong names", [each for each in ran if each.kind != "open" and not each.right]),
        ("wrong names where the detector is missing", [each for each in ran if each.kind == "open"]),
    ):
        said = [sum(each.verdict == verdict for each in some) for verdict in Verdict]
        said.append(sum(each.verdict == SHARED for each in some))
        decided = [each.blocks for each in some if each.blocks and each.verdict != Verdict.UNDECIDED]
        rows.append((heading, str(len(some)), *map(str, said), f"{median(decided):.0f}" if decided else "—"))
    wrong = dict.fromkeys(
        f"\n* confirmed and wrong: {each.mechanism} ({each.name}), {each.effect_ms:.0f} ms less without it"
        for each in ran
        if not each.right and each.verdict == Verdict.CONFIRMED
    )
    right = [each for each in ran if each.right and each.blocks]
    own = sum(each.predicted_ms[0] <= each.effect_ms <= each.predicted_ms[1] for each in right)
    wider = sum(each.expected_ms[0] <= each.effect_ms <= each.expected_ms[1] for each in right)
    no_setting = len(tests) - len(ran)
    head = ("names", "tested", *(each.text for each in Verdict), SHARED, "blocks to decide")
    given = sum(first_name(told) is not None for each in results for told in (each.verdicts, each.open_set))
    return (
        _CONFIRMED + "\n" + table(head, rows)
        + "".join(wrong)
        + f"\n\nThese are {len(tests)} of the {given} names that were given. {no_setting} of them have no setting in "
        f"the twin, or none that predicts anything. The predicted interval ([how](../explanation/prediction.md)) "
        f"covers what goes without a right mechanism in {share(own, len(right))} of the cases; with the tolerance that "
        f"is declared, in {share(wider, len(right))}. What goes is the median of the new blocks, 8 or more, whose own "
        "losses and chance no interval of the prediction has in it.\n"
    )  # fmt: skip


_REAL = """\
## Real programs

Causes planted by a setting of a program (quinn, quiche, ngtcp2, quic-go, nginx, Caddy, HAProxy) or of Linux's TCP, in
one of two arms that are else the same, 10 pairs over 20 Mbit/s and 60 ms, or over 6 Mbit/s and 120 ms (`-slow`);
`benches/diagnosis/real.py` has all of them. The effect is the mean difference of the pairs' times; of two causes each
has its own, beside an arm that has the other one alone. It counts from 5 % of the time and three standard errors on;
what stays below is not scored.
"""


def real(results: Sequence[Result]) -> str:
    """Each real case with its answer."""
    rows = []
    for each in results:
        case = CASES[int(each.name.split("/")[1])]
        first = top(each.verdicts)
        answers = [told for told in each.verdicts if told.found][: len(case.causes)] if case.second else [first]
        said = " and ".join(told.name.replace(":", ": ") for told in answers if told is not None) or "nothing"
        rows.append((f"`{case.name}`", " and ".join(case.causes) or "none", _effect(each), said, _right(each)))
    one = [each for each in results if each.label == "cause" and each.kind == "one"]
    two = [each for each in results if each.label == "cause" and each.kind == "two"]
    score = score_of(one)
    none = [each for each in results if each.label == "null"]
    named = sum(wrong_of_null(each) is not None for each in none)
    upper = 100 * share_interval(named, len(none), 0.9).high if none else 100
    ran = f"{len(results)} of the {len(CASES)} studies were run. " if len(results) < len(CASES) else ""
    return (
        _REAL + f"\n{ran}Of {score.cases} cases with a cause {share(score.answered, score.cases)} are named, and of "
        f"these {share(score.right, score.answered)} are right (at least {bound(score.right, score.answered)}). Of "
        f"{len(none)} without one, {named} are given a name (at most {upper:.0f} %). Of two causes both are the first "
        f"two verdicts in {share(sum(map(both_named, two)), len(two))}.\n\n"
        + table(("case", "planted", "effect", "answer", ""), rows)
    )


def _effect(each: Result) -> str:
    if not each.effects_ms:
        return "—"
    return f"{' and '.join(f'{effect:+.0f}' for effect in each.effects_ms)} of {each.planted_ms:.0f} ms"


def _right(each: Result) -> str:
    if each.label == "grey":
        return "not scored"
    if each.label == "null":
        return "**wrong**" if wrong_of_null(each) else "right"
    if each.kind == "two":
        both = both_named(each)
        found = [told for told in each.verdicts if told.found]
        one = any(names(told, cause) for told in found for cause in each.causes)
        return "both" if both else "one of them" if one else "no name"
    if names(top(each.verdicts), each.causes[0]):
        return "right"
    return "**wrong**" if is_named(each) else "no name"
