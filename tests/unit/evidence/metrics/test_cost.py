# SPDX-License-Identifier: Apache-2.0
"""What the programs cost, as trial.json tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from trial_records import record

from quiclab.evidence.metrics import MetricRow, compute_trial
from quiclab.model.tables import TABLES

COST = {
    "transfer": {
        "cpu_ns": 30_000_000,
        "voluntary_switches": 5,
        "involuntary_switches": 2,
        "minor_faults": 100,
        "major_faults": 1,
    }
}


def _metrics(
    tmp_path: Path, cost: dict[str, Any], body_bytes: int = 2_000_000, client: str = "curl"
) -> dict[str, MetricRow]:
    trial = {"trial_id": "t", "protocol": "h3", "host": {"cost": cost}, "expected": {"body_bytes": body_bytes}}
    trial["client"] = {"versions": {client: "1"}, "requests": []}
    return {row.name: row for row in compute_trial(tmp_path, {}, record(trial))}


def test_cost_of_a_program(tmp_path: Path) -> None:
    """30 ms for 2 MB; switches and faults of both kinds."""
    found = _metrics(tmp_path, {"client": COST})
    assert found["client_cpu_ms_per_mb"].value == pytest.approx(15)
    assert found["client_cpu_ms"].value == pytest.approx(30)
    assert found["client_context_switches"].value == 7
    assert found["client_page_faults"].value == 101


def test_the_switches_of_a_browser_are_not_told(tmp_path: Path) -> None:
    """Those of threads that ended are gone; its processor time is not."""
    found = _metrics(tmp_path, {"client": COST, "server": COST}, client="chromium")
    assert found["client_context_switches"].value is None
    assert "threads of a browser" in (found["client_context_switches"].note or "")
    assert found["server_context_switches"].value == 7
    assert found["client_cpu_ms"].value == pytest.approx(30)


def test_what_is_not_told_is_no_zero(tmp_path: Path) -> None:
    """A program that was not there, one without an account, no bytes."""
    found = _metrics(tmp_path, {"client": COST, "server": {}}, body_bytes=0)
    assert found["proxy_cpu_ms_per_mb"].note == "the trial does not tell what a proxy cost"
    assert found["server_cpu_ms"].note == "the trial does not tell what the server cost during the transfer"
    assert found["client_cpu_ms_per_mb"].note == "no bodies were transferred"
    assert found["client_cpu_ms"].value == pytest.approx(30)


def _looks(at_ms_cpu_ms: list[tuple[float, float]]) -> dict[str, pl.DataFrame]:
    """The client's first packet at 1000 ms, and looks at it."""
    rows = [
        {"role": "client", "scope": "sample", "time_ns": round(at * 1e6), "cpu_ns": round(cpu * 1e6)}
        for at, cpu in at_ms_cpu_ms
    ]
    sent = {"vantage": "client", "direction": "up", "protocol": "udp", "time_ns": 10**9}
    return {
        name: pl.DataFrame(each, schema=TABLES[name].empty().schema)
        for name, each in (("process_usage", rows), ("ip_packets", [sent]))
    }


def test_the_peak_is_that_of_the_busiest_second(tmp_path: Path) -> None:
    """What came before the first packet does not count; 700 ms of the second from 1500 to 2500 ms are the most."""
    looks = [(0, 0.0), (999, 900.0), (1000, 900.0), (1500, 950.0), (2000, 1300.0), (2500, 1650.0), (3500, 1700.0)]
    trial = {"trial_id": "t", "protocol": "h3"}
    found = {row.name: row for row in compute_trial(tmp_path, _looks(looks), record(trial))}
    assert found["client_cpu_peak_pct"].value == pytest.approx(70)
    assert found["server_cpu_peak_pct"].note == (
        "the server was not looked at for a whole second after the client's first packet"
    )


def test_a_child_that_ends_takes_nothing_from_the_peak(tmp_path: Path) -> None:
    """Its 400 ms fall out of the sum; what was used before and after that look is known."""
    looks = _looks([(1000, 500.0), (1300, 700.0), (1400, 300.0), (2000, 500.0)])
    rows = compute_trial(tmp_path, looks, record({"trial_id": "t", "protocol": "h3"}))
    assert next(row for row in rows if row.name == "client_cpu_peak_pct").value == pytest.approx(40)


def test_a_client_that_ended_within_a_second_used_no_more_in_it(tmp_path: Path) -> None:
    """The use is a share of a whole second: a window of half a second would tell a higher one."""
    looks = _looks([(1000, 100.0), (1500, 600.0), (1900, 900.0)])
    rows = compute_trial(tmp_path, looks, record({"trial_id": "t", "protocol": "h3"}))
    assert next(row for row in rows if row.name == "client_cpu_peak_pct").value == pytest.approx(80)


def test_one_look_has_no_peak(tmp_path: Path) -> None:
    """Nothing tells how much was used since."""
    looks = _looks([(1000, 100.0)])
    rows = compute_trial(tmp_path, looks, record({"trial_id": "t", "protocol": "h3"}))
    assert next(row for row in rows if row.name == "client_cpu_peak_pct").value is None
