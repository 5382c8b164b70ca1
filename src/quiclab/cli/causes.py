# SPDX-License-Identifier: Apache-2.0
"""`quiclab causes`: the mechanisms that quiclab knows, and how each shows itself."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from quiclab.model.errors import ExitCode, SpecError, nearest
from quiclab.model.mechanism_names import current_name

if TYPE_CHECKING:
    from quiclab.why.mechanisms import Mechanism

_DESCRIPTION = """\
List the mechanisms by which transfers lose time, as `quiclab explain` names them; with a NAME, say of one what happens,
how the records show it, what it is easily taken for, and which settings take it away. docs/reference/causes.md has all.
"""

_EPILOG = """\
examples:
  quiclab causes                    all of them
  quiclab causes loss_on_the_path   one of them
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "causes",
        help="list the causes that explain can name, and how each shows itself",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", type=current_name, help="one cause (default: list all)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one mechanism. Raises SpecError for another name."""
    from rich.padding import Padding
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.why.mechanisms import BY_NAME, MECHANISMS, Family

    console = VisibleConsole(highlight=False)
    if arguments.name is not None:
        if arguments.name not in BY_NAME:
            raise SpecError(
                f"no cause is called {arguments.name!r}", nearest(arguments.name, list(BY_NAME), "there is")
            )
        mechanism = BY_NAME[arguments.name]
        console.print(Text(mechanism.title, style="bold"))
        for heading, lines in _parts(mechanism):
            console.print(Text(f"{heading}:"))
            for line in lines:
                console.print(Padding(Text(line), (0, 0, 0, 2)))
        return ExitCode.OK
    for family in Family:
        of_family = [each for each in MECHANISMS if each.family is family]
        if of_family:
            console.print(Text(str(family), style="bold"))
            for each in of_family:
                console.print(Padding(Text(f"{each.name}  {each.title}"), (0, 0, 0, 2)))
    console.print(Text("More of one: quiclab causes NAME", style="dim"))
    return ExitCode.OK


def _parts(mechanism: Mechanism) -> list[tuple[str, list[str]]]:
    from quiclab.report.words.confirmation import value_text
    from quiclab.why.mechanisms import BY_NAME

    rivals = [
        f"{BY_NAME[each.name].title if each.name in BY_NAME else each.name}: {each.told_apart_by}"
        for each in mechanism.rivals
    ]
    settings = [
        f"{each.key} = {value_text(each.value)} ({each.table}): {each.gain}"
        + (f" It also changes: {'; '.join(each.also_changes)}." if each.also_changes else "")
        for each in mechanism.settings
    ]
    parts = [
        ("what happens", [mechanism.what]),
        (
            "how it shows",
            [mechanism.shows, f"It takes evidence of level {mechanism.level}: {mechanism.level.recorded}."],
        ),
        ("easily taken for", rivals),
        ("what may lie behind it", _upstream(mechanism)),
        ("what it is a part of, where both arms have as much of it", _whole(mechanism)),
        ("what takes it away", settings or ["no setting of a program that quiclab knows"]),
        ("described in", [mechanism.source]),
    ]
    return [(heading, lines) for heading, lines in parts if lines]


def _upstream(mechanism: Mechanism) -> list[str]:
    from quiclab.why.mechanisms import BY_NAME

    return [BY_NAME[name].title for name in mechanism.follows.upstream] if mechanism.follows else []


def _whole(mechanism: Mechanism) -> list[str]:
    from quiclab.why.mechanisms import BY_NAME

    return [BY_NAME[name].title for name in mechanism.divides.mechanisms] if mechanism.divides else []
