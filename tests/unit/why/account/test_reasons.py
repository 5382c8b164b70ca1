# SPDX-License-Identifier: Apache-2.0
"""Transfers that were written by hand, each with one reason why it waits, and the account that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from unit.evidence.metrics.scenes import ns, tcp_scene
from unit.why.account.stories import (
    Quic,
    Tcp,
    blocked_row,
    evidence_of_scene,
    limit_row,
    loss_row,
    metrics_row,
    sums,
)

from quiclab.why.account import account_of_transfer
from quiclab.why.account.edges import Edge

_ROWS = dict[str, list[dict[str, Any]]]


def test_a_lost_syn_is_time_of_the_clients_timer(tmp_path: Path) -> None:
    """Sent again after 1,000 ms; the round trips are as long as ever."""
    edges = account_of_transfer(evidence_of_scene(tcp_scene(), tmp_path))
    found = sums(edges)
    assert (found["set_up_loss"], found["tcp_handshake"], found["tls_round_trip"]) == (1000, 20, 21)
    assert sums(edges, "what")["timer"] == 1000


@pytest.mark.parametrize("syn_at", [(0,), (0, 1000)], ids=["server's timer", "client's timer"])
def test_a_lost_syn_ack_is_time_of_the_timer_that_ends_it(syn_at: tuple[float, ...], tmp_path: Path) -> None:
    """The server's own timer, or the client's second SYN, which prompts the server: 1,000 ms in both cases."""
    story = Tcp(syn_at=syn_at, syn_ack_at=(10, 1010))
    story.down(52, 0)
    found = sums(account_of_transfer(evidence_of_scene(story.end(62, 1), tmp_path)))
    assert (found["set_up_loss"], found["tcp_handshake"], found["tls_round_trip"]) == (1000, 20, 21)


def _window_of_two(*, again_ms: float) -> Quic:
    """Two packets, their acknowledgment, two more."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(43, writers.ack((0, 1)))
    story.down(again_ms, 2400)
    story.down(again_ms, 3600, fin=True)
    return story


_FULL: _ROWS = {"transport_metrics": [metrics_row(32, 2500, 0), metrics_row(33, 2500, 2480)]}
_ROOM: _ROWS = {"transport_metrics": [metrics_row(32, 50_000, 0), metrics_row(33, 50_000, 2480)]}


def test_a_full_window_that_was_never_reduced_is_slow_start(tmp_path: Path) -> None:
    """20 ms: down, up, and nothing at either end."""
    evidence = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path, **_FULL)
    edges = account_of_transfer(evidence)
    assert sums(edges)["slow_start"] == 20
    whats = [(str(e.what), e.length_ns / 1e6) for e in edges if e.reason.why == "slow_start"]
    assert whats == [("propagation_down", 10), ("propagation_up", 10)]
    assert {e.reason.evidence for e in edges if e.reason.why == "slow_start"} == {"transport_metrics"}


@pytest.mark.parametrize(
    ("between_ms", "held"), [(43, 5), (45, 1)], ids=["second packet", "second of those not answered"]
)
def test_an_acknowledgment_is_owed_at_the_second_packet(between_ms: float, held: float, tmp_path: Path) -> None:
    """Five packets in a window of five, which come at 43, 43, 46, 47 and 48 ms; one acknowledgment of all at 48 ms. It
    was owed at the second of those that came since the one before; from there on it is held back."""
    story = Quic()
    for number, ms in enumerate((33, 33, 36, 37, 38)):
        story.down(ms, 1200 * number)
    if between_ms == 45:
        story.up(45, writers.ack((0, 1)))
    story.up(48, writers.ack((0, 4)))
    story.down(58, 6000, fin=True)
    full = [metrics_row(32, 6500, 0), metrics_row(38, 6500, 6200)]
    edges = account_of_transfer(evidence_of_scene(story.end(68, 7200), tmp_path, transport_metrics=full))
    waits = [(str(e.what), e.length_ns / 1e6) for e in edges if e.reason.why == "slow_start" and e.from_ns >= ns(38)]
    assert waits == [("propagation_down", 10 - held), ("ack_held", held), ("propagation_up", 10)]


