# SPDX-License-Identifier: Apache-2.0
"""Transfers that were written by hand, each with one reason why it waits, and the account that names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers
from unit.accounting.stories import (
    Quic,
    Tcp,
    blocked_row,
    evidence_of_scene,
    limit_row,
    loss_row,
    metrics_row,
    sample_row,
    sums,
)
from unit.metrics.scenes import ns, tcp_scene

from quiclab.accounting import account_of_transfer
from quiclab.accounting.edges import Edge

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


@pytest.mark.parametrize(("state", "why"), [("recovery", "window_after_loss"), ("application_limited", "window")])
def test_a_log_without_lost_packets_tells_of_a_loss_by_its_recovery(state: str, why: str, tmp_path: Path) -> None:
    """quiche writes no lost packets: the window is cut as recovery begins, or for a reason that nothing shows."""
    rows: _ROWS = {"transport_metrics": [metrics_row(32, 2500, 0), metrics_row(32.5, 1250, 0)]}
    rows["transport_metrics"].append(metrics_row(33, 1250, 1250))
    server = {"source": "raw/server.sqlog", "vantage": "server", "transport": "quic", "estimate": False}
    rows["cc_states"] = [server | {"time_ns": ns(32.5), "new_state": state}]
    evidence = evidence_of_scene(_window_of_two(again_ms=53).end(63, 4800), tmp_path, **rows)
    assert sums(account_of_transfer(evidence))[why] == 20


@pytest.mark.parametrize(("restored", "why"), [(5000, "slow_start"), (4100, "window_after_loss")])
def test_a_reduction_that_is_taken_back_is_none(restored: int, why: str, tmp_path: Path) -> None:
    """The window goes back at once to what it had been, as CUBIC's rollback has it; or grows by less."""
    again = metrics_row(60, restored, restored - 500)
    found = sums(_reduced(tmp_path, again))
    assert found.pop(why) == (40 if why == "slow_start" else 20)


def _tcp_loss(*, again_ms: float, acked: float) -> Tcp:
    """Four segments of which the second is lost; it comes again, and is the last."""
    story = Tcp()
    for number in range(4):
        story.down(51, number, lost=number == 1)
    story.ack(acked, 1, sack=(2, 4))
    story.down(again_ms, 1)
    return story


def test_a_fast_retransmission_at_the_end_is_detection_of_a_loss(tmp_path: Path) -> None:
    """Nothing is left that was not sent: the server waits for the acknowledgment that shows the loss."""
    evidence = evidence_of_scene(_tcp_loss(again_ms=71, acked=61).end(81, 4), tmp_path)
    found = sums(account_of_transfer(evidence))
    assert found["loss_detection"] == 20
    assert sums(account_of_transfer(evidence), "what")["propagation_up"] == 40  # SYN, hello, request, acknowledgment


@pytest.mark.parametrize(
    ("known_ms", "why"), [(62, "window_after_loss"), (80, "loss_detection")], ids=["known early", "known late"]
)
def test_a_loss_that_is_known_already_waits_for_the_window(known_ms: float, why: str, tmp_path: Path) -> None:
    """All has been sent once. The kernel counts a segment as lost that it has not sent again, long before it does, or
    shortly before."""
    samples = [sample_row(at, lost=0, retrans=0) for at in (50, 60)]
    told = {"ca_state": "recovery", "snd_ssthresh": 2, "notsent_bytes": 0}
    samples += [sample_row(at, lost=int(at >= known_ms), retrans=0, **told) for at in range(62, 82, 2)]
    evidence = evidence_of_scene(_tcp_loss(again_ms=82, acked=72).end(92, 4), tmp_path, tcp_info=samples)
    assert sums(account_of_transfer(evidence))[why] == 31


def test_the_event_of_a_burst_is_the_segment_that_was_lost(tmp_path: Path) -> None:
    """Four segments left at one instant, as one burst of the kernel: the second of them, and not the last, was lost."""
    story = _tcp_loss(again_ms=71, acked=61)
    story.ack(81, 4)
    story.down(91, 4)
    told = {"ca_state": "recovery", "snd_ssthresh": 2}
    samples = [sample_row(50), sample_row(60), *(sample_row(at, **told) for at in range(72, 92, 2))]
    evidence = evidence_of_scene(story.end(101, 5), tmp_path, tcp_info=samples)
    log = evidence.table("link_packets").filter(pl.col("direction") == "down")
    edges = account_of_transfer(evidence)
    named = {edge.reason.event_packet for edge in edges if edge.reason.why == "window_after_loss"}
    assert named == set(log.filter(pl.col("action") == "dropped")["index"])


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


def test_a_retransmission_timeout_is_a_loss_timer(tmp_path: Path) -> None:
    """300 ms after the server's last packet, which is what set the timer."""
    story = Tcp()
    story.down(51, 0)
    story.down(51, 1, lost=True)
    story.ack(61, 1)
    story.down(371, 1)
    rows: _ROWS = {"tcp_info": [sample_row(at) for at in (50, 60, 72, 360)]}
    edges = account_of_transfer(evidence_of_scene(story.end(381, 2), tmp_path, **rows))
    assert sums(edges)["loss_timer"] == 320
    # The last acknowledgment set it anew, 20 ms after the segment (RFC 6298 section 5.3).
    assert sums(edges, "what")["timer"] == 300


