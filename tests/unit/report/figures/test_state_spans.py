# SPDX-License-Identifier: Apache-2.0
"""The states of senders, from samples and logs of a few rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.compare.study_tables import open_study
from quiclab.model.tables import TABLES
from quiclab.report.figures import _quic_states as quic_states
from quiclab.report.figures import _tcp_states as tcp_states
from quiclab.report.figures._state_spans import merged

ZERO_NS = 1_000_000_000


def sample(ms: float, **more: Any) -> dict[str, Any]:
    """One look at a server's connection that sends as its window allows."""
    usual = {
        "source": "raw/server.tcpinfo", "vantage": "server", "connection": "c", "ca_state": "open",
        "snd_cwnd": 10, "snd_ssthresh": 0x7FFFFFFF, "unacked": 10, "sacked": 0, "lost": 0, "retrans": 0,
        "notsent_bytes": 9000, "data_segs_out": 10, "rwnd_limited_us": 0, "bytes_sent": round(1000 * ms),
    }  # fmt: skip
    return usual | {"time_ns": ZERO_NS + round(ms * 1e6)} | more


def study_of(directory: Path, **tables: list[dict[str, Any]]) -> Any:
    """A study of the one trial `00`, with these rows."""
    (directory / "tables").mkdir()
    pl.DataFrame({"trial_id": ["00"]}).write_parquet(directory / "tables" / "trials.parquet")
    for name, rows in tables.items():
        schema = dict(TABLES[name].schema())
        (directory / "tables" / name).mkdir()
        frame = pl.DataFrame(rows, schema=schema)
        frame.write_parquet(directory / "tables" / name / "00.parquet")
    return open_study(directory)


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"data_segs_out": 0}, "init"),
        ({}, "slow_start"),
        ({"snd_ssthresh": 10}, "congestion_avoidance"),
        ({"ca_state": "loss"}, "timeout"),
        ({"ca_state": "recovery"}, "recovery"),
        ({"notsent_bytes": 0, "unacked": 4}, "application_limited"),
        ({"notsent_bytes": 0}, "slow_start"),
        ({"bbr_pacing_gain_256ths": 739, "bbr_cwnd_gain_256ths": 739}, "startup"),
        ({"bbr_pacing_gain_256ths": 88, "bbr_cwnd_gain_256ths": 739}, "drain"),
        ({"bbr_pacing_gain_256ths": 320, "bbr_cwnd_gain_256ths": 512}, "probe_bw"),
        ({"bbr_pacing_gain_256ths": 256, "bbr_cwnd_gain_256ths": 256}, "probe_rtt"),
    ],
)
def test_open_is_split_by_what_the_kernel_tells(tmp_path: Path, more: dict[str, Any], state: str) -> None:
    """The kernel's `open` says only that nothing is wrong."""
    study = study_of(tmp_path, tcp_info=[sample(10, **more), sample(12, **more)])
    assert tcp_states.spans(study, "00", ZERO_NS) == ([(state, 10.0)], 2.0)


def test_a_window_of_the_receiver_that_holds_back_is_one_state(tmp_path: Path) -> None:
    """The kernel counts that time in ticks: between two of them nothing seems to grow."""
    counts = (0, 0, 4000, 4000, 8000, 8000, 8000, 8000, 8000, 8000)
    rows = [sample(10 + 4 * place, rwnd_limited_us=count) for place, count in enumerate(counts)]
    states, interval = tcp_states.spans(study_of(tmp_path, tcp_info=rows), "00", ZERO_NS)
    assert states == [("slow_start", 10.0), ("flow_limited", 18.0), ("slow_start", 30.0)]
    assert interval == 4.0


def test_the_connection_that_sends_now_tells(tmp_path: Path) -> None:
    """After a change of the client's address the old connection is still there, and retransmits into nothing."""
    old = [sample(ms, ca_state="loss" if ms > 20 else "open", bytes_sent=min(ms, 20)) for ms in (10, 20, 30, 40)]
    new = [sample(ms + 1, connection="d", snd_ssthresh=1) for ms in (30, 40)]
    states, _ = tcp_states.spans(study_of(tmp_path, tcp_info=[*old, *new]), "00", ZERO_NS)
    assert states[0] == ("slow_start", 10.0)
    assert states[-1] == ("congestion_avoidance", 31.0)


def server(ms: float, **more: Any) -> dict[str, Any]:
    """A row of the server's log."""
    place = {"source": "raw/q.sqlog", "vantage": "server", "connection": "c", "transport": "quic"}
    return place | {"time_ns": ZERO_NS + round(ms * 1e6), "estimate": False} | more


def test_a_log_without_names_of_states_is_read_by_its_window(tmp_path: Path) -> None:
    """Without a threshold it is slow start; after a loss a round trip of recovery; then by the threshold."""
    study = study_of(
        tmp_path,
        transport_metrics=[
            server(10, cwnd_bytes=12_000, smoothed_rtt_ms=20.0),
            server(30, cwnd_bytes=6_000, ssthresh_bytes=6_000),
            server(60, cwnd_bytes=7_000),
            server(80, pto_count=1),
        ],
        losses=[server(25, direction="down")],
    )
    assert quic_states.spans(study, "00", ZERO_NS, None) == [
        ("slow_start", 10.0), ("recovery", 30.0), ("congestion_avoidance", 60.0), ("timeout", 80.0),
    ]  # fmt: skip


def test_a_log_that_names_states_is_believed_and_a_limit_of_the_peer_is_a_state(tmp_path: Path) -> None:
    """From `blocked` until the next limit; then it is what it was before."""
    limit = {"direction": "down", "scope": "connection"}
    rows = [server(20, event="blocked", **limit), server(40, event="limit", **limit)]
    for row in rows:
        del row["transport"], row["estimate"]
    study = study_of(
        tmp_path,
        cc_states=[server(10, new_state="slow_start")],
        transport_metrics=[server(15, cwnd_bytes=12_000), server(50, cwnd_bytes=24_000)],
        flow_control=[row | {"transport": "quic"} for row in rows],
    )
    assert quic_states.spans(study, "00", ZERO_NS, 24_000) == [
        ("slow_start", 10.0), ("flow_limited", 20.0), ("slow_start", 40.0), ("maximum_window", 50.0),
    ]  # fmt: skip


def test_states_of_no_length_and_repeated_ones_are_none() -> None:
    """Two rows of one instant: the later one holds."""
    assert merged([("init", 0.0), ("a", 1.0), ("b", 1.0), ("b", 2.0), ("c", 3.0)]) == [
        ("init", 0.0),
        ("b", 1.0),
        ("c", 3.0),
    ]
