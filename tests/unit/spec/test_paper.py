# SPDX-License-Identifier: Apache-2.0
"""What a paper says, claim by claim: read strictly, every offender at once, held against the study's own names."""

from __future__ import annotations

import pathlib

import pytest
from papers import CLAIM, NUMBER, ONE_ARM, PAPER
from specs import SMALL, written

from quiclab.model.errors import SpecError
from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec.claim_values import CellShare, Counted, PerCent
from quiclab.spec.paper import Paper, read_paper
from quiclab.spec.read import read_study

METRICS = {"ttlb_ms": "ms", "goodput_bit_per_s": "bit/s", "wire_bytes_down": "bytes", "path_loss_up_pct": "%"}


def read(folder: pathlib.Path, text: str) -> Paper:
    """This text beside the small spec."""
    file = folder / "paper.toml"
    file.write_text(text, encoding="utf-8")
    return read_paper(file, METRICS, read_study(written(folder, SMALL)))


def problems(folder: pathlib.Path, text: str) -> tuple[str, ...]:
    """What is wrong with this text."""
    with pytest.raises(SpecError) as caught:
        read(folder, text)
    return caught.value.problems


def test_a_claim_is_read_whole(tmp_path: pathlib.Path) -> None:
    """Where it stands, what it says, and of which cells."""
    paper = read(tmp_path, PAPER + CLAIM)
    assert (paper.authors, paper.title, paper.venue, paper.year) == ("A. Writer", "On Protocols", "A workshop", 2024)
    (claim,) = paper.claims
    assert (claim.id, claim.section, claim.kind, claim.metric) == ("faster", "4.1, Figure 4", "direction", "ttlb_ms")
    assert (claim.arms, claim.workloads, claim.paths) == (("h2", "h3"), ("100KB",), ("plain",))
    assert (claim.expected, claim.statistic, claim.testable, claim.why) == ("lower", "median", True, "")


@pytest.mark.parametrize(
    ("metric", "text", "value"),
    [
        ("ttlb_ms", "15 s", Duration.from_s(15)),
        ("goodput_bit_per_s", "79 Mbit/s", Bitrate(79 * 10**6)),
        ("wire_bytes_down", "2077 KB", ByteCount(2_077_000)),
        ("path_loss_up_pct", "0.05 %", PerCent(0.05)),
    ],
)
def test_a_number_of_one_arm_has_the_units_of_its_metric(
    tmp_path: pathlib.Path, metric: str, text: str, value: object
) -> None:
    """Times for times, rates for rates, per cent for shares."""
    claim = read(tmp_path, PAPER + ONE_ARM.replace("ttlb_ms", metric).replace('"lower"', f'"{text}"')).claims[0]
    assert claim.expected == value


def test_a_number_has_no_more_digits_than_a_paper_prints(tmp_path: pathlib.Path) -> None:
    """One with hundreds of them is infinite, which no interval meets."""
    text = PAPER + ONE_ARM.replace("ttlb_ms", "path_loss_up_pct").replace('"lower"', f'"{"9" * 400} %"')
    (problem,) = problems(tmp_path, text)
    assert "write path_loss_up_pct in per cent" in problem


@pytest.mark.parametrize(
    ("kind", "arms", "wanted"),
    [
        ("interaction", ["h2", "h3"], "four"),
        ("direction", ["h2"], "two"),
        ("number", ["h2", "h3", "h2", "h3"], "one or two"),
    ],
)
def test_a_kind_of_claim_is_about_so_many_arms(kind: str, arms: list[str], wanted: str, tmp_path: pathlib.Path) -> None:
    """Four of an interaction, which says how one change differs from another."""
    named = ", ".join(f'"{arm}"' for arm in arms)
    text = CLAIM.replace('kind = "direction"', f'kind = "{kind}"').replace('arms = ["h2", "h3"]', f"arms = [{named}]")
    assert any(f"name {wanted}" in problem for problem in problems(tmp_path, PAPER + text))


def test_an_interaction_is_a_direction_of_four_arms(tmp_path: pathlib.Path) -> None:
    """Arms may stand twice in it."""
    four = CLAIM.replace('["h2", "h3"]', '["h2", "h3", "h3", "h2"]')
    text = four.replace('kind = "direction"', 'kind = "interaction"')
    (claim,) = read(tmp_path, PAPER + text).claims
    assert (claim.arms, claim.expected) == (("h2", "h3", "h3", "h2"), "lower")


@pytest.mark.parametrize("key", ["arms", "workloads", "paths"])
def test_nothing_is_named_twice(key: str, tmp_path: pathlib.Path) -> None:
    """An arm is no other than itself, and a cell is one of a claim's once."""
    lines = [f'{key} = ["h2", "h2"]' if line.startswith(f"{key} =") else line for line in CLAIM.splitlines()]
    assert any("h2 is named twice" in each for each in problems(tmp_path, PAPER + "\n".join(lines) + "\n"))


