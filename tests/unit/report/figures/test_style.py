# SPDX-License-Identifier: Apache-2.0
"""Arms look different, also to those who see fewer colours."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest

from quiclab.report.figures import THEMES, _style

SIXTEEN_AND_TWO = 18
# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
SEEN = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "without red": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ],
    "without green": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ],
    "without blue": [
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ],
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])


def linear(colour: str) -> npt.NDArray[np.float64]:
    """`#rrggbb` as linear RGB."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(colour: str, seen: str) -> npt.NDArray[np.float64]:
    """CIE 1976 L*a*b* of a colour as it is seen."""
    ratio = TO_XYZ @ np.clip(np.array(SEEN[seen]) @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("seen", SEEN)
def test_colours_are_told_apart(seen: str) -> None:
    """A difference of 2 can just be seen; lines and small marks need far more."""
    colours = {_style.arm_style(place).colour for place in range(SIXTEEN_AND_TWO)}
    nearest = min(
        float(np.linalg.norm(lab(one, seen) - lab(other, seen))) for one, other in itertools.combinations(colours, 2)
    )
    assert nearest > 14


@pytest.mark.parametrize("theme", THEMES)
def test_colours_stand_out_from_the_paper(theme: str) -> None:
    """Twice as light or as dark at the least; the marks are large."""
    paper = float(TO_XYZ[1] @ linear(THEMES[theme]["paper"]))
    for place in range(SIXTEEN_AND_TWO):
        own = float(TO_XYZ[1] @ linear(_style.arm_style(place).colour))
        assert (max(own, paper) + 0.05) / (min(own, paper) + 0.05) > 2


def test_eighteen_arms_have_each_its_own_marker_line_and_bar() -> None:
    """Lines are told apart by colour and dash alone, marks by shape alone, bars by colour and pattern."""
    styles = [_style.arm_style(place) for place in range(SIXTEEN_AND_TWO)]
    assert len({style.marker for style in styles}) == SIXTEEN_AND_TWO
    assert len({(style.colour, style.dash) for style in styles}) == SIXTEEN_AND_TWO
    bars = [_style.bar(style, hatched=hatched) for style in styles for hatched in (False, True)]
    assert len({(bar["color"], bar["pattern"]["shape"]) for bar in bars}) == 2 * SIXTEEN_AND_TWO


def test_twice_as_many_lines_are_still_different() -> None:
    """No two of so many lines have the same colour and dash."""
    styles = [_style.arm_style(place) for place in range(_style.ARM_STYLES)]
    assert len({(style.colour, style.dash) for style in styles}) == _style.ARM_STYLES == 36


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white is 21 to 1, a colour on itself 1 to 1; the grey of WCAG's own example just passes."""
    assert _style.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _style.contrast("#2b7bba", "#2b7bba") == 1
    assert _style.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scale", [_style.DIFFERENCE_SCALE, _style.BEHIND_SCALE])
def test_words_are_readable_on_every_colour_of_a_map(scale: list[list[object]]) -> None:
    """WCAG AA: at least 4.5 to 1, from one end of the scale to the other."""
    for share in np.linspace(-0.1, 1.1, 241):
        words = _style.cell_word(scale, float(share), "+5.0 %")
        colour = words.partition("color:")[2][:7]
        assert _style.contrast(colour, _style.colour_at(scale, float(share))) >= 4.5, share


@pytest.mark.parametrize("cell", [_style.CELL_BLANK, _style.CELL_ALIKE])
def test_words_are_readable_in_a_cell_without_a_number(cell: str) -> None:
    """Such as `undecided` on grey and `alike` on green; both papers show the same cell."""
    assert _style.contrast(_style.CELL_WORD, cell) >= 4.5


@pytest.mark.parametrize("theme", list(THEMES))
def test_words_are_readable_on_the_paper(theme: str) -> None:
    """Of each colour that the page writes in, on paper and on what is raised from it."""
    colours = THEMES[theme]
    for name in ("ink", "muted", "baseline", "other", "caution"):
        for paper in ("paper", "raised"):
            assert _style.contrast(colours[name], colours[paper]) >= 4.5, (name, paper)


def test_a_scale_is_mixed_between_its_marks() -> None:
    """Its ends are its own colours, and halfway between two marks is their mean."""
    scale = [[0.0, "#000000"], [0.5, "#204060"], [1.0, "#ffffff"]]
    assert [_style.colour_at(scale, share) for share in (0, 0.25, 0.5, 1)] == [
        "#000000",
        "#102030",
        "#204060",
        "#ffffff",
    ]