@pytest.mark.parametrize(
    ("again_ms", "acknowledged", "why"),
    [(64, True, "application"), (62, True, "pacing_or_program"), (64, False, "pacing_or_program")],
    ids=["long after the acknowledgment", "soon after it", "nothing acknowledged"],
)
def test_a_sender_with_nothing_on_its_way_had_nothing_to_send(
    again_ms: float, acknowledged: bool, why: str, tmp_path: Path
) -> None:
    """Without a log: the acknowledgment of all comes at 53 ms, 20 after the packets, and the next packet 9 or 11 ms
    after it. No pacer lets a round trip pass."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(43 if acknowledged else 33, writers.ack((0, 1)))
    story.down(again_ms, 2400, fin=True)
    edges = account_of_transfer(evidence_of_scene(story.end(again_ms + 10, 3600), tmp_path))
    assert sums(edges)[why] == again_ms - 33
    assert {e.reason.evidence for e in edges if e.reason.why == why} == {"ip_packets"}


def test_without_a_log_nothing_is_said_beyond_the_packets(tmp_path: Path) -> None:
    """The same wait: a packet of the client ended it, and no record says what the server waited for."""
    evidence = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path)
    assert sums(account_of_transfer(evidence))["awaiting_acks"] == 20


def test_a_window_is_full_when_none_of_the_senders_full_datagrams_fits(tmp_path: Path) -> None:
    """There is room for 1,300 bytes, and datagrams have 1,440: a program that sends no smaller ones waits."""
    story = Quic()
    story.down(33, 0, 1400)
    story.down(33, 1400, 1400)
    story.up(43, writers.ack((0, 1)))
    story.down(53, 2800, 1400)
    story.down(53, 4200, 1400, fin=True)
    rows: _ROWS = {"transport_metrics": [metrics_row(32, 4180, 0), metrics_row(33, 4180, 2880)]}
    assert sums(account_of_transfer(evidence_of_scene(story.end(63, 5600), tmp_path, **rows)))["slow_start"] == 20


def _reduced(folder: Path, *after: dict[str, Any], **loss: Any) -> list[Edge]:
    """The packet at 33 ms is lost, declared so at 53 ms with the window cut; then a wait until 73."""
    story = Quic()
    for number in range(4):
        story.down(33, 1200 * number, lost=number == 0)
    story.up(43, writers.ack((1, 3)))
    story.down(53, 0)
    story.up(63, writers.ack((1, 4)))
    story.down(73, 4800, fin=True)
    rows: _ROWS = {
        "transport_metrics": [
            metrics_row(32, 5000, 0),
            metrics_row(33, 5000, 4960),
            metrics_row(53.1, 2000, 0),
            metrics_row(53.2, 2000, 1240),
            *after,
            metrics_row(73.1, 2100, 0),
        ],
        "losses": [loss_row(53, 0, "reordering_threshold") | loss],
    }
    return account_of_transfer(evidence_of_scene(story.end(83, 6000), folder, **rows))


@pytest.mark.parametrize("estimate", [False, True], ids=["by the log", "by the capture"])
def test_a_window_that_a_loss_reduced_names_the_loss(estimate: bool, tmp_path: Path) -> None:
    """A log that declares no losses leaves them to what the packets show."""
    edges = _reduced(tmp_path, estimate=estimate)
    found = sums(edges)
    assert (found["slow_start"], found["window_after_loss"]) == (20, 20)
    after = next(e.reason for e in edges if e.reason.why == "window_after_loss")
    assert (after.event_ns, after.event_packet) == (ns(53), 1)  # packet 0 down is the server's Initial


@pytest.mark.parametrize("again_ms", [None, 60], ids=["nothing else", "its bytes are sent again later"])
@pytest.mark.parametrize(("state", "why"), [("recovery", "window_after_loss"), ("application_limited", "window")])
def test_a_log_without_lost_packets_tells_of_a_loss_by_its_recovery(
    state: str, why: str, again_ms: float | None, tmp_path: Path
) -> None:
    """quiche writes no lost packets: the window is cut as recovery begins, or for a reason that nothing shows. Captures
    show a loss only when its bytes are sent again."""
    rows: _ROWS = {"transport_metrics": [metrics_row(32, 2500, 0), metrics_row(32.5, 1250, 0)]}
    rows["transport_metrics"].append(metrics_row(33, 1250, 1250))
    server = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    rows["cc_states"] = [server | {"time_ns": ns(32.5), "new_state": state}]
    rows["losses"] = [] if again_ms is None else [loss_row(again_ms, 0, "reordering_threshold") | {"estimate": True}]
    evidence = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path, **rows)
    assert sums(account_of_transfer(evidence))[why] == 20


@pytest.mark.parametrize(("restored", "why"), [(5000, "slow_start"), (4100, "window_after_loss")])
def test_a_reduction_that_is_taken_back_is_none(restored: int, why: str, tmp_path: Path) -> None:
    """The window goes back at once to what it had been, as CUBIC's rollback has it; or grows by less."""
    again = metrics_row(60, restored, restored - 500)
    found = sums(_reduced(tmp_path, again))
    assert found.pop(why) == (40 if why == "slow_start" else 20)


