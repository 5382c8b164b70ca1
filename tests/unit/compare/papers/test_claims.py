# SPDX-License-Identifier: Apache-2.0
"""Every kind of claim against synthetic studies, with every outcome."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from synthetic_paper import CLEAR, UNTESTABLE, direction, judged, number
from synthetic_study import write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.papers.claim_verdict import Verdict
from quiclab.compare.study import read_study

ONE = {"arms": ["h2"]}
MEAN = {"statistic": "mean"}
NONE = "No difference was found, and the whole interval is less than 2 %."


@pytest.mark.parametrize(
    ("expected", "path", "verdict"),
    [
        ("lower", "loss", Verdict.AGREES),
        ("higher", "loss", Verdict.DIFFERS),
        ("same", "clean", Verdict.AGREES),
    ],
)
def test_an_interaction_is_a_ratio_beside_another(expected: str, path: str, verdict: Verdict, tmp_path: Path) -> None:
    """From h2 to h3 the time falls by 22 % over "loss"; from h2 to h2 not at all."""
    claim = direction(expected, kind="interaction", arms=["h2", "h2", "h2", "h3"], paths=[path])
    (found,) = judged(write_study(tmp_path, CLEAR), claim)
    assert found.verdict is verdict
    (cell,) = found.cells
    assert cell.n == 20
    assert found.claim.sides == ("h2 / h2", "h3 / h2")
    assert cell.ours is not None
    assert (cell.ours < -15) == (path == "loss")


def test_an_interaction_with_a_failed_trial_is_undecided(tmp_path: Path) -> None:
    """A ratio to a trial that failed has no meaning."""
    study = write_study(tmp_path, replace(CLEAR, failures=frozenset({("loss/1 MB", "h2", 3)})))
    claim = direction("lower", kind="interaction", arms=["h2", "h2", "h2", "h3"], workloads=["1 MB"])
    (found,) = judged(study, claim)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "1 of 20 trials of h2 failed" in found.cells[0].why
    assert "a ratio of arms has no meaning then" in found.cells[0].why


def values(directory: Path, metric: str, by_arm: dict[str, float], better: str = "lower") -> None:
    """Give every verified trial of an arm this value of a metric, and a little noise that depends on its block."""
    trials = pl.read_parquet(directory / "tables" / "trials.parquet").filter(pl.col("status") == "verified")
    rows = [
        {
            "trial_id": trial, "name": metric, "value": by_arm[arm] * (1 + block / 1000), "unit": "", "better": better,
            "note": None,
        }
        for trial, arm, block in trials.select("trial_id", "arm", "block").rows()
    ]  # fmt: skip
    metrics = pl.read_parquet(directory / "metrics.parquet")
    pl.concat([metrics, pl.DataFrame(rows, schema=metrics.schema)]).write_parquet(directory / "metrics.parquet")


@pytest.mark.parametrize(
    ("expected", "path", "verdict", "why"),
    [
        ("lower", "loss", Verdict.AGREES, ""),
        ("higher", "loss", Verdict.DIFFERS, "Significantly lower."),
        ("same", "loss", Verdict.DIFFERS, "Significantly lower."),
        ("same", "clean", Verdict.AGREES, ""),
        ("lower", "clean", Verdict.INCONCLUSIVE, NONE),
        ("higher", "clean", Verdict.INCONCLUSIVE, NONE),
        ("not lower", "loss", Verdict.DIFFERS, "Significantly lower."),
        ("not higher", "loss", Verdict.AGREES, ""),
        ("not lower", "clean", Verdict.AGREES, ""),
        ("not higher", "clean", Verdict.AGREES, ""),
    ],
)
def test_a_direction(tmp_path: Path, expected: str, path: str, verdict: Verdict, why: str) -> None:
    """The test that decides elsewhere decides here; what it does not find agrees with nothing but a narrow interval."""
    (found,) = judged(write_study(tmp_path, CLEAR), direction(expected, paths=[path]))
    (cell,) = found.cells
    assert (found.verdict, cell.verdict, cell.why, cell.n) == (verdict, verdict, why, 20)
    assert cell.interval is not None
    assert cell.ours is not None
    assert cell.interval.low <= cell.ours <= cell.interval.high
    assert cell.interval.high < -10 if path == "loss" else -5 < cell.interval.low < 0 < cell.interval.high < 5


def test_too_few_pairs_decide_nothing(tmp_path: Path) -> None:
    """Five pairs that all point one way: neither agreement nor difference, whatever is claimed."""
    found = judged(write_study(tmp_path, replace(CLEAR, blocks=5)), *map(direction, ("lower", "higher", "same")))
    assert {each.verdict for each in found} == {Verdict.INCONCLUSIVE}
    assert found[0].cells[0].why.startswith("Too few pairs: with 5,")


def test_no_significance_is_no_sameness_where_the_interval_is_wide(tmp_path: Path) -> None:
    """Nine noisy pairs without an effect do not show that there is none."""
    write_study(tmp_path, replace(CLEAR, blocks=9))
    metrics = pl.read_parquet(tmp_path / "metrics.parquet")
    swings = 1 + 0.3 * (pl.int_range(pl.len()).hash(seed=3) % 100 / 100)
    noisy = pl.when(pl.col("name") == "ttlb_ms").then(100 * swings).otherwise("value")
    metrics.with_columns(value=noisy).write_parquet(tmp_path / "metrics.parquet")
    (found,) = judged(tmp_path, direction("same"))
    assert (found.verdict, found.cells[0].why) == (
        Verdict.INCONCLUSIVE,
        "No difference was found, but 2 % or more is not excluded.",
    )


@pytest.mark.parametrize(
    ("h3", "expected", "verdict", "why"),
    [
        (99.5, "same", Verdict.AGREES, ""),
        (99.5, "lower", Verdict.INCONCLUSIVE, "Significantly lower, but the whole interval is less than 2 %."),
        (99.5, "higher", Verdict.DIFFERS, "Significantly lower."),
        (97, "same", Verdict.DIFFERS, "Significantly lower."),
        (97, "lower", Verdict.AGREES, ""),
    ],
)
def test_a_difference_that_does_not_matter_agrees_with_sameness_only(
    tmp_path: Path, h3: float, expected: str, verdict: Verdict, why: str
) -> None:
    """Found without a doubt, of half a per cent or of three, where 2 % matter."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "wait_ms", {"h2": 100, "h3": h3})
    (found,) = judged(tmp_path, direction(expected, metric="wait_ms"))
    assert (found.verdict, found.cells[0].why) == (verdict, why)


