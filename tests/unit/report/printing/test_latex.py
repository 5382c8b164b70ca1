# SPDX-License-Identifier: Apache-2.0
"""Tables of LaTeX: every name stays text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Shape, write_study

from quiclab.cli.main import main
from quiclab.model.errors import SpecError
from quiclab.report.figures import _table
from quiclab.report.figures._canvas import spec
from quiclab.report.printing import as_latex

HOSTILE = (
    r"\input{/etc/passwd}", "a & b", "100 %", "$x$", "x_1^2", "{", "}}", "#1", "~", "--", "[2pt]", "*", "a\nb", "\\\\",
    "<i>", '"a', "`'", r"\end{tabular}", "\x00\x1b[31m", "|", "%\\", "?`",
)  # fmt: skip
LATEX = shutil.which("pdflatex") or shutil.which("tectonic") or shutil.which("lualatex")


def _latex(*names: str) -> str:
    rows = [[name, "1.0 ms", "−2 %"] for name in names]
    return as_latex(spec(_table.draw(["name", "a_b", "c"], rows, note="a {note} & more")), "Which \\one?")


def _plain(table: str) -> str:
    """The table without the signs that are escaped: what is left means something to LaTeX."""
    commands = r"\\text[a-z]+\{\}|\\ldots\{\}|\$\\[a-z]+\$|\$-\$|\\[{}$&#%_]|\{[-\[\]*]\}"
    return re.sub(commands, "", table)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_adds_no_command_and_no_cell(name: str) -> None:
    """The same commands, cells, rows and braces as with a harmless name."""
    usual, hostile = _plain(_latex("name")), _plain(_latex(name))
    for signs in (r"\\[A-Za-z]+", r"\\\\", "&", r"\{", r"\}", r"\$", "%", "#", r"\^", "_", "\n", "~"):
        assert len(re.findall(signs, hostile)) == len(re.findall(signs, usual)), signs
    depth = 0
    for sign in hostile:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    assert hostile.isprintable() or set(filter(lambda sign: not sign.isprintable(), hostile)) == {"\n"}


@pytest.mark.skipif(LATEX is None, reason="needs a LaTeX (apt-get install texlive-latex-recommended)")
def test_latex_takes_it(tmp_path: Path) -> None:
    """LaTeX compiles a document with all hostile names."""
    page = "\\documentclass{article}\\usepackage{booktabs}\\usepackage{textcomp}\\begin{document}\n"
    (tmp_path / "page.tex").write_text(f"{page}{_latex(*HOSTILE)}\\end{{document}}", encoding="utf-8")
    assert LATEX is not None
    subprocess.run([LATEX, "page.tex"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=True)


def test_the_differences_have_their_numbers_in_columns(tmp_path: Path) -> None:
    """A row per cell: medians, difference, interval, p, pairs and the conclusion."""
    study = write_study(tmp_path / "study", Shape(workloads=("100 KB", "1 MB"), paths=("clean", "loss"), aa_blocks=0))
    out = tmp_path / "table.tex"
    assert main(["figure", "differences", str(study), "-o", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    body = lines[lines.index("\\midrule") + 1 : lines.index("\\bottomrule")]
    assert len(body) == 4
    assert {line.count(" & ") for line in body} == {8}
    assert out.with_suffix(".csv").exists()


def test_a_map_is_a_table_as_it_is_drawn(tmp_path: Path) -> None:
    """The table has the rows and columns of the map, and below them a legend."""
    study = write_study(tmp_path / "study", Shape(workloads=("100 KB", "1 MB"), paths=("clean", "loss"), aa_blocks=0))
    assert main(["figure", "against_best", str(study), "-o", str(tmp_path / "best.tex")]) == 0
    told = (tmp_path / "best.tex").read_text(encoding="utf-8")
    assert "h2 & h3 \\\\" in told
    assert "\\multicolumn{3}" in told


def test_curves_are_no_table() -> None:
    """Their data is CSV."""
    figure: dict[str, Any] = {"data": [{"type": "scatter", "x": [1], "y": [1]}], "layout": {}}
    with pytest.raises(SpecError) as refused:
        as_latex(figure, "?")
    assert ".csv" in str(refused.value.hint)
