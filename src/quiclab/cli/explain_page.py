# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --page`: where the time of a page's load went, by what its client recorded."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quiclab.cli.voice import print_document
from quiclab.model.errors import DecodeError, ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.why.account.page_from_client import PageLoad


@dataclass(frozen=True)
class PagePartEntry:
    """A part of a page's load."""

    part: str
    """`name`, `handshake`, `request`, `answer`, `browser` or `not_told`."""
    time_ms: float
    """Sum of its stretches."""


@dataclass(frozen=True)
class PageStepEntry:
    """A stretch of a page's load."""

    part: str
    """Part that it belongs to."""
    url: str
    """Object that the load waited for."""
    time_ms: float
    """Duration of the stretch."""


@dataclass(frozen=True)
class PageDocument:
    """The load of a page as its client recorded it."""

    version: int
    """Version of the document's form."""
    url: str
    """Address of the page's document."""
    last_object: str
    """Address of the object that was there last."""
    objects: int
    """Number of objects that had come by the end."""
    total_ms: float
    """Time from the navigation to the load event, or as far as the log shows both."""
    begins_with_navigation: bool
    """False where the log tells of no navigation: then the request for the document begins it."""
    ends_with_load_event: bool
    """False where the log tells of no load event: then the last answer ends it."""
    captured: bool
    """True if a capture gave the instants of all requests and answers."""
    beside_ms: float
    """Time of the part `request` in which answers of other objects arrived."""
    resolution_ms: float
    """Step of the browser's times."""
    parts: tuple[PagePartEntry, ...]
    """One for each part; they add up to the total."""
    steps: tuple[PageStepEntry, ...]
    """Stretches from begin to end, without a gap."""


def explain_page(arguments: argparse.Namespace) -> int:
    """Print the account of a page's load. Raises SpecError and DecodeError with what to do."""
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.cli.decode import find_logs
    from quiclab.evidence.metrics import Unknown
    from quiclab.report.words import page_load as words
    from quiclab.why.account.one_recording import tables_of
    from quiclab.why.account.page_from_client import page_load

    _refuse(arguments)
    found = find_logs([*arguments.page], [], [], [*arguments.keys])
    tables = tables_of(found)
    errors = tables["decode_stats"].filter(severity="error")
    if errors.height:
        raise DecodeError(f"not all of it can be read: {errors['advice'][0]}", "record it again, or mend it")
    try:
        load = page_load(tables, arguments.url)
    except Unknown as unknown:
        raise DecodeError(f"{', '.join(log.name for log in found.logs)}: {unknown}") from unknown
    if arguments.json:
        print_document(page_document(load))
        return ExitCode.OK
    console = VisibleConsole(highlight=False)
    console.print(Text(words.headline(load), style="bold"))
    console.print(words.parts_table(load))
    console.print(words.steps_table(load))
    console.print(Text(words.limits(load), style="dim"))
    return ExitCode.OK


def _refuse(arguments: argparse.Namespace) -> None:
    beside = [("--h2", arguments.h2), ("--h3", arguments.h3), ("--lost", arguments.lost), ("-o", arguments.out)]
    given = [option for option, value in beside if value]
    given += ["--stream"] if arguments.stream is not None else []
    if given:
        raise SpecError(f"--page is one load by itself, without {given[0]}", "leave one of them out")


def page_document(load: PageLoad) -> object:
    """The document about a page's load."""
    from quiclab.cli.as_json import as_json
    from quiclab.cli.status_document import VERSION

    steps = tuple(PageStepEntry(str(step.part), step.url, step.ms) for step in load.steps)
    return as_json(
        PageDocument(
            VERSION,
            load.url,
            load.last,
            load.objects,
            load.total_ms,
            load.begins_with_navigation,
            load.ends_with_load_event,
            load.captured,
            load.beside_ms,
            load.resolution_ns / 1e6,
            tuple(PagePartEntry(str(part), ms) for part, ms in load.parts.items()),
            steps,
        )
    )
