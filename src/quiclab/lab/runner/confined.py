# SPDX-License-Identifier: Apache-2.0
"""The parts of this machine that the programs under test may reach, where not everything."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from quiclab.lab.endpoints._api import BoundedRun
from quiclab.lab.testbed.confinement import Confinement
from quiclab.lab.testbed.host import bounded_run
from quiclab.model.study import Study
from quiclab.project import PACKAGE, PROJECT, stacks_folder


def reached_by(study: Study) -> Iterator[Path]:
    """Paths that the programs of a study need: Python with quiclab, the installed programs, and what the spec names by
    its whole path."""
    yield from map(Path, (sys.prefix, sys.base_prefix, sys.executable))
    yield PACKAGE.parent if PROJECT else PACKAGE
    yield stacks_folder()
    searched = [Path(each) for each in os.environ.get("PATH", "").split(os.pathsep)]
    for arm in study.arms:
        for _, program, _ in arm.programs():
            values = [program.prefix or "", *program.argv, *(value for _, value in program.env)]
            searched += [Path(each) for value in values for each in (value, value.partition("=")[2])]
    yield from (each for each in searched if each.is_absolute())


def confined_run(confinement: Confinement) -> BoundedRun:
    """Short commands, run as programs under test are."""
    entry = ("nsenter", *confinement.entry())
    return lambda argv: bounded_run([*entry, *argv], pass_fds=confinement.fds)
