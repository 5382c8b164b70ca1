# SPDX-License-Identifier: Apache-2.0
"""The answer in a sentence per row."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.model import Comparison, Conclusion, Outcome, StudyAnalysis, Tail, TailState
from quiclab.compare.statistics import Interval
from quiclab.report.words.answers import Answer, answers


def of_arms(analysis: StudyAnalysis, **conclusions: Conclusion) -> StudyAnalysis:
    """The same study with these arms in place of its second one, each with one conclusion everywhere."""
    comparisons = tuple(
        replace(
            each,
            other=replace(each.other, arm=arm),
            conclusion=conclusion,
            outcome=Outcome.OTHER_BETTER if conclusion.found else Outcome.UNDECIDED,
            difference_pct=-12.0,
            interval_pct=Interval(-14.5, -10.0, 0.95),
        )
        for each in analysis.comparisons
        for arm, conclusion in conclusions.items()
    )
    return replace(analysis, comparisons=comparisons)


def test_every_cell_of_each_network_is_told(tmp_path: Path) -> None:
    """One sentence a network: faster or slower than what, by how much, where nothing differs or nothing is known."""
    lost = frozenset(("far/1 MB", "h3", block) for block in range(5))
    shape = replace(Shape(), lost=lost)
    found = {each.place: each.sentences for each in answers(analyse_study(write_study(tmp_path, shape)))}
    assert found["nothing added"] == (
        "h3 against h2: the median is equivalent to within 2 % for 100 KB, 1 MB and 5 MB.",
    )
    assert found["1 % loss"][0].startswith("h3 is faster than h2: ")
    assert re.search(r"% less time \([\d.]+ to [\d.]+ %\) for 100 KB", found["1 % loss"][0])
    (mixed,) = found["100 ms more RTT"]
    assert re.search(r"slower than h2: 7.9 % more time \([\d.]+ to [\d.]+ %\) for 100 KB", mixed)
    spoiled = r"; not judged for 1 MB \(measured [\d.]+ % less time, .*4 pairs\)(; the interval allows for .*)?\.$"
    assert re.search(spoiled, mixed)


def test_arms_of_which_the_same_holds_share_a_sentence_that_names_them(tmp_path: Path) -> None:
    """Three arms without an answer are one sentence; a winner has its own, and names whom it beats."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",), paths=("loss",))))
    undecided = of_arms(analysis, a=Conclusion.UNDECIDED, b=Conclusion.UNDECIDED, c=Conclusion.UNDECIDED)
    assert answers(undecided) == [Answer("1 % loss", ("a, b and c against h2: inconclusive for 1 MB.",))]
    mixed = of_arms(analysis, a=Conclusion.UNDECIDED, b=Conclusion.DIFFERENT, c=Conclusion.UNDECIDED)
    assert answers(mixed)[0].sentences == (
        "a and c against h2: inconclusive for 1 MB.",
        "b is faster than h2: 12.0 % less time (10.0 to 14.5 %) for 1 MB.",
    )


def test_the_only_cell_has_its_numbers_though_it_is_open(tmp_path: Path) -> None:
    """The answer to one question has them too; of many cells the map has the intervals."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",), paths=("loss",))))
    (row,) = answers(of_arms(analysis, a=Conclusion.UNDECIDED))
    assert row.sentences == (
        "a against h2: inconclusive for 1 MB (measured 12.0 % less time, 10.0 to 14.5 %, 95 % confidence, 9 pairs).",
    )


def test_networks_of_which_the_same_holds_share_a_row(tmp_path: Path) -> None:
    """Two of three stand together; all of them are called so."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",))))
    assert [each.place for each in answers(of_arms(analysis, a=Conclusion.ALIKE))] == ["every network"]

    def lossy(each: Comparison) -> Comparison:
        conclusion = Conclusion.NOT_MEASURED if each.path == "loss" else Conclusion.UNDECIDED
        return replace(each, conclusion=conclusion, outcome=Outcome.UNDECIDED)

    some = replace(analysis, comparisons=tuple(map(lossy, analysis.comparisons)))
    assert [(each.place, *each.sentences) for each in answers(some)] == [
        ("nothing added; 100 ms more RTT", "h3 against h2: inconclusive for 1 MB."),
        ("1 % loss", "h3 against h2: not measured for 1 MB."),
    ]


def test_every_sentence_names_its_arms(tmp_path: Path) -> None:
    """Whatever the conclusions are: both names, every arm in exactly one sentence of each row."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), paths=("loss",))))
    for first in Conclusion:
        for second in Conclusion:
            (row,) = answers(of_arms(analysis, arm_one=first, arm_two=second))
            assert all("h2" in sentence for sentence in row.sentences)
            assert [sum(arm in sentence for sentence in row.sentences) for arm in ("arm_one", "arm_two")] == [1, 1]


def test_what_is_too_small_to_matter_makes_no_arm_the_faster(tmp_path: Path) -> None:
    """A difference that was found, of less than matters or perhaps less, is told as such; a tail that differs too."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",), paths=("loss",))))
    small = of_arms(analysis, a=Conclusion.SMALL)
    interval = Interval(0.1, 0.9, 0.95)
    slower = (replace(each, difference_pct=0.4, interval_pct=interval, leans=-0.4) for each in small.comparisons)
    small = replace(small, comparisons=tuple(slower))
    assert answers(small)[0].sentences == (
        "a against h2: the median differs by less than 2 % for 1 MB (0.4 % more time, 0.1 to 0.9 %).",
    )
    perhaps = of_arms(analysis, a=Conclusion.PERHAPS_SMALL)
    assert answers(perhaps)[0].sentences == (
        "a is faster than h2, unclear whether by 2 %: 12.0 % less time (10.0 to 14.5 %) for 1 MB.",
    )
    tail = Tail(TailState.DIFFERENT, 50.0, Interval(40, 60, 0.95), 36)
    alike = of_arms(analysis, a=Conclusion.MEDIAN_ALIKE)
    alike = replace(alike, comparisons=tuple(replace(each, tail=tail) for each in alike.comparisons))
    assert answers(alike)[0].sentences == (
        "a against h2: the median is equivalent to within 2 % for 1 MB (but the slow tail, 50.0 % more time).",
    )


def test_nothing_compared_is_no_answer(tmp_path: Path) -> None:
    """An empty study has no row."""
    assert answers(analyse_study(tmp_path)) == []