def test_credit_that_is_used_up_holds_back_nothing_that_is_sent_again(tmp_path: Path) -> None:
    """The stream's credit ends with the third packet; the first is lost, and the news of that lets it be sent again."""
    story = Quic()
    for number in range(3):
        story.down(33, 1200 * number, lost=number == 0)
    story.up(43, writers.ack((1, 2)))
    story.down(53, 0)
    story.up(63, writers.ack((1, 3)))
    story.down(73, 3600, fin=True)
    rows: _ROWS = {
        "flow_control": [limit_row(0, "stream", 3600, 0), limit_row(73, "stream", 9000, 0)],
        "losses": [loss_row(53, 0, "reordering_threshold")],
        **_ROOM,
    }
    found = sums(account_of_transfer(evidence_of_scene(story.end(83, 4800), tmp_path, **rows)))
    assert (found["loss_detection"], found["stream_credit"]) == (20, 20)


def test_credit_of_the_stream_that_is_used_up(tmp_path: Path) -> None:
    """The window has room; the highest offset equals the limit until the client raises it."""
    limits = [limit_row(0, "stream", 2400, 0), limit_row(53, "stream", 9000, 0), limit_row(0, "connection", 90_000)]
    evidence = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path, flow_control=limits, **_ROOM)
    assert sums(account_of_transfer(evidence))["stream_credit"] == 20
    both = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path, flow_control=limits, **_FULL)
    assert sums(account_of_transfer(both))["contested"] == 20


def test_pacing_by_the_senders_word_and_without_it(tmp_path: Path) -> None:
    """Without its word what is inferred is the union that has pacing in it, and no more."""
    story = Quic()
    story.down(33, 0)
    story.down(38, 1200)
    story.down(43, 2400, fin=True)
    word = [
        blocked_row(at, state, "pacing" if state == "blocked" else None)
        for at, state in ((33, "blocked"), (38, "unblocked"), (38, "blocked"), (43, "unblocked"))
    ]
    scene = story.end(53, 3600)
    told = account_of_transfer(evidence_of_scene(scene, tmp_path, blocked=word, **_ROOM))
    inferred = account_of_transfer(evidence_of_scene(scene, tmp_path, **_ROOM))
    assert (sums(told)["pacing"], sums(inferred)["pacing_or_program"]) == (10, 10)
    assert {e.reason.evidence for e in told if e.reason.why == "pacing"} == {"blocked"}


