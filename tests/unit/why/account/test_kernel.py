# SPDX-License-Identifier: Apache-2.0
"""Transfers over TCP that were written by hand, and what the samples of the sender's kernel say of their waits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from decoders import writers
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import SEGMENT, Tcp, evidence_of_scene, sample_row, sums

from quiclab.why.account import account_of_transfer
from quiclab.why.account.kernel import kernel

_ROWS = dict[str, list[dict[str, Any]]]


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
@pytest.mark.parametrize(
    "socket",
    [
        {"congestion_control": "bbr"},
        {"congestion_control": "cubic", "max_pacing_rate_bytes_per_s": 1 << 62},
        {"congestion_control": "cubic", "max_pacing_rate_bytes_per_s": 2**64 - 1},
    ],
    ids=["BBR", "limited", "without pacing"],
)
def test_a_kernel_that_leaves_more_than_a_third_of_its_window_free_paces_if_the_socket_can(
    socket: dict[str, Any], acked: float, flying: int, why: str, tmp_path: Path
) -> None:
    """Ten segments may fly, and bytes wait to be sent; the last sample of the wait counts. CUBIC does not pace."""
    if why == "pacing" and socket.get("max_pacing_rate_bytes_per_s") == 2**64 - 1:
        why = "kept_in_kernel"
    story = Tcp()
    story.down(51, 0)
    story.ack(acked, 1)
    story.down(71, 1)
    counts = {"sacked": 0, "lost": 0, "retrans": 0, **socket}
    rows: _ROWS = {
        "tcp_info": [sample_row(at, unacked=unacked, **counts) for at, unacked in ((55, 1), (65, flying), (72, 1))]
    }
    found = sums(account_of_transfer(evidence_of_scene(story.end(81, 2), tmp_path, **rows)))
    assert found == {"tcp_handshake": 20, "tls_round_trip": 21, "request": 10, why: 20, "last_flight": 10}


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


def _pieces(folder: Path, *, acked: float, at: float, unsent: int, control: str = "cubic") -> dict[str, float]:
    """A full segment and one of 400 bytes at 51 ms, an acknowledgment of both, and another piece of 400 bytes."""
    story = Tcp()
    story.down(51, 0)
    story.scene.send("down", 51, writers.tcp("down", 101 + SEGMENT, bytes(400), ack=272))
    story.scene.send("up", acked, writers.tcp("up", 272, ack=101 + SEGMENT + 400))
    story.scene.send("down", at, writers.tcp("down", 101 + SEGMENT + 400, bytes(400), ack=272))
    told = {"unacked": 2, "sacked": 0, "lost": 0, "retrans": 0, "snd_mss_bytes": SEGMENT, "notsent_bytes": unsent}
    rows = [sample_row(ms, **told, congestion_control=control) for ms in (55, 65, at - 11)]
    scene = story.end(at + 10, 1)
    scene.request["body_bytes"] = SEGMENT + 700
    return sums(account_of_transfer(evidence_of_scene(scene, folder, tcp_info=rows)))


@pytest.mark.parametrize("control", ["cubic", "bbr"])
def test_a_piece_that_waits_for_the_acknowledgment_of_the_last_one_is_nagles(control: str, tmp_path: Path) -> None:
    """The receiver holds its acknowledgment for 40 ms; nine segments of the window are free all the time."""
    found = _pieces(tmp_path, acked=101, at=111.05, unsent=400, control=control)
    assert found["nagle"] == pytest.approx(60.05)


def test_a_piece_that_leaves_without_an_acknowledgment_was_corked(tmp_path: Path) -> None:
    """200 ms later, as Linux lets go of a cork; an acknowledgment came long before."""
    found = _pieces(tmp_path, acked=61, at=251, unsent=400)
    assert found["cork"] == pytest.approx(200)


def test_a_piece_that_leaves_before_the_acknowledgment_of_the_last_one_may_be_either(tmp_path: Path) -> None:
    """Its program may have filled the segment, which Nagle's algorithm waits for, too."""
    found = _pieces(tmp_path, acked=151, at=111.05, unsent=400)
    assert found["kept_in_kernel"] == pytest.approx(60.05)


def test_full_segments_that_wait_with_room_in_the_window_are_neither(tmp_path: Path) -> None:
    """A socket that cannot pace, and more than a full segment to send: nothing shows what kept it."""
    assert _pieces(tmp_path, acked=61, at=251, unsent=2000)["kept_in_kernel"] == pytest.approx(200)
    assert _pieces(tmp_path, acked=101, at=111.05, unsent=2000)["kept_in_kernel"] == pytest.approx(60.05)


def test_a_queue_below_the_socket_that_paces_is_enough(tmp_path: Path) -> None:
    """fq spreads the packets of a socket of CUBIC's."""
    story = Tcp()
    story.down(51, 0)
    story.ack(53, 1)
    story.down(71, 1)
    rows = [sample_row(65, unacked=1, sacked=0, lost=0, retrans=0, congestion_control="cubic")]
    scene = story.end(81, 2)
    scene.extra["host"] = {"tcp_queues": ["fq", "noqueue"]}
    assert sums(account_of_transfer(evidence_of_scene(scene, tmp_path, tcp_info=rows)))["pacing"] == 20


def test_a_connection_within_the_servers_host_is_not_the_sender(tmp_path: Path) -> None:
    """The laboratory fetched an object there so that it is warm: as much was sent, and is looked at longer."""
    story = Tcp()
    story.down(51, 0)
    story.ack(61, 1)
    story.down(91, 1)
    kept = {"snd_cwnd": 10, "snd_mss_bytes": SEGMENT, "unacked": 0, "sacked": 0, "lost": 0, "retrans": 0}
    own = [sample_row(at, notsent_bytes=100, data_segs_out=2, **kept) for at in range(50, 91, 5)]
    warm = {"connection": "10.0.0.2:40000-10.0.0.2:443", "notsent_bytes": 0, "data_segs_out": 3}
    others = [sample_row(at, **kept) | warm for at in range(30, 120, 5)]
    evidence = evidence_of_scene(story.end(101, 2), tmp_path, tcp_info=[*own, *others])
    assert {sample.unsent_bytes for sample in kernel(evidence).samples} == {100}
    alone = evidence_of_scene(story.end(101, 2), tmp_path, tcp_info=others)
    assert {sample.unsent_bytes for sample in kernel(alone).samples} == {0}