@pytest.mark.parametrize("expected", ["lower", "same"])
def test_a_difference_that_perhaps_matters_decides_nothing(tmp_path: Path, expected: str) -> None:
    """About 22 % are found, less than the 22.5 % that matter, and more is not excluded."""
    write_study(tmp_path, replace(CLEAR, resolved={"matters_pct": 22.5}))
    (found,) = judged(tmp_path, direction(expected))
    assert (found.verdict, found.cells[0].why) == (
        Verdict.INCONCLUSIVE,
        "Significantly lower, but unclear whether by 22.5 %.",
    )


def test_not_to_be_lower_is_decided_on_one_side(tmp_path: Path) -> None:
    """About 22 % lower are found, where 22.5 % matter: not higher it is for certain, and perhaps lower by that much."""
    write_study(tmp_path, replace(CLEAR, resolved={"matters_pct": 22.5}))
    found = judged(tmp_path, direction("not lower"), direction("not higher"))
    why = "That it is lower by 22.5 % or more is not excluded."
    assert [(each.verdict, each.cells[0].why) for each in found] == [(Verdict.INCONCLUSIVE, why), (Verdict.AGREES, "")]
    goodput = {"metric": "goodput_bit_per_s"}
    found = judged(tmp_path, direction("not lower", **goodput), direction("not higher", **goodput))
    assert [each.verdict for each in found] == [Verdict.AGREES, Verdict.DIFFERS]


def test_directions_are_of_the_number_not_of_better(tmp_path: Path) -> None:
    """Goodput over "loss" is higher with h3: above zero, and "higher" agrees; likewise where neither side is better."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "share_pct", {"h2": 40, "h3": 60}, better="none")
    goodput = {"metric": "goodput_bit_per_s"}
    claims = direction("higher", **goodput), direction("lower", **goodput), direction("higher", metric="share_pct")
    found = judged(tmp_path, *claims)
    assert [each.verdict for each in found] == [Verdict.AGREES, Verdict.DIFFERS, Verdict.AGREES]
    assert [(each.cells[0].ours or 0) > 0 for each in found] == [True] * 3


def test_arms_may_stand_the_other_way_round(tmp_path: Path) -> None:
    """h2 beside h3 is higher where h3 beside h2 is lower, by the same p as the map's."""
    there, back = judged(write_study(tmp_path, CLEAR), direction("lower"), direction("higher", arms=["h3", "h2"]))
    assert (there.verdict, back.verdict) == (Verdict.AGREES, Verdict.AGREES)
    mapped = analyse(read_study(tmp_path)).comparisons
    assert {there.cells[0].adjusted_p, back.cells[0].adjusted_p} == {
        next(c.adjusted_p for c in mapped if (c.path, c.workload) == ("loss", "100 KB"))
    }