def test_a_bare_acknowledgment_divides_the_wait_for_a_segment_that_was_lost_again(tmp_path: Path) -> None:
    """The segment's first repetition never reached the link: what came before it waited for that, not for the timer."""
    story = Tcp()
    story.down(51, 0)
    story.down(51, 1, lost=True)
    story.down(51, 2)
    story.receipt(56, 0)
    story.ack(61, 1, sack=(2, 3))
    story.down(71, 1, lost=True)
    story.down(371, 1)
    rows: _ROWS = {"tcp_info": [sample_row(at, notsent_bytes=0) for at in (50, 60, 72, 360)]}
    found = sums(account_of_transfer(evidence_of_scene(story.end(381, 3), tmp_path, **rows)))
    assert (found["loss_detection"], found["loss_timer"]) == (pytest.approx(20, abs=0.1), 300)


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
    ("clock", "why"), [("rwnd_limited_us", "receive_window"), ("sndbuf_limited_us", "send_buffer")]
)
def test_the_kernels_clocks_name_receive_window_and_send_buffer(clock: str, why: str, tmp_path: Path) -> None:
    """Two segments, then 20 ms in which the kernel counts 19 as limited; without that the window is what is left."""
    story = Tcp()
    story.down(51, 0)
    story.down(51, 1)
    story.ack(61, 2)
    story.down(71, 2)
    for counted, wanted in ((19_000, why), (0, "slow_start")):
        rows: _ROWS = {"tcp_info": [sample_row(50), sample_row(60), sample_row(72, **{clock: counted})]}
        found = sums(account_of_transfer(evidence_of_scene(story.end(81, 3), tmp_path, **rows)))
        assert found[wanted] == 20, counted


@pytest.mark.parametrize(
    ("acked", "flying", "why"),
    [(61, 7, "slow_start"), (61, 6, "pacing"), (53, 7, "pacing_or_program"), (53, 6, "pacing")],
    ids=["prompted, full", "prompted, free", "unprompted, full", "unprompted, free"],
)
def test_a_kernel_that_leaves_more_than_a_third_of_its_window_free_paces(
    acked: float, flying: int, why: str, tmp_path: Path
) -> None:
    """Ten segments may fly, and bytes wait to be sent; the last sample of the wait counts."""
    story = Tcp()
    story.down(51, 0)
    story.ack(acked, 1)
    story.down(71, 1)
    counts = {"sacked": 0, "lost": 0, "retrans": 0}
    rows: _ROWS = {
        "tcp_info": [sample_row(at, unacked=unacked, **counts) for at, unacked in ((55, 1), (65, flying), (72, 1))]
    }
    found = sums(account_of_transfer(evidence_of_scene(story.end(81, 2), tmp_path, **rows)))
    assert found[why] == pytest.approx(20, abs=9)
    assert not {"slow_start", "pacing", "pacing_or_program"} - {why} & set(found)


def test_a_kernel_without_bytes_to_send_waits_for_the_application(tmp_path: Path) -> None:
    """The send buffer is empty in every sample of the wait."""
    story = Tcp()
    story.down(51, 0)
    story.ack(61, 1)
    story.down(151, 1)
    rows: _ROWS = {"tcp_info": [sample_row(at, notsent_bytes=0) for at in (55, 100, 140)]}
    found = sums(account_of_transfer(evidence_of_scene(story.end(161, 2), tmp_path, **rows)))
    assert found["application"] == 100


@pytest.mark.parametrize(("queued", "why"), [(24_000, "send_buffer"), (20_000, "application")], ids=["no room", "room"])
def test_a_send_buffer_without_room_is_the_reason_though_no_clock_counts_it(
    queued: int, why: str, tmp_path: Path
) -> None:
    """All is sent, and more than two thirds of 32 KiB are kept: poll(2) tells the program that it may not write."""
    story = Tcp()
    story.down(51, 0)
    story.ack(71, 1)
    story.down(71, 1)
    kept = {"notsent_bytes": 0, "wmem_queued_bytes": queued, "sndbuf_bytes": 32_768}
    rows: _ROWS = {"tcp_info": [sample_row(at, **kept) for at in (55, 60, 65)]}
    assert sums(account_of_transfer(evidence_of_scene(story.end(81, 2), tmp_path, **rows)))[why] == 20


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


def _http2_rows(*, used: int) -> _ROWS:
    """DATA frames of the stream until 51 ms, and credit for it that is raised at 71 ms."""
    capture = {"source": "raw/server.pcapng", "vantage": "server", "direction": "down", "stream_id": 1}
    frame = capture | {"event": "sent", "frame_type": "data", "length_bytes": used, "http_version": "HTTP/2"}
    limit = capture | {"event": "limit", "scope": "stream", "transport": "tcp"}
    return {
        "http_frames": [frame | {"time_ns": ns(51), "last_byte_ns": ns(51)}],
        "flow_control": [limit | {"time_ns": ns(at), "limit": most} for at, most in ((40, 2800), (71, 9000))],
    }


@pytest.mark.parametrize(("used", "why"), [(2800, "stream_credit"), (2700, "receive_window")])
def test_credit_of_http2_is_held_against_its_frames_before_the_kernel_is_asked(
    used: int, why: str, tmp_path: Path
) -> None:
    """The kernel counts 19 of the 20 ms as limited by TCP's receive window: that is so only if HTTP/2 let more out."""
    story = Tcp()
    story.down(51, 0)
    story.down(51, 1)
    story.ack(61, 2)
    story.down(71, 2)
    samples = [sample_row(50), sample_row(60), sample_row(72, rwnd_limited_us=19_000)]
    rows = {**_http2_rows(used=used), "tcp_info": samples}
    assert sums(account_of_transfer(evidence_of_scene(story.end(81, 3), tmp_path, **rows)))[why] == 20
