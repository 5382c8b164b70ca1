# SPDX-License-Identifier: Apache-2.0
"""The data of every figure, from a study whose tables are a few rows written by hand."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import plotly.graph_objects as graph_objects
import polars as pl
import pytest
from synthetic_logs import write_account
from synthetic_pages import add_pages
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.compare.study_tables import open_study
from quiclab.model.history_record import HistoryRecord, HistoryRelease
from quiclab.model.tables import TABLES
from quiclab.report import figures
from quiclab.report.figures import FIGURES, Asked, Chosen, Figure, Where, _style
from quiclab.report.page.pair_figures import AskedOfPair
from quiclab.report.page.pairs import cells_of
from quiclab.report.printing import printed
from quiclab.store.history_file import keep_history

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
        write_account(study, trial.name, int(trial.name, 16) % 100)
    return study


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, directory: Path) -> Path:
    """The same with what page loads, players, competitions and searches among releases leave."""
    study = tmp_path_factory.mktemp("whole")
    shutil.copytree(directory, study, dirs_exist_ok=True)
    add_pages(study)
    releases = (HistoryRelease("h2", "2024-02-01"), HistoryRelease("h3", "2024-11-26"))
    keep_history(study, HistoryRecord("server", "server", releases))
    return study


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, directory: Path) -> Path:
    """The same where the second arm is the first one through a proxy, and the client's address changes."""
    study = tmp_path_factory.mktemp("twins")
    shutil.copytree(directory, study, dirs_exist_ok=True)
    resolved = json.loads((study / "resolved.json").read_text(encoding="utf-8"))
    client = {"protocol": "h2", "client": {"name": "curl"}}
    resolved["arms"] = [client | {"name": "h2"}, client | {"name": "h3", "proxy": {"name": "envoy"}}]
    resolved["workloads"][0]["address_change"] = {"after_bytes": 10_000}
    (study / "resolved.json").write_text(json.dumps(resolved), encoding="utf-8")
    return study


def _rows() -> dict[str, list[dict[str, Any]]]:
    def ms(time: float) -> int:
        return ZERO_NS + round(time * 1e6)

    def packet(direction: str, time: float, size: int, queue: int, action: str = "delivered") -> dict[str, Any]:
        times = {"arrival_ns": ms(time), "due_ns": ms(time + 10)}
        served = {"service_ns": size * 10_000, "left_ns": ms(time) + (queue + size) * 10_000}
        return times | served | {"direction": direction, "size_bytes": size, "queue_bytes": queue, "action": action}

    server = {"vantage": "server", "connection": "c"}
    client = {"vantage": "client", "connection": "c", "direction": "down"}
    qlog, guess = {"source": "q.sqlog", "estimate": False}, {"source": "s.pcapng", "estimate": True}
    warm = {"source": "q.sqlog", "estimate": False, "vantage": "server", "connection": "warm-up"}
    return {
        "link_packets": [
            packet("up", -5, 60, 0, "outside_model"),
            packet("up", 0, 1200, 0),
            packet("down", 20, 1000, 0),
            packet("down", 21, 1000, 1000, "dropped") | {"reason": "queue_full"},
            packet("down", 32, 500, 1500),
        ],
        "transport_metrics": [
            warm | {"time_ns": ms(-50), "cwnd_bytes": 999_999},
            warm | {"time_ns": ms(2), "cwnd_bytes": 999_999},
            server | qlog | {"time_ns": ms(20), "cwnd_bytes": 12_000, "smoothed_rtt_ms": 21.0},
            server | qlog | {"time_ns": ms(40), "cwnd_bytes": 6_000, "smoothed_rtt_ms": 22.0,
                             "pacing_rate_bit_per_s": 8e6},
            server | guess | {"time_ns": ms(21), "cwnd_bytes": 1, "bytes_in_flight": 3_000},
        ],
        "cc_states": [
            server | qlog | {"time_ns": ms(0), "new_state": "slow_start"},
            server | qlog | {"time_ns": ms(40), "new_state": "recovery"},
            server | qlog | {"time_ns": ms(60), "new_state": "congestion_avoidance"},
        ],
        "losses": [server | qlog | {"time_ns": ms(50), "transport": "quic", "direction": "down"}],
        "packets": [
            {"source": f"{end}.pcapng", "vantage": end, "connection": "c", "transport": "quic", "event": event,
             "direction": "up", "packet_type": "initial", "packet_number": 0, "length_bytes": 1200, "ip_packet": 0,
             "packet_index": 0, "time_ns": ms(time)}
            for end, event, time in (("client", "sent", 0), ("server", "received", 11))
        ],
        "handshake": [
            client | {"source": "c.pcapng", "transport": "quic", "direction": direction}
            | {"round_trip": number, "time_ns": ms(time), "step": step}
            for time, direction, step, number in (
                (0, "up", "client_hello", 0), (11, "down", "hello_retry_request", 0), (12, "up", "client_hello", 1),
                (24, "down", "server_hello", 1), (25, "up", "finished", 2), (40, "down", "handshake_done", 2),
            )
        ],
        "http_requests": [
            client | {"source": "c.json", "url": "https://server/a", "time_ns": ms(5), "last_byte_ns": ms(50)}
            | {"send_start_ns": ms(6), "first_byte_ns": ms(30), "stream_id": 0},
            client | {"source": "c.json", "url": "https://server/b", "time_ns": ms(7), "stream_id": 4},
        ],
        "delivery_waits": [
            {"x_ms": begin, "until_ms": until, "object": "a", "connection": "c", "stream_id": 0, "cause": cause}
            | {"behind_stream_id": behind and 4, "behind_object": behind, "bytes": 1200, "byte_milliseconds": 1200.0}
            for begin, until, cause, behind in ((31.0, 32.0, "own_gap", None), (35.0, 48.0, "other_gap", "b"))
        ],
        "frames": [
            client | {"source": "c.sqlog", "frame_type": kind, "stream_id": stream}
            | {"time_ns": ms(30), "length_bytes": 900}
            for kind, stream in (("stream", 0), ("stream", 3), ("crypto", 0), ("stream", 4))
        ],
    }  # fmt: skip


