# SPDX-License-Identifier: Apache-2.0
"""Handshakes that lose a packet: whose timer ends the wait, and whether the server could have helped."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from accounts import account_of, sums_ms
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns, pytest.mark.nightly]

_NAME = "handshake_packet_lost"
_PTO_MS = 3 * 333
"""Initial PTO of QUIC (RFC 9002 section 6.2.2); TCP's first timeout is 1 s (RFC 6298 section 2)."""


def _told(folder: Path, arms: dict[str, str], path: str) -> dict[str, dict[str, float]]:
    """Arm → facts of the lost packet; a test fails where the account gives it no time."""
    found = {}
    for name, trial in run_arms(folder, arms, "100 KB", path=path, delay="20 ms").items():
        assert trial["status"] == "verified", trial["reason"]
        assert sums_ms(account_of(folder / "study", trial), "mechanism")[_NAME] > 0
        facts = pl.read_parquet(folder / "study" / "tables" / "mechanism_facts" / f"{trial['trial_id']}.parquet")
        found[name] = dict(facts.filter(mechanism=_NAME).drop_nulls("value").select("fact", "value").iter_rows())
    return found


def test_the_clients_first_packet_is_repeated_after_a_second(tmp_path: Path) -> None:
    """The client's timer repeats TCP's SYN and QUIC's Initial; a far server is no lost packet."""
    need(("client", "curl-cffi"), ("server", "nginx"), ("client", "quinn"), ("server", "quinn"))
    nginx = 'protocol = "{}"\nclient = "curl-cffi"\nserver = "nginx"'
    quinn = 'protocol = "h3"\nclient = "quinn"\nserver = "quinn"'
    arms = {"h2": nginx.format("h2"), "h3": nginx.format("h3"), "quinn": quinn}
    told = _told(tmp_path, arms, "[path.up]\nloss = [0]")
    for arm, facts in told.items():
        assert facts["timer_of_the_client"] > 0.9 * _PTO_MS, arm
        assert "server_at_its_limit" not in facts
    assert [facts.get("lost_syn") for facts in told.values()] == [1, None, None]


def test_a_server_at_its_limit_waits_for_the_clients_timer(tmp_path: Path) -> None:
    """A long certificate, and both datagrams lost with which the client acknowledges its beginning."""
    need(("client", "quinn"), ("server", "quinn"))
    arms = {"quinn": 'protocol = "h3"\nclient = "quinn"\nserver = "quinn"\ncertificate = { intermediates = 5 }'}
    facts = _told(tmp_path, arms, "[path.up]\nloss = [1, 2]")["quinn"]
    assert facts["server_at_its_limit"] == facts["timer_of_the_client"] > 60
