# SPDX-License-Identifier: Apache-2.0
"""The account held against the golden twin, whose sender knows at each instant what holds it back."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from golden_twin import Logs, Run, Twin, built, errors

from quiclab.why.account import What, Why

_MS = 1_000_000
_LOSSY: dict[str, Any] = {"body_bytes": 3000, "loss_up": 0.12, "loss_down": 0.08}
_CASES: dict[str, dict[str, Any]] = {
    "h2: nothing lost": {"body_bytes": 200_000, "delay_ns": 40 * _MS},
    "h2: slow start left early": {"body_bytes": 200_000, "delay_ns": 40 * _MS, "threshold": 20},
    "h2: losses, Reno": {"body_bytes": 300_000, "loss_down": 0.02},
    "h2: losses both ways, CUBIC": {"body_bytes": 300_000, "loss_down": 0.02, "loss_up": 0.02, "control": "cubic"},
    "h2: a short queue": {"body_bytes": 400_000, "queue_bytes": 40_000},
    "h2: losses that are known when all is sent": {
        "seed": 193761521,
        "body_bytes": 2_174_848,
        "rate_down": 18_881_009,
        "delay_ns": 47_467_260,
        "control": "cubic",
        "initial_window": 32,
        "queue_bytes": 255_583,
    },
    "h2: receive window": {"body_bytes": 200_000, "delay_ns": 40 * _MS, "receive_window": 28_960},
    "h2: stream credit": {"body_bytes": 200_000, "delay_ns": 40 * _MS, "stream_window": 65_535, "initial_window": 32},
    "h3: nothing lost": {"protocol": "h3", "body_bytes": 150_000, "delay_ns": 40 * _MS},
    "h3: losses, CUBIC": {"protocol": "h3", "body_bytes": 200_000, "loss_down": 0.02, "control": "cubic"},
    "h2: loss of the request, and a message of the handshake twice": {
        **_LOSSY,
        "protocol": "h2",
        "seed": 854620613,
        "rate_down": 20000000,
        "rate_up": 20000000,
        "delay_ns": 5 * _MS,
        "flight_bytes": 3000,
        "loss_at_exit": False,
    },
    "h3: loss of the request": {
        **_LOSSY,
        "protocol": "h3",
        "seed": 568995588,
        "rate_down": 20000000,
        "rate_up": 20000000,
        "delay_ns": 20 * _MS,
        "flight_bytes": 3000,
        "loss_at_exit": True,
    },
    "h3: loss in the handshake, and of the request": {
        **_LOSSY,
        "protocol": "h3",
        "seed": 1774272230,
        "rate_down": 5000000,
        "rate_up": 5000000,
        "delay_ns": 20 * _MS,
        "flight_bytes": 3000,
        "loss_at_exit": True,
    },
    "h3: loss of the handshake, and a limit that is met by repetitions": {
        **_LOSSY,
        "protocol": "h3",
        "seed": 2073016946,
        "rate_down": 1000000,
        "rate_up": 1000000,
        "delay_ns": 20 * _MS,
        "flight_bytes": 1500,
        "loss_at_exit": True,
    },
    "h3: loss at the end, probed without data": {
        **_LOSSY,
        "protocol": "h3",
        "seed": 121629061,
        "rate_down": 5000000,
        "rate_up": 5000000,
        "delay_ns": 80 * _MS,
        "flight_bytes": 3000,
        "loss_at_exit": False,
    },
    "h3: loss by a time threshold, just after an acknowledgment": {
        **_LOSSY,
        "protocol": "h3",
        "seed": 3353206182,
        "body_bytes": 30_000,
        "rate_down": 20000000,
        "rate_up": 20000000,
        "delay_ns": 5 * _MS,
        "flight_bytes": 800,
        "loss_at_exit": True,
    },
    "h3: connection credit": {"protocol": "h3", "body_bytes": 150_000, "delay_ns": 40 * _MS, "receive_window": 40_000},
}
_TRIP_NS = 40 * _MS
_THINKING: list[dict[str, Any]] = [
    {"protocol": protocol, "body_bytes": 100_000, "delay_ns": _TRIP_NS // 2, "think_ns": think_ns, **settings}
    for protocol, settings in (("h2", {"settings_bytes": 61}), ("h3", {}))
    for think_ns in (_TRIP_NS // 2, _TRIP_NS - 20_000, _TRIP_NS, _TRIP_NS + 300_000, 3 * _TRIP_NS // 2, 3 * _TRIP_NS)
]
"""Servers that think for half a round trip to three, while settings, or the end of the handshake, are acknowledged."""


@pytest.fixture(scope="module")
def twin() -> Twin:
    """The twin as the crates' own tests built it."""
    return built()


@pytest.fixture(scope="module")
def runs(twin: Twin) -> dict[str, Run]:
    """Every case, with the state that a server's log tells."""
    return dict(zip(_CASES, twin.runs(list(_CASES.values())), strict=True))


@pytest.mark.parametrize("name", _CASES)
def test_each_category_is_what_held_the_sender_back(name: str, runs: dict[str, Run]) -> None:
    """Within 0.1 % of the whole, and 3 % where packets are lost; both partitions add up to it exactly."""
    run = runs[name]
    shares = run.shares()
    assert sum(shares[why] for why in Why) == sum(run.truth.values()) == run.total_ns
    limit = 0.03 if "loss" in name or "queue" in name else 0.001
    off = {why: error for why, error in run.errors("state").items() if error > limit}
    assert not off


