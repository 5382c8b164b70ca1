# SPDX-License-Identifier: Apache-2.0
"""Times of real responses by the packets and by the client's own account."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_study import trials
from stack_study import need, run_arms
from trial_records import record

from quiclab.evidence.metrics import Noted
from quiclab.evidence.metrics.evidence import Evidence
from quiclab.evidence.metrics.responses import BY_ACCOUNT, response_rows
from quiclab.evidence.metrics.times import ttfb_ms, ttlb_ms
from quiclab.logs.decoders import decode_trial
from quiclab.model.tables import TABLES

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ARMS = {
    "curl-h2": 'protocol = "h2"\nclient = "curl"\nserver = "nginx"',
    "curl-h3": 'protocol = "h3"\nclient = "curl"\nserver = "nginx"',
    "quic-go-h2": 'protocol = "h2"\nclient = "quic-go"\nserver = "quic-go"',
    "quic-go-h3": 'protocol = "h3"\nclient = "quic-go"\nserver = "quic-go"',
}


def test_a_program_has_its_bytes_after_their_packets(tmp_path: Path) -> None:
    """The end is the same packet by either source; the beginning by the account never the earlier one."""
    need(("client", "curl"), ("server", "nginx"), ("client", "quic-go"), ("server", "quic-go"))
    found = run_arms(tmp_path, _ARMS, size="200 KB")
    assert {name: trial["status"] for name, trial in found.items()} == dict.fromkeys(_ARMS, "verified")
    for trial in trials(tmp_path / "study"):
        folder, name = tmp_path / "study" / "trials" / trial["trial_id"], trial["row"]["arm"]
        tables, document = decode_trial(folder).tables, json.loads((folder / "trial.json").read_text())
        evidence = Evidence(tables, record(document))
        undecrypted = Evidence({**tables, "http_requests": TABLES["http_requests"].empty()}, record(document))
        (response,), (request,) = response_rows(evidence).rows(named=True), evidence.requests
        assert response["first_byte_ns"] < request.first_byte_ns, name
        assert response["last_byte_ns"] < request.last_byte_ns, name
        assert ttlb_ms(evidence) == evidence.since_zero_ms(response["last_byte_ns"]), name
        told_first, told_last = ttfb_ms(undecrypted), ttlb_ms(undecrypted)
        assert isinstance(told_first, Noted)
        assert told_first.note == BY_ACCOUNT
        assert told_first.value >= ttfb_ms(evidence), name  # type: ignore[operator]
        assert (told_last.value if isinstance(told_last, Noted) else told_last) == ttlb_ms(evidence), name
