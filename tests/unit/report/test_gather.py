# SPDX-License-Identifier: Apache-2.0
"""The data of every figure, from a study whose tables are a few rows written by hand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_pages import add_pages
from synthetic_study import Shape, write_study

from quiclab import figures
from quiclab.errors import SpecError
from quiclab.opened import open_study
from quiclab.report.analyse import analyse_study
from quiclab.report.gather import Asked, gather
from quiclab.tables import TABLES

SHAPE = replace(Shape(), workloads=("100 KB", "1 MB"), paths=("loss",), failures=frozenset(), voids=frozenset())
ZERO_NS = 1_000_000_000


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic study; every trial gets the same few rows of the tables that figures of single trials need."""
    study = write_study(tmp_path_factory.mktemp("study"), SHAPE)
    for trial in (study / "trials").iterdir():
        for name, rows in _rows().items():
            table = TABLES[name]
            frame = pl.DataFrame(rows, schema_overrides=dict(table.schema()), infer_schema_length=None)
            whole = frame.select(
                pl.col(column) if column in frame.columns else pl.lit(None, dtype).alias(column)
                for column, dtype in table.schema().items()
            )
            file = study / "tables" / name / f"{trial.name}.parquet"
            file.parent.mkdir(exist_ok=True)
            whole.write_parquet(file)
    return study


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, directory: Path) -> Path:
    """The same with what page loads, players and competitions leave."""
    study = tmp_path_factory.mktemp("whole")
    shutil.copytree(directory, study, dirs_exist_ok=True)
    add_pages(study)
    return study


def _rows() -> dict[str, list[dict[str, Any]]]:
    def ms(time: float) -> int:
        return ZERO_NS + round(time * 1e6)

    def packet(direction: str, time: float, size: int, queue: int, action: str = "delivered") -> dict[str, Any]:
        times = {"arrival_ns": ms(time), "due_ns": ms(time + 10)}
        return times | {"direction": direction, "size_bytes": size, "queue_bytes": queue, "action": action}

    server = {"vantage": "server", "connection": "c"}
    client = {"vantage": "client", "connection": "c", "direction": "down"}
    qlog, guess = {"source": "q.sqlog", "estimate": False}, {"source": "s.pcapng", "estimate": True}
    warm = {"source": "q.sqlog", "estimate": False, "vantage": "server", "connection": "warm-up"}
    return {
        "link_packets": [
            packet("up", -5, 60, 0, "outside_model"),
            packet("up", 0, 1200, 0),
            packet("down", 20, 1000, 0),
            packet("down", 21, 1000, 1000, "dropped"),
            packet("down", 32, 500, 1500),
        ],
        "transport_metrics": [
            warm | {"time_ns": ms(-50), "cwnd_bytes": 999_999},
            warm | {"time_ns": ms(2), "cwnd_bytes": 999_999},
            server | qlog | {"time_ns": ms(20), "cwnd_bytes": 12_000, "smoothed_rtt_ms": 21.0},
            server | qlog | {"time_ns": ms(40), "cwnd_bytes": 6_000, "smoothed_rtt_ms": 22.0},
            server | guess | {"time_ns": ms(21), "cwnd_bytes": 1, "bytes_in_flight": 3_000},
        ],
        "cc_states": [
            server | qlog | {"time_ns": ms(0), "new_state": "slow_start"},
            server | qlog | {"time_ns": ms(40), "new_state": "recovery"},
            server | qlog | {"time_ns": ms(60), "new_state": "congestion_avoidance"},
        ],
        "losses": [server | {"time_ns": ms(50), "transport": "quic"}],
        "http_requests": [
            client | {"source": "c.json", "url": "https://server/a", "time_ns": ms(5), "last_byte_ns": ms(50)}
            | {"send_start_ns": ms(6), "first_byte_ns": ms(30)},
            client | {"source": "c.json", "url": "https://server/b", "time_ns": ms(7)},
        ],
        "frames": [
            client | {"source": "c.sqlog", "frame_type": kind, "stream_id": stream}
            | {"time_ns": ms(30), "length_bytes": 900}
            for kind, stream in (("stream", 0), ("stream", 3), ("crypto", 0), ("stream", 4))
        ],
    }  # fmt: skip


