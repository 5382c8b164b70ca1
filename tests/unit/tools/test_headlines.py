# SPDX-License-Identifier: Apache-2.0
"""The page of the papers' headline results: complete, and what the kept results say."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tomllib
from typing import Any

import headlines
import polars as pl
import pytest
from headlines_page import page
from headlines_results import (
    CELLS,
    CellResults,
    Counterfactual,
    Headline,
    Headlines,
    Paper,
    Verdict,
    arms_in_name,
    read_headlines,
    read_results,
)
from headlines_verdict import verdict_of

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_the_page_is_what_the_kept_results_say() -> None:
    """It can be made again without running anything."""
    command = [sys.executable, str(ROOT / "tools" / "headlines.py"), "write", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr


def test_every_headline_has_its_claims_or_says_why_not() -> None:
    """All 52, each once; every claim of a headline is in its cell's paper.toml, and every cell is of some headline."""
    headlines = read_headlines().headlines
    assert len({each.id for each in headlines}) == len(headlines) == 52
    used = set()
    for each in headlines:
        assert bool(each.claims or each.not_run) != bool(each.not_testable), each.id
        for cell, claim in each.claims:
            claims = tomllib.loads((CELLS / cell / "paper.toml").read_text())["claim"]
            assert claim in {found["id"] for found in claims}, f"{each.id}: {cell}:{claim}"
            used.add(cell)
        used |= {counterfactual.cell for counterfactual in each.counterfactuals}
        used |= {cell for server in each.stands_in for cell, _ in server.claims}
    cells = {spec.parent.name for spec in CELLS.glob("*/spec.toml")}
    assert cells == used


def _row(verdict: str, **more: Any) -> dict[str, Any]:
    row = dict.fromkeys(("why", "low", "high", "adjusted_p", "second_arm", "statistic", "known_before"))
    return row | {
        "claim": "c", "verdict": verdict, "first_arm": "h2", "second_arm": "h3", "workload": "1MB", "path": "plain",
        "metric": "ttlb_ms", "paper": "lower", "ours": -12.5, "unit": "%", "n": 8.0,
    } | more  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["agrees", "agrees"], Verdict.REPRODUCED),
        (["agrees", "inconclusive"], Verdict.IN_PART),
        (["agrees", "differs"], Verdict.DIFFERS),
        (["inconclusive"], Verdict.INCONCLUSIVE),
        ([], Verdict.NOT_RUN),
    ],
)
def test_one_claim_that_differs_decides(verdicts: list[str], expected: Verdict) -> None:
    """Agreement needs all of them."""
    results = {"cell": CellResults({"c": [_row(each) for each in verdicts]} if verdicts else {})}
    assert verdict_of(Headline("Y1", "1", "text", (("cell", "c"),)), results) is expected


def test_a_claim_that_was_not_run_leaves_a_headline_partly_run() -> None:
    """Unless another one is contradicted already."""
    both = Headline("Y1", "1", "text", (("cell", "c"), ("other", "d")))
    for verdict, expected in (("agrees", Verdict.PARTLY_RUN), ("differs", Verdict.DIFFERS)):
        results = {"cell": CellResults({"c": [_row(verdict)]}), "other": CellResults()}
        assert verdict_of(both, results) is expected


@pytest.mark.parametrize(
    ("row", "paper", "ours"),
    [
        (
            _row("agrees", paper="90 %", ours=92.8, low=92.6, high=92.9),
            "90 % less",
            "92.8 % less (92.9 % less … 92.6 % less)",
        ),
        (_row("agrees", paper="-13.9 %", ours=-12.0), "13.9 % more", "12.0 % more"),
        (_row("agrees", paper="8 %", ours=9.0, metric="throughput_bit_per_s"), "8 % more", "9.0 % more"),
        (_row("agrees", paper="same", ours=0.5, low=-0.5, high=1.0), "same", "0.5 % more (0.5 % less … 1.0 % more)"),
        (_row("agrees", paper="lower", ours=-51.0, low=-53.0, high=0.0, unit=""), "lower", "51 fewer (53 fewer … 0)"),
        (_row("agrees", paper="-100.4 ms", ours=-100.0, unit="ms"), "100.4 ms less", "100 ms less"),
        (_row("agrees", paper="58 %", ours=60.0, second_arm=None), "58 %", "60.0 %"),
    ],
)
def test_per_cent_say_which_way(row: dict[str, Any], paper: str, ours: str) -> None:
    """An advantage, which is above zero where the second arm is better, and a change have opposite signs."""
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (Headline("Y1", "1", "text", (("cell", "c"),)),))
    assert f": {paper} | {ours} | 8 |" in page(of, {"cell": CellResults({"c": [row]}, host=host)})


def test_a_direction_is_not_of_means_and_what_was_detected_is_told() -> None:
    """The number of a direction is the shift within pairs, whatever the paper made of its runs."""
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (Headline("Y1", "1", "text", (("cell", "c"),)),))
    rows = [
        _row("inconclusive", statistic="mean", why="Significantly lower, but the whole interval is less than 20 %."),
        _row("agrees", statistic="mean", paper="12 %", why=""),
    ]
    text = page(of, {"cell": CellResults({"c": rows}, host=host)})
    assert "| time to last byte: lower | 12.5 % less | 8 | inconclusive: significantly lower, but the whole" in text
    assert "| mean time to last byte: 12 % less | " in text


