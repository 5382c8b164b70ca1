# SPDX-License-Identifier: Apache-2.0
"""`quiclab paths`: the paths that have a name, and where their numbers come from."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from quiclab.cli.voice import add_json, print_document
from quiclab.model.errors import SpecError, nearest

if TYPE_CHECKING:
    from quiclab.spec.profiles import Profile

_EPILOG = """\
examples:
  quiclab paths
  quiclab paths lte       as lines of a spec, with the source of its numbers
  quiclab paths --json    for programs
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "paths",
        help="list the paths that have a name, with their sources",
        description='Paths by name: profile = "NAME" in a [[path]] of a spec, or quiclab exec --profile NAME.',
        epilog=_EPILOG,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="show this one in full, as lines of a spec")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print all of them in short, or one in full."""
    from quiclab.spec.profiles import profiles

    known = profiles()
    if arguments.name not in (None, *known):
        raise SpecError(f"there is no path called {arguments.name!r}", nearest(arguments.name, known, "there are"))
    if arguments.json:
        names = known if arguments.name is None else [arguments.name]
        entries = [_entry(name, known[name]) for name in names]
        print_document({"version": 1, "paths": entries})
        return 0
    if arguments.name is None:
        width = max(len(name) for name in known)
        for name, profile in known.items():
            print(f"{name:{width}}  {profile.title}; {profile.kind}")
        return 0
    profile = known[arguments.name]
    for title in ("title", "kind", "source", "url", "chosen"):
        print(f"# {title}: {getattr(profile, title)}")
    print("\n[[path]]")
    print(f'name = "{arguments.name}"')
    for key, value in profile.path.items():
        print(f"{key} = {toml(value)}")
    return 0


def _entry(name: str, profile: Profile) -> dict[str, object]:
    """A path as `documents.PathEntry` has it."""
    titles = ("title", "kind", "source", "url", "chosen")
    return {"name": name, **{title: getattr(profile, title) for title in titles}, "keys": dict(profile.path)}


def toml(value: object) -> str:
    """A value of a profile as TOML: a text or a table of them."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
    return f'"{value}"'
