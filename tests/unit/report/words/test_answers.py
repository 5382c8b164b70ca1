# SPDX-License-Identifier: Apache-2.0
"""The answer in a sentence per row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from synthetic_study import Shape, write_study

from quiclab.analysis.analyse import analyse_study
from quiclab.analysis.model import Comparison, Outcome, StudyAnalysis
from quiclab.report.words.answers import Answer, answers


def of_arms(analysis: StudyAnalysis, **outcomes: Outcome) -> StudyAnalysis:
    """The same study with these arms in place of its second one, each with one outcome everywhere."""
    comparisons = tuple(
        replace(each, other=replace(each.other, arm=arm), outcome=outcome, difference_pct=12.0)
        for each in analysis.comparisons
        for arm, outcome in outcomes.items()
    )
    return replace(analysis, comparisons=comparisons)


def test_every_cell_of_each_network_is_told(tmp_path: Path) -> None:
    """One sentence a network: who is faster than whom where, where nothing differs, and where nothing can be said."""
    found = {each.place: each.sentences for each in answers(analyse_study(write_study(tmp_path)))}
    assert found["nothing added"] == ("h3 against h2: no significant difference.",)
    assert found["1 % loss"][0].startswith("h3 is faster than h2 for 100 KB (+")
    (mixed,) = found["100 ms more RTT"]
    assert "h2 is faster than h3 for 100 KB (−8.0 %)" in mixed
    assert mixed.endswith("; undecided for 1 MB.")


def test_arms_of_which_the_same_holds_share_a_sentence_that_names_them(tmp_path: Path) -> None:
    """Three arms without an answer are one sentence; a winner has its own, and names whom it beats."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",), paths=("loss",))))
    undecided = of_arms(analysis, a=Outcome.UNDECIDED, b=Outcome.UNDECIDED, c=Outcome.UNDECIDED)
    assert answers(undecided) == [Answer("1 % loss", ("a, b and c against h2: undecided for 1 MB.",))]
    mixed = of_arms(analysis, a=Outcome.UNDECIDED, b=Outcome.OTHER_BETTER, c=Outcome.UNDECIDED)
    assert answers(mixed)[0].sentences == (
        "a and c against h2: undecided for 1 MB.",
        "b is faster than h2 for 1 MB (+12.0 %).",
    )


def test_networks_of_which_the_same_holds_share_a_row(tmp_path: Path) -> None:
    """Two of three stand together; all of them are called so."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), workloads=("1 MB",))))
    assert [each.place for each in answers(of_arms(analysis, a=Outcome.NOT_SIGNIFICANT))] == ["every network"]

    def lossy(each: Comparison) -> Comparison:
        return replace(each, outcome=Outcome.NOT_MEASURED if each.path == "loss" else Outcome.UNDECIDED)

    some = replace(analysis, comparisons=tuple(map(lossy, analysis.comparisons)))
    assert [(each.place, *each.sentences) for each in answers(some)] == [
        ("nothing added; 100 ms more RTT", "h3 against h2: undecided for 1 MB."),
        ("1 % loss", "h3 against h2: not measured for 1 MB."),
    ]


def test_every_sentence_names_its_arms(tmp_path: Path) -> None:
    """Whatever the outcomes are: both names, every arm in exactly one sentence of each row."""
    analysis = analyse_study(write_study(tmp_path, replace(Shape(), paths=("loss",))))
    for first in Outcome:
        for second in Outcome:
            (row,) = answers(of_arms(analysis, arm_one=first, arm_two=second))
            assert all("h2" in sentence for sentence in row.sentences)
            assert [sum(arm in sentence for sentence in row.sentences) for arm in ("arm_one", "arm_two")] == [1, 1]


def test_nothing_compared_is_no_answer(tmp_path: Path) -> None:
    """An empty study has no row."""
    assert answers(analyse_study(tmp_path)) == []
