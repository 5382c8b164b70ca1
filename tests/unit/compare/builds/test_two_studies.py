# SPDX-License-Identifier: Apache-2.0
"""Two studies compared: pairs, false alarms, planted changes, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from by_night import by_night

from quiclab.compare.builds.gate import Judgement, Verdict, exit_verdict, judge, parse_bound
from quiclab.compare.builds.setting import Difference
from quiclab.compare.builds.two_studies import StudiesCompared, compare_studies
from quiclab.compare.model import Conclusion, Outcome
from quiclab.compare.study import METRICS, TRIALS, Study

ARMS = ("h2", "h3")
WORKLOADS = ("1MB", "5MB")


def study(
    rng: np.random.Generator, *, factor: float = 1, arms: Sequence[str] = ARMS, workloads: Sequence[str] = WORKLOADS,
    blocks: int = 10, failed: int = 0, seed: int = 1, aa: bool = False,
) -> Study:  # fmt: skip
    """Skewed times of about 100 ms; those of h3 are `factor` times as long, and its first `failed` trials failed."""
    trials, metrics = [], []
    cells = [("main", workload, arm, arms[0]) for workload in workloads for arm in arms]
    cells += [("aa", workloads[0], f"h3#{number}", "h3#1") for number in (1, 2) if aa]
    for kind, workload, arm, baseline in cells:
        for block in range(blocks):
            trial_id = f"{len(trials):08x}"
            fails = arm == "h3" and block < failed
            value = 100 * float(rng.lognormal(0, 0.05)) * (factor if arm.startswith("h3") else 1)
            cell_id = f"{workload}/far{'' if kind == 'main' else '/aa-h3'}"
            status = "failed" if fails else "verified"
            trials.append((trial_id, 1, kind, cell_id, workload, "far", arm, baseline, block, 0, status, None))
            if not fails:
                metrics.append((trial_id, "ttlb_ms", value, "ms", "lower", None))
    resolved = {
        "seed": seed, "arms": [{"name": arm} for arm in arms], "paths": [{"name": "far"}],
        "workloads": [{"name": name} for name in workloads],
    }  # fmt: skip
    return Study(
        Path("nowhere"),
        resolved,
        pl.DataFrame(trials, schema=TRIALS, orient="row"),
        pl.DataFrame(metrics, schema=METRICS, orient="row"),
        (),
    )


def compared(old: Study, new: Study, arms: Sequence[str] = ARMS, changed: Sequence[str] = ()) -> StudiesCompared:
    """By time to last byte."""
    differences = [Difference("programs.x", "1", "2", tuple(changed), "x", expected=True)] if changed else []
    return compare_studies(old, new, ["ttlb_ms"], arms, differences)


def gate(found: StudiesCompared, bound: str = "ttlb > +3%") -> tuple[Judgement, ...]:
    """Every cell against the bound."""
    return judge([(parse_bound(bound), "ttlb_ms")], found.changes, found.alpha)


@pytest.mark.parametrize("seed", [1, *by_night(2)])
def test_the_same_build_twice_raises_no_more_alarms_than_nominal(seed: int) -> None:
    """Of 200 comparisons of a build with itself 5 % may find something in any cell, paired or not."""
    rng = np.random.default_rng(7)
    alarms = gates = 0
    for _ in range(200):
        found = compared(study(rng, workloads=("1MB",)), study(rng, workloads=("1MB",), seed=seed))
        assert found.paired == (seed == 1)
        alarms += any(each.outcome.significant for each in found.changes)
        gates += exit_verdict(gate(found)) is Verdict.FAILED
    assert alarms <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95)
    assert gates <= alarms


@pytest.mark.parametrize("cells", [1, 8])
@pytest.mark.parametrize("seed", [1, *by_night(2)])
def test_cells_exactly_at_the_bound_seldom_fail_together(cells: int, seed: int) -> None:
    """All of them at the bound fail the gate in no more than 2.5 % of runs."""
    rng = np.random.default_rng(8)
    failed, runs, names = 0, 200 // cells, [str(number) for number in range(cells)]
    for _ in range(runs):
        old, new = (
            study(rng, factor=each, arms=("h3",), workloads=names, seed=s) for each, s in ((1, 1), (1.03, seed))
        )
        failed += exit_verdict(gate(compared(old, new, ("h3",)))) is Verdict.FAILED
    assert failed <= runs * 0.025 + 3 * np.sqrt(runs * 0.025 * 0.975)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_slow_down_fails_the_gate(seed: int) -> None:
    """30 % in one arm: its cells fail and no other does; as fast again, nothing fails."""
    rng = np.random.default_rng(9)
    found = compared(study(rng), study(rng, factor=1.3, seed=seed))
    verdicts = {(each.change.arm, each.change.workload): each.verdict for each in gate(found)}
    assert verdicts == {(arm, w): Verdict.FAILED if arm == "h3" else Verdict.PASSED for arm in ARMS for w in WORKLOADS}
    assert {each.outcome for each in found.changes if each.arm == "h3"} == {Outcome.BASELINE_BETTER}
    back = compared(study(rng, factor=1.3), study(rng, seed=seed))
    assert exit_verdict(gate(back)) is Verdict.PASSED
    assert {each.outcome for each in back.changes if each.arm == "h3"} == {Outcome.OTHER_BETTER}


def test_what_the_correction_puts_out_of_reach_is_too_few_and_not_the_same() -> None:
    """6 pairs reach 0.031, over 2 cells of which one alone differs 0.063; 7 reach 0.031 there, and find nothing."""
    rng = np.random.default_rng(14)
    few, enough = (compared(study(rng, blocks=n), study(rng, blocks=n), arms=["h3"]) for n in (6, 7))
    assert {each.outcome for each in few.changes} == {Outcome.UNDECIDED}
    assert {each.why for each in few.changes} == {
        "Too few: with 6 pairs, a change in this cell alone is not significant at 0.05 after the correction."
    }
    # What an interval excludes is excluded, whatever a test could have said.
    assert {each.verdict for each in gate(few, "ttlb > +1%")} == {Verdict.NOT_JUDGED}
    assert {each.verdict for each in gate(few, "ttlb > +40%")} == {Verdict.PASSED}
    assert {each.outcome for each in enough.changes} == {Outcome.NOT_SIGNIFICANT}


def test_the_intervals_of_what_was_selected_are_wider() -> None:
    """One of four cells is significant: its interval is at 1 − 0.05 / 4, that of the others at 0.95."""
    rng = np.random.default_rng(16)
    old, new = (study(rng, arms=("h3",), workloads=["a", "b", "c", "d"], blocks=12) for _ in range(2))
    slower = new.metrics.with_row_index().with_columns(
        pl.col("value") * pl.when(pl.col("index") < 12).then(2).otherwise(1)
    )
    found = compared(old, replace(new, metrics=slower.drop("index")), ["h3"])
    assert [each.confidence for each in found.changes] == [0.9875, 0.95, 0.95, 0.95]


def test_a_change_has_the_words_of_a_difference() -> None:
    """Certain, but of half a per cent; the same build twice in forty blocks; one that is 10 % slower."""
    rng = np.random.default_rng(18)
    old = study(rng, arms=("h3",), workloads=("1MB",), blocks=40)
    for factor, conclusion in ((1.005, Conclusion.SMALL), (1.0, Conclusion.ALIKE), (1.1, Conclusion.DIFFERENT)):
        times = old.metrics["value"] * factor * pl.Series(rng.lognormal(0, 0.003, 40))
        (found,) = compared(old, replace(old, metrics=old.metrics.with_columns(value=times)), ("h3",)).changes
        assert found.conclusion is conclusion


def test_the_change_is_the_ratio_within_pairs() -> None:
    """Blocks that differ by a factor of ten and a build that is 10 % slower in each: exactly 10 %."""
    rng = np.random.default_rng(17)
    old = study(rng, arms=("h3",), workloads=("1MB",))
    values = old.metrics["value"] * pl.Series([10.0**power for power in range(-5, 5)])
    before = replace(old, metrics=old.metrics.with_columns(value=values))
    after = replace(old, metrics=old.metrics.with_columns(value=values * 1.1))
    (found,) = compared(before, after, ("h3",)).changes
    assert found.change_pct == pytest.approx(10)
    assert found.interval_pct is not None
    assert [found.interval_pct.low, found.interval_pct.high] == pytest.approx([10, 10])


def test_new_failures_are_the_worst_slow_down() -> None:
    """A build that is as fast and fails nine times in ten fails the gate."""
    rng = np.random.default_rng(10)
    found = compared(study(rng, blocks=12), study(rng, blocks=12, failed=11), arms=["h3"])
    assert {each.verdict for each in gate(found)} == {Verdict.FAILED}


def test_pairs_only_where_the_seeds_are_the_same() -> None:
    """The first line says which test decides, and why."""
    rng = np.random.default_rng(11)
    paired, unpaired = (compared(study(rng), study(rng, seed=seed, blocks=8)) for seed in (1, 2))
    assert paired.pairing.startswith("Paired: both studies have seed 1")
    assert {each.pairs for each in paired.changes} == {8}
    assert paired.notes == ("8 trials without a partner in the other study left out.",)
    assert unpaired.pairing.startswith("Unpaired: the studies' seeds are 1 and 2")
    assert {each.pairs for each in unpaired.changes} == {None}
    assert unpaired.notes == ()


def test_what_is_missing_is_told() -> None:
    """A cell that NEW lacks stays in the list without an answer; of an arm that it lacks there is a sentence."""
    rng = np.random.default_rng(12)
    found = compared(study(rng, arms=("h2", "h3", "h1")), study(rng, workloads=("1MB",)))
    assert found.notes[0] == "NEW has no trial of h1: not compared."
    lone = [each for each in found.changes if each.workload == "5MB"]
    assert [(each.arm, each.outcome, each.why) for each in lone] == [
        (arm, Outcome.NOT_MEASURED, "NEW measured nothing.") for arm in ARMS
    ]
    assert {each.verdict for each in gate(found) if each.change.workload == "5MB"} == {Verdict.NOT_JUDGED}


def test_too_few_trials_are_undecided() -> None:
    """Five pairs, or three trials against three, cannot reach 5 %."""
    rng = np.random.default_rng(13)
    for blocks, seed in ((5, 1), (3, 2)):
        found = compared(study(rng, blocks=blocks), study(rng, blocks=blocks, factor=2, seed=seed))
        assert {each.outcome for each in found.changes} == {Outcome.UNDECIDED}
        assert exit_verdict(gate(found)) is Verdict.NOT_JUDGED


def test_the_correction_is_over_what_was_asked_for() -> None:
    """With one arm asked for, half as many comparisons share the level; the other arm is a control beside them."""
    rng = np.random.default_rng(14)
    found = compared(study(rng), study(rng, factor=1.3), arms=["h3"], changed=["h3"])
    assert {each.arm for each in found.changes} == {"h3"}
    assert {each.arm for each in found.controls} == {"h2"}
    assert not any(each.outcome.significant for each in found.controls)
    assert all(each.adjusted_p == each.p for each in found.changes)  # both as small as ten pairs allow


def test_the_floor_is_each_studys_own() -> None:
    """From A/A cells where there are any."""
    rng = np.random.default_rng(15)
    found = compared(study(rng, aa=True), study(rng))
    assert [(floor.study, floor.reach_pct is None) for floor in found.floors] == [("OLD", False), ("NEW", True)]