def test_how_many_agree_is_told_where_not_all_do() -> None:
    """A headline of which most agrees is not one of which nothing does."""
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (Headline("Y1", "1", "text", (("cell", "c"),)),))
    mixed, alike = (
        page(of, {"cell": CellResults({"c": [_row("agrees"), _row(second)]}, host=host)})
        for second in ("differs", "agrees")
    )
    assert "| **differs**; 1 of 2 agree |" in mixed
    assert "| **reproduced** |" in alike


def test_a_difference_stands_beside_its_counterfactual_and_its_causes() -> None:
    """Medians of both arms of one cell, and what `explain` named there; without either, the cause is unknown."""
    differences = pl.DataFrame({
        "workload": ["1MB"], "path": ["plain"], "unit": ["ms"], "baseline_arm": ["h2"], "baseline_median": [800.0],
        "other_arm": ["h3-without"], "other_median": [900.0],
    })  # fmt: skip
    causes = pl.DataFrame({
        "cell_id": ["1MB/plain"] * 2, "baseline": ["h2"] * 2, "other": ["h3"] * 2, "status": ["indicated", "undecided"],
        "cause_title": ["slow start", "pacing"], "difference_ms": [120.0, 500.0],
    })  # fmt: skip
    headline = Headline(
        "Y1", "1", "text", (("cell", "c"),), counterfactuals=(Counterfactual("cell", "no cause", "h2", "h3-without"),)
    )
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (headline,))
    claims = {"c": [_row("differs", known_before="as today", low=-14.0, high=-10.0, adjusted_p=0.0078)]}
    host = {"programs": {"server nginx": "1.26"}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    text = page(of, {"cell": CellResults(claims, differences, causes, host=host)})
    assert "Measured with server nginx 1.26." in text
    assert "](papers/yu.svg)" in text
    assert "| 12.5 % less (14.0 % less … 10.0 % less), p = .0078 | 8 | differs |" in text
    told = "Run again with `h3-without` in place of `h2` (no cause), in the same blocks, medians: 1MB, plain: 900 ms"
    assert told in text
    assert "* 1MB, plain, h2 → h3: pacing (500 ms, undecided); slow start (120 ms, indicated)." in text
    assert "Not quite as in the paper:\n\n* Y1, c: as today." in text
    accounts = pl.DataFrame({"cell_id": ["1MB/plain"], "arm": ["h2"], "why": ["link busy"], "ms": [812.0]})
    alone = {"c": [_row("differs", second_arm=None, unit="ms", ours=900.0)]}
    text = page(of, {"cell": CellResults(alone, accounts=accounts, host=host)})
    assert "* 1MB, plain, h2 takes its time with link busy 812 ms." in text
    bare = Headlines(of.papers, (Headline("Y1", "1", "text", (("cell", "c"),)),))
    assert "**Y1**: the cause is unknown." in page(bare, {"cell": CellResults(claims, host=host)})


def test_a_claim_is_held_again_against_a_cell_without_the_cause() -> None:
    """With what came of it there; an account of times says nothing about bytes."""
    again = Counterfactual("other", "a path with a longer queue", claim="d")
    headline = Headline("Y1", "1", "text", (("cell", "c"),), counterfactuals=(again,))
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (headline,))
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    causes = pl.DataFrame({
        "cell_id": ["1MB/plain"], "baseline": ["h2"], "other": ["h3"], "status": ["indicated"],
        "cause_title": ["slow start"], "difference_ms": [120.0],
    })  # fmt: skip
    bytes_again = _row("differs", metric="retransmitted_bytes")
    results = {
        "cell": CellResults({"c": [bytes_again]}, causes=causes, host=host),
        "other": CellResults({"d": [_row("agrees", ours=-90.0, path="long")]}, host=host),
    }
    text = page(of, results)
    assert "which has a path with a longer queue: h2 → h3; 1MB, long: 90.0 % less, n = 8, agrees." in text
    assert "slow start" not in text
    failed = _row("inconclusive", ours=None, why="6 of 8 trials failed: a mean has no meaning then.")
    text = page(of, results | {"other": CellResults({"d": [failed]}, host=host)})
    assert ": 6 of 8 trials failed: a mean has no meaning then, inconclusive." in text
    text = page(of, results | {"other": CellResults()})
    assert "the cause is unknown" in text
    link = "[other](../experiments/headlines/other/spec.toml)"
    assert f"Not run yet: {link}, which has a path with a longer queue." in text


def test_a_correlation_is_told_with_both_of_its_strengths() -> None:
    """A difference of two strengths says little by itself."""
    why = "Spearman's ρ with time to last byte is −0.20 in h2 and −0.90 in h3."
    row = _row(
        "agrees", metric="first_retransmission_offset_bytes", statistic="correlation with ttlb_ms", paper="higher",
        unit="", ours=0.7, why=why, adjusted_p=0.0012,
    )  # fmt: skip
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (Headline("Y1", "1", "text", (("cell", "c"),)),))
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    text = page(of, {"cell": CellResults({"c": [row]}, host=host)})
    assert ": correlation with time to last byte stronger | Spearman's ρ" in text
    assert "−0.90 in h3, p = .0012 |" in text


