# SPDX-License-Identifier: Apache-2.0
"""What a number of blocks can show, by hand and against the test itself."""

from __future__ import annotations

import dataclasses

import pytest
from scipy import stats
from specs import study_of

from quiclab.compare.comparison_words import least_pairs_words
from quiclab.model.study import Study
from quiclab.plan.power import attainable


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """One cell, two arms, four blocks."""
    return study_of(tmp_path_factory.mktemp("spec"))


def with_cells(study: Study, cells: int, blocks: int, alpha: float = 0.05) -> Study:
    """The same study with more objects and blocks."""
    workloads = tuple(dataclasses.replace(study.workloads[0], name=f"w{number}") for number in range(cells))
    return dataclasses.replace(study, workloads=workloads, blocks=blocks, alpha=alpha)


@pytest.mark.parametrize("blocks", [1, 2, 5, 9, 12])
def test_the_smallest_p_is_that_of_the_exact_test(small: Study, blocks: int) -> None:
    """All blocks differ in the same direction."""
    exact = stats.wilcoxon([float(number) for number in range(1, blocks + 1)], method="exact").pvalue
    assert attainable(with_cells(small, 1, blocks)).smallest_p == pytest.approx(exact)


@pytest.mark.parametrize(
    ("cells", "blocks", "together", "blocks_alone"),
    [
        (1, 5, None, 6),
        (1, 6, 1, 6),
        (9, 9, 1, 9),
        (9, 8, 2, 9),
        (9, 7, 3, 9),
        (9, 6, 6, 9),
        (9, 5, None, 9),
        (20, 9, 2, 10),
    ],
)
def test_how_many_cells_must_differ_at_once(
    small: Study, cells: int, blocks: int, together: int | None, blocks_alone: int
) -> None:
    """k of m comparisons are significant together if p ≤ k × alpha / m."""
    power = attainable(with_cells(small, cells, blocks))
    assert (power.together, power.blocks_alone) == (together, blocks_alone)


@pytest.mark.parametrize("cells", [1, 4, 9])
@pytest.mark.parametrize("blocks", [4, 5, 6, 7, 8, 9])
def test_it_agrees_with_the_correction_itself(small: Study, cells: int, blocks: int) -> None:
    """k comparisons with the smallest p and the rest with 1, corrected by Benjamini–Hochberg."""
    power = attainable(with_cells(small, cells, blocks))
    found = None
    for k in range(cells, 0, -1):
        p = [power.smallest_p] * k + [1.0] * (cells - k)
        if stats.false_discovery_control(p)[0] <= power.alpha + 1e-12:
            found = k
    assert power.together == found


def test_each_arm_with_a_baseline_is_a_comparison(small: Study) -> None:
    """Four arms with two baselines make two comparisons in a cell."""
    arms = [dataclasses.replace(arm, name=f"{arm.name}{n}", baseline=f"h2{n}") for n in "ab" for arm in small.arms]
    assert attainable(dataclasses.replace(small, arms=tuple(arms))).comparisons == 2


def test_more_arms_are_more_comparisons(small: Study) -> None:
    """Every arm beside the baseline is compared in every cell."""
    three = dataclasses.replace(small, arms=(*small.arms, dataclasses.replace(small.arms[0], name="x")))
    assert attainable(small).comparisons == 1
    assert attainable(three).comparisons == 2


@pytest.mark.parametrize(
    ("blocks", "words"),
    [(9, "a single comparison can be significant"), (7, "3 comparisons must differ at once"), (5, "nothing can be")],
)
def test_the_sentence_says_it_for_people(small: Study, blocks: int, words: str) -> None:
    """What is possible, and how many blocks would be enough."""
    sentence = attainable(with_cells(small, 9, blocks)).sentence
    assert words in sentence
    assert ("9 blocks would let one be significant by itself after that correction" in sentence) == (blocks < 9)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_least_of_a_plan_is_that_of_an_answer(small: Study, alpha: float) -> None:
    """Both have the same number for one comparison; a plan of several says that its own is after their correction."""
    alone, several = (attainable(with_cells(small, cells, 3, alpha)) for cells in (1, 2))
    assert least_pairs_words(alpha).startswith(f"{alone.blocks_alone} are the least for one comparison")
    assert f"{alone.blocks_alone} blocks would let it be" in alone.sentence
    assert "correction" not in alone.sentence
    assert several.blocks_alone == alone.blocks_alone + 1
    assert f"{several.blocks_alone} blocks would let one be significant by itself after that" in several.sentence


def test_a_single_arm_makes_no_comparison(small: Study) -> None:
    """No number of blocks is called too few."""
    found = attainable(dataclasses.replace(small, arms=small.arms[:1]))
    assert found.comparisons == 0
    assert "nothing is compared" in found.sentence
