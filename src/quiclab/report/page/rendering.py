# SPDX-License-Identifier: Apache-2.0
"""Pages from templates: text is text everywhere, and a name that is missing is an error."""

from __future__ import annotations

from functools import cache
from importlib import metadata, resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from quiclab.report import figures


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
    made = Environment(
        loader=PackageLoader("quiclab.report.page"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    made.filters["code"] = with_code
    return made


def with_code(text: str) -> Markup:
    """Text with what stands between backticks as code, such as a command; all else in it stays text."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them has no partner
        return escape(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if at % 2 else part for at, part in enumerate(parts))


@cache
def _program() -> str:
    try:
        return f"quiclab {metadata.version('quiclab')}"
    except metadata.PackageNotFoundError:  # run from its source tree
        return "quiclab"
