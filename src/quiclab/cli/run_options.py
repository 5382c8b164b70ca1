# SPDX-License-Identifier: Apache-2.0
"""Options of verbs that run trials: over which devices, and how many at a time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.plan.part import Part
    from quiclab.store.keep_raw import KeepRaw

ONE_JOB = 1
"""One trial after another: what is done without --jobs."""
_MOST_JOBS = 64


def add_backend(parser: argparse._ActionsContainer) -> None:
    """Teach a verb over which devices packets reach the link."""
    parser.add_argument(
        "--backend", choices=("tun", "veth"), help="how packets reach the link (default: tun if it opens, else veth)"
    )


def add_jobs(parser: argparse._ActionsContainer) -> None:
    """Teach a verb to run trials side by side."""
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=ONE_JOB,
        metavar="N|auto",
        help="run up to N trials at a time, or as many as this machine has room for (auto), as long as they do not "
        "disturb each other: how late the link is and how long programs wait for a processor decides (default: 1)",
    )


def add_keep_raw(parser: argparse._ActionsContainer) -> None:
    """Teach a verb which trials keep their raw files."""
    parser.add_argument(
        "--keep-raw",
        type=_keep_raw,
        default="all",
        metavar="RULE",
        help="which trials keep their logs and captures, which take most of the room, once their tables are made: all "
        "(default), failures, pairs:N (of the first N pairs of each cell, and of failures), none, or a size such as "
        "5GB for those of the whole study; trials of earlier runs lose theirs too",
    )


def jobs_again(jobs: int | None) -> list[str]:
    """Words of a command that runs as many trials side by side."""
    return [] if jobs == ONE_JOB else ["--jobs", str(jobs or "auto")]


def keep_raw_again(keep: KeepRaw) -> list[str]:
    """Words of a command that keeps as many raw files."""
    return [] if keep.what == "all" else ["--keep-raw", keep.rule]


def part_again(part: Part) -> list[str]:
    """Words of a command that runs the same part of a plan."""
    blocks = [] if part.blocks is None else ["--blocks", str(part.blocks)]
    cells = [word for cell in part.cells for word in ("--cell", cell)]
    shard = [] if part.shard is None else ["--shard", f"{part.shard[0]}/{part.shard[1]}"]
    return [*blocks, *cells, *shard]


def _jobs(text: str) -> int | None:
    """Most trials at a time; None for as many as there is room for."""
    if text == "auto":
        return None
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= _MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a number from 1 to {_MOST_JOBS}")
    return int(text)


def _keep_raw(text: str) -> KeepRaw:
    from quiclab.store.keep_raw import KeepRaw

    try:
        return KeepRaw.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