def _figure(name: str) -> Figure:
    return next(figure for figure in FIGURES if figure.name == name)


def _gathered(directory: Path, name: str, **asked: Any) -> pl.DataFrame:
    return _figure(name).gather(Asked(open_study(directory), analyse_study(directory), **asked))


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_is_gathered_with_the_columns_it_declares_and_drawn(whole: Path, twins: Path, figure: Any) -> None:
    """One pass from files to a figure that has something in it, that plotly itself accepts, and that can be printed."""
    data = _gathered(
        twins if figure.name in ("proxy", "migration") else whole,
        figure.name,
        factor="size" if figure.name == "factor" else None,
    )
    assert data.height
    assert set(figure.columns) <= set(data.columns)
    assert figure.overlaid == ("trial" in data.columns)
    spec = figures.spec(figure.draw(data))
    assert graph_objects.Figure(spec).data
    assert printed(spec, "svg")


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures_of_single_trials_are_those_that_ask_for_them(whole: Path, figure: Any) -> None:
    """A figure that asks which trials were chosen is on the pages of pairs, and no other is."""
    asked_for: list[Chosen] = []

    class Watched(Asked):
        def chosen(self) -> Chosen:
            asked_for.append(super().chosen())
            return asked_for[-1]

    figure.gather(Watched(open_study(whole), analyse_study(whole), "1 MB/loss", factor="size"))
    assert bool(asked_for) == (figure.where is Where.PAIR)


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


@pytest.mark.parametrize(
    ("tcp", "shown"),
    [
        ({"congestion_control": "cubic", "pacing": False}, False),
        ({"congestion_control": "cubic", "pacing": True}, True),
        ({"congestion_control": "bbr", "pacing": False}, True),
        ({"congestion_control": "cubic", "server_congestion_control": "bbr"}, True),
    ],
)
def test_a_rate_that_tcp_does_not_keep_to_is_not_drawn(
    tcp: dict[str, Any], shown: bool, directory: Path, tmp_path: Path
) -> None:
    """The kernel computes one for every connection; "not paced" above it would contradict its curve."""
    copy = shutil.copytree(directory, tmp_path / "study")
    resolved = json.loads((copy / "resolved.json").read_text())
    for arm in resolved["arms"]:
        arm |= {"tcp": tcp} if arm["name"] == "h2" else {}
    (copy / "resolved.json").write_text(json.dumps(resolved))
    data = _gathered(copy, "pacing")
    h2, h3 = (data.filter(arm=arm) for arm in ("h2", "h3"))
    assert (h2["y"].drop_nulls().len() > 0) is shown
    assert ("not paced: the rate that the kernel computes is not kept to" in h2["series"]) is not shown
    assert h3["y"].drop_nulls().len() > 0