def test_a_correlation_has_two_metrics_and_is_stronger_or_weaker(tmp_path: pathlib.Path) -> None:
    """Other claims have one metric, and strengths cannot be shown to be the same."""
    kind = CLAIM.replace('kind = "direction"', 'kind = "correlation"')
    text = kind.replace('metric = "ttlb_ms"', 'metric = "ttlb_ms"\nsecond_metric = "wire_bytes_down"')
    (claim,) = read(tmp_path, PAPER + text).claims
    assert (claim.kind, claim.second_metric, claim.expected) == ("correlation", "wire_bytes_down", "lower")
    for wrong, told in (
        (kind, '"second_metric" is missing; a correlation has two'),
        (text.replace('"correlation"', '"direction"'), '"second_metric" is of a correlation alone'),
        (text.replace("wire_bytes_down", "wire_bytes"), '"wire_bytes" is not one of the metrics'),
        (text.replace('"lower"', '"same"'), '"same" is not known here'),
        (text.replace("wire_bytes_down", "ttlb_ms"), "a correlation is of two metrics"),
        (text.replace('["h2", "h3"]', '["h2", "h2"]'), "in one arm beside another"),
    ):
        assert any(told in problem for problem in problems(tmp_path, PAPER + wrong)), told


def test_a_number_of_two_arms_is_a_difference(tmp_path: pathlib.Path) -> None:
    """It may be below zero, and it is in per cent whatever the metric's unit is."""
    assert read(tmp_path, PAPER + NUMBER.replace('"lower"', '"-13.9 %"')).claims[0].expected == PerCent(-13.9)
    (problem,) = problems(tmp_path, PAPER + NUMBER.replace('"lower"', '"15 s"'))
    assert problem.startswith("line 16: claim[#1].expected:")
    assert "the second arm's advantage over the first" in problem


def test_a_claim_that_cannot_be_tested_says_why(tmp_path: pathlib.Path) -> None:
    """It needs neither arms nor a value then."""
    bare = "".join(line for line in CLAIM.splitlines(True) if line.split()[0] not in ("metric", "arms", "workloads"))
    untestable = bare.replace("testable = true", "testable = false")
    assert '"why" is missing' in problems(tmp_path, PAPER + untestable)[0]
    claim = read(tmp_path, PAPER + untestable + 'why = "there is no such server"\n').claims[0]
    assert (claim.testable, claim.arms, claim.metric) == (False, (), "")


def test_every_offender_is_told_at_once(tmp_path: pathlib.Path) -> None:
    """Names that the study does not have, a metric that there is not, missing keys, and twice the same id."""
    second = CLAIM.replace("ttlb_ms", "ttlb").replace('"h3"', '"h4"').replace('paths = ["plain"]\n', "")
    found = problems(tmp_path, "[papers]\n" + CLAIM + second)
    assert [problem.split(": ", 1)[1] for problem in found] == [
        'papers: there is no such table; did you mean "paper"?',
        "the table [paper] is missing; write [paper] with authors, title, venue and year",
        'claim[#2]: "paths" is missing; a claim that can be tested needs metric, arms, workloads, paths, expected',
        'claim[#2].id: "faster" is the id of an earlier claim; ids are unique',
        'claim[#2].metric: "ttlb" is not one of the metrics; did you mean "ttlb_ms"?',
        'claim[#2].arms: "h4" is not one of the arms; valid arms: h2, h3',
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"lower"', '"faster"', '"faster" is not known here'),
        ('["h2", "h3"]', '["h2"]', 'a claim of kind "direction" is about two; name two'),
        ('["h2", "h3"]', '["h2", "h3", ["h2", "h3"]]', "is about two; name two"),
        ('["100KB"]', '["1MB"]', '"1MB" is not one of the workloads'),
        ("testable = true", 'testable = "yes"', "write true or false"),
        ('"H3 is faster."', "3", "write a text"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path: pathlib.Path, old: str, new: str, said: str) -> None:
    """One sentence each, with what may stand there."""
    (problem,) = problems(tmp_path, PAPER + CLAIM.replace(old, new))
    assert problem.startswith("line 1")
    assert said in problem


def test_a_paper_without_claims_is_refused(tmp_path: pathlib.Path) -> None:
    """There would be nothing to hold a study against."""
    assert "[[claim]] is missing" in problems(tmp_path, PAPER)[0]


def test_a_side_may_be_several_arms(tmp_path: pathlib.Path) -> None:
    """The mean of a block is over them; a correlation and a spread are of single arms."""
    sides = CLAIM.replace('["h2", "h3"]', '["h2", ["h3", "h2"]]')
    assert read(tmp_path, PAPER + sides).claims[0].arms == ("h2", ("h3", "h2"))
    one = ONE_ARM.replace('["h2"]', '[["h2", "h3"]]').replace('"lower"', '"15 s"')
    assert read(tmp_path, PAPER + one).claims[0].expected == Duration.from_s(15)
    for wrong, told in (
        (sides.replace('"h2"]]', '"h4"]]'), '"h4" is not one of the arms'),
        (sides.replace('["h3", "h2"]', '["h3"]'), 'write an array of arms such as ["h3-curl", "h3-quiche"]'),
        (sides.replace('"direction"', '"spread"'), "a claim of kind spread is about single arms"),
    ):
        assert any(told in problem for problem in problems(tmp_path, PAPER + wrong)), told


SHARE = CLAIM.replace('"direction"', '"count"').replace('"lower"', '"22 of 30"').replace(
    "testable", 'counted = "lower"\ntestable'
)  # fmt: skip
BOUND = SHARE.replace('["h2", "h3"]', '["h2"]').replace('"lower"', '"above 3.4 s"')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("22 of 30", CellShare(22 / 30, 22 / 30, 30)),
        ("60 %", CellShare(0.6, 0.6)),
        ("most", CellShare(0.5, 1, is_range=True, is_above=True)),
        ("none", CellShare(0, 0, is_range=True)),
        ("at least 15 of 30", CellShare(0.5, 1, 30, is_range=True)),
        ("at most 5 of 30", CellShare(0, 5 / 30, 30, is_range=True)),
        ("10 of 30 to 15 of 30", CellShare(10 / 30, 15 / 30, 30, is_range=True)),
    ],
)
def test_a_count_is_a_share_of_cells(tmp_path: pathlib.Path, text: str, expected: CellShare) -> None:
    """Cells of all cells, per cent, a word, or all shares from one to another."""
    (claim,) = read(tmp_path, PAPER + SHARE.replace("22 of 30", text)).claims
    assert (claim.expected, claim.counted) == (expected, Counted("lower", "lower"))


