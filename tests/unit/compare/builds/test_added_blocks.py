# SPDX-License-Identifier: Apache-2.0
"""A gate whose number of blocks could follow from looks is decided by the sequential test, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quiclab.compare.builds.gate import Judgement, Verdict, exit_verdict, judge, parse_bound
from quiclab.compare.builds.interleaved import two_builds
from quiclab.compare.builds.two_studies import StudiesCompared, compare_studies
from quiclab.compare.interim_analyses import remember_look
from quiclab.compare.model import Conclusion, Outcome
from quiclab.compare.study import METRICS, TRIALS, Study
from quiclab.report.words.change_text import gate_lines, legend, opening

CELLS = ("1MB", "5MB")


def study(folder: Path, rng: np.random.Generator, factor: float, blocks: int, *, planned: int, seed: int = 1) -> Study:
    """Both builds of h3 in the same blocks; NEW takes `factor` times as long, with a noise of 3 %."""
    trials, metrics = [], []
    for workload in CELLS:
        for block in range(blocks):
            for arm, scale in (("h3-old", 1.0), ("h3-new", factor)):
                trial = f"{len(trials):08x}"
                value = 200 * scale * float(rng.lognormal(0, 0.03))
                trials.append((trial, 1, "main", f"{workload}/far", workload, "far", arm, "h3-old", block, 0,
                               "verified", None))  # fmt: skip
                metrics.append((trial, "ttlb_ms", value, "ms", "lower", None))
    resolved = {
        "seed": seed, "blocks": planned, "arms": [{"name": "h3-old"}, {"name": "h3-new"}], "paths": [{"name": "far"}],
        "workloads": [{"name": name} for name in CELLS],
    }  # fmt: skip
    tables = (
        pl.DataFrame(trials, schema=TRIALS, orient="row"),
        pl.DataFrame(metrics, schema=METRICS, orient="row"),
    )
    return Study(folder, resolved, *tables, ())


def first(whole: Study, blocks: int) -> Study:
    """The study when so many blocks had run, all that were planned then."""
    trials = whole.trials.filter(pl.col("block") < blocks)
    return replace(whole, trials=trials, resolved=whole.resolved | {"blocks": blocks})


def compared(found: Study) -> StudiesCompared:
    """The two builds of one study."""
    return compare_studies(*two_builds(found, "-old", "-new"), ["ttlb_ms"], ["h3"], [], interleaved=True)


def gate(found: StudiesCompared, bound: str = "ttlb > +3%") -> tuple[Judgement, ...]:
    """Every cell against the bound."""
    return judge([(parse_bound(bound), "ttlb_ms")], found.changes, found.alpha)


def test_a_study_that_ran_as_planned_keeps_the_exact_test(tmp_path: Path) -> None:
    """However often it is compared."""
    whole = study(tmp_path, np.random.default_rng(1), 1.0, 20, planned=20)
    for _ in range(2):
        found = compared(whole)
        assert not found.sequential
        assert "exact signed-rank test" in found.pairing
        remember_look(whole, ["ttlb_ms"])


def test_blocks_added_after_a_look_are_judged_by_the_sequence(tmp_path: Path) -> None:
    """What is clear enough fails; the table, its level and the chance of an error are those of the sequence."""
    whole = study(tmp_path, np.random.default_rng(2), 1.3, 20, planned=20)
    remember_look(first(whole, 8), ["ttlb_ms"])
    found = compared(whole)
    assert found.sequential
    assert "sequential signed-rank test" in found.pairing
    assert found.notes[0] == "This study: blocks were added after an interim look: 8 were planned, 20 have run."
    assert {each.confidence for each in found.changes} == {1 - 0.05 / 2}
    assert {each.conclusion for each in found.changes} == {Conclusion.DIFFERENT}
    judged = gate(found)
    assert {each.verdict for each in judged} == {Verdict.FAILED}
    assert any("the sequential test decides" in line for line in opening(found))
    assert "corrected for 2 comparisons (Bonferroni)" in legend(found)
    assert "at most 2.5 % for all 2 cells together, however often it is looked at." in gate_lines(found, judged)[-1]


def test_a_study_before_its_end_is_judged_by_the_sequence_and_then_by_the_test(tmp_path: Path) -> None:
    """With too few pairs it is not judged, and the reason counts the sequence's pairs, not the test's."""
    whole = study(tmp_path, np.random.default_rng(4), 1.3, 20, planned=20)
    early = replace(whole, trials=whole.trials.filter(pl.col("block") < 6))
    judged = gate(compared(early))
    assert exit_verdict(judged) is Verdict.NOT_JUDGED
    assert judged[0].reason.endswith("could not fail the gate; 7 pairs are the fewest that can.")
    late = gate(compared(replace(whole, trials=whole.trials.filter(pl.col("block") < 9))))
    assert exit_verdict(late) is Verdict.FAILED
    remember_look(early, ["ttlb_ms"])
    assert not compared(whole).sequential


@pytest.mark.parametrize("bound", ["ttlb > +3%", "ttlb > +1ms"])
def test_trials_with_different_seeds_are_not_judged_then(tmp_path: Path, bound: str) -> None:
    """No test of theirs holds after looking and adding: nothing passes and nothing fails, and the reason is told."""
    rng = np.random.default_rng(5)
    before, after = (study(tmp_path / name, rng, 1.0, 20, planned=20, seed=s) for name, s in (("old", 1), ("new", 2)))
    after.directory.mkdir()
    remember_look(first(after, 8), ["ttlb_ms"])
    found = compare_studies(before, after, ["ttlb_ms"], ["h3-old", "h3-new"], [])
    assert {each.outcome for each in found.changes} == {Outcome.UNDECIDED}
    judged = gate(found, bound)
    assert {each.verdict for each in judged} == {Verdict.NOT_JUDGED}
    assert judged[0].reason.startswith("Not tested: the number of blocks may follow from a look")
    assert found.notes[0].startswith("NEW: blocks were added after an interim look")


def test_a_study_that_ran_until_it_was_decided_is_judged_by_the_sequence(tmp_path: Path) -> None:
    """Its number of pairs follows from looks by design, whether or not one is recorded."""
    whole = study(tmp_path, np.random.default_rng(6), 1.3, 20, planned=20)
    rule = '{"effect_pct": 5, "at_most": 40, "looks": [], "blocks": {}}'
    (tmp_path / "sequential.json").write_text(rule)
    found = compared(whole)
    assert found.sequential
    assert found.notes[0] == "This study: it was run until it was decided (--until)."