def test_colours_are_those_of_the_map() -> None:
    """Orange where the other arm is faster: less time by a cause has the colour that less time has in the map."""
    common = {"cell_id": "a/b", "cell_title": "", "baseline": "h2", "other": "h3", "cause": ""}
    rows = [
        common | {"cause_title": title, "difference_ms": ms, "difference_pct": ms, "cell_text": "", "status": status}
        for title, ms, status in (("less", -40.0, "indicated"), ("more", 30.0, "indicated"))
    ]
    drawn = _figure("causes").draw(pl.DataFrame(rows))
    (_, differing) = drawn.data
    values = dict(zip(differing.y, (row[0] for row in differing.z), strict=True))
    assert values["less"] > 0 > values["more"]
    assert [list(each) for each in differing.colorscale] == _style.DIFFERENCE_SCALE
    assert "−, orange: h3 takes less" in drawn.layout.title.text


def test_the_queue_drains_between_packets(directory: Path) -> None:
    """Up by each packet that joins, down to nothing as it is served; what the queue turned away never was in it."""
    data = _gathered(directory, "queue").filter(arm="h2")
    assert data.select("x_ms", "y").rows() == [(20, 1000), (30, 0), (32, 0), (32, 2000), (52, 0)]


def test_states_share_the_transfers_time(directory: Path) -> None:
    """40 ms of slow start and 20 of recovery, the rest in congestion avoidance up to the last byte."""
    data = _gathered(directory, "states").filter(arm="h2")
    assert data["share_pct"].sum() == pytest.approx(100)
    shares = dict(data.select("state", "share_pct").iter_rows())
    assert shares["slow_start"] / shares["recovery"] == pytest.approx(2)
    assert dict(data.select("state", "next").iter_rows())["recovery"] == "congestion_avoidance 100 %"


def test_a_state_leads_to_those_that_follow_it(directory: Path) -> None:
    """The last one leads nowhere."""
    data = _gathered(directory, "state_machine").filter(arm="h2")
    ways = dict(data.select("state", "next").iter_rows())
    assert ways == {"slow_start": "recovery", "recovery": "congestion_avoidance", "congestion_avoidance": None}
    assert set(data["probability_pct"].drop_nulls()) == {100.0}


def test_a_state_machine_is_of_all_trials_of_a_cell(directory: Path, tmp_path: Path) -> None:
    """Of which one goes from recovery to where the others do not; by its block it is shown alone."""
    shutil.copytree(directory, tmp_path / "study")
    trials = _gathered(directory, "distributions", cell="1 MB/loss").filter(arm="h2", status="verified")
    table = tmp_path / "study" / "tables" / "cc_states" / f"{trials['trial_id'][0]}.parquet"
    odd = pl.read_parquet(table).with_columns(pl.col("new_state").replace("congestion_avoidance", "timeout"))
    odd.write_parquet(table)
    one, count = trials["block"][0], trials.height
    machine = _gathered(tmp_path / "study", "state_machine", cell="1 MB/loss").filter(arm="h2", state="recovery")
    assert machine["visits"].to_list() == machine["trials"].to_list() == [count, count]
    assert dict(machine.select("next", "probability_pct").rows()) == {
        "congestion_avoidance": pytest.approx(100 * (count - 1) / count),
        "timeout": pytest.approx(100 / count),
    }
    alone = _gathered(tmp_path / "study", "state_machine", cell="1 MB/loss", block=one).filter(arm="h2")
    assert alone.filter(state="recovery").select("next", "probability_pct").rows() == [("timeout", 100.0)]


def test_a_pairs_page_shows_the_states_of_its_own_trials(directory: Path) -> None:
    """Also that of the median trials, which are no block: not those of the whole cell."""
    analysis = analyse_study(directory)
    pair = next(p for cell in cells_of(read_study(directory), analysis) for p in cell.pairs if p.block is None)
    asked = AskedOfPair(open_study(directory), analysis, pair.cell, pair.block, pair=pair)
    assert asked.trials_by_arm() == {trial.arm: [trial.trial_id] for trial in pair.trials}
    assert set(_figure("state_machine").gather(asked)["trials"]) == {1}


def test_a_handshake_is_cut_where_the_client_speaks_again(directory: Path) -> None:
    """A round trip for the HelloRetryRequest, one for the handshake; with the client's Finished the request leaves."""
    data = _gathered(directory, "handshake").filter(arm="h3")
    assert data.select("step", "begin_ms", "end_ms").rows()[:2] == [
        ("HelloRetryRequest", 0.0, 12.0), ("QUIC and TLS", 12.0, 25.0),
    ]  # fmt: skip
    assert data["step"][2] == "request and response"