def test_what_the_map_does_not_have_is_corrected_by_itself(tmp_path: Path) -> None:
    """Two claims by another metric over two cells are one family of two comparisons: a cell counts once."""
    claims = [direction("lower", metric="ttfb_ms", paths=["clean", "loss"]) for _ in range(2)]
    write_study(tmp_path, CLEAR)
    by_arm = {"h2": 100.0, "h3": 90.0}
    metrics = pl.read_parquet(tmp_path / "metrics.parquet").filter(pl.col("name") != "ttfb_ms")
    metrics.write_parquet(tmp_path / "metrics.parquet")
    values(tmp_path, "ttfb_ms", by_arm)
    cells = [cell for each in judged(tmp_path, *claims) for cell in each.cells]
    assert [(cell.p, cell.adjusted_p) for cell in cells] == [(2 / 2**20, 2 / 2**20)] * 4


def test_a_difference_from_nothing_has_a_direction(tmp_path: Path) -> None:
    """No stall over h2 and some over h3: higher, in the metric's own unit; none on both sides is the same."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "stalls", {"h2": 0, "h3": 4})
    values(tmp_path, "decoder_stalls", {"h2": 0, "h3": 0})
    higher, lower, same = judged(
        tmp_path, direction("higher", metric="stalls"), direction("lower", metric="stalls"),
        direction("same", metric="decoder_stalls"),
    )  # fmt: skip
    assert (higher.verdict, lower.verdict, same.verdict) == (Verdict.AGREES, Verdict.DIFFERS, Verdict.AGREES)
    assert higher.cells[0].unit == ""
    assert higher.cells[0].ours == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("statistic", ["median", *by_night("mean")])
@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(104.9, 105.1, Verdict.AGREES), (100.5, 101.5, Verdict.DIFFERS), (105_900, 106_000, Verdict.DIFFERS)],
)
def test_a_number_of_one_arm(tmp_path: Path, statistic: str, low: float, high: float, verdict: Verdict) -> None:
    """Blocks of 104, 105 and 106 ms by turns: what our interval holds agrees, what it excludes differs."""
    write_study(tmp_path, replace(CLEAR, blocks=21))
    metrics = pl.read_parquet(tmp_path / "metrics.parquet").join(
        pl.read_parquet(tmp_path / "tables" / "trials.parquet").select("trial_id", "block"), on="trial_id"
    )
    turns = pl.when(pl.col("name") == "ttlb_ms").then(104.0 + pl.col("block") % 3).otherwise("value")
    metrics.with_columns(value=turns).drop("block").write_parquet(tmp_path / "metrics.parquet")
    (found,) = judged(tmp_path, number("so many ms", low, high, "ms", statistic=statistic, **ONE))
    assert (found.verdict, found.cells[0].ours, found.cells[0].n) == (verdict, pytest.approx(105), 21)
    assert found.cells[0].unit == "ms"


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_an_advantage_of_two_arms(tmp_path: Path, statistic: str) -> None:
    """Positive where the second arm is better, of a time as of a rate; zero in the interval decides nothing."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "speed", {"h2": 100, "h3": 110}, better="higher")
    whole = {"statistic": statistic}
    right, wrong, faster, nothing = judged(
        tmp_path, number("20 %", 16, 24, "%", **whole), number("90 %", 89.5, 90.5, "%", **whole),
        number("10 %", 9.5, 10.5, "%", metric="speed", **whole),
        number("0.1 %", -0.5, 0.5, "%", paths=["clean"], **whole),
    )  # fmt: skip
    assert (right.verdict, wrong.verdict, faster.verdict) == (Verdict.AGREES, Verdict.DIFFERS, Verdict.AGREES)
    assert faster.cells[0].ours == pytest.approx(10, rel=0.02)
    assert (nothing.verdict, nothing.cells[0].why) == (
        Verdict.INCONCLUSIVE,
        "Our interval holds the paper's number, and zero too.",
    )


