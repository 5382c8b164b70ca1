# SPDX-License-Identifier: Apache-2.0
"""The client's address changes in mid-transfer, with real programs over the emulated link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stack_study import need, run_arms

from quiclab.decoders import decode_trial
from quiclab.metrics import compute_trial

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

OLD, NEW = "10.77.0.1", "10.77.0.3"
CHANGE = 'address_change = {{ after = "{after}", notice = "{notice}"{more} }}'
_RESTART = 'protocol = "h2"\nserver = "caddy"\nclient = { name = "curl-cffi", on_address_change = "restart" }'
_RESUME = _RESTART.replace("restart", 'resume", reconnect_session = "resumed')


def _change(after: str, notice: str = "told", more: str = "") -> str:
    return CHANGE.format(after=after, notice=notice, more=more)


def _h3(answer: str) -> str:
    return f'protocol = "h3"\nserver = "caddy"\nclient = {{ name = "quiche", on_address_change = "{answer}" }}'


def _new_socket(trial: dict[str, Any], protocol: str) -> bool:
    return bool(trial["proof"]["client_sockets"][-1].startswith(f"{protocol} {NEW}:"))


@pytest.mark.parametrize("notice", ["told", "reset"])
def test_http2_resumes_or_begins_again(notice: str, tmp_path: Path) -> None:
    """Over a second connection from the new address; what came twice is counted, and the body is whole."""
    found = run_arms(
        tmp_path, {"restart": _RESTART, "resume": _RESUME}, size="3 MB", workload=_change("300 KB", notice)
    )
    for trial in found.values():
        assert trial["status"] == "verified", trial["reason"]
        assert trial["address_change"]["reached_bytes"] >= 300_000
        assert trial["proof"]["client_addresses"][OLD]["server"] > 300_000
        assert len(trial["proof"]["client_sockets"]) == 2
        assert _new_socket(trial, "tcp")
    again = {name: trial["client"]["requests"][0]["address_change"] for name, trial in found.items()}
    assert again["restart"]["body_bytes_again"] == again["restart"]["body_bytes_before"] >= 300_000
    assert again["resume"]["body_bytes_again"] == 0
    first, second = found["resume"]["proof"]["answers"]
    assert (first["status"], second["status"], first["resumed"], second["resumed"]) == (200, 206, False, True)
    assert second["content_range"] == f"bytes {again['resume']['body_bytes_before']}-2999999/3000000"


def test_http3_migrates_or_is_rebound(tmp_path: Path) -> None:
    """On one connection: the new path is validated by whoever knows of it, and the metrics end where the body does."""
    need(("client", "quiche"))
    found = run_arms(
        tmp_path, {"migrate": _h3("migrate"), "rebind": _h3("rebind")}, size="3 MB", workload=_change("300 KB")
    )
    for name, trial in found.items():
        assert trial["status"] == "verified", trial["reason"]
        proof = trial["proof"]
        assert (proof["migrated"], proof["connections"], _new_socket(trial, "udp")) == (True, 1, True)
        assert proof["new_connection_id"] is (name == "migrate")
        assert bool(proof["path_challenges"]["client"]) is (name == "migrate")
        folder = tmp_path / "study" / "trials" / trial["trial_id"]
        values = {row.name: row for row in compute_trial(folder, decode_trial(folder).tables, trial)}
        for metric in ("ttlb_ms", "address_change_gap_ms", "retransmitted_bytes"):
            assert values[metric].value, values[metric].note
        assert values["body_bytes_again"].value == 0


def test_a_byte_that_never_comes_fails_the_trial(tmp_path: Path) -> None:
    """With that reason; the arm that waits in vain for silence has none of it either."""
    never = _change("2 MB", "timeout", ', timeout = "20 s"')
    found = run_arms(tmp_path, {"restart": _RESTART, "resume": _RESUME}, size="100 KB", workload=never)
    assert {trial["status"] for trial in found.values()} == {"failed"}
    assert all("the body was complete before" in trial["reason"] for trial in found.values())