def _gathered(directory: Path, name: str, **asked: Any) -> pl.DataFrame:
    return gather(name, Asked(open_study(directory), analyse_study(directory), **asked))


@pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: figure.name)
def test_every_figure_is_gathered_with_the_columns_it_declares_and_drawn(whole: Path, figure: Any) -> None:
    """One pass from files to a plotly figure that has something in it."""
    data = _gathered(whole, figure.name, factor="size" if figure.name == "factor" else None)
    assert data.height
    assert set(figure.columns) <= set(data.columns)
    drawn = figure.draw(data).to_plotly_json()
    assert drawn["data"]


def test_throughput_counts_what_was_delivered_in_its_slice(directory: Path) -> None:
    """1000 bytes at 30 ms and 500 at 42 ms; what was dropped does not count, and what came between is 0."""
    data = _gathered(directory, "throughput").filter(arm="h2")
    assert data["series"].unique().to_list() == ["per 1 ms"]
    moving = {row["x_ms"]: row["y"] for row in data.iter_rows(named=True) if row["y"]}
    assert moving == {30.0: pytest.approx(8.0), 42.0: pytest.approx(4.0)}


def test_the_window_is_the_senders_own_word_of_the_transfers_connection(directory: Path) -> None:
    """No estimate where a log tells, nothing of the warm-up; in-flight bytes only an estimate tells, and it says so."""
    data = _gathered(directory, "window").filter(arm="h3")
    assert data.filter(series="window").select("x_ms", "y").rows() == [(20.0, 12_000.0), (40.0, 6_000.0)]
    assert data.filter(series="in flight (estimate)")["y"].to_list() == [3_000.0]


def test_the_queue_is_what_packets_found(directory: Path) -> None:
    """Dropped ones too; towards the client only."""
    data = _gathered(directory, "queue").filter(arm="h2")
    assert data.select("x_ms", "y").rows() == [(20.0, 0.0), (21.0, 1000.0), (32.0, 1500.0)]


def test_states_share_the_transfers_time(directory: Path) -> None:
    """40 ms of slow start and 20 of recovery, the rest in congestion avoidance up to the last byte."""
    data = _gathered(directory, "states").filter(arm="h2")
    assert data["share_pct"].sum() == pytest.approx(100)
    shares = dict(data.select("state", "share_pct").iter_rows())
    assert shares["slow_start"] / shares["recovery"] == pytest.approx(2)
    assert dict(data.select("state", "next").iter_rows())["recovery"] == "congestion_avoidance 100 %"


def test_the_first_loss_is_placed_by_the_bytes_acknowledged(directory: Path) -> None:
    """At 50 ms nothing of these transfers is acknowledged yet."""
    data = _gathered(directory, "first_loss", cell="100 KB/loss")
    assert set(data["acknowledged_bytes"]) == {0.0}


def test_only_response_streams_are_chunks(directory: Path) -> None:
    """Control streams and CRYPTO frames carry no body."""
    assert set(_gathered(directory, "multiplexing")["stream_id"]) == {0, 4}


def test_a_request_without_an_answer_is_shown(directory: Path) -> None:
    """Its bar has no end, and it is not left out."""
    data = _gathered(directory, "waterfall").filter(arm="h2")
    assert data.select("url", "sent_ms", "last_byte_ms").rows() == [("/a", 6.0, 50.0), ("/b", 7.0, None)]


def test_a_block_can_be_chosen(directory: Path) -> None:
    """The trials are that block's."""
    asked = Asked(open_study(directory), analyse_study(directory), "1 MB/loss", 3)
    trials = open_study(directory).trials.filter(pl.col("trial_id").is_in(list(asked.chosen().trials.values())))
    assert set(trials["block"]) == {3}
    assert set(trials["cell_id"]) == {"1 MB/loss"}


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("window", {"cell": "2 GB/moon"}, "no cell"),
        ("distributions", {"cell": "2 GB/moon"}, "no cell"),
        ("window", {"block": 99}, "no trial in block 99"),
        ("differences", {"other": "h4"}, "no arm 'h4'"),
        ("factor", {"factor": "rate"}, "does not vary"),
    ],
)
def test_what_the_study_lacks_is_told(directory: Path, name: str, asked: dict[str, Any], told: str) -> None:
    """One sentence, with what there is."""
    with pytest.raises(SpecError, match=told):
        _gathered(directory, name, **asked)
