# SPDX-License-Identifier: Apache-2.0
"""What is held against a flow of a competition."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.verify.competing_flows import broken_wire, competition_problem

FLOW = {
    "label": "h2-1",
    "protocol": "h2",
    "started_ns": 1,
    "ended": "running",
    "tcp_congestion_control_asked": "cubic",
    "tcp_congestion_control": "cubic",
}
PROOF = {"transport": "tcp", "payload_bytes_down": 1_000_000}


def _document(flow: dict[str, Any], proof: dict[str, Any]) -> dict[str, Any]:
    flows = [FLOW | flow]
    return {"competition": {"flows": flows, "lost_in_hubs": 0}, "proof": {"competition": {"h2-1": PROOF | proof}}}


@pytest.mark.parametrize(
    ("flow", "proof", "told"),
    [
        ({}, {}, None),
        ({"protocol": "h3"}, {"transport": "quic"}, None),
        ({"protocol": "h3"}, {"transport": "udp"}, None),
        ({"protocol": "udp"}, {"transport": "udp", "payload_bytes_down": 50}, None),
        ({"started_ns": None, "ended": "not started"}, {}, "h2-1 never competed"),
        ({"ended": "its client ended with exit code 1: no"}, {}, "h2-1 did not compete to the end: its client ended"),
        ({}, {"payload_bytes_down": 5000}, "h2-1 did not compete: its server sent 5000 bytes"),
        ({}, {"transport": "quic"}, "h2-1 was to run over tcp, but the packets were quic"),
        ({"tcp_congestion_control": "bbr"}, {}, "h2-1 was to have TCP congestion control cubic"),
    ],
)
def test_each_flow_must_have_taken_part(flow: dict[str, Any], proof: dict[str, Any], told: str | None) -> None:
    """Started, running at the end, over its transport, with bytes."""
    problem = competition_problem(record(_document(flow, proof)))
    assert problem is None if told is None else problem is not None and problem.startswith(told)


def test_packets_lost_outside_the_link_are_the_laboratorys_fault() -> None:
    """And a trial without a competition has nothing to answer for."""
    document = _document({}, {})
    assert broken_wire(record(document)) is None
    document["competition"]["lost_in_hubs"] = 3
    assert broken_wire(record(document)) == "3 packets were lost between the link and its clients and servers"
    assert (broken_wire(record({})), competition_problem(record({}))) == (None, None)
