# SPDX-License-Identifier: Apache-2.0
"""A figure that is a table, or a map of cells, as a table of LaTeX with the rules of booktabs."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from quiclab.model.errors import SpecError
from quiclab.report.figures._canvas import Spec

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "'": r"\textquotesingle{}",
    "-": "{-}", "\N{NO-BREAK SPACE}": "~", "−": "$-$", "–": "--", "—": "---", "…": r"\ldots{}", "×": r"$\times$",
    "±": r"$\pm$", "≥": r"$\geq$", "≤": r"$\leq$", "µ": r"$\mu$", "α": r"$\alpha$", "β": r"$\beta$", "γ": r"$\gamma$",
    "→": r"$\rightarrow$", "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
"""Signs that mean something to LaTeX, also beside a neighbour (`--`) or after the end of a row (`[`, `*`), and those
that its fonts lack."""


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it is; what cannot be seen is a space."""
    visible = "".join(letter if letter.isprintable() or letter in _SIGNS else " " for letter in text)
    return "".join(_SIGNS.get(letter, letter) for letter in re.sub(r" +", " ", visible).strip())


def as_latex(figure: Spec, question: str) -> str:
    """Return the table of a figure.

    Raises SpecError for a figure that is neither a table nor a map.
    """
    table = (figure["layout"].get("meta") or {}).get("table")
    maps = [trace for trace in figure["data"] if trace.get("type") == "heatmap"]
    if table:
        return _tabular(table["headings"], table["rows"], table["words"], table["note"].split("\n"), question)
    if not maps:
        told = "its data is CSV, which LaTeX's pgfplots and other programs draw: -o NAME.csv"
        raise SpecError("this figure is no table", told)
    first = maps[0]
    rows = [
        [_bare(name), *(_cell([each["text"][row][column] for each in maps]) for column in range(len(first["x"])))]
        for row, name in enumerate(first["y"])
    ]
    notes = str((figure["layout"].get("title") or {}).get("text") or "").split("<br>")
    return _tabular(["", *map(_bare, first["x"])], rows, 1, map(_bare, notes), question)


def _bare(markup: object) -> str:
    """Letters of a label without its tags."""
    return html.unescape(re.sub(r"<[^<>]*>", " ", str(markup))).strip()


def _cell(texts: Iterable[object]) -> str:
    return next((_bare(text) for text in texts if text), "")


def _tabular(
    headings: Sequence[str], rows: Sequence[Sequence[str]], words: int, notes: Iterable[str], question: str
) -> str:
    columns = "l" * words + "r" * (len(headings) - words)
    lines = [
        f"% {escaped(question)} Written by quiclab; needs \\usepackage{{booktabs}}.",
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        "\\toprule",
        _row(headings),
        "\\midrule",
        *map(_row, rows),
        "\\bottomrule",
    ]
    lines += [
        f"\\multicolumn{{{len(headings)}}}{{@{{}}l@{{}}}}{{\\footnotesize {escaped(note)}}} \\\\"
        for note in notes
        if note
    ]
    return "\n".join([*lines, "\\end{tabular}", ""])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(escaped, cells)) + " \\\\"