@pytest.mark.parametrize("statistic", ["mean", *by_night("median")])
@pytest.mark.parametrize(
    ("low", "high", "verdict", "why"),
    [
        (0, 10, Verdict.AGREES, ""),
        (4.04, 10, Verdict.INCONCLUSIVE, "Our interval reaches beyond the range."),
        (4.1, 10, Verdict.DIFFERS, "Our interval excludes the paper's range."),
        (-10, 0, Verdict.DIFFERS, "Our interval excludes the paper's range."),
    ],
)
def test_a_difference_of_two_arms(
    tmp_path: Path, statistic: str, low: float, high: float, verdict: Verdict, why: str
) -> None:
    """How much more the second has, in the metric's unit: from 4 in the first block to 4.076 in the last."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "wait_ms", {"h2": 1000, "h3": 1004})
    claim = number("", low, high, "", metric="wait_ms", statistic=statistic, kind="difference")
    claim["expected"]["range"] = True
    (found,) = judged(tmp_path, claim)
    (cell,) = found.cells
    assert cell.ours == pytest.approx(4.038)
    assert (found.verdict, cell.why, cell.unit, cell.n) == (verdict, why, "", 20)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_there_is_no_advantage_over_nothing(tmp_path: Path, statistic: str) -> None:
    """A percentage of 0 cannot be, however many pairs there are."""
    values(write_study(tmp_path, CLEAR), "faults", {"h2": 0, "h3": 3})
    (found,) = judged(tmp_path, number("2 %", 1.5, 2.5, "%", metric="faults", statistic=statistic))
    assert (found.verdict, found.cells[0].n) == (Verdict.NOT_TESTABLE, 20)
    assert (
        found.cells[0].why
        == {
            "mean": "The mean of h2 is 0: no advantage in per cent of that.",
            "median": "A value of zero has no ratio: no advantage in per cent.",
        }[statistic]
    )


def test_two_trials_have_no_interval(tmp_path: Path) -> None:
    """Their number is shown, and decides nothing."""
    (found,) = judged(write_study(tmp_path, replace(CLEAR, blocks=2)), number("9 s", 8500, 9500, "ms", **ONE, **MEAN))
    assert (found.verdict, found.cells[0].why) == (
        Verdict.INCONCLUSIVE,
        "Too few values for an interval, or too many failures.",
    )
    assert found.cells[0].ours is not None


def test_failures_leave_a_mean_without_meaning(tmp_path: Path) -> None:
    """A median and a direction rank them worst; a metric without a worse side cannot."""
    shape = replace(CLEAR, failures=frozenset({("loss/100 KB", "h2", 1), ("loss/100 KB", "h2", 4)}))
    write_study(tmp_path, shape)
    values(tmp_path, "share_pct", {"h2": 40, "h3": 60}, better="none")
    mean, lower, share = judged(
        tmp_path, number("20 %", 16, 24, "%", **MEAN), direction("lower"), direction("higher", metric="share_pct")
    )
    assert (mean.verdict, lower.verdict, share.verdict) == (Verdict.INCONCLUSIVE, Verdict.AGREES, Verdict.INCONCLUSIVE)
    assert mean.cells[0].why == "2 of 20 trials of h2 failed: a mean has no meaning then."
    assert share.cells[0].why == "2 of 20 trials of h2 failed: this metric has no worst value to give them."


@pytest.mark.parametrize(("most_pct", "verdict"), [(5.0, Verdict.AGREES), (40.0, Verdict.NOT_JUDGED)])
def test_a_disturbed_machine_decides_as_in_the_map(tmp_path: Path, most_pct: float, verdict: Verdict) -> None:
    """A difference of 22 % is there in spite of 5 % that the machine may have added to the slower arm, not of 40 %."""
    voids = frozenset(("loss/100 KB", "h2", block) for block in range(4))
    shape = replace(CLEAR, voids=voids, disturbed={"h2": most_pct, "h3": 0.0})
    (found,) = judged(write_study(tmp_path, shape), direction("lower"))
    assert found.verdict is verdict
    assert found.cells[0].why.startswith("Disturbed:") == (verdict is Verdict.NOT_JUDGED)


@pytest.mark.parametrize("statistic", ["mean", *by_night("median")])
@pytest.mark.parametrize("arms", [["h2"], ["h2", "h3"]])
def test_the_interval_of_a_number_allows_for_the_machine(tmp_path: Path, statistic: str, arms: list[str]) -> None:
    """The interval of one arm grows, and that of the other's advantage; the number itself stays."""
    claim = number("80 ms", 1, 1000, "ms" if len(arms) == 1 else "%", arms=arms, statistic=statistic)
    calm, disturbed = (
        judged(write_study(tmp_path / name, replace(CLEAR, disturbed=known)), claim)[0].cells[0]
        for name, known in (("calm", {}), ("disturbed", {"h2": 5.0}))
    )
    assert disturbed.ours == calm.ours
    assert calm.interval is not None
    assert disturbed.interval is not None
    assert disturbed.interval.low < calm.interval.low
    assert disturbed.interval.high == pytest.approx(calm.interval.high, rel=1e-2)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"arms": ["h2", "h4"]}, "This study has no arm h4."),
        ({"workloads": ["10 MB"]}, "This study has no workload 10 MB."),
        ({"paths": ["moon"]}, "This study has no path moon."),
        ({"metric": "warmth"}, "warmth was not measured."),
        ({"workloads": ["1 MB"]}, "The workload 1 MB is not the full study's here: it differs in count, size_bytes."),
        ({"paths": ["clean"], "metric": "late_ms"}, "No trial of h2 has a value in this cell."),
    ],
)
def test_what_cannot_be_tested_says_why(tmp_path: Path, keys: dict[str, Any], why: str) -> None:
    """Names and metrics that are not here, or are not the same, are told; nothing is guessed."""
    write_study(tmp_path, CLEAR)
    values(tmp_path, "late_ms", {"h2": 1, "h3": 1})
    trials = pl.read_parquet(tmp_path / "tables" / "trials.parquet")
    clean = trials.filter(pl.col("path") == "clean")["trial_id"].to_list()
    gone = (pl.col("name") == "late_ms") & pl.col("trial_id").is_in(clean)
    pl.read_parquet(tmp_path / "metrics.parquet").filter(~gone).write_parquet(tmp_path / "metrics.parquet")
    changed = {"workloads": {"1 MB": ["count", "size_bytes"]}}
    (found,) = judged(tmp_path, direction("lower", **keys), changed=changed)
    assert (found.verdict, found.cells[0].why) == (Verdict.NOT_TESTABLE, why)
    assert found.cells[0].ours is None


