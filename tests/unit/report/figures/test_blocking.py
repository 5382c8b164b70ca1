# SPDX-License-Identifier: Apache-2.0
"""Objects that wait, of two arms written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.model.tables import TABLES
from quiclab.report.figures import Asked
from quiclab.report.figures.blocking import Blocking

ZERO_NS = 1_000_000_000


def _study(folder: Path, waits: list[dict[str, Any]]) -> Asked:
    """A study in which every trial asks for a at 1 ms and for b at 2 ms, on streams 1 and 3."""
    study = write_study(folder, Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    requests = [
        {"source": "raw/client.pcapng", "vantage": "client", "connection": "c", "stream_id": stream, "url": url}
        | {"send_start_ns": ZERO_NS + ms * 10**6, "last_byte_ns": ZERO_NS + 60 * 10**6}
        for stream, url, ms in ((1, "https://server.test/x/a", 1), (3, "https://server.test/x/b", 2))
    ]
    first = [{"source": "raw/link.qplog", "direction": "up", "action": "delivered", "arrival_ns": ZERO_NS}]
    for trial in (study / "trials").iterdir():
        for name, rows in {"http_requests": requests, "link_packets": first, "delivery_waits": waits}.items():
            file = study / "tables" / name / f"{trial.name}.parquet"
            file.parent.mkdir(exist_ok=True)
            pl.DataFrame(rows, schema=TABLES[name].schema()).write_parquet(file)
    return Asked(open_study(study), analyse_study(study))


_BLOCKED = {"x_ms": 11.0, "until_ms": 60.0, "connection": "c", "stream_id": 3, "cause": "other_gap"} | {
    "behind_stream_id": 1, "behind_object": "a", "bytes": 200, "byte_milliseconds": 9600.0,
}  # fmt: skip


def test_an_object_is_under_way_and_waits_within(tmp_path: Path) -> None:
    """Two rows for the objects of each arm, and one for the wait, which says behind what."""
    asked = _study(tmp_path, [_BLOCKED])
    figure, data = Blocking(), Blocking().gather(asked)
    assert data.filter(arm="h2").select("object", "part", "begin_ms", "until_ms", "behind", "bytes").rows() == [
        ("a", "under way", 1, 60, None, None),
        ("b", "under way", 2, 60, None, None),
        ("b", "other_gap", 11, 60, "a", 200),
    ]
    assert figure.is_worth_showing(asked, data)
    bars = {trace["name"]: trace for trace in figure.draw(data).to_plotly_json()["data"]}
    blocked = bars["h2, blocked: waits for others' bytes"]
    assert (blocked["y"], blocked["base"], blocked["x"]) == (["h2 2: b"], [11], [49])
    assert blocked["customdata"] == ["200 bytes behind a"]
    assert bars["h2, asked for and not complete"]["y"] == ["h2 1: a", "h2 2: b"]


def test_a_study_without_blocking_is_not_worth_a_section(tmp_path: Path) -> None:
    """Waits for an object's own bytes are no blocking."""
    asked = _study(tmp_path, [_BLOCKED | {"cause": "own_gap", "behind_stream_id": 3, "behind_object": "b"}])
    assert not Blocking().is_worth_showing(asked, Blocking().gather(asked))
