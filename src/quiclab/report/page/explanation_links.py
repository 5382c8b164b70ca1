# SPDX-License-Identifier: Apache-2.0
"""Links from the numbers of a reason to the pair that illustrates it: the median trials of its cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from quiclab.report import figures
from quiclab.why.account import Why
from quiclab.why.accounts import Waterfall

TIMELINE = "figure-timeline"
"""Place of the timeline on the page of a pair."""
_NUMBER = re.compile(r"[+−]?\d[\d.,]*(?: … [+−]?\d[\d.,]*)?[ \u00a0\u202f]?(?:ms|s|µs|MB|kB)\b")


def place_of(why: Why) -> str:
    """Place of a reason on the page of a pair."""
    return f"why-{why}"


def linked(sentence: str, clauses: Sequence[tuple[str, Why]], file: str | None) -> Markup:
    """A sentence in which each number with a unit leads to the page `file`: to its reason where it stands in a clause
    of one, else to the timeline. Without a page it has no links."""
    if file is None:
        return escape(sentence)
    found = [(sentence.find(clause), clause, why) for clause, why in clauses]
    spans = [(begin, begin + len(clause), place_of(why)) for begin, clause, why in found if begin >= 0]
    parts: list[Markup] = []
    end = 0
    for number in _NUMBER.finditer(sentence):
        place = next((where for begin, until, where in spans if begin <= number.start() < until), TIMELINE)
        parts.append(escape(sentence[end : number.start()]))
        parts.append(Markup('<a href="{}#{}">{}</a>').format(file, place, number[0]))
        end = number.end()
    return Markup("").join([*parts, escape(sentence[end:])])


def bar_links(waterfall: Waterfall, file: str) -> dict[str, Any]:
    """Where the bars of a waterfall lead, for the page's script: the page, and the place of each bar's reason."""
    headings = {step.label.heading: place_of(step.label) for step in waterfall.steps if isinstance(step.label, Why)}
    return {"opens": file, "places": {figures.reason_name(name): place for name, place in headings.items()}}
