# SPDX-License-Identifier: Apache-2.0
"""Sentences about accounts, from steps that were written by hand."""

from __future__ import annotations

import io
from dataclasses import replace
from math import inf

import pytest
from rich.console import Console
from rich.table import Table
from unit.compare.test_cell_comparison import SLOW, arm, decided

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.statistics import Interval
from quiclab.evidence.metrics import METRICS
from quiclab.report.words import account
from quiclab.report.words.explanation_text import parting
from quiclab.why.account import MetricScope, Why
from quiclab.why.accounts import Step, Wait, Waterfall
from quiclab.why.divergence import Role
from quiclab.why.explanation import Explanation


def _step(why: Why | None, difference: float, spread: float = 0.5, p: float = 0.01) -> Step:
    ends = Interval(difference - spread, difference + spread, 0.95)
    return Step(why, 100.0, 100.0 + difference, difference, ends, p, p)


def waterfall(total: float, **differences: float) -> Waterfall:
    """Eight pairs with these differences by *why*."""
    steps = tuple(_step(why, differences.get(why, 0.0)) for why in Why)
    comparison = decided(arm("h2", SLOW), arm("h3", SLOW))
    waits = tuple(Wait(why, step.baseline_ms, step.other_ms) for why, step in zip(Why, steps, strict=True))
    served = (5_200_000.0, 5_290_000.0)
    return Waterfall(comparison, 8, 0, _step(None, total), steps, (), (), served, waits=waits)


def _printed(table: Table, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO())
    console.print(table)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


def test_a_table_that_has_to_be_narrow_keeps_its_reasons_and_numbers_whole() -> None:
    """Long names of arms are folded, and what decided a reason stands below it; a wide one has it beside."""
    found = waterfall(-17294.2, loss_timer=-14278.2, window_after_exit=-0.6)
    steps = tuple(
        replace(step, baseline_decided_by=("losses", "tcp_info"), other_decided_by=("losses",)) for step in found.steps
    )
    comparison = decided(arm("direct-h2-curl", SLOW), arm("proxy-h3-curl", SLOW))
    found = replace(found, comparison=comparison, steps=steps)
    narrow, wide = ("\n".join(_printed(account.account_table(found, 0.05, width), width)) for width in (80, 200))
    assert all(each in narrow for each in ("loss timer  ", "−14278.2", " proxy-h3- ", "direct-h2-curl: losses,"))
    assert "…\n" not in narrow
    assert all(each in wide for each in (" proxy-h3-curl ", "decided by"))
    assert max(map(len, narrow.splitlines())) <= 80


def test_arms_with_a_long_word_stand_above_a_narrow_table() -> None:
    """No word of them is broken, and no number either."""
    found = waterfall(-17294.2, loss_timer=-14278.2)
    arms = ("h2-openlitespeed-chromium", "h3-openlitespeed-chromium")
    found = replace(found, comparison=decided(arm(arms[0], SLOW), arm(arms[1], SLOW)))
    for table in (account.account_table(found, 0.05, 80), account.floor_table(found, 0.05, 80)):
        lines = _printed(table, 80)
        assert max(map(len, lines)) <= 80
        assert [line.strip() for line in lines[:2]] == [f"baseline: {arms[0]}", f"other: {arms[1]}"]
        assert lines[4].split()[1:5] == ["mean,", "ms", "baseline", "other"]


@pytest.mark.parametrize(("low", "high"), [(-inf, -3.0), (2.0, inf), (-inf, inf)])
def test_an_open_interval_has_no_infinity_in_words(low: float, high: float) -> None:
    """Neither in a table nor in a sentence."""
    found = waterfall(-5.0, loss_timer=-5.0)
    open_ended = replace(found.total, interval_ms=Interval(low, high, 0.95))
    found = replace(
        found,
        total=open_ended,
        steps=tuple(replace(each, interval_ms=Interval(low, high, 0.95)) for each in found.steps),
    )
    printed = "\n".join([*_printed(account.account_table(found, 0.05, 120), 120), account.interval_of(open_ended)])
    assert "inf" not in printed
    assert "∞" not in printed
    assert (account.interval_of(open_ended) == "no bound") == (low == -inf and high == inf)


@pytest.mark.parametrize("sequential", [False, True])
def test_tests_of_a_single_look_are_told_where_the_answer_allows_for_several(sequential: bool) -> None:
    """Reasons are tested once, whatever decides the answer."""
    ttlb = next(metric for metric in METRICS if metric.name == "ttlb_ms")
    of = StudyAnalysis("s", ttlb, 0.05, "", (), (), (), {}, {}, (), (), (), sequential=sequential)
    assert ("single look" in account.single_look_note(of)) is sequential


def test_the_stage_in_which_the_arms_first_differ_is_named() -> None:
    """The first that differs and is not small; nothing where none is, and of the set-up, which causes tell."""
    found = waterfall(9.0, link_busy=9.0)

    def told(set_up_ms: float) -> str:
        of_each = ((Role.SET_UP, set_up_ms), (Role.TENTH_3, 8.9))
        roles = tuple(replace(_step(None, ms, spread=0.05), label=role) for role, ms in of_each)
        return parting(Explanation(replace(found, roles=roles), (), 0.05))

    assert told(0.1) == "They first differ in the third tenth, where h3 takes 8.90 ms longer."
    assert told(5.0) == ""
    assert parting(Explanation(found, (), 0.05)) == ""


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("upload_ms", "not of `upload_ms`: without the row `answer` they are."),
        ("ttfb_ms", "in Python, `account_of_transfer(evidence, 'ttfb_ms')` has those of one trial."),
        ("setup_ms", "not of `setup_ms`. See `quiclab explain study`."),
    ],
)
def test_a_study_of_another_time_is_told_what_its_reasons_are_of(metric: str, told: str) -> None:
    """And what to do; one of the time to the last byte needs no such word."""
    assert told in account.other_time_note(metric, MetricScope.TTLB, "study")
    assert "quiclab explain" not in account.other_time_note(metric, MetricScope.TTLB, None)
    assert not account.other_time_note("ttlb_ms", MetricScope.TTLB, "study")
    assert not account.other_time_note("plt_ms", MetricScope.PAGE, "study")
    told = account.other_time_note("fcp_ms", MetricScope.PAGE, "study")
    assert "those of `plt_ms`, the page load time, and not of `fcp_ms`. See" in told


@pytest.mark.parametrize(("pairs", "told"), [(1, "Means over 1 pair."), (8, "Means over 8 pairs.")])
def test_the_number_of_pairs_is_told(pairs: int, told: str) -> None:
    """One is a pair."""
    assert account.limits([Explanation(replace(waterfall(1.0), pairs=pairs), (), 0.05)]).startswith(told)
