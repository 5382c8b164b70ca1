# SPDX-License-Identifier: Apache-2.0
"""Code that all benchmarks share: their options, rows and table.

A benchmark measures a thing and a named alternative in turns (A B A B …) in one run, so that a noisy machine slows both
alike. It says whether a target was reached; it never fails because of a time.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Real links and small studies are made by the tests' own helpers, and noise of replays is a tool's.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    what: str
    values: Sequence[float]
    """Measured values, one per round."""
    unit: str = ""
    against: str = ""
    """Name of the alternative that `ratio` compares with."""
    ratio: float | None = None
    target: str = ""
    reached: bool | None = None

    @property
    def median(self) -> float:
        """Median over the rounds."""
        return statistics.median(self.values)


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process: other processes' load does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def child_cpu_seconds(command: Sequence[str | Path]) -> float:
    """CPU time of a program, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def is_quick(description: str | None) -> bool:
    """Read the command line: whether the short version is asked for."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    return bool(parser.parse_args().quick)


def paired_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Median over the rounds of ours / theirs: neighbours in time share the machine's mood."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print the rows in columns."""
    head = ("", "median", "min", "max", "unit", "ratio", "against", "target", "reached")
    lines = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    print(f"\n{title}")
    for line in lines:
        cells = (
            text.rjust(w) if 1 <= i <= 3 or i == 5 else text.ljust(w)
            for i, (text, w) in enumerate(zip(line, widths, strict=True))
        )
        print("  ".join(cells).rstrip())
    sys.stdout.flush()


def _cells(row: Row) -> tuple[str, ...]:
    numbers = [_number(value) for value in (row.median, min(row.values), max(row.values))]
    ratio = "" if row.ratio is None else f"{row.ratio:.3f}"
    reached = {None: "", True: "yes", False: "NO"}[row.reached]
    return (row.what, *numbers, row.unit, ratio, row.against, row.target, reached)


def _number(value: float) -> str:
    """Four significant digits, in plain notation."""
    decimals = 0 if abs(value) >= 1000 else 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:.{decimals}f}"
