# SPDX-License-Identifier: Apache-2.0
"""Every figure is registered and says what it answers; colours and the reading of files have one place each."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

from quiclab.report.figures import FIGURES, THEMES, Figure

SOURCES = sorted(Path(__file__).parents[4].glob("src/quiclab/report/figures/[!_]*.py"))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_figure_names_its_question_its_tables_and_columns(figure: Figure) -> None:
    """The question is one; each column has a meaning."""
    assert figure.question.endswith("?")
    assert figure.tables
    assert all(figure.columns.values())


def test_every_module_of_a_figure_is_registered() -> None:
    """A file without an underscore is one figure, and each figure is one such file."""
    modules = [inspect.getmodule(type(figure)) for figure in FIGURES]
    assert sorted(Path(str(module and module.__file__)) for module in modules) == SOURCES


def test_names_are_told_apart() -> None:
    """A name is also a command's argument, a file and an anchor."""
    names = [figure.name for figure in FIGURES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_no_figure_imports_a_sibling(source: Path) -> None:
    """Figures share modules with an underscore, and nothing else of this folder."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    shared = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("quiclab.report.figures")
        for name in ([node.module] if node.module != "quiclab.report.figures" else [alias.name for alias in node.names])
    ]
    assert all(str(name).rpartition(".")[2].startswith("_") for name in shared)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_no_figure_chooses_colours_or_reads_files(source: Path) -> None:
    """Colours live in the style alone (a translucent grey apart), and files are read by what is asked."""
    text = source.read_text(encoding="utf-8")
    assert '"#' not in text
    assert not re.search(r"read_(parquet|csv|json|table|text|bytes|study)|open\(", text)


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