def test_each_loss_is_told_by_who_saw_it(directory: Path) -> None:
    """The link dropped one packet for want of room; the sender held one to be lost."""
    data = _gathered(directory, "losses").filter(arm="h2")
    seen = dict(data.filter(pl.col("x_ms").is_not_null()).group_by("lane").agg(pl.col("x_ms").first()).iter_rows())
    assert seen == {"link: queue full": 21.0, "sender: declared lost": 50.0}


@pytest.mark.parametrize(
    ("reason", "lane"),
    [
        ("loss_exit", "link: lost"), ("listed", "link: lost"), ("outage", "link: lost"), ("blocked", "link: blocked"),
        ("oversize", "link: above the size that passes"), ("policed", "link: policed"),
        ("aqm", "link: dropped by AQM"), ("queue_full", "link: queue full"),
    ],
)  # fmt: skip
def test_a_drop_stands_in_the_lane_of_what_took_it(directory: Path, tmp_path: Path, reason: str, lane: str) -> None:
    """A queue that was not full is not called so."""
    study = tmp_path / "study"
    shutil.copytree(directory, study)
    for file in (study / "tables" / "link_packets").iterdir():
        dropped = pl.when(pl.col("action") == "dropped").then(pl.lit(reason)).alias("reason")
        pl.read_parquet(file).with_columns(dropped).write_parquet(file)
    data = _gathered(study, "losses").filter(pl.col("x_ms").is_not_null(), pl.col("lane").str.starts_with("link"))
    assert set(data["lane"]) == {lane}


def test_twins_share_a_name_and_are_told_apart_by_their_way(twins: Path) -> None:
    """Means with deviations over the trials of a cell, over each network."""
    data = _gathered(twins, "proxy")
    assert data["arm"].n_unique() == 1
    assert set(data["way"]) == {"direct", "through a proxy"}
    cell = _gathered(twins, "distributions", cell="1 MB/loss").filter(arm="h2")["value"]
    bar = data.filter((pl.col("group") == "1 MB") & (pl.col("way") == "direct")).row(0, named=True)
    assert (bar["mean"], bar["sd"], bar["trials"]) == (
        pytest.approx(cell.mean()),
        pytest.approx(cell.std()),
        cell.len(),
    )


def test_the_path_is_shown_as_asked_and_as_each_arm_met_it(directory: Path) -> None:
    """Three rows for one network and two arms."""
    data = _gathered(directory, "path")
    assert data["who"].to_list() == ["as asked", "h2", "h3"]
    assert data["lost_down"][0] == "1.00 %"


def test_a_distribution_can_be_a_violin(directory: Path) -> None:
    """The option goes with the data."""
    figure = _figure("distributions")
    for shape in ("box", "violin"):
        drawn = figure.draw(_gathered(directory, "distributions", cell="1 MB/loss", shape=shape)).to_plotly_json()
        assert {trace["type"] for trace in drawn["data"]} == {shape}


def test_the_first_loss_is_placed_by_the_offset_of_what_was_sent_again(directory: Path) -> None:
    """A quarter of the object."""
    assert set(_gathered(directory, "first_loss", cell="100 KB/loss")["offset_bytes"]) == {25_000}


def test_only_response_streams_are_chunks(directory: Path) -> None:
    """Control streams and CRYPTO frames carry no body."""
    assert set(_gathered(directory, "multiplexing")["stream_id"]) == {0, 4}


def test_runs_hold_every_byte_once_in_the_order_of_the_chunks(directory: Path) -> None:
    """Neighbours are of different streams, and each begins where the one before ended."""
    chunks, runs = _gathered(directory, "multiplexing"), _gathered(directory, "interleaving")
    for arm in chunks["arm"].unique().to_list():
        of_arm = runs.filter(arm=arm)
        assert of_arm["length_bytes"].sum() == chunks.filter(arm=arm)["length_bytes"].sum()
        ends = (of_arm["from_bytes"] + of_arm["length_bytes"]).to_list()
        assert of_arm["from_bytes"].to_list() == [0, *ends[:-1]]
        streams = of_arm["stream_id"].to_list()
        assert all(left != right for left, right in itertools.pairwise(streams))
        first_seen = chunks.filter(arm=arm)["stream_id"].unique(maintain_order=True).to_list()
        assert of_arm["place"].to_list() == [first_seen.index(stream) for stream in streams]


def test_a_request_without_an_answer_is_shown(directory: Path) -> None:
    """Its bar has no end, and it is not left out."""
    data = _gathered(directory, "waterfall").filter(arm="h2")
    assert data.select("url", "sent_ms", "last_byte_ms").rows() == [("/a", 6.0, 50.0), ("/b", 7.0, None)]
