# SPDX-License-Identifier: Apache-2.0
"""Accounts of users' own clients, which may be anything."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from quiclab.lab.runner.account import account_problem, text_problem

GOOD = {
    "url": "https://server.test/object",
    "http_version": "HTTP/2",
    "status": 200,
    "body_bytes": 5,
    "sha256": "",
    "start_ns": 10,
    "first_byte_ns": 20,
    "last_byte_ns": 20,
    "close_ns": 30,
}


def _problem(request: Any = None, **members: Any) -> str | None:
    return account_problem({"version": 1, "requests": [GOOD if request is None else request]} | members, 10, 30)


@pytest.mark.parametrize("request_", [GOOD, GOOD | {"status": None}, GOOD | {"close_ns": None}])
def test_what_can_be_used(request_: dict[str, Any]) -> None:
    """A status that a program cannot tell is null; without an account the packets are asked alone."""
    assert _problem(request_, close_ns=30) is None
    assert account_problem(None, 10, 30) is None


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({name: GOOD[name] for name in GOOD if name != "status"}, "`status` is missing"),
        (GOOD | {"status": True}, "`status` is missing or of the wrong type"),
        (GOOD | {"sha256": None}, "`sha256` is missing or of the wrong type"),
        (GOOD | {"status": 10**300}, "`status` is no status of HTTP"),
        (GOOD | {"status": -200}, "`status` is no status of HTTP"),
        (GOOD | {"body_bytes": 10**400}, "`body_bytes` is 2^63 or more"),
        (GOOD | {"error": {"x": 1}}, "`error` is no text"),
        (GOOD | {"url": "x" * 100_000}, "`url` is longer than 65536 characters"),
        (GOOD | {"last_byte_ns": "soon"}, "`last_byte_ns` is not a whole number of 0 or more"),
        (GOOD | {"body_bytes": -5}, "`body_bytes` is not a whole number of 0 or more"),
        (GOOD | {"last_byte_ns": 10**30}, "an instant lies outside the trial"),
        (GOOD | {"start_ns": 9}, "an instant lies outside the trial"),
        (GOOD | {"first_byte_ns": 25}, "its instants are not in order"),
    ],
)
def test_a_request_that_cannot_be(request_: dict[str, Any], told: str) -> None:
    """What is wrong is named, with the request's number."""
    problem = _problem(request_)
    assert problem is not None
    assert f"request 1: {told}" in problem
    assert len(problem) < 200


@pytest.mark.parametrize("account", [[1], "x", {}, {"requests": None}, {"requests": ["x"]}])
def test_no_object_with_requests(account: Any) -> None:
    """Another shape altogether."""
    assert "not an object with a list of requests" in str(account_problem(account, 10, 30))


@pytest.mark.parametrize(
    ("account", "told"),
    [
        ({"requests": [GOOD | {"url": "x\ud800"}]}, "a lone surrogate"),
        ({"requests": [GOOD | {"error": "\udcff"}]}, "a lone surrogate"),
        ({"\ud800": 1}, "a lone surrogate"),
        (reduce(lambda inner, _: [inner], range(100_000), []), "too deep"),
    ],
)
def test_an_account_that_cannot_be_kept(account: Any, told: str) -> None:
    """Whichever client wrote it."""
    assert told in str(text_problem(account))
    assert text_problem({"requests": [GOOD]}) is text_problem(None) is None


@pytest.mark.parametrize("members", [{"close_ns": "late"}, {"close_ns": 31}, {"versions": []}])
def test_members_of_the_whole(members: dict[str, Any]) -> None:
    """Beside the requests."""
    assert "`versions`" in str(_problem(**members))
