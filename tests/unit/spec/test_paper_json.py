# SPDX-License-Identifier: Apache-2.0
"""What of a paper's claims crosses over to the report."""

from __future__ import annotations

import pathlib

import pytest
from papers import CLAIM, DIFFERENCE, NUMBER, ONE_ARM, PAPER
from specs import SMALL, written

from quiclab.model.errors import SpecError
from quiclab.spec.paper import read_paper
from quiclab.spec.paper_json import changes, paper_json
from quiclab.spec.read import read_study
from quiclab.spec.resolved import resolved_json


def claim_of(folder: pathlib.Path, text: str) -> dict[str, object]:
    """The first claim of this text, read without a study."""
    (folder / "paper.toml").write_text(PAPER + text, encoding="utf-8")
    claims = paper_json(read_paper(folder / "paper.toml"), {})["claims"]
    return dict(claims[0])


def test_a_direction_keeps_its_cells(tmp_path: pathlib.Path) -> None:
    """Which arms over which cells, and what is expected of them."""
    claim = claim_of(tmp_path, CLAIM)
    assert (claim["arms"], claim["workloads"], claim["paths"]) == (["h2", "h3"], ["100KB"], ["plain"])
    assert claim["expected"] == {"text": "lower", "direction": "lower"}


@pytest.mark.parametrize(
    ("text", "value", "low", "high", "unit"),
    [
        ("15 s", 15_000, 14_500, 15_500, "ms"),
        ("113.42 s", 113_420, 113_415, 113_425, "ms"),
        ("5.5 Mbit/s", 5.5e6, 5.45e6, 5.55e6, "bit/s"),
        ("2077 KB", 2_077_000, 2_076_500, 2_077_500, "bytes"),
        ("-13.9 %", -13.9, -13.95, -13.85, "%"),
        ("0 %", 0, 0, 0, "%"),
    ],
)
def test_a_number_stands_for_all_that_are_printed_so(
    tmp_path: pathlib.Path, text: str, value: float, low: float, high: float, unit: str
) -> None:
    """Half of the last digit to both sides, in the unit that metrics have."""
    expected = claim_of(tmp_path, ONE_ARM.replace('"lower"', f'"{text}"'))["expected"]
    assert expected == {"text": text, "value": value, "low": low, "high": high, "unit": unit, "margin": ""}


@pytest.mark.parametrize(
    ("form", "text", "margin", "low", "high"),
    [
        (ONE_ARM, "15 s", "10 %", 13_500, 16_500),
        (ONE_ARM, "79 Mbit/s", "5 Mbit/s", 74e6, 84e6),
        (NUMBER, "-13.9 %", "5 %", -18.9, -8.9),
    ],
)
def test_a_margin_takes_the_place_of_printed_digits(
    tmp_path: pathlib.Path, form: str, text: str, margin: str, low: float, high: float
) -> None:
    """A share of the number, or a quantity; of an advantage, points."""
    expected = claim_of(tmp_path, form.replace('"lower"', f'"{text}"\nmargin = "{margin}"'))["expected"]
    assert isinstance(expected, dict)
    assert (expected["low"], expected["high"], expected["margin"]) == (low, high, margin)


@pytest.mark.parametrize(
    ("form", "text", "low", "high", "unit"),
    [
        (ONE_ARM, "5 s to 6.5 s", 5000, 6500, "ms"),
        (NUMBER, "-2 % to 15 %", -2, 15, "%"),
        (DIFFERENCE, "0 s to 1 s", 0, 1000, "ms"),
    ],
)
def test_a_range_stands_for_all_within(
    tmp_path: pathlib.Path, form: str, text: str, low: float, high: float, unit: str
) -> None:
    """Of a value, of an advantage, and of a difference, which has the unit of the metric."""
    expected = claim_of(tmp_path, form.replace('"lower"', f'"{text}"'))["expected"]
    assert isinstance(expected, dict)
    assert (expected["low"], expected["high"], expected["unit"], expected["range"]) == (low, high, unit, True)


def test_a_difference_is_a_number_in_the_metrics_unit(tmp_path: pathlib.Path) -> None:
    """Per cent of its margin are a share of it there, and not points."""
    expected = claim_of(tmp_path, DIFFERENCE.replace('"lower"', '"2 s"\nmargin = "50 %"'))["expected"]
    assert isinstance(expected, dict)
    assert (expected["low"], expected["high"], expected["unit"]) == (1000, 3000, "ms")


