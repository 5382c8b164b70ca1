# SPDX-License-Identifier: Apache-2.0
"""Run every benchmark of this folder, one after the other: `make bench`, or `benches/run_all.py --quick`.

Each prints a table: median, least and greatest of its rounds, the ratio to a named alternative that was measured in
turns with it, the target, and whether it was reached. Nothing here passes or fails by a time: the exit code is 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from _bench import is_quick

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    """Run them; one that cannot run says so and the others go on."""
    options = ["--quick"] if is_quick(__doc__) else []
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{os.cpu_count()} processors, load {load}: read ratios rather than digits, and run this on an idle machine")
    sys.stdout.flush()
    for file in sorted(FOLDER.glob("bench_*.py")):
        understood = options if "is_quick" in file.read_text() else []
        code = subprocess.run([sys.executable, file, *understood], check=False).returncode
        if code != 0:
            print(f"\n{file.name} could not measure (exit code {code})")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
