# SPDX-License-Identifier: Apache-2.0
"""Run an installed program once: one that is unpacked but does not start is not installed."""

from __future__ import annotations

import re
import subprocess

from quiclab.lab.endpoints._stacks import Launch, package_version
from quiclab.lab.stacks.catalogue import Binary
from quiclab.model.errors import HostError


def version(binary: Binary, started: Launch) -> str:
    """Version that the program prints, or else that of its package. Raises HostError with the reason if it does not
    run."""
    try:
        done = subprocess.run(
            [*started.argv, *binary.version],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**started.env, "HOME": "/nonexistent"},
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{binary.name} does not run: {error}") from None
    printed = done.stdout.strip()
    # A program that cannot print its version complains about the option, which is proof enough that it runs.
    if done.returncode != 0 and not (binary.package and 0 < done.returncode < 126):
        raise HostError(f"{binary.name} does not run: {(printed.splitlines() or [f'exit code {done.returncode}'])[0]}")
    if binary.package:
        return package_version(started, binary.package) or "of this machine"
    found = re.search(r"\d+\.\d+[\w.+~-]*", printed)
    return found.group() if found else "runs"
