# SPDX-License-Identifier: Apache-2.0
"""Sentences and tables about a page's load that its client recorded: where its time went, object by object."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from quiclab.model import number_text
from quiclab.report.words.account import decimal, time_text
from quiclab.why.account.chosen_request import path_of
from quiclab.why.account.page_from_client import PageLoad

_LEAST_MS = 0.05
"""Time below which a part is none."""


def headline(load: PageLoad) -> str:
    """Say how long the page took, how much of it each part, and which object was there last."""
    begin = "" if load.begins_with_navigation else " from the request for it"
    end = "its load event" if load.ends_with_load_event else "its last answer"
    parts = sorted(((ms, part) for part, ms in load.parts.items() if ms >= _LEAST_MS), reverse=True)
    listed = number_text.listed([f"{part.heading} {time_text(ms)}" for ms, part in parts])
    objects = number_text.counted(load.objects, "object")
    beside = load.beside_ms
    others = ""
    if beside >= 1:
        others = f" For {time_text(beside)} of the time from requests to answers, other answers were arriving."
    last = f"The last of {objects} to come was {path_of(load.last)}."
    return f"{load.url} took {time_text(load.total_ms)}{begin} to {end}: {listed}.{others} {last}"


def parts_table(load: PageLoad) -> Table:
    """Return a row for each part and one for the whole, in ms."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("part: ms")
    table.add_column("page", justify="right", no_wrap=True)
    for part, ms in load.parts.items():
        if ms >= _LEAST_MS:
            table.add_row(part.heading, decimal(ms))
    end = "time to load event" if load.ends_with_load_event else "time to last answer"
    table.add_row(Text(end, style="bold"), Text(decimal(load.total_ms), style="bold"))
    return table


def steps_table(load: PageLoad) -> Table:
    """Return a row for each stretch in the order of time: its begin and length in ms, its part and its object."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    for heading in ("from: ms", "for: ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("part")
    table.add_column("object", overflow="fold")
    zero_ns = load.steps[0].from_ns
    for step in load.steps:
        begin = decimal((step.from_ns - zero_ns) / 1e6)
        table.add_row(begin, decimal(step.ms), step.part.heading, path_of(step.url))
    return table


def limits(load: PageLoad) -> str:
    """Say what the recordings do not show."""
    said = [
        "Instants of requests and answers are those of the capture."
        if load.captured
        else f"Instants are those of the browser's log, which has steps of {time_text(load.resolution_ns / 1e6)}: it "
        "reads later than packets come. A capture with its keys tells when they came."
    ]
    if not load.ends_with_load_event:
        said.append(
            "The log tells of no load event, so that the account ends with the last answer, be it waited for or not."
        )
    if not load.begins_with_navigation:
        said.append("The log tells of no navigation, so that the account begins with the request for the document.")
    said.append(
        "An object whose initiator the log does not name is led back to the document; the time between is not told. "
        "Parsing, scripts, the cache and requests held back are the browser's time as one."
    )
    return " ".join(said)