def test_only_what_the_page_needs_is_kept(tmp_path: pathlib.Path) -> None:
    """Claims, the arms' numbers and named causes, in a few kilobytes; nothing of a study that has no report."""
    study, results = tmp_path / "study", tmp_path / "cell" / "results"
    data = study / "report" / "data"
    data.mkdir(parents=True)
    results.parent.mkdir()
    for name in ("spec.toml", "paper.toml"):
        shutil.copy(CELLS / "liu-ideal" / name, results.parent)
    headlines.keep(study, results, {})
    assert not results.exists()
    pl.DataFrame([_row("agrees", p=0.01, text="t")]).write_csv(data / "claims.csv")
    columns = (*headlines._DIFFERENCES, "kind", "details")
    pl.DataFrame([dict.fromkeys(columns, "1") | {"kind": kind} for kind in ("main", "aa")]).write_csv(
        data / "differences.csv"
    )
    (study / "host.json").write_text(json.dumps({"kernel": "6.1", "measured_beside": "process 7 of somebody"}))
    (study / "spec.toml").write_text("# as it ran")
    (study / "tables").mkdir()
    pl.DataFrame({"began_utc": [None, "2026-11-27T06:00:00"]}).write_parquet(study / "tables" / "trials.parquet")
    cause = {"name": "origin", "status": "indicated", "difference_ms": 1190.0, "facts": []}
    several = {"name": "several:pacing_or_program", "status": "several, not separable", "difference_ms": 5.0}
    account = {
        "cell_id": "1MB/plain", "baseline": "h2", "other": "h3", "causes": [cause, several],
        "why": [{"label": "link_busy", "baseline_ms": 800.04, "other_ms": 0.5}],
    }  # fmt: skip
    unclaimed = account | {"other": "h3-more"}
    headlines.keep(study, results, {"accounts": [account, unclaimed]})
    assert (results / "spec.toml").read_text() == "# as it ran"
    assert not (results / "trials.csv").exists(), "a study without a paper has no claims whose trials could be kept"
    shutil.copy(results.parent / "spec.toml", results)
    kept = read_results("cell", tmp_path)
    assert kept.claims["c"][0]["ours"] == -12.5
    assert (kept.expected["ideal-h2"]["margin"], kept.matters) == ("10 %", 0.1)
    beside = {"measured_beside": "another run of quiclab"}
    assert kept.host == {"kernel": "6.1", "measured": "2026-11-27"} | beside
    assert kept.differences.height == 1
    assert "details" not in kept.differences.columns
    assert [row[3:6] for row in kept.causes.rows()] == [
        ("origin", "waiting for the origin", "indicated"),
        ("several:pacing_or_program", "pacing or the sender's program", "several, not separable"),
    ]
    assert kept.accounts.rows() == [("1MB/plain", "h2", "transmitting", 800.0)]


def test_a_count_and_a_spread_are_told_in_words() -> None:
    """A count has our cells in each state, and a spread says which arm varies more."""
    host = {"programs": {}, "cpus": 2, "cpu_model": "x", "kernel": "6", "quiclab": "0"}
    of = Headlines((Paper("Y", "Yu", "Title", "conditions"),), (Headline("Y1", "1", "text", (("cell", "c"),)),))
    cells = {"workload": None, "path": None, "unit": "cells", "low": 4.0, "high": 5.0, "ours": 4.0, "n": 6.0}
    rows = [
        _row("agrees", statistic="count of cells: lower", paper="22 of 30", why="4 cells lower, 2 higher.", **cells),
        _row("agrees", statistic="coefficient of variation", paper="higher", ours=300.0, adjusted_p=0.008),
    ]
    expected = {"c": {"margin": "4 of 30"}}
    text = page(of, {"cell": CellResults({"c": rows}, host=host, expected=expected)})
    count, spread = (line.split(" | ", 2)[2] for line in text.splitlines() if line.startswith("| Y1 | c,"))
    assert count == (
        "h2 → h3; 6 cells | cells with time to last byte lower: 22 of 30 ± 4 of 30 "
        "| 4 of 6: 4 cells lower, 2 higher | 6 | agrees |"
    )
    assert spread == "h2 → h3; 1MB, plain | time to last byte: varies more | 300.0 % more, p = .0080 | 8 | agrees |"


@pytest.mark.parametrize(
    ("name", "arms"),
    [
        ("h3", ["h3"]),
        ("h3 / h2", ["h3", "h2"]),
        ("mean of h3-curl and h3-quiche", ["h3-curl", "h3-quiche"]),
        ("h2, mean of a, b and c", ["h2", "a", "b", "c"]),
    ],
)
def test_the_name_of_a_side_has_its_arms(name: str, arms: list[str]) -> None:
    """A change of any of them is seen."""
    assert arms_in_name(name) == arms
