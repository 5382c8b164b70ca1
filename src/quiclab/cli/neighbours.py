# SPDX-License-Identifier: Apache-2.0
"""Notices about other quiclab processes that measure on this machine, and `--wait`."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager

from quiclab.lab.testbed.neighbours import Neighbour, announced
from quiclab.model.number_text import listed


def add_wait(parser: argparse._ActionsContainer) -> None:
    """Teach a verb to wait for others that measure."""
    parser.add_argument(
        "--wait",
        action="store_true",
        default=None,
        help="begin when no other quiclab measures on this machine: two at once disturb each other",
    )


def measuring(arguments: argparse.Namespace) -> AbstractContextManager[None]:
    """Announce that this process measures; say which others do, and wait for them if that is asked for."""
    waits = bool(arguments.wait)
    return announced(wait=waits, tell=lambda others: _tell(others, waits=waits))


def _tell(others: tuple[Neighbour, ...], *, waits: bool) -> None:
    who = listed([str(each) for each in others])
    if waits:
        print(f"waiting for another quiclab that measures on this machine ({who})", file=sys.stderr, flush=True)
        return
    print(
        f"warning: another quiclab measures on this machine ({who}): they disturb each other, so that trials of both "
        "are repeated or not judged. Stop one of them, or let this one --wait.",
        file=sys.stderr,
        flush=True,
    )
