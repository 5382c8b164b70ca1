# SPDX-License-Identifier: Apache-2.0
"""Predicted effects on the golden twin, which runs the same transfer without the cause: the exact effect is known."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
import pytest
from golden_twin import Run, built

from quiclab.model.cause import Why
from quiclab.why.account.transfer import transfer_of
from quiclab.why.mechanisms import with_mechanisms
from quiclab.why.prediction import predicted_effects
from quiclab.why.prediction.conditions import graph_of
from quiclab.why.prediction.evaluation import evaluation

_MS = 1_000_000
_BASE: dict[str, Any] = {
    "body_bytes": 400_000,
    "rate_down": 20_000_000,
    "rate_up": 20_000_000,
    "delay_ns": 30 * _MS,
    "initial_window": 10,
}
_CREDITS = {"protocol": "h3", "stream_window": 50_000, "receive_window": 60_000}
_ONE: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "receive window": ({"receive_window": 20 * 1448}, {"receive_window": None}, "receive_window_limited"),
    "stream credit": ({"stream_window": 40_000}, {"stream_window": None}, "stream_flow_control_limited"),
    "send buffer": ({"send_buffer": 20 * 1448}, {"send_buffer": None}, "send_buffer_limited"),
    "connection credit": (
        {"protocol": "h3", "receive_window": 40_000},
        {"receive_window": None},
        "connection_flow_control_limited",
    ),
    "largest window": ({"protocol": "h3", "largest_window": 20}, {"largest_window": None}, "largest_window"),
    "initial window": ({"initial_window": 4}, {"initial_window": 64}, "slow_start"),
    "slow start left early": ({"threshold": 20}, {"threshold": None}, "slow_start_left_without_loss"),
    "credit that looks like a buffer": (
        {
            "protocol": "h3",
            "receive_window": 23_168,
            "body_bytes": 797_643,
            "rate_down": 12_577_691,
            "delay_ns": 10_112_114,
        },
        {"receive_window": None},
        "connection_flow_control_limited",
    ),
    "last packet lost": ({"drop_down": [278]}, {"drop_down": []}, "retransmission_timeout"),
    "long certificate": ({"protocol": "h3", "flight_bytes": 8_000}, {"flight_bytes": 1_200}, "amplification_limit"),
}
"""Cause → keys with it, keys without it, the mechanism that names it."""


def _run(case: dict[str, Any], logs: Literal["captures", "state", "own_word"] = "own_word") -> Run:
    (run,) = built().runs([{**_BASE, **case}], logs=logs)
    return run


def _effects(run: Run) -> pl.DataFrame:
    account, _ = with_mechanisms(run.evidence, run.account)
    return predicted_effects(run.evidence, account)


def _row(run: Run, mechanism: str, also: str | None = None) -> dict[str, Any]:
    found = _effects(run).filter(pl.col("mechanism") == mechanism, pl.col("also_without").eq_missing(also))
    (row,) = found.iter_rows(named=True)
    return row


@pytest.mark.parametrize("case", [case for case, _, _ in _ONE.values()], ids=list(_ONE))
def test_graph_with_all_its_conditions_ends_when_the_transfer_did(case: dict[str, Any]) -> None:
    run = _run(case)
    account, _ = with_mechanisms(run.evidence, run.account)
    graph = graph_of(transfer_of(run.evidence), account)
    assert evaluation(graph).end_ns == graph.end_ns


@pytest.mark.parametrize("cause", _ONE)
def test_prediction_covers_the_exact_effect(cause: str) -> None:
    case, without, mechanism = _ONE[cause]
    run = _run(case)
    effect_ns = built().effect_ns({**_BASE, **case}, **without)
    row = _row(run, mechanism)
    assert row["least_ns"] <= effect_ns <= row["most_ns"]
    assert row["most_ns"] - row["least_ns"] < max(0.25 * effect_ns, 25 * _MS)


def test_limit_that_hides_slow_start_costs_less_than_it_takes() -> None:
    case, without, mechanism = _ONE["receive window"]
    run = _run(case)
    row = _row(run, mechanism)
    account, _ = with_mechanisms(run.evidence, run.account)
    takes = account.filter(mechanism=mechanism).select((pl.col("until_ns") - pl.col("from_ns")).sum()).item()
    assert row["next_why"] == Why.SLOW_START
    assert row["most_ns"] < takes
    longer_ns = takes - built().effect_ns({**_BASE, **case}, **without)
    assert row["next_ns"] == pytest.approx(longer_ns, rel=0.25)


def test_two_windows_that_hide_each_other_are_told_apart_by_leaving_out_both() -> None:
    run = _run(_CREDITS)
    row = _row(run, "stream_flow_control_limited")
    both = _row(run, "stream_flow_control_limited", "connection_flow_control_limited")
    case = {**_BASE, **_CREDITS}
    alone_ns = built().effect_ns(case, stream_window=None)
    both_ns = built().effect_ns(case, stream_window=None, receive_window=None)
    assert alone_ns < both_ns / 3
    assert row["next_why"] == Why.CONNECTION_CREDIT
    assert row["most_ns"] < both_ns / 3
    assert both["least_ns"] <= both_ns <= both["most_ns"]


def test_no_prediction_for_what_a_loss_left_of_the_window() -> None:
    run = _run({"loss_down": 0.03, "seed": 5})
    assert "loss_on_the_path" in with_mechanisms(run.evidence, run.account)[0]["mechanism"].to_list()
    assert "loss_on_the_path" not in _effects(run)["mechanism"].to_list()


def test_long_transfers_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    run = _run({"receive_window": 20 * 1448})
    assert not _effects(run).is_empty()
    monkeypatch.setattr("quiclab.why.prediction.conditions._MOST_PACKETS", 100)
    assert _effects(run).is_empty()


def test_no_prediction_beside_another_flow() -> None:
    assert _effects(_run({"other_rate": 8_000_000})).is_empty()
