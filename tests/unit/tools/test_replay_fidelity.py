# SPDX-License-Identifier: Apache-2.0
"""What the same seed is worth, told of studies whose noise and losses are known."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.model.tables import TABLES

TOOL = Path(__file__).resolve().parents[3] / "tools" / "replay_fidelity.py"
SHAPE = replace(Shape(), workloads=("100 KB",), paths=("clean",), blocks=6, aa_blocks=2, voids=frozenset())


def told(*arguments: str | Path) -> list[list[str]]:
    """The tool's rows, as cells."""
    done = subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line]


def write(directory: Path, times: dict[str, list[float]], lost: dict[str, list[int]] | None = None) -> Path:
    """A study with these times by arm and block, and these data packets lost in all trials of an arm; between data are
    as many small packets as the arm's name says."""
    write_study(directory, SHAPE)
    file = directory / "tables" / "trials.parquet"
    trials = pl.read_parquet(file).with_columns(("seed " + pl.col("block").cast(pl.String)).alias("seed"))
    trials.write_parquet(file)
    main = trials.filter(kind="main", status="verified")
    rows = [
        {"trial_id": row["trial_id"], "name": "ttlb_ms", "value": times[row["arm"]][row["block"]]}
        for row in main.iter_rows(named=True)
    ]
    pl.DataFrame([{**row, "unit": "ms", "better": "lower", "note": ""} for row in rows]).write_parquet(
        directory / "metrics.parquet"
    )
    for row in main.iter_rows(named=True) if lost else ():
        _packets(directory, row["trial_id"], lost[row["arm"]] if lost else [], 1 + int(row["arm"] == "h3"))
    return directory


def _packets(directory: Path, trial_id: str, lost: list[int], small: int) -> None:
    sizes = [size for _ in range(20) for size in (*[60] * small, 1500)]
    large = [number // (small + 1) for number, _ in enumerate(sizes)]
    gone = [size == 1500 and number in lost for size, number in zip(sizes, large, strict=True)]
    frame = pl.DataFrame(
        {
            "direction": ["down"] * len(sizes),
            "index": range(len(sizes)),
            "size_bytes": sizes,
            "action": ["dropped" if each else "delivered" for each in gone],
            "reason": ["loss_entry" if each else None for each in gone],
            "duplicate": [False] * len(sizes),
        },
        schema_overrides={"index": pl.UInt32, "size_bytes": pl.UInt16},
    )
    assert set(frame.columns) <= {column.name for column in TABLES["link_packets"].columns}
    file = directory / "tables" / "link_packets" / f"{trial_id}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(file)


def test_replays_are_told_from_seeds(tmp_path: Path) -> None:
    """Two studies of one spec: seeds differ by 10 % and more, replays by 2 %; both arms lose the same data packets."""
    times = {"h2": [100.0, 120, 140, 160, 180, 200], "h3": [50.0, 60, 70, 80, 90, 100]}
    again = {arm: [1.02 * each for each in values] for arm, values in times.items()}
    lost = {"h2": [3, 9], "h3": [3, 9]}
    rows = told("replays", write(tmp_path / "a", times, lost), write(tmp_path / "b", again, lost))
    (h2,) = (row for row in rows if row[:2] == ["100 KB/clean", "h2"])
    assert h2[2:4] == ["6", "12"]
    assert float(h2[5].removesuffix(" %")) == pytest.approx(100 * 0.0198 / 2**0.5, abs=0.01)
    assert 20 < float(h2[6].removesuffix(" %")) < 30
    assert h2[7:] == ["100 %", "100 %", "100 %"]
    (both,) = (row for row in rows if row[1] == "h2, h3")
    assert both[7:] == ["0 %", "100 %", "100 %"]


def test_correlation_is_told_by_cell_and_by_kind_of_path(tmp_path: Path) -> None:
    """What is drawn on a path is its kind."""
    times = {"h2": [100.0, 120, 140, 160, 180, 200], "h3": [52.0, 60, 70, 81, 90, 99]}
    study = write(tmp_path, times)
    resolved = json.loads((study / "resolved.json").read_text())
    resolved["paths"][0]["down"] |= {"loss": {"model": "bernoulli", "probability_pct": 1}, "loss_by": "class"}
    resolved["paths"][0]["up"] |= {"jitter": {"distribution": "normal", "scale_ns": 1}}
    resolved["paths"][0]["up"]["loss"] = None
    (study / "resolved.json").write_text(json.dumps(resolved))
    rows = told("pairs", study)
    assert rows[1][1:5] == ["100 KB/clean", "h3, h2", "jitter, loss by class", "6"]
    assert rows[1][5].startswith(("1.00 (0.9", "1.00 (1.0"))
    assert rows[-1][:3] == ["jitter, loss by class", "1", "6"]
