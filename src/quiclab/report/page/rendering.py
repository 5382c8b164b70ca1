# SPDX-License-Identifier: Apache-2.0
"""Pages from templates: text is text everywhere, and a name that is missing is an error."""

from __future__ import annotations

from functools import cache
from importlib import metadata, resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from quiclab import figures


def render(template: str, **values: Any) -> str:
    """A page, with what all pages have: themes and the program's name."""
    return (
        _environment()
        .get_template(template)
        .render(
            values,
            program=_program(),
            themes=figures.THEMES,
            light=figures.css_variables("light"),
            dark=figures.css_variables("dark"),
        )
    )


def script(name: str) -> str:
    """The text of a script of the templates."""
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


@cache
def plotly() -> str:
    """The script that draws figures: plotly.js with the kinds of traces that our figures have, a third of the whole."""
    return (resources.files("quiclab.report.page") / "vendor" / "plotly-cartesian.min.js").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("quiclab.report.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


@cache
def _program() -> str:
    try:
        return f"quiclab {metadata.version('quiclab')}"
    except metadata.PackageNotFoundError:  # run from its source tree
        return "quiclab"
