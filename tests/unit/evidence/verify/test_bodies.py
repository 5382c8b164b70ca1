# SPDX-License-Identifier: Apache-2.0
"""Uploads: what the server kept must be what was sent."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from trial_records import record

from quiclab.evidence.verify.bodies import body_problem

ONE: dict[str, Any] = {
    "expected": {"direction": "upload", "name": "up", "body_bytes": 5, "sha256": "abc"},
    "client": {"requests": [{"status": 201, "body_bytes": 0, "sha256": "of nothing"}]},
    "received": {"up": {"body_bytes": 5, "sha256": "abc"}},
}


def test_what_was_sent_arrived() -> None:
    """The response has a body of its own, which is not looked at; 200, 201 and 204 are all an answer."""
    for status in (200, 201, 204, None):
        document = copy.deepcopy(ONE)
        document["client"]["requests"][0]["status"] = status
        assert body_problem(record(document)) is None


@pytest.mark.parametrize(
    ("received", "reason"),
    [
        (None, "the object up did not arrive at the server"),
        ({}, "the object up did not arrive at the server"),
        ({"up": {"body_bytes": 4, "sha256": "abc"}}, "as the server has it: the body has 4 bytes instead of 5"),
        ({"up": {"body_bytes": 5, "sha256": "abd"}}, "wrong content"),
    ],
)
def test_what_did_not_arrive(received: dict[str, Any] | None, reason: str) -> None:
    """Whatever the client says of it."""
    problem = body_problem(record({**ONE, "received": received}))
    assert problem is not None
    assert reason in problem


@pytest.mark.parametrize(
    ("request_", "reason"),
    [({"status": 403}, "status 403"), ({"status": 0, "error": "reset"}, "the client: reset")],
)
def test_what_was_not_taken(request_: dict[str, Any], reason: str) -> None:
    """A refusal comes first: it says why nothing arrived."""
    problem = body_problem(record({**ONE, "client": {"requests": [request_]}, "received": {}}))
    assert problem is not None
    assert reason in problem


def test_each_of_several_is_looked_at() -> None:
    """By its name."""
    objects = [{"name": f"up~{n}", "body_bytes": n, "sha256": str(n)} for n in (1, 2)]
    received = {"up~1": {"body_bytes": 1, "sha256": "1"}, "up~2": {"body_bytes": 1, "sha256": "2"}}
    document = {**ONE, "expected": {"direction": "upload", "objects": objects}, "received": received}
    problem = body_problem(record(document))
    assert problem is not None
    assert problem.startswith("the object up~2, as the server has it")
