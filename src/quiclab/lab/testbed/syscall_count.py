# SPDX-License-Identifier: Apache-2.0
"""Counts of a program's system calls. Each call stops the program twice, so this is never done in a trial whose time
counts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from quiclab.store.own_files import read_own

_ROW = re.compile(r"^\s*(\d+)\s+(\d+)?\s*([a-z_]\w*)\s*$", re.MULTILINE)


def syscall_count_problem() -> str | None:
    """Reason why nothing can be counted here, or None. Must be asked where the program will run: inside the sandbox."""
    if shutil.which("strace") is None:
        return "strace is not installed (as root: apt-get install -y strace)"
    trial = counting(("true",), Path(os.devnull))
    done = subprocess.run(trial, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"strace may not trace here: {done.stderr.strip()}"


def counting(argv: tuple[str, ...], output: Path, search: str = os.defpath) -> tuple[str, ...]:
    """The command line that runs `argv` and leaves the counts in `output` when the program and its children have ended.

    SIGTERM to the process group reaches the program; strace itself ignores it until the counts are written. The program
    is searched for in `search`, which is a PATH: strace finds nothing in an environment without one.
    """
    program = shutil.which(argv[0], path=search) or argv[0]
    return (
        shutil.which("strace") or "strace",
        "-f",
        "-c",
        "-U",
        "calls,errors,name",
        "-o",
        str(output),
        program,
        *argv[1:],
    )


def syscall_counts(output: Path) -> dict[str, int]:
    """Number of calls of each system call, including failed ones; empty if the program was killed before strace summed
    up."""
    try:
        text = read_own(output).decode(errors="replace")
    except OSError:
        return {}
    return {name: int(calls) for calls, _, name in _ROW.findall(text) if name != "total"}
