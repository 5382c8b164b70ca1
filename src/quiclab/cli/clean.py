# SPDX-License-Identifier: Apache-2.0
"""`quiclab clean`: find and remove what a crash left in study directories.

Processes, namespaces, devices, mounts and addresses need no cleaning: they live in a sandbox that the kernel clears
away when its first process ends. What can be left are half-copied folders and the empty mount point, and of a probe
that was killed what it changed in its caller's network.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from quiclab.cli.own_name import as_typed
from quiclab.lab.testbed.cpu_limit import remove_leftover_cgroups
from quiclab.lab.testbed.host_nat import undo
from quiclab.model.errors import BusyError, ExitCode, QuiclabError
from quiclab.store.disk import disk_errors
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import no_study
from quiclab.store.own_files import is_mine
from quiclab.store.study_folder import is_study

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
        "a run is working in is passed over, and so is one of another user.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "studies", nargs="*", type=Path, metavar="STUDY", help="study directories (default: all below here)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Clean each study; say what was removed, and what was passed over. Returns the code of the first error."""
    marks = ("**/ledger.sqlite", "**/host-nat.json")
    roots = arguments.studies or sorted({file.parent for mark in marks for file in Path().glob(mark)})
    removed, code = 0, ExitCode.OK
    for root in roots:
        try:
            for told in _cleaned(StudyDir(root.resolve())):
                print(told)
                removed += 1
        except BusyError as error:
            print(f"passed over: {error.message}")
        except QuiclabError as error:
            told = "; ".join(filter(None, (f"passed over: {error.message}", *error.problems, error.hint)))
            print(f"quiclab: {as_typed(told)}", file=sys.stderr)
            code = code or error.exit_code
    for path in remove_leftover_cgroups():
        print(f"removed {path}")
        removed += 1
    if not removed and not code:
        print("nothing to clean")
    return code


def _cleaned(study_dir: StudyDir) -> Iterator[str]:
    """Clean one study, and say each thing that was done.

    Raises BusyError where a run works in it, and for the study of another user, who could have this one remove and
    write what only this one may; DecodeError for what is no study, or records what no probe has done.
    """
    if not is_study(study_dir.root) and not study_dir.host_nat.exists():
        raise no_study(study_dir)
    if not is_mine(study_dir.root):
        raise BusyError(f"{study_dir.root} belongs to another user, who can clean it")
    with study_dir.locked():
        for path in leftovers(study_dir):
            with disk_errors(path):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            yield f"removed {path}"
        for change in undo(study_dir.host_nat):
            yield f"taken back from this machine's network: {change}"


def leftovers(study_dir: StudyDir) -> list[Path]:
    """Leftovers that no finished trial needs: the mount point, half-copied folders, half-written files."""
    patterns = (".work", "trials/.incoming-*", "failed/.incoming-*", ".*.new")
    return sorted(path for pattern in patterns for path in study_dir.root.glob(pattern))