def test_an_arm_that_always_failed_tests_nothing(tmp_path: Path) -> None:
    """A program that is not installed is no evidence against its protocol."""
    failures = frozenset(("loss/100 KB", "h3", block) for block in range(20))
    (found,) = judged(write_study(tmp_path, replace(CLEAR, failures=failures)), direction("higher"))
    assert found.verdict is Verdict.NOT_TESTABLE
    assert found.cells[0].why == "No trial of h3 has a value in this cell: 20 failed."


def test_units_that_do_not_fit_are_told(tmp_path: Path) -> None:
    """A rate is no time."""
    (found,) = judged(write_study(tmp_path, CLEAR), number("5 Mbit/s", 4.5e6, 5.5e6, "bit/s", **ONE))
    assert (found.verdict, found.cells[0].why) == (Verdict.NOT_TESTABLE, "The paper's number is in bit/s, ours in ms.")


def test_a_claim_that_the_paper_s_file_calls_untestable_stays_so(tmp_path: Path) -> None:
    """It has no cells."""
    (found,) = judged(write_study(tmp_path, CLEAR), UNTESTABLE)
    assert (found.verdict, found.cells) == (Verdict.NOT_TESTABLE, ())


@pytest.mark.parametrize(
    ("expected", "paths", "verdict", "tested"),
    [
        ("lower", ["loss"], Verdict.AGREES, 2),
        ("lower", ["loss", "moon"], Verdict.AGREES, 2),
        ("lower", ["loss", "clean"], Verdict.INCONCLUSIVE, 4),
        ("same", ["loss", "clean"], Verdict.DIFFERS, 4),
        ("same", ["moon"], Verdict.NOT_TESTABLE, 0),
    ],
)
def test_several_cells_make_one_verdict(
    tmp_path: Path, expected: str, paths: list[str], verdict: Verdict, tested: int
) -> None:
    """All that are tested must agree, one that differs is enough, and what is not here is counted."""
    claim = direction(expected, paths=paths, workloads=["100 KB", "1 MB"])
    (found,) = judged(write_study(tmp_path, CLEAR), claim)
    assert (found.verdict, found.tested, len(found.cells)) == (verdict, tested, 2 * len(paths))
