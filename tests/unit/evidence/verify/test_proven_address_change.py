# SPDX-License-Identifier: Apache-2.0
"""Trials whose client was to change its address, and did not or not as it should, fail with that reason."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from trial_records import record
from unit.evidence.verify.recordings import judged, proof_of, trial

from quiclab.evidence.verify.proof import UNPROVEN
from quiclab.evidence.verify.proven_address_change import change_problem, changed_in_vain

RESUMED: dict[str, Any] = {
    "address_change": {
        "old_address": "10.77.0.1",
        "new_address": "10.77.0.3",
        "changed_ns": 5,
        "reached_ns": None,
        "trouble": None,
    },
    "asked": {"on_address_change": "resume", "reconnect_session": "fresh"},
    "proof": {
        "client_addresses": {"10.77.0.1": {"client": 1, "server": 9}, "10.77.0.3": {"client": 1, "server": 9}},
        "connections": 2,
        "answers": [
            {"resumed": False, "status": 200, "content_range": None},
            {"resumed": False, "status": 206, "content_range": "bytes 400-999/1000"},
        ],
    },
    "client": {
        "requests": [
            {
                "connections": [
                    {"status": 200, "content_range": None},
                    {"status": 206, "content_range": "bytes 400-999/1000"},
                ],
                "address_change": {"body_bytes_before": 400},
            }
        ]
    },
}


def _problem(**changes: Any) -> str | None:
    document = copy.deepcopy(RESUMED)
    for path, value in changes.items():
        *parents, last = path.split("__")
        place: Any = document
        for parent in parents:
            place = place[int(parent) if parent.isdigit() else parent]
        place[int(last) if last.isdigit() else last] = value
    return change_problem(record(document))


def test_what_happened_as_asked_counts() -> None:
    """With the packets opened or not; and where the address is stable there is nothing to hold against it."""
    assert _problem() is None
    assert _problem(proof__connections=UNPROVEN, proof__answers=UNPROVEN) is None
    assert change_problem(record({"address_change": None})) is None
    assert change_problem(record({})) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"address_change__changed_ns": None}, "the body was complete before"),
        ({"proof__client_addresses__10.77.0.3__server": 0}, "nothing came to the new one, 10.77.0.3"),
        ({"proof__connections": 3}, "the packets show 3"),
        ({"client__requests__0__connections": [{}]}, "the client had 1"),
        ({"proof__answers__1__status": 200}, "asked to resume the transfer, but the second answer had status 200"),
        (
            {"asked__on_address_change": "restart"},
            "asked to restart the transfer, but the second answer had status 206",
        ),
        ({"proof__answers__1__content_range": "bytes 0-999/1000"}, "asked to resume from byte 400"),
        ({"proof__answers__1__resumed": True}, "asked for a fresh TLS session"),
        ({"asked__reconnect_session": "resumed"}, "asked for a resumed TLS session"),
    ],
)
def test_what_went_otherwise_fails_with_its_reason(changes: dict[str, Any], words: str) -> None:
    """The packets' word goes before the client's."""
    assert words in str(_problem(**changes))


def test_a_laboratory_that_cannot_is_no_verdict_on_an_endpoint(tmp_path: Path) -> None:
    """The trial is void."""
    change = RESUMED["address_change"] | {"trouble": "the kernel does not destroy sockets"}
    assert change["trouble"] in str(changed_in_vain(record({"address_change": change})))
    for delay_ms, late in ((100, False), (101, True)):
        timed = RESUMED["address_change"] | {"reached_ns": 1, "changed_ns": 1 + delay_ms * 10**6}
        assert (changed_in_vain(record({"address_change": timed})) is not None) is late
    verdict = judged(trial(tmp_path / "t", "h2", address_change=change))
    assert (verdict.status, change["trouble"] in verdict.reason) == ("void", True)


def test_answers_are_read_from_the_packets(tmp_path: Path) -> None:
    """Of every connection the socket, whether TLS resumed, and what was answered."""
    folder = trial(tmp_path / "t", "h2-then-h3")
    judged(folder)
    first, second = proof_of(folder)["answers"]
    assert (first["status"], first["resumed"], first["content_range"]) == (200, False, None)
    assert first["client_socket"].startswith("tcp ")
    assert (second["client_socket"][:4], second["status"]) == ("udp ", 200)