@pytest.mark.parametrize("text", ["1 s to 0 s", "1 s to 5 %", "0 s to 1 s to 2 s", "1 s to 1 s"])
def test_a_wrong_range_is_told(tmp_path: pathlib.Path, text: str) -> None:
    """The wrong way round, of two kinds, with three ends, of one value."""
    with pytest.raises(SpecError) as caught:
        claim_of(tmp_path, ONE_ARM.replace('"lower"', f'"{text}"'))
    assert "write a range from the least to the greatest" in caught.value.problems[0]


@pytest.mark.parametrize(
    ("form", "expected", "margin", "said"),
    [
        (ONE_ARM, "15 s", "0 %", "write a share above zero"),
        (ONE_ARM, "15 s", "0 s", "write a share above zero"),
        (ONE_ARM, "15 s", "-1 s", "-1 s"),
        (ONE_ARM, "0 s", "10 %", "write a share above zero"),
        (ONE_ARM, "15 s", "3 apples", "3 apples"),
        (NUMBER, "90 %", "1 s", "write a share above zero"),
        (CLAIM, "lower", "10 %", "a claim of kind direction has none"),
        (ONE_ARM, "5 s to 6 s", "10 %", "a range has no margin"),
    ],
)
def test_a_wrong_margin_is_told(tmp_path: pathlib.Path, form: str, expected: str, margin: str, said: str) -> None:
    """A margin of nothing could never be met; a direction has none."""
    with pytest.raises(SpecError) as caught:
        claim_of(tmp_path, form.replace('"lower"', f'"{expected}"\nmargin = "{margin}"'))
    assert said in caught.value.problems[0]


def test_names_are_taken_as_they_are_without_a_study(tmp_path: pathlib.Path) -> None:
    """A small variant lacks some; what is wrong in the form is refused all the same."""
    claim = claim_of(tmp_path, CLAIM.replace("ttlb_ms", "warmth").replace('"plain"', '"moon"'))
    assert (claim["metric"], claim["paths"]) == ("warmth", ["moon"])
    with pytest.raises(SpecError) as caught:
        claim_of(tmp_path, ONE_ARM.replace('"lower"', '"15 apples"'))
    assert "write a quantity with its unit" in caught.value.problems[0]


def test_what_a_variant_has_by_another_name_or_not_at_all_is_no_change(tmp_path: pathlib.Path) -> None:
    """Only what has the same name and is not the same is told, with the keys that differ."""
    full = resolved_json(read_study(written(tmp_path, SMALL)))
    variant = resolved_json(read_study(written(tmp_path, SMALL)))
    assert changes(full, variant) == {}
    variant["workloads"][0]["size_bytes"] = 1
    variant["paths"][0]["name"] = "other"
    assert changes(full, variant) == {"workloads": {variant["workloads"][0]["name"]: ["size_bytes"]}}


def test_a_count_keeps_what_counts_and_the_share(tmp_path: pathlib.Path) -> None:
    """Bounds in the unit of the metric, the share with its margin, and the cells of the paper."""
    text = ONE_ARM.replace('"number"', '"count"').replace('"lower"', '"22 of 30"\nmargin = "10 %"')
    claim = claim_of(tmp_path, text.replace("testable", 'counted = "3.4 s to 5.8 s"\ntestable'))
    assert claim["counted"] == {"text": "3.4 s to 5.8 s", "direction": None, "low": 3400, "high": 5800, "unit": "ms"}
    expected = claim["expected"]
    assert isinstance(expected, dict)
    assert (expected["low"], expected["high"]) == (pytest.approx(22 / 30 - 0.1), pytest.approx(22 / 30 + 0.1))
    assert (expected["unit"], expected["cells"], expected["margin"], expected["range"]) == ("share", 30, "10 %", False)


def test_several_arms_of_a_side_stay_together(tmp_path: pathlib.Path) -> None:
    """An array within the array."""
    claim = claim_of(tmp_path, CLAIM.replace('["h2", "h3"]', '["h2", ["h3", "h2"]]'))
    assert claim["arms"] == ["h2", ["h3", "h2"]]
