# SPDX-License-Identifier: Apache-2.0
"""What page loads, players, competitions and 0-RTT leave, added to a synthetic study of h2 and h3.

Every trial gets the same few rows: a page of a document and a script that took 400 ms, a video with stalls, two flows.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars as pl
from PIL import Image

from quiclab.model.tables import TABLES

BEGAN_NS = 1_000_000_000
METRICS = {
    "main_image_start_ms": 120.0,
    "main_image_end_ms": 300.0,
    "startup_ms": 500.0,
    "stalls": 2.0,
    "stall_ms": 900.0,
    "mean_quality_bit_per_s": 2_500_000.0,
    "quality_switches": 1.0,
    "fraction_loaded_pct": 40.0,
}


def add_pages(study: Path) -> None:
    """Tables and metrics of every trial; h3 becomes an arm that offers 0-RTT, which its trials prove."""
    metrics = pl.read_parquet(study / "metrics.parquet")
    more = [
        {"trial_id": trial.name, "name": name, "value": value, "unit": "", "better": "lower", "note": None}
        for trial in (study / "trials").iterdir()
        for name, value in METRICS.items()
    ]
    pl.concat([metrics, pl.DataFrame(more, schema=metrics.schema)]).write_parquet(study / "metrics.parquet")
    resolved = json.loads((study / "resolved.json").read_text(encoding="utf-8"))
    resolved["arms"] = [
        {"name": "h2", "protocol": "h2", "tcp": {"congestion_control": "cubic"}},
        {"name": "h3", "protocol": "h3", "client": {"knobs": {"session": "early_data"}},
         "server": {"knobs": {"congestion_control": "cubic"}}},
    ]  # fmt: skip
    (study / "resolved.json").write_text(json.dumps(resolved), encoding="utf-8")
    for trial in (study / "trials").iterdir():
        record = json.loads((trial / "trial.json").read_text(encoding="utf-8"))
        record["proof"]["early_data"] = "accepted"
        (trial / "trial.json").write_text(json.dumps(record), encoding="utf-8")
        for name, rows in _rows().items():
            file = study / "tables" / name / f"{trial.name}.parquet"
            before = [pl.read_parquet(file)] if file.is_file() else []
            file.parent.mkdir(exist_ok=True)
            pl.concat([*before, _table(name, rows)]).write_parquet(file)


def _table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema_overrides=dict(TABLES[name].schema()), infer_schema_length=None)
    return frame.select(
        pl.col(column) if column in frame.columns else pl.lit(None, dtype).alias(column)
        for column, dtype in TABLES[name].schema().items()
    )


def _rows() -> dict[str, list[dict[str, Any]]]:
    def ms(time: float) -> int:
        return BEGAN_NS + round(time * 1e6)

    trace = {"source": "trace.json", "vantage": "client"}
    shots = [(-50.0, 255), (5.0, 255), (210.0, 128), (400.0, 0)]
    return {
        "page_events": [
            {"source": "trace.json", "name": "navigationStart", "time_ns": ms(-100)},  # of the page before
            {"source": "trace.json", "name": "navigationStart", "time_ns": ms(0)},
            *({"source": "trace.json", "name": "Screenshot", "time_ns": ms(time), "image": _picture(grey)}
              for time, grey in shots),
        ],
        "page_progress": [{"x_ms": 5.0, "progress": 0.0}, {"x_ms": 210.0, "progress": 0.5},
                          {"x_ms": 400.0, "progress": 1.0}],
        "http_requests": [
            trace | {"time_ns": ms(time), "resource_type": kind, "http_version": version, "response_body_bytes": size}
            for time, kind, version, size in (
                (-60, "Document", "HTTP/1.1", 9_000),
                (1, "Document", "HTTP/3", 1_000),
                (50, "Script", "HTTP/3", 4_500),
                (51, "Script", "HTTP/2", 5_500),
            )
        ],
        "flows": [
            {"flow": flow, "arm": arm, "background": background, "protocol": "h2", "started_ms": started}
            for flow, arm, background, started in (
                ("measured", "h2", None, 0.0), ("h2-1", "h2", None, 200.0), ("udp-1", None, "udp", 0.0)
            )
        ],
        "flow_throughput": [
            {"flow": flow, "time_ms": 100.0 * step, "bytes": size}
            for flow, size in (("measured", 30_000), ("h2-1", 10_000), ("udp-1", 5_000))
            for step in range(1, 21)
        ],
    }  # fmt: skip


def _picture(grey: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (400, 300), (grey, grey, grey)).save(file, "JPEG")
    return file.getvalue()
