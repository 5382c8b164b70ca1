# SPDX-License-Identifier: Apache-2.0
"""Stream for a verb's words: standard output, with --quiet none, and with --json standard error, since standard output
is then one document for programs (with `--events -`, a line for each event)."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from typing import Any, TextIO

_redirected: list[TextIO] = []
"""Standard output itself, while words go elsewhere."""


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Give a verb -q."""
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors; the exit code tells")


def add_json(parser: argparse.ArgumentParser | argparse._MutuallyExclusiveGroup) -> None:
    """Give a verb --json, or a group of its options."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON document instead (docs/reference/json.md has its keys)"
    )


@contextmanager
def words_where_asked(arguments: argparse.Namespace) -> Iterator[None]:
    """Send what is printed meanwhile where these options want it."""
    quiet, as_json = (getattr(arguments, name, False) for name in ("quiet", "json"))
    events = getattr(arguments, "events", None) == "-"
    quiet = quiet or (events and sys.stdout.isatty())  # a view would be drawn over them
    if not (quiet or as_json or events):
        yield
        return
    with ExitStack() as stack:
        words = stack.enter_context(open(os.devnull, "w", encoding="utf-8")) if quiet else sys.stderr  # noqa: PTH123
        _redirected.append(sys.stdout)
        stack.callback(_redirected.pop)
        stack.enter_context(redirect_stdout(words))
        yield


def print_document(document: Any) -> None:
    """Print a document to standard output itself."""
    print(json.dumps(document, indent=1, allow_nan=False), file=documents())


def documents() -> TextIO:
    """Return the stream for documents: standard output, wherever the words go."""
    return _redirected[-1] if _redirected else sys.stdout


def complaints() -> TextIO:
    """Return the stream for what went wrong without ending the command: with the other words, unless these are asked
    not to be seen."""
    return sys.stderr if _redirected else sys.stdout
