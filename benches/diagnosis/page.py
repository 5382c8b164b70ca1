# SPDX-License-Identifier: Apache-2.0
"""The page docs/reference/diagnosis-accuracy.md, from scored results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from statistics import median

from confirmed_cases import Tested
from page_tested import confirmed, real, table
from planted import BY_NAME, CAUSES
from scoring import (
    LEVELS,
    SETTING,
    both_named,
    both_told,
    bound,
    errors_pct,
    is_named,
    names,
    open_set_answer,
    score_of,
    share,
    top,
    wrong_of_null,
)
from trials import CLEAR, NATURAL, NOTHING, Result, ScoredVerdict

from quiclab.compare.statistics import share_interval

_HEAD = """\
# How often the verdicts are right

`quiclab explain` says which mechanism takes how much of a difference. Here its verdicts are held against causes that
were planted. `benches/diagnosis/run.py --score … --write` writes this page; nothing on it is edited by hand.

**Cases.** Transfers of the [golden twin](../explanation/golden-twin.md) in virtual time: quinn's QUIC and a small TCP
over the same model of the link as in real trials. A case is a study of 10 pairs of two arms over one network: 2 to 50
Mbit/s, 8 to 160 ms, 100 KB to 1.2 MB, a third with losses of their own, two fifths with a bounded queue. Each trial has
its own losses and its own time to react, each pair its own delay. In one arm one cause is planted, or two, or none.
Network, strength, arms and logs are drawn from a seed that was frozen before anything was scored
(`benches/diagnosis/frozen.json`).

**Labels.** The same transfers are run without the cause, so that what it costs is known exactly. It counts as a cause
from {clear:.0f} % of the time and 5 ms on, where that is three standard errors, and {natural:.0f} times what the arms
differ by anyway (QUIC against TCP). Below {nothing:.1f} % it counts as none. What lies between, or makes the transfer
faster, is not scored. Which mechanisms name a cause was written down before (`benches/diagnosis/planted.py`).

