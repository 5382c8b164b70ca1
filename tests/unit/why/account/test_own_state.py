# SPDX-License-Identifier: Apache-2.0
"""What a sender tells of itself at the very instant at which it sends, and how large its packets are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import (
    Quic,
    Tcp,
    blocked_row,
    evidence_of_scene,
    metrics_row,
    sample_row,
    sums,
)

from quiclab.why.account import account_of_transfer

_ROWS = dict[str, list[dict[str, Any]]]
_ROOM: _ROWS = {"transport_metrics": [metrics_row(32, 50_000, 0), metrics_row(33, 50_000, 2480)]}


@pytest.mark.parametrize("early_ms", [0, 0.3])
def test_what_a_sender_says_as_it_sends_is_about_the_time_after_it(early_ms: float, tmp_path: Path) -> None:
    """It paces for 5 ms, sends, and has filled its window with that; its log has both before the packet leaves."""
    story = Quic()
    story.down(33, 0)
    story.down(38, 1200, early_ms=early_ms)
    story.up(48, writers.ack((0, 1)))
    story.down(58, 2400, fin=True)
    word = [
        blocked_row(33, "blocked", "pacing"),
        blocked_row(38 - early_ms, "blocked", "congestion_control"),
        blocked_row(58, "unblocked", None),
    ]
    found = sums(account_of_transfer(evidence_of_scene(story.end(68, 3600), tmp_path, blocked=word)))
    assert (found["pacing"], found["window"]) == (5, 20)


@pytest.mark.parametrize(("given_ms", "why"), [(52.9, "application"), (None, "slow_start")])
def test_a_program_that_had_given_all_to_its_library_is_not_what_a_full_window_waits_for(
    given_ms: float | None, why: str, tmp_path: Path
) -> None:
    """It has nothing to give, and the library sends what it kept when there is room; or gives something just then."""
    story = Quic()
    story.down(33, 0)
    story.up(43, writers.ack((0, 0)))
    story.down(53, 1200, fin=True)
    word = [blocked_row(33.1, "blocked", "application")]
    word += [blocked_row(given_ms, "unblocked", None)] if given_ms else []
    full = [metrics_row(32, 4200, 0), metrics_row(33, 4200, 4100)]
    scene = story.end(63, 2400)
    found = sums(account_of_transfer(evidence_of_scene(scene, tmp_path, blocked=word, transport_metrics=full)))
    assert found[why] == 20


@pytest.mark.parametrize(
    ("ms", "told_ms", "why"),
    [(43, 53, "pacing_or_program"), (43, 63, "application"), (53.2, 53, "pacing_or_program")],
    ids=["had more", "had nothing still", "had more, and sends with the acknowledgment"],
)
def test_a_word_that_comes_with_the_next_acknowledgment_is_not_of_what_was_sent_meanwhile(
    ms: float, told_ms: float, why: str, tmp_path: Path
) -> None:
    """The server had nothing to send until the request came, and says so until an acknowledgment comes, as quinn does:
    at 53 ms, when it has long been sending. Where it says so then too, it had nothing after each packet."""
    story = Quic()
    story.down(33, 0)
    story.up(43, writers.ack((0, 0)))
    story.down(ms, 1200, fin=True)
    word = [blocked_row(20, "blocked", "application"), blocked_row(told_ms, "unblocked", "application")]
    found = sums(account_of_transfer(evidence_of_scene(story.end(ms + 10, 2400), tmp_path, blocked=word, **_ROOM)))
    assert found[why] == pytest.approx(ms - 33)


@pytest.mark.parametrize(("old", "why"), [("unblocked", "pacing_or_program"), ("blocked", "application")])
def test_a_reason_ends_with_its_own_state_where_each_has_one(old: str, why: str, tmp_path: Path) -> None:
    """The window is full with what leaves at 43 ms. Where that was not blocked before, the word on the program goes on
    until an acknowledgment comes; else the one state ends there, and was the program's until then."""
    story = Quic()
    for number, sent_ms in enumerate((33, 43)):
        story.down(sent_ms, 1200 * number, fin=number == 1)
        story.up(sent_ms + 10, writers.ack((0, number)))
    word = [
        blocked_row(20, "blocked", "application"),
        blocked_row(43, "blocked", "congestion_control", old=old),
        blocked_row(53, "unblocked", None),
    ]
    found = sums(account_of_transfer(evidence_of_scene(story.end(53, 2400), tmp_path, blocked=word, **_ROOM)))
    assert found[why] == 10


def test_a_window_is_full_where_no_datagram_of_the_senders_own_size_fits(tmp_path: Path) -> None:
    """Room for 1,300 bytes, from a sender whose datagrams are longer; a shorter one would have fitted."""
    full: _ROWS = {"transport_metrics": [metrics_row(32, 4200, 0), metrics_row(33, 4200, 2900)]}
    found = []
    for size in (1400, 1200):
        story = Quic()
        story.down(33, 0, size)
        story.down(33, size, size)
        story.up(43, writers.ack((0, 1)))
        story.down(53, 2 * size, size, fin=True)
        found.append(sums(account_of_transfer(evidence_of_scene(story.end(63, 3 * size), tmp_path, **full))))
    longer, shorter = found
    assert (longer.get("slow_start"), shorter.get("slow_start")) == (20, None)
    assert shorter["pacing_or_program"] == 20


def test_a_threshold_that_was_known_before_ends_slow_start_when_the_window_reaches_it(tmp_path: Path) -> None:
    """Linux remembers it from an earlier connection: two waits of 20 ms, and the window is as large in the second."""
    story = Tcp()
    story.down(51, 0)
    story.ack(61, 1)
    story.down(71, 1)
    story.ack(81, 2)
    story.down(91, 2)
    samples = [sample_row(at, snd_ssthresh=20, snd_cwnd=window) for at, window in ((50, 10), (65, 10), (75, 20))]
    found = sums(account_of_transfer(evidence_of_scene(story.end(101, 3), tmp_path, tcp_info=samples)))
    assert (found["slow_start"], found["window_after_exit"]) == (20, 20)


def test_a_clock_of_the_kernel_that_stands_still_names_nothing(tmp_path: Path) -> None:
    """The acknowledgment comes as the idle time begins, half a millisecond before what it prompts."""
    story = Tcp()
    story.down(51, 0)
    story.ack(61, 1)
    story.down(71, 1)
    story.down(71.5, 2)
    found = sums(
        account_of_transfer(evidence_of_scene(story.end(81.5, 3), tmp_path, tcp_info=[sample_row(50), sample_row(90)]))
    )
    assert "receive_window" not in found


def test_a_probe_that_asks_for_an_acknowledgment_ends_the_wait_for_its_timer(tmp_path: Path) -> None:
    """PING and IMMEDIATE_ACK in one packet, as quinn probes: it carries no data, and is no acknowledgment."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200, fin=True, lost=True)
    story.up(43, writers.ack((0, 0)))
    probe = [{"frame_type": "ping"}, {"frame_type": "immediate_ack"}]
    story._send("down", 83, probe, 60)
    story.up(93, writers.ack((0, 0), (2, 2)))
    story.down(103, 1200, fin=True)
    row = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "time_ns": ns(83)}
    timers = [row | {"timer": "pto", "event": "expired", "estimate": False}]
    found = sums(account_of_transfer(evidence_of_scene(story.end(113, 2400), tmp_path, timers=timers)))
    assert (found["probe_timer"], found["loss_detection"]) == (50, 20)
