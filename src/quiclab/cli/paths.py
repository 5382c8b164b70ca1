# SPDX-License-Identifier: Apache-2.0
"""`quiclab paths`: the paths that have a name, and where their numbers come from."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Mapping
from typing import Any

from quiclab.errors import SpecError


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "paths",
        help="list the paths that have a name, with their sources",
        description='Paths by name: profile = "NAME" in a [[path]] of a spec, or quiclab exec --profile NAME.',
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="show this one in full, as lines of a spec")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print all of them in short, or one in full."""
    from quiclab.spec.profiles import profiles

    known = profiles()
    if arguments.name is None:
        width = max(len(name) for name in known)
        for name, profile in known.items():
            print(f"{name:{width}}  {profile.title}; {profile.kind}")
        return 0
    if arguments.name not in known:
        close = difflib.get_close_matches(arguments.name, known, 1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise SpecError(f"there is no path called {arguments.name!r}", f"{hint}known: {', '.join(known)}")
    profile = known[arguments.name]
    for title in ("title", "kind", "source", "url", "chosen"):
        print(f"# {title}: {getattr(profile, title)}")
    print("\n[[path]]")
    print(f'name = "{arguments.name}"')
    for key, value in profile.path.items():
        print(f"{key} = {toml(value)}")
    return 0


def toml(value: str | Mapping[str, Any]) -> str:
    """A value of a profile as TOML: a text or a table of them."""
    if isinstance(value, str):
        return f'"{value}"'
    return "{ " + ", ".join(f"{key} = {toml(inner)}" for key, inner in value.items()) + " }"
