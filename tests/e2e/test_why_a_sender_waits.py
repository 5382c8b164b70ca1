# SPDX-License-Identifier: Apache-2.0
"""Our servers around QUIC libraries say why they do not send, and it is what was arranged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_SIZE_BYTES = 500_000
_CREDIT_BYTES = 30_000


def _table(folder: Path, name: str, trial: dict[str, Any]) -> pl.DataFrame:
    assert trial["status"] == "verified", trial["reason"]
    return pl.read_parquet(folder / "study" / "tables" / name / f"{trial['trial_id']}.parquet")


def _longest_ms(blocked: pl.DataFrame, reason: str) -> float:
    """How long a reason held at most, without a break."""
    since, longest = None, 0.0
    for time_ns, state in blocked.filter(pl.col("reason") == reason).select("time_ns", "new_state").iter_rows():
        if state == "blocked" and since is None:
            since = time_ns
        elif state == "unblocked" and since is not None:
            longest, since = max(longest, (time_ns - since) / 1e6), None
    return longest


@pytest.mark.nightly
@pytest.mark.parametrize("server", ["quic-go", "quiche", "quinn"])
def test_a_server_says_why_it_does_not_send(tmp_path: Path, server: str) -> None:
    """A window that must grow over a path of 40 ms; a client that gives little credit to its stream; a program that has
    nothing to send before the request and after the response."""
    need(("client", "quinn"), ("server", server))
    arm = f'protocol = "h3"\nserver = "{server}"\nclient = {{ name = "quinn"'
    arms = {"free": arm + " }"} | {
        name: arm + f', {name}_window = "{_CREDIT_BYTES} B" }}' for name in ("stream", "connection")
    }
    found = run_arms(tmp_path, arms, size=f"{_SIZE_BYTES} B", delay="20 ms")
    told = {
        name: _table(tmp_path, "blocked", trial).filter(pl.col("vantage") == "server") for name, trial in found.items()
    }
    assert _longest_ms(told["free"], "congestion_control") > 10
    assert told["free"].filter(pl.col("reason").str.ends_with("flow_control")).is_empty()
    for rows in told.values():
        assert {"blocked", "unblocked"} == set(rows.filter(pl.col("reason") == "application")["new_state"])
        windows = rows.filter(pl.col("reason") == "congestion_control")
        assert windows["inferred"].all()
    if server == "quinn":
        return  # nobody is told of its streams' credit but by frames
    credit = told["stream"].filter(pl.col("reason") == "stream_flow_control")
    assert set(credit["stream_id"]) == {0}
    assert not credit["inferred"].any()
    assert _longest_ms(credit, "stream_flow_control") > 10
    assert credit["ready_bytes"].max() <= _SIZE_BYTES
    of_all = told["connection"].filter(pl.col("reason") == "connection_flow_control")
    assert _longest_ms(of_all, "connection_flow_control") > 10
    assert of_all["inferred"].any() == (server == "quiche")
    # What is told is what the sender's packets show: it stands at the limit that the client gave it.
    unacknowledged = _table(tmp_path, "unacknowledged", found["stream"]).filter(pl.col("stream_id") == 0)
    assert unacknowledged["unacknowledged_bytes"].max() <= _CREDIT_BYTES
    assert unacknowledged["offset_bytes"].max() > _SIZE_BYTES


def test_what_held_programs_up_is_looked_at(tmp_path: Path) -> None:
    """Waits for a processor of both ends, and the sockets' drops, whether there were any or not."""
    need(("client", "quinn"), ("server", "quinn"))
    arm = 'protocol = "h3"\nclient = "quinn"\nserver = "quinn"'
    trial = run_arms(tmp_path, {"one": arm, "other": arm + "\n"}, size="1 MB")["one"]
    waited = _table(tmp_path, "run_delays", trial)
    assert set(waited["role"]) == {"client", "server"}
    assert (waited["since_ns"] < waited["time_ns"]).all()
    sources = set(_table(tmp_path, "sources", trial)["source"])
    assert {"raw/run-delay.jsonl", "raw/client-udp-drops.jsonl", "raw/server-udp-drops.jsonl"} <= sources
    dropped = _table(tmp_path, "udp_drops", trial)
    of_trial = sum(each["drops"] for end in trial["host"]["udp_socket_drops"].values() for each in end)
    assert dropped["drops"].sum() == of_trial