@pytest.mark.parametrize(
    ("size", "why"),
    [(2048, "send_buffer"), (2049, "awaiting_acks"), (2000, "awaiting_acks")],
    ids=["round", "odd", "full packets"],
)
def test_a_streams_unacknowledged_bytes_that_stop_at_one_round_number_are_a_buffer(
    size: int, why: str, tmp_path: Path
) -> None:
    """Three times the server stops there until an acknowledgment comes, and its log tells of no window."""
    story = Quic()
    for number in range(4):
        sent_ms, offset = 33 + 20.5 * number, size * number
        story.down(sent_ms, offset, 1000)
        story.down(sent_ms, offset + 1000, size - 1000, fin=number == 3)
        story.up(sent_ms + 10, writers.ack((0, 2 * number + 1)))
    found = sums(account_of_transfer(evidence_of_scene(story.end(104.5, 4 * size), tmp_path)))
    assert found == {"quic_handshake": 21, "request": 12, why: 61.5, "last_flight": 10}


@pytest.mark.parametrize(
    ("after_ms", "why"), [(0.5, "send_buffer"), (3, "pacing_or_program")], ids=["by acknowledgments", "by itself"]
)
def test_a_buffer_of_any_size_is_told_beside_a_window_with_room(after_ms: float, why: str, tmp_path: Path) -> None:
    """The log shows the window: where acknowledgments let the server go on, it is no program that writes in pieces."""
    story = Quic()
    for number in range(4):
        sent_ms, offset = 33 + (20 + after_ms) * number, 2049 * number
        story.down(sent_ms, offset, 1000)
        story.down(sent_ms, offset + 1000, 1049, fin=number == 3)
        story.up(sent_ms + 10, writers.ack((0, 2 * number + 1)))
    evidence = evidence_of_scene(story.end(43 + 3 * (20 + after_ms), 4 * 2049), tmp_path, **_ROOM)
    assert sums(account_of_transfer(evidence))[why] == 3 * (20 + after_ms)


def test_a_probe_of_the_paths_mtu_ends_no_wait(tmp_path: Path) -> None:
    """A packet of PING and padding, larger than all before it, leaves in the middle of a wait for the window."""
    story = _window_of_two(again_ms=53)
    probed = Quic()
    probed.down(33, 0)
    probed.down(33, 1200)
    probed.probe(40, 1400)
    probed.up(43, writers.ack((0, 1)))
    probed.down(53, 2400)
    probed.down(53, 3600, fin=True)
    with_probe = sums(account_of_transfer(evidence_of_scene(probed.end(63, 4800), tmp_path, **_FULL)))
    plain = tmp_path / "plain"
    plain.mkdir()
    assert with_probe == sums(account_of_transfer(evidence_of_scene(story.end(63, 4800), plain, **_FULL)))
    assert with_probe["slow_start"] == 20


def test_a_credit_that_an_earlier_packet_raised_counts_too(tmp_path: Path) -> None:
    """The limit comes half a millisecond before the acknowledgment after which the server sends."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(42.5, {"frame_type": "max_stream_data", "stream_id": 0})
    story.up(43, writers.ack((0, 1)))
    story.down(53.2, 2400, fin=True)
    limits = [limit_row(0, "stream", 2400, 0), limit_row(52.5, "stream", 9000, 0)]
    evidence = evidence_of_scene(story.end(63.2, 3600), tmp_path, flow_control=limits, **_ROOM)
    assert sums(account_of_transfer(evidence))["stream_credit"] == pytest.approx(20.2)


def test_a_program_with_nothing_to_send_is_believed_only_without_a_limit(tmp_path: Path) -> None:
    """It says `application` where its stream has no credit, of which its library does not tell it."""
    word = [blocked_row(33.1, "blocked", "application"), blocked_row(53, "unblocked", None)]
    scene = _window_of_two(again_ms=53).end(63, 4800)
    limits = [limit_row(0, "stream", 2400, 0), limit_row(53, "stream", 9000, 0)]
    spent = evidence_of_scene(scene, tmp_path, blocked=word, flow_control=limits, **_ROOM)
    assert sums(account_of_transfer(spent))["stream_credit"] == 20
    free = evidence_of_scene(scene, tmp_path, blocked=word, **_ROOM)
    assert sums(account_of_transfer(free))["application"] == 20
