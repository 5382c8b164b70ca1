# SPDX-License-Identifier: Apache-2.0
"""Cost of a command that has little to do, beside Python with the one library that it needs for the answer.

CPU time, start included. The answer to each: a word, how far a study is, a row of its tables, the tables of a small
capture, the list of figures.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

from _bench import ROOT, Row, child_cpu_seconds, is_quick, paired_ratio, print_table
from synthetic_study import Shape, write_study

from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger
from quiclab.study.specs import load_study

START_S, ANSWER_S = 0.25, 0.5
_CAPTURE = ROOT / "tests" / "unit" / "cli" / "recordings" / "h3.pcapng.gz"


def main() -> None:
    """Measure each command and its alternative in turns."""
    rounds = 3 if is_quick(__doc__) else 15
    quiclab = Path(sys.executable).with_name("quiclab")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study, capture = _study(folder / "study"), folder / "h3.pcapng"
        capture.write_bytes(gzip.decompress(_CAPTURE.read_bytes()))
        select = f"SELECT count(*) FROM '{study}/tables/trials.parquet'"
        duckdb, drawing = f'import duckdb; duckdb.sql("{select}").show()', "import polars, plotly.graph_objects"
        out = ["-o", folder / "out", "--force"]
        cases: list[tuple[str, list[str | Path], str, str, float]] = [
            ("--version", ["--version"], "python", "pass", START_S),
            ("status STUDY", ["status", study], "sqlite3", "import sqlite3", START_S),
            ("sql STUDY", ["sql", study, "SELECT count(*) FROM trials"], "duckdb", duckdb, ANSWER_S),
            ("decode CAPTURE", ["decode", capture, *out], "polars", "import polars", ANSWER_S),
            ("figure --list", ["figure", "--list"], "polars, plotly", drawing, ANSWER_S),
        ]
        rows = []
        for what, words, library, code, target in cases:
            ours, theirs = [], []
            for _ in range(rounds):
                ours.append(child_cpu_seconds([quiclab, *words]))
                theirs.append(child_cpu_seconds([sys.executable, "-c", code]))
            alone = Row(f"  python with {library}" if library != "python" else "  python", theirs, "s")
            reached = sorted(ours)[len(ours) // 2] <= target
            ratio = paired_ratio(ours, theirs)
            rows += [Row(f"quiclab {what}", ours, "s", alone.what.strip(), ratio, f"<= {target} s", reached), alone]
        print_table(f"CPU time of commands that have little to do, {rounds} rounds", rows)


def _study(folder: Path) -> Path:
    """A study with tables and a ledger in which nothing was run."""
    write_study(folder, Shape())
    study_dir = StudyDir(folder)
    study_dir.spec.write_bytes((ROOT / "experiments" / "demo" / "spec.toml").read_bytes())
    load_study(study_dir.spec)
    study_dir.ledger.unlink(missing_ok=True)
    with open_ledger(study_dir):
        pass
    return folder


if __name__ == "__main__":
    main()
