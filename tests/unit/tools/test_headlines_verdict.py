# SPDX-License-Identifier: Apache-2.0
"""Verdicts of headlines: what each is made of, and what none can be whatever was measured."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from headlines_check import read_all
from headlines_page import page
from headlines_results import (
    CELLS,
    CellResults,
    Counterfactual,
    Headline,
    Headlines,
    Paper,
    StandIn,
    Verdict,
    read_results,
    rows_of,
)
from headlines_verdict import MEANINGS, servers_disagree, verdict_of

HEADLINE = Headline("Y1", "1", "text", (("cell", "c"),))
HOST = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}


def _row(verdict: str, **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(("why", "low", "high", "adjusted_p", "second_arm", "statistic", "known_before"))
    return row | {
        "claim": "c", "verdict": verdict, "first_arm": "h2", "second_arm": "h3", "workload": "1MB", "path": "plain",
        "metric": "ttlb_ms", "paper": "lower", "ours": -12.5, "unit": "%", "n": 8.0,
    } | more  # fmt: skip


def _results(**verdicts: list[str]) -> dict[str, CellResults]:
    """Cells by name, each with one claim `c` that has these verdicts."""
    claims = {cell: {"c": [_row(each) for each in found]} if found else {} for cell, found in verdicts.items()}
    return {cell: CellResults(rows, host=HOST) for cell, rows in claims.items()}


def _page(headline: Headline, results: dict[str, CellResults]) -> str:
    return page(Headlines((Paper("Y", "Yu", "Title", "conditions"),), (headline,)), results)


def test_each_verdict_has_its_meaning() -> None:
    """The page counts each beside it."""
    assert list(MEANINGS) == list(Verdict)


def test_a_planted_fault_is_no_reproduction() -> None:
    """A claim that contradicts it is still a difference."""
    planted = replace(HEADLINE, planted=True)
    assert verdict_of(planted, _results(cell=["agrees"])) is Verdict.PLANTED
    assert verdict_of(planted, _results(cell=["differs"])) is Verdict.DIFFERS
    assert verdict_of(planted, _results(cell=["agrees", "inconclusive"])) is Verdict.IN_PART


def test_what_the_claims_do_not_carry_lowers_the_verdict() -> None:
    """The reason stands beside the verdict, and betters nothing."""
    lowered = replace(HEADLINE, but="one server carries it")
    assert verdict_of(lowered, _results(cell=["agrees"])) is Verdict.IN_PART
    assert verdict_of(lowered, _results(cell=["differs"])) is Verdict.DIFFERS
    assert "| **reproduced in part**; one server carries it |" in _page(lowered, _results(cell=["agrees"]))


@pytest.mark.parametrize(
    ("first", "second", "expected", "counted"),
    [
        (["agrees"], ["differs"], Verdict.STANDS_IN, "1 of 2 stand-ins agree: A 1 of 1 claim; B 0 of 1 claim"),
        (["differs"], ["agrees"], Verdict.STANDS_IN, "1 of 2 stand-ins agree: A 0 of 1 claim; B 1 of 1 claim"),
        (["agrees", "differs"], ["differs"], Verdict.DIFFERS, "0 of 2 stand-ins agree: A 1 of 2 claims; B 0 of 1"),
        (["agrees"], [], Verdict.STANDS_IN, "1 of 2 stand-ins agree: A 1 of 1 claim; B not run yet"),
        (["differs"], ["differs"], Verdict.DIFFERS, "0 of 2 stand-ins agree"),
        (["agrees"], ["agrees"], Verdict.REPRODUCED, "2 of 2 stand-ins agree"),
        ([], ["agrees"], Verdict.NOT_RUN, "1 of 2 stand-ins agree: A not run yet"),
    ],
)
def test_servers_that_disagree_decide_nothing(
    first: list[str], second: list[str], expected: Verdict, counted: str
) -> None:
    """All are shown, whatever the verdict."""
    servers = (StandIn("A", (("cell", "c"),)), StandIn("B", (("other", "c"),)))
    headline = replace(HEADLINE, stands_in=servers)
    results = _results(cell=first, other=second)
    assert verdict_of(headline, results) is expected
    assert counted in _page(headline, results)


def test_a_claim_that_no_server_has_a_part_in_decides() -> None:
    """One about TCP alone, say, differs whatever stands in."""
    servers = (StandIn("A", (("cell", "c"),)), StandIn("B", (("other", "c"),)))
    headline = replace(HEADLINE, claims=(("cell", "c"), ("tcp", "c")), stands_in=servers)
    disagree = {"cell": ["agrees"], "other": ["differs"]}
    assert verdict_of(headline, _results(**disagree, tcp=["agrees"])) is Verdict.STANDS_IN
    assert verdict_of(headline, _results(**disagree, tcp=["differs"])) is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("again", "expected"),
    [(["agrees"], Verdict.CAUSE_TAKEN), (["agrees", "inconclusive"], Verdict.DIFFERS), ([], Verdict.DIFFERS)],
)
def test_a_cause_is_taken_away_where_the_claim_then_agrees(again: list[str], expected: Verdict) -> None:
    """The claim agrees in all of its cells; a counterfactual that names no claim as its own takes nothing away."""
    mended = Counterfactual("other", "a longer queue", claim="c", cause_of="cell:c")
    results = _results(cell=["differs"], other=again)
    assert verdict_of(replace(HEADLINE, counterfactuals=(mended,)), results) is expected
    guess = replace(mended, cause_of="")
    assert verdict_of(replace(HEADLINE, counterfactuals=(guess,)), results) is Verdict.DIFFERS


def test_a_cause_may_be_taken_away_over_one_path_of_several() -> None:
    """Other paths over which the claim is held as well say nothing of the cause."""
    rows = [_row("inconclusive", path="deep"), _row("agrees", path="short")]
    results = _results(cell=["differs"]) | {"other": CellResults({"c": rows}, host=HOST)}
    mended = Counterfactual("other", "a short queue", claim="c", cause_of="cell:c", paths=("short",))
    assert verdict_of(replace(HEADLINE, counterfactuals=(mended,)), results) is Verdict.CAUSE_TAKEN
    assert verdict_of(replace(HEADLINE, counterfactuals=(replace(mended, paths=()),)), results) is Verdict.DIFFERS
    told = _page(replace(HEADLINE, counterfactuals=(mended,)), results)
    assert "which has a short queue: h2 → h3; 1MB, short: " in told
    assert "1MB, deep" not in told


def test_a_claim_about_arms_that_were_not_judged_is_not_judged(tmp_path: Path) -> None:
    """Earlier runs had another word for such a claim."""
    shutil.copytree(CELLS / "yb-far", tmp_path / "cell")
    claims = tmp_path / "cell" / "results" / "claims.csv"
    rows = pl.read_csv(claims, infer_schema=False)
    told = {"verdict": pl.lit("undecided here"), "conclusion": pl.lit("not judged")}
    rows.with_columns(**told).write_csv(claims)
    found = read_results("cell", tmp_path).claims
    assert {row["verdict"] for each in found.values() for row in each} == {"not judged"}


def test_what_was_measured_before_a_change_counts_for_nothing() -> None:
    """Results are shown with their verdict then; a headline is partly run if some rows have not changed."""
    change = "`loss_by` was index, each packet by itself, is super-packet"
    before = {"cell": CellResults({"c": [_row("differs", changed=change)]}, host=HOST)}
    assert verdict_of(HEADLINE, before) is Verdict.NOT_RUN
    assert verdict_of(HEADLINE, before, before=True) is Verdict.DIFFERS
    text = _page(HEADLINE, before)
    assert "| **not run yet**; before its spec changed: differs |" in text
    assert "| 8 | differs (before its spec changed) |" in text
    assert f"* {change}: [cell](../experiments/headlines/cell/spec.toml) (plain)." in text
    mixed = {"cell": CellResults({"c": [_row("agrees", changed=change), _row("agrees")]}, host=HOST)}
    assert verdict_of(HEADLINE, mixed) is Verdict.PARTLY_RUN


def test_a_path_that_was_added_leaves_a_headline_partly_run() -> None:
    """Rows of the path are not there yet."""
    results = {"cell": CellResults({"c": [_row("agrees")]}, lacking=frozenset({"c"}))}
    assert verdict_of(HEADLINE, results) is Verdict.PARTLY_RUN


def test_a_first_result_has_a_column() -> None:
    """A paper has no such column where nothing was read again."""
    results = _results(cell=["agrees"])
    assert "read or set up again" not in _page(HEADLINE, results)
    text = _page(replace(HEADLINE, read_again="held against 2 %: differs"), results)
    assert "| where | here | read or set up again after a first run |\n|---|---|---|---|---|\n" in text
    assert "| **reproduced** | held against 2 %: differs |" in text


def test_no_row_says_what_its_verdict_denies() -> None:
    """A machine checks it for all headlines, as they are measured now and as they were before."""
    headlines, results = read_all()
    names = {spec.parent.name for spec in (*CELLS.glob("*/spec.toml"), *CELLS.parent.glob("*/spec.toml"))}
    names |= set(
        re.findall(r'^name = "([^"]+)"', "".join(spec.read_text() for spec in CELLS.glob("*/spec.toml")), re.MULTILINE)
    )
    for each in headlines.headlines:
        told = f"{each.note} {each.but} {each.not_run} {' '.join(again.what for again in each.counterfactuals)}"
        for before in (False, True):
            verdict = verdict_of(each, results, before=before)
            if each.planted or each.but:
                assert verdict is not Verdict.REPRODUCED, each.id
            if servers_disagree(each, results, before=before) and rows_of(each, results, before=before):
                assert verdict is Verdict.STANDS_IN, each.id
            if verdict in (Verdict.REPRODUCED, Verdict.CAUSE_TAKEN):
                assert not re.search(r"(cause|why) is (not found|unknown)|not reproduced", told), each.id
        assert not (each.but and each.not_testable), each.id
        assert not (each.not_run and rows_of(each, results)), f"{each.id} has been run"
        assert not (each.read_again and not each.claims), each.id
        assert not re.search(r"no (client|server|program) here", told), f"{each.id} says that of all"
        named = set(re.findall(r"\b(?:yb|liu|kak|bh|qin)-[a-z0-9-]+", told))
        assert named <= names, f"{each.id} names {named - names}"