def test_a_margin_of_a_count_is_a_share_too(tmp_path: pathlib.Path) -> None:
    """Cells of the paper's, or points."""
    for text, share in (("4 of 30", 4 / 30), ("10 %", 0.1)):
        (claim,) = read(tmp_path, PAPER + SHARE.replace("testable", f'margin = "{text}"\ntestable')).claims
        assert claim.margin_value == share


def test_cells_are_counted_by_a_direction_a_rank_or_a_bound(tmp_path: pathlib.Path) -> None:
    """Two arms have a direction, more of them a rank of the last, and one a bound in the metric's unit."""
    seconds = Duration.from_s(3.4)
    assert read(tmp_path, PAPER + BOUND).claims[0].counted == Counted("above 3.4 s", low=seconds)
    between = read(tmp_path, PAPER + BOUND.replace("above 3.4 s", "3.4 s to 5.8 s")).claims[0].counted
    assert between == Counted("3.4 s to 5.8 s", low=seconds, high=Duration.from_s(5.8))
    best = SHARE.replace('["h2", "h3"]', '["h2", ["h2", "h3"], "h3"]').replace('"lower"', '"lowest"')
    assert read(tmp_path, PAPER + best).claims[0].counted == Counted("lowest", "lowest")


@pytest.mark.parametrize(
    ("text", "old", "new", "told"),
    [
        (SHARE, 'counted = "lower"\n', "", '"counted" is missing; a count says which cells count'),
        (CLAIM, "testable", 'counted = "lower"\ntestable', '"counted" is of a count alone; leave it out'),
        (SHARE, "22 of 30", "32 of 30", 'write a number of cells, such as "22 of 30"'),
        (SHARE, "22 of 30", "15 s", 'write a number of cells, such as "22 of 30"'),
        (SHARE, "22 of 30", "15 of 30 to 10 of 30", "write a range from the least to the greatest"),
        (SHARE, "22 of 30", 'most"\nmargin = "10 %', "a range has no margin"),
        (SHARE, "22 of 30", '22 of 30"\nmargin = "0 %', 'write a share above zero, such as "4 of 30"'),
        (SHARE, '"lower"', '"lowest"', "write how the second arm beside the first is: lower, higher"),
        (SHARE, '["h2", "h3"]', '["h2", "h3", ["h2", "h3"]]', "write how the last arm among all is: lowest, highest"),
        (BOUND, "above 3.4 s", "lower", 'of one arm write a bound, such as "below 3.4 s"'),
        (BOUND, "above 3.4 s", "above 3.4 Mbit/s", "3.4 Mbit/s"),
    ],
)
def test_a_wrong_count_is_told(tmp_path: pathlib.Path, text: str, old: str, new: str, told: str) -> None:
    """One sentence says what may stand there."""
    assert old in text
    found = problems(tmp_path, PAPER + text.replace(old, new, 1))
    assert any(told in problem for problem in found), found
