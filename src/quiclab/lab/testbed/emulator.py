# SPDX-License-Identifier: Apache-2.0
"""User-mode emulation of a processor: a program's own code takes several times as long, the kernel's work for it does
not."""

from __future__ import annotations

import os
import platform
import shutil

_SUFFIXES = ("-static", "")
"""Endings of its name in distributions: a static emulator needs no libraries of its own where a program is confined."""


def emulator_problem() -> str | None:
    """Reason why no program can be emulated here, or None."""
    if _emulator() is not None:
        return None
    return f"qemu-{platform.machine()} is not installed (as root: apt-get install -y qemu-user)"


def emulated(argv: tuple[str, ...], search: str = os.defpath) -> tuple[str, ...]:
    """The command line that runs `argv`, a program for this machine's own processor, in the emulator.

    The program is searched for in `search`, which is a PATH. Programs that it starts in its turn are not emulated.
    Raises FileNotFoundError where `emulator_problem` would have said why.
    """
    if (emulator := _emulator()) is None:
        raise FileNotFoundError(emulator_problem())
    program = shutil.which(argv[0], path=search) or argv[0]
    return (emulator, program, *argv[1:])


def _emulator() -> str | None:
    names = (f"qemu-{platform.machine()}{suffix}" for suffix in _SUFFIXES)
    return next((found for name in names if (found := shutil.which(name)) is not None), None)
