# SPDX-License-Identifier: Apache-2.0
"""Waits of the whole machine, as the kernel sums them up: pressure stall information (Linux 4.20, /proc/pressure)."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/proc/pressure")
_RESOURCES = ("cpu", "io", "memory")


def pressure(root: Path = ROOT) -> dict[str, float]:
    """Share of the last ten seconds in which some task of this machine waited for processors (`cpu`), disks (`io`) or
    `memory`, in per cent; those that the kernel does not tell are left out."""
    return _some("avg10", root)


def stalled_ns(root: Path = ROOT) -> dict[str, int]:
    """Time since the machine's start in which some task waited for each of them, in ns; those that the kernel does not
    tell are left out."""
    return {name: int(total_us) * 1000 for name, total_us in _some("total", root).items()}


def _some(key: str, root: Path) -> dict[str, float]:
    """One value of each file's first line: `some avg10=0.12 avg60=0.05 avg300=0.01 total=1234`."""
    found = {}
    for name in _RESOURCES:
        try:
            words = (root / name).read_text().split()
            found[name] = float(next(word for word in words if word.startswith(f"{key}=")).removeprefix(f"{key}="))
        except (OSError, ValueError, StopIteration):
            continue
    return found
