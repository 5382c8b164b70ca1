# SPDX-License-Identifier: Apache-2.0
"""The script that draws figures on every page, and text that stands on it."""

from __future__ import annotations

import re

from plotly.offline import get_plotlyjs_version

from quiclab.report.page.rendering import plotly, with_code


def test_the_script_is_the_version_that_the_library_is_made_for() -> None:
    """Whoever takes a newer plotly takes its script too: `npm pack plotly.js-cartesian-dist-min@VERSION`."""
    version = re.search(r"plotly\.js \(cartesian - minified\) v([\d.]+)", plotly())
    assert version is not None
    assert version[1] == get_plotlyjs_version()


def test_the_script_stands_safely_in_a_page() -> None:
    """Nothing in it ends the element that it stands in."""
    assert "</script" not in plotly().lower()


def test_the_script_knows_every_kind_of_trace_that_is_drawn() -> None:
    """Tables are the page's own."""
    known = set(re.findall(r'moduleType:"trace",name:"(\w+)"', plotly()))
    assert known >= {"scatter", "bar", "box", "violin", "heatmap", "image"}


def test_commands_are_shown_as_code_and_names_as_text() -> None:
    """Backticks are for terminals; what a stranger named stays text, also between them."""
    assert with_code("`quiclab run STUDY` runs <b>the rest</b>.") == (
        "<code>quiclab run STUDY</code> runs &lt;b&gt;the rest&lt;/b&gt;."
    )
    assert with_code("`<i>`") == "<code>&lt;i&gt;</code>"
    assert with_code("one ` alone <") == "one ` alone &lt;"
