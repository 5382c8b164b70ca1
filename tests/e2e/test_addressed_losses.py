# SPDX-License-Identifier: Apache-2.0
"""Packets that are dropped or spared by what they are, of real TCP and real QUIC."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_study import quiclab
from stack_study import run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ARMS = {
    "h2": 'protocol = "h2"\nclient = "curl-cffi"\nserver = "caddy"',
    "h3": 'protocol = "h3"\nclient = "curl-cffi"\nserver = "caddy"',
}


@pytest.mark.nightly
def test_handshakes_lose_what_is_addressed(tmp_path: Path) -> None:
    """TCP its SYN-ACK, and QUIC its first Handshake datagram; what an arm never sends is told by trial and report."""
    path = "[path.down]\ndrop = {handshake = [1], syn = [1]}\nloss = [2]\nspare = {packet = [2]}"
    ran = run_arms(tmp_path, _ARMS, "100 KB", path)
    for arm, misses in (("h2", "handshake"), ("h3", "syn")):
        trial = ran[arm]
        assert trial["status"] == "verified", trial["reason"]
        down = trial["link"]["down"]
        assert down["drop"] == {"asked": 2, "met": 1, "mattered": 1, "missed": [{"of": misses, "number": 1}]}
        assert down["spare"] == {"asked": 1, "met": 1, "mattered": 1, "missed": []}
        assert down["dropped"] == {"listed": 1}
        packets = pl.read_parquet(tmp_path / "study" / "tables" / "link_packets" / f"{trial['trial_id']}.parquet")
        lost = packets.filter(pl.col("direction") == "down", pl.col("action") == "dropped")
        assert lost["reason"].to_list() == ["listed"]
        assert lost["index"].item() < 5
    assert quiclab("report", tmp_path / "study").returncode == 0
    # Linux repeats a SYN-ACK, or the client its SYN, after a second.
    assert _time_to_first_byte_ms(tmp_path / "study", ran["h2"]["trial_id"]) > 1000
    page = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    assert "of h2 over quiet the packet to be dropped never came: handshake 1 down." in " ".join(page.split())


def _time_to_first_byte_ms(study: Path, trial_id: str) -> float:
    metrics = pl.read_parquet(study / "metrics.parquet")
    return float(metrics.filter(pl.col("trial_id") == trial_id, pl.col("name") == "ttfb_ms")["value"].item())
