# SPDX-License-Identifier: Apache-2.0
"""Forms, and trial.json held against its own."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from quiclab.model.trial_record import TrialRecord
from quiclab.store.forms import Each, NotEmpty, Number, OrWord, misfit
from quiclab.store.layout import damage, read_trial
from quiclab.store.record_form import form_of


@pytest.mark.parametrize(
    ("value", "form", "told"),
    [
        (1, int, None),
        (True, int, "is no whole number"),
        (1, bool, "is no truth value"),
        (0.5, Number, None),
        ("x", Number, "is no number"),
        ("x", (bool, str), None),
        (1, (bool, str), "is no truth value or text"),
        ([1, "x"], [int], "[1] is no whole number"),
        ({"a": 1}, [int], "is no list"),
        ({"a": None}, {"a": int, "b": str}, None),
        ({"a": None}, {"a!": int}, "a is missing"),
        ({"a": None}, {"a+": int}, None),
        ({}, {"a+": int}, "a is missing"),
        ({"a": {"b": [{"c": "x"}]}}, {"a": {"b": [{"c": int}]}}, "a.b[0].c is no whole number"),
        ({"x!": "y"}, Each(int), "x! is no whole number"),
        ([], NotEmpty(int), "is empty"),
        ("unproven", OrWord("unproven", [str]), None),
        ("proven", OrWord("unproven", [str]), "is no list"),
        ({"any": [2**63]}, {}, None),
        ({"any": [2**64]}, {}, "any[0] is beyond 64 bits"),
        (2**63, int, "is beyond 64 bits"),
        (float("nan"), Number, "is no finite number"),
        (float("inf"), (float, str), "is no finite number"),
        ({"any": [float("-inf")]}, {}, "any[0] is no finite number"),
    ],
)
def test_forms(value: Any, form: Any, told: str | None) -> None:
    """The first member that does not fit is named."""
    found = misfit(value, form)
    assert (found or "").strip() == (told or "")


_JUDGED: dict[str, Any] = {"trial_id": "t", "attempt": 1, "status": "verified", "reason": "", "artefacts": []}
_DEEP = reduce(lambda inner, _: [inner], range(900), [])
_FLOW = {"label": "a", "protocol": "h2", "server_address": "x", "server_port": 1, "arm": None, "background": None}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"links": [1, None, "x"]}, "links[0] is no object"),
        ({"client": {"requests": [1, None]}}, "client.requests[0] is no object"),
        ({"client": {"requests": {"a": 1}}}, "client.requests is no list"),
        ({"expected": {"page": [1]}}, "expected.page is no object"),
        ({"expected": {"page": {"resources": []}}}, "expected.page.resources is empty"),
        ({"competition": {"flows": []}}, "competition.began_ns is missing"),
        ({"competition": {"began_ns": 1, "ended_ns": 2, "flows": []}}, "competition.flows is empty"),
        ({"competition": {"began_ns": 1, "ended_ns": 2, "flows": [_FLOW]}}, "competition.flows[0].started_ns is miss"),
        ({"address_change": {"changed_ns": "x"}}, "address_change.changed_ns is no whole number"),
        ({"clock": {"realtime_minus_monotonic_start_ns": 10**40}}, "clock.realtime_minus_monotonic_start_ns is beyond"),
        ({"started_monotonic_ns": 10**30}, "started_monotonic_ns is beyond 64 bits"),
        ({"proof": {"http_responses": 5}}, "proof.http_responses is no list"),
        ({"proof": {"client_sockets": 7}}, "proof.client_sockets is no list"),
        ({"proof": {"ecn": 3}}, "proof.ecn is no object"),
        ({"link": {"up": 5}}, "link.up is no object"),
        ({"link": {"down": {"marked": "x"}}}, "link.down.marked is no whole number"),
        ({"row": {"path": 5}}, "row.path is no text"),
        ({"host": {"a": _DEEP}}, "host has members more than 100 deep"),
    ],
)
def test_a_trial_of_another_form_is_damaged(tmp_path: Path, changed: dict[str, Any], told: str) -> None:
    """The member is named, and nothing behind reads the trial."""
    assert misfit(_JUDGED, form_of(TrialRecord)) is None
    (tmp_path / "trial.json").write_text(json.dumps(_JUDGED | changed))
    assert str(damage(tmp_path)).startswith(f"in its trial.json {told}")
    assert read_trial(tmp_path) is None