def test_the_time_for_which_a_server_thinks_is_the_servers(twin: Twin) -> None:
    """A server's think time runs from the arrival of the request to the answer, whatever else comes meanwhile."""
    for case, run in zip(_THINKING, twin.runs(_THINKING), strict=True):
        rows = run.account.filter(pl.col("why") == str(Why.REQUEST), pl.col("what") == str(What.SERVER))
        thought_ns = int((rows["until_ns"] - rows["from_ns"]).sum())
        assert thought_ns == pytest.approx(case["think_ns"], abs=100_000), case
        assert max(run.errors("state").values()) < 0.001, case


@pytest.mark.parametrize("logs", ["own_word", "captures"])
def test_other_evidence_tells_other_categories_and_no_wrong_ones(logs: Logs, twin: Twin) -> None:
    """Within 1 % of the whole: a capture does not tell a paced packet from one that an acknowledgment prompted."""
    (run,) = twin.runs([_CASES["h3: nothing lost"]], logs=logs)
    assert max(run.errors(logs).values()) < 0.01


_FAR: dict[str, Any] = {"body_bytes": 400_000, "delay_ns": 40 * _MS, "rate_down": 20_000_000, "rate_up": 20_000_000}
_CAPTURED: dict[str, tuple[Why, dict[str, Any]]] = {
    "h2: slow start": (Why.SLOW_START, {}),
    "h3: slow start that credit ends": (Why.SLOW_START, {"protocol": "h3", "stream_window": 30_000}),
    "h3: stream credit": (Why.STREAM_CREDIT, {"protocol": "h3", "stream_window": 30_000}),
    "h2: slow start left early": (Why.WINDOW_AFTER_EXIT, {"threshold": 16}),
    "h2: receive window": (Why.RECEIVE_WINDOW, {"receive_window": 36_200}),
    "h2: send buffer": (Why.SEND_BUFFER, {"send_buffer": 32_768}),
    "h3: send buffer of a round size": (Why.SEND_BUFFER, {"protocol": "h3", "send_buffer": 32_768}),
    "h3: send buffer": (Why.SEND_BUFFER, {"protocol": "h3", "send_buffer": 30_408}),
    "h3: largest window": (Why.SLOW_START, {"protocol": "h3", "largest_window": 20}),
    "h2: a program that stops": (Why.APPLICATION, {"pause_at": 100_000, "pause_ns": 100 * _MS}),
    "h2: a program that trickles": (
        Why.APPLICATION,
        {"pause_at": 16_000, "pause_every": 16_000, "pause_ns": 20 * _MS},
    ),
    "h3: a program that trickles": (
        Why.APPLICATION,
        {"protocol": "h3", "pause_at": 16_000, "pause_every": 16_000, "pause_ns": 20 * _MS},
    ),
    "h3: a slow pacer": (Why.PACING, {"protocol": "h3", "pace": 6_000_000}),
}
_HIDDEN: dict[str, tuple[Why, dict[str, Any]]] = {
    "h2: send buffer of whole segments": (Why.SEND_BUFFER, {"send_buffer": 28_960}),
    "h2: largest window": (Why.SLOW_START, {"largest_window": 20}),
}


def test_captures_alone_show_what_held_the_sender_back(twin: Twin) -> None:
    """Within 3 % of the whole time, of which it is a tenth at least; a program that trickles is told in part, as some
    of its pieces come just after an acknowledgment."""
    cases = [_FAR | settings for _, settings in _CAPTURED.values()]
    for (name, (why, _)), run in zip(_CAPTURED.items(), twin.runs(cases, logs="captures"), strict=True):
        assert run.truth[why] > run.total_ns / 10, name
        most_ns, off_ns = run.truth[why], 0.03 * run.total_ns
        assert (0.6 * most_ns if "trickles" in name else most_ns - off_ns) < run.shares()[why] < most_ns + off_ns, name


def test_a_constant_limit_of_whole_segments_has_no_name_over_tcp(twin: Twin) -> None:
    """A buffer of whole segments and a largest window leave the same packets: what one says the other would say."""
    cases = [_FAR | settings for _, settings in _HIDDEN.values()]
    buffer, window = (run.shares() for run in twin.runs(cases, logs="captures"))
    assert buffer[Why.AWAITING_ACKS] == pytest.approx(window[Why.AWAITING_ACKS], rel=0.02)
    assert not buffer[Why.SEND_BUFFER] + window[Why.SEND_BUFFER]


@pytest.mark.parametrize(
    ("why", "limit"), [(Why.RECEIVE_WINDOW, {"receive_window": 28_960}), (Why.SEND_BUFFER, {"send_buffer": 28_960})]
)
def test_the_share_of_a_single_cause_is_its_effect(why: Why, limit: dict[str, int], twin: Twin) -> None:
    """Without the limit a transfer is shorter by just that."""
    case = {"body_bytes": 200_000, "delay_ns": 40 * _MS, "control": "unlimited", **limit}
    (run,) = twin.runs([case])
    effect_ns = twin.effect_ns(case, **dict.fromkeys(limit))
    assert effect_ns > run.total_ns / 4
    assert run.shares()[why] == pytest.approx(effect_ns, abs=run.total_ns / 1000)


def test_a_case_gives_the_same_bytes_again(twin: Twin) -> None:
    """Twice in one process and once in another, over both transports."""
    asked = [{"case": {"protocol": protocol, "body_bytes": 50_000, "loss_down": 0.05}} for protocol in ("h2", "h3")]
    first, second = twin.answers([*asked, *asked]), twin.answers(asked)
    assert first[:2] == first[2:] == second


def test_an_error_is_a_difference_and_no_sum() -> None:
    """A category has too much, and another too little: both count."""
    truth = {Why.SLOW_START: 60, Why.LINK_BUSY: 40}
    assert errors({Why.SLOW_START: 50, Why.PACING: 10, Why.LINK_BUSY: 40}, truth) == {
        Why.LINK_BUSY: 0,
        Why.SLOW_START: 0.1,
        Why.PACING: 0.1,
    }
