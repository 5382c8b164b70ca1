# SPDX-License-Identifier: Apache-2.0
"""`quiclab clean`: find and remove what a crash left in study directories.

Processes, namespaces, devices, mounts and addresses need no cleaning: they live in a sandbox that the kernel clears
away when its first process ends. What can be left are half-copied folders and the empty mount point, and of a probe
that was killed what it changed in its caller's network.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from quiclab.errors import BusyError, ExitCode
from quiclab.store.layout import StudyDir, disk_errors
from quiclab.testbed.cpu_limit import remove_leftover_cgroups
from quiclab.testbed.host_nat import undo

_EPILOG = """\
examples:
  quiclab clean                 every study below this folder
  quiclab clean studies/demo
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "clean",
        help="remove what a crash left in study directories",
        description="Remove half-copied trials, empty mount points and CPU quotas that a killed run left, and take "
        "back what a killed probe changed in this machine's network. Finished trials are never touched. A study that "
        "a run is working in is passed over.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "studies", nargs="*", type=Path, metavar="STUDY", help="study directories (default: all below here)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Clean each study; say what was removed."""
    marks = ("**/ledger.sqlite", "**/host-nat.json")
    roots = arguments.studies or sorted({file.parent for mark in marks for file in Path().glob(mark)})
    removed = 0
    for root in roots:
        study_dir = StudyDir(root.resolve())
        try:
            with study_dir.locked():
                for path in leftovers(study_dir):
                    with disk_errors(path):
                        shutil.rmtree(path) if path.is_dir() else path.unlink()
                    print(f"removed {path}")
                    removed += 1
                for change in undo(study_dir.host_nat):
                    print(f"taken back from this machine's network: {change}")
                    removed += 1
        except BusyError as error:
            print(f"passed over: {error.message}")
    for path in remove_leftover_cgroups():
        print(f"removed {path}")
        removed += 1
    if not removed:
        print("nothing to clean")
    return ExitCode.OK


def leftovers(study_dir: StudyDir) -> list[Path]:
    """What no finished trial needs: the mount point, half-copied folders, half-written files."""
    patterns = (".work", "trials/.incoming-*", "failed/.incoming-*", ".*.new")
    return sorted(path for pattern in patterns for path in study_dir.root.glob(pattern))
