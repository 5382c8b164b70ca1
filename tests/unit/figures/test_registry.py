# SPDX-License-Identifier: Apache-2.0
"""Every figure says what it answers, and colours have one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.figures import FIGURES, THEMES, Figure

SOURCES = sorted(Path(__file__).parents[3].glob("src/quiclab/figures/[!_]*.py"))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figure_names_its_question_its_tables_and_columns(figure: Figure) -> None:
    """The question is one; each column has a meaning."""
    assert figure.question.endswith("?")
    assert figure.tables
    assert all(figure.columns.values())


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_no_figure_chooses_colours_or_reads_files(source: Path) -> None:
    """Colours live in the style alone (a translucent grey apart), and data come as a table."""
    text = source.read_text(encoding="utf-8")
    assert '"#' not in text
    assert "read_" not in text
    assert "open(" not in text


def relative_luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of `#rrggbb`."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ink", ["ink", "muted", "caution", "baseline", "other"])
def test_text_has_contrast(theme: str, ink: str) -> None:
    """WCAG AA: at least 4.5 to 1 on the page's background."""
    lighter, darker = sorted((relative_luminance(THEMES[theme][name]) for name in (ink, "paper")), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