**Scores.** The *answer* is the largest verdict, where the pairs show its difference. It is *named* if it names a
mechanism; "several" and "unknown cause" are no names. Coverage is the share of cases with a name, accuracy the share of
names that are right. Bounds are one-sided, 95 %, by Clopper and Pearson.
"""

_OF_BEFORE = "*Measured with the verdicts of an earlier version, and not yet again.*\n\n"


def text(
    results: Sequence[Result],
    frozen: Mapping[int, int],
    tests: Sequence[Tested] = (),
    programs: Sequence[Result] = (),
    before: str = "",
) -> str:
    """The whole page. Verdicts put to the test and results of real programs, where there are none, are those of the
    page `before`, which is said.

    `frozen` has the number of cases of each seed that was frozen.
    """
    one = [each for each in results if each.label == "cause" and each.kind == "one"]
    two = [each for each in results if each.label == "cause" and each.kind == "two"]
    null = [each for each in results if each.label == "null"]
    grey = sum(each.label == "grey" for each in results)
    parts = [
        _HEAD.format(clear=100 * CLEAR, natural=NATURAL, nothing=100 * NOTHING),
        f"{_extent(results, frozen)} {grey} of them are not scored.\n",
        _single(one),
        _confusion(one),
        _two(two),
        _null(null),
        _open(one),
        _attribution(one),
        confirmed(tests, results) if tests else _kept(before, "## Put to the test\n"),
        real(programs) if programs else _kept(before, "## Real programs\n"),
        _LIMITS,
    ]
    return "\n".join(filter(None, parts))


def _kept(before: str, heading: str) -> str:
    """A section of the page before, with a sentence that says so; empty if it has none."""
    if heading not in before:
        return ""
    section = before.partition(heading)[2].partition("\n## ")[0].strip().removeprefix(_OF_BEFORE.strip()).strip()
    return f"{heading}\n{_OF_BEFORE}{section}\n"


def _extent(results: Sequence[Result], frozen: Mapping[int, int]) -> str:
    """Sentences with the number of cases that were run of each seed; with fewer than are frozen, bounds are wider."""
    ran = Counter(int(each.name.split("/")[0]) for each in results)
    parts = []
    for seed, cases in sorted(ran.items()):
        whole = frozen.get(seed, cases)
        of_how_many = f" of the {whole} that are frozen" if cases < whole else ""
        parts.append(f"Seed {seed}: {cases} cases run{of_how_many}.")
    return " ".join(parts)


def found(result: Result) -> list[ScoredVerdict]:
    """The verdicts whose difference the pairs show."""
    return [told for told in result.verdicts if told.found]


def _single(one: Sequence[Result]) -> str:
    head = ("level", "cases", "named (coverage)", "right (accuracy)", "at least", "right of all cases")
    rows = [(name, *score_of(one, right).cells) for name, right in LEVELS]
    able = [each for each in one if BY_NAME[each.causes[0]].setting]
    rows.append(("setting, of causes that have one", *score_of(able, SETTING).cells))
    groups: list[tuple[str, Callable[[Result], bool]]] = [
        ("cause in h2", lambda each: each.protocols[1] == "h2"),
        ("cause in h3", lambda each: each.protocols[1] == "h3"),
        ("same transport in both arms", lambda each: each.protocols[0] == each.protocols[1]),
        ("QUIC against TCP", lambda each: each.protocols[0] != each.protocols[1]),
        ("server's own word", lambda each: each.logs == "own_word"),
        ("window and losses, or the kernel's samples", lambda each: each.logs == "state"),
        ("captures alone", lambda each: each.logs == "captures"),
    ]
    parts = [(name, *score_of([each for each in one if keep(each)]).cells) for name, keep in groups]
    return (
        "## One cause\n\n" + table(head, rows) + "\nMechanisms, in groups of these cases:\n\n"
        + table(("group", *head[1:]), parts)
        + _held(one)
    )  # fmt: skip


def _held(one: Sequence[Result]) -> str:
    """Rate at which an answer of several mechanisms has the cause among them; and all answers that are wrong."""
    answers = [(each, top(each.verdicts)) for each in one]
    several = [(each, first) for each, first in answers if first is not None and first.rivals]
    held = sum(bool(set(first.rivals) & set(BY_NAME[each.causes[0]].mechanisms)) for each, first in several)
    silent = sum(first is None for _, first in answers)
    wrong = [each for each, first in answers if is_named(each) and not names(first, each.causes[0])]
    return (
        f"\nIn {len(several)} cases the answer is several mechanisms that the logs do not tell apart, the cause among "
        f"them in {held}. In {silent} no difference is shown.\n\nAll names that are wrong, with the first verdicts:\n"
        + "".join(
            f"\n* {each.causes[0]}, {each.effects_ms[0]:.0f} of {each.planted_ms:.0f} ms ({each.protocols[1]} against "
            f"{each.protocols[0]}, {each.logs.replace('_', ' ')}): {_first(each)}"
            for each in wrong
        )
        + "\n"
    )


def _first(result: Result) -> str:
    shown = [f"{told.name} {told.difference_ms:+.0f} ms" for told in found(result)[:3]]
    return ", ".join(shown) or "nothing"


def _confusion(one: Sequence[Result]) -> str:
    rows = []
    for cause in CAUSES:
        cases = [each for each in one if each.causes == (cause.name,)]
        if not cases:
            continue
        score = score_of(cases)
        others: Counter[str] = Counter()
        for each in cases:
            first = top(each.verdicts)
            if first is None:
                others["nothing"] += 1
            elif not is_named(each):
                others[first.name.replace(":", ": ")] += 1
            elif first.mechanism not in cause.mechanisms:
                others[f"**{first.mechanism}**"] += 1
        said = ", ".join(f"{name} {count}" for name, count in others.most_common())
        rows.append((cause.name, str(score.cases), str(score.answered), str(score.right), said or "—"))
    return (
        "## By cause\n\nWhat is said in place of the cause; names that are wrong are bold.\n\n"
        + table(("cause", "cases", "named", "right", "said otherwise"), rows)
    )  # fmt: skip


def _two(two: Sequence[Result]) -> str:
    both, told = sum(map(both_named, two)), sum(map(both_told, two))
    one = sum(
        any(told.mechanism in BY_NAME[cause].mechanisms for told in found(each) for cause in each.causes)
        for each in two
    )
    return (
        "## Two causes at once\n\nEach costs as much as above with the other one there. *Hidden*: one is among the "
        "first two, and said to hide the other, which would hold next without it.\n\n"
        + table(("cases", "both in the first two", "or told as hidden", "at least", "one of them anywhere"),
                 [(str(len(two)), share(both, len(two)), share(told, len(two)), bound(told, len(two)),
                   share(one, len(two)))])
        + "".join(
            f"\n* {' and '.join(each.causes)} ({each.protocols[1]}, {each.logs.replace('_', ' ')}): {_first(each)}"
            for each in two if not both_named(each)
        )
        + "\n"
    )  # fmt: skip


def _null(null: Sequence[Result]) -> str:
    rows = []
    for name, cases in (
        ("arms that are the same", [each for each in null if not each.causes]),
        ("a switch that costs nothing", [each for each in null if each.causes]),
    ):
        sizes = [abs(told.difference_ms) / each.planted_ms for each in cases if (told := wrong_of_null(each))]
        silent = sum(top(each.verdicts) is None for each in cases)
        upper = share_interval(len(sizes), len(cases), 0.9).high
        large = sum(size >= CLEAR / 5 for size in sizes)
        rows.append(
            (name, str(len(cases)), share(silent, len(cases)), str(len(sizes)), f"{100 * upper:.0f} %", str(large))
        )
    head = ("arms", "cases", "nothing said", "a mechanism named", "at most", "for 1 % of the time or more")
    return (
        "## Nothing planted\n\nLosses of their own, limits and pauses stand in both arms alike. A name is an error; "
        "luck is not, as losses fall differently, nor is the name of the switch itself.\n\n" + table(head, rows)
    )


def _open(one: Sequence[Result]) -> str:
    said = Counter(open_set_answer(each) for each in one)
    honest = {"unknown": "unknown cause", "several": "several, not separable", "nothing": "nothing"}
    rows = [(heading, share(said[name], len(one))) for name, heading in honest.items()]
    right = sum(said[name] for name in honest)
    rows.append(("**any of these**", f"{share(right, len(one))}, at least {bound(right, len(one))}"))
    wrong = [(f"the name of another: {name}", str(count)) for name, count in said.most_common() if name not in honest]
    return (
        "## The detector is missing\n\nThe cases with one cause again, without the detectors of all mechanisms that "
        "name it: what stands first?\n\n" + table(("said", "cases"), [*rows, *wrong])
    )


def _attribution(one: Sequence[Result]) -> str:
    same = [each for each in one if each.protocols[0] == each.protocols[1]]
    named = [each for each in same if score_of([each]).right]
    rows = []
    for heading, cases in (("all", same), ("those that are named right", named)):
        found = errors_pct(cases)
        if found:
            rows.append(
                (
                    heading,
                    str(len(found)),
                    f"{median(found):.1f} %",
                    f"{sum(found) / len(found):.1f} %",
                    f"{found[int(0.9 * (len(found) - 1))]:.1f} %",
                )
            )
    return (
        "## How many milliseconds\n\nThe time that the verdicts give to the cause against its exact effect, in % "
        "of the time, of arms with one transport. A share is no effect: without one limit the next one holds (a window "
        "that is not halved meets the queue), and an effect also moves the time of others. What is not named is "
        "wrong by its whole effect.\n\n" + table(("cases", "", "median", "mean", "nine of ten below"), rows)
    )


_LIMITS = """\
## What this does not show

The twin's records are exact, and its processors never busy. It has one object on one connection, no proxy, no change of
address, no AQM, no stream limit and no HyStart of its own: causes there are not planted here. All losses of a
case are independent. In real programs the effect is measured, with the error of ten pairs.
"""
