# SPDX-License-Identifier: Apache-2.0
"""One trial for each mechanism, in which it takes time and its rivals take none."""

from __future__ import annotations

from collections.abc import Callable

from unit.why.mechanisms.scenes import Case, busy, edge, full, ns

from quiclab.why.account import What, Why

SET_UP = edge(Why.QUIC_HANDSHAKE, 10, What.PROPAGATION_UP)
AFTER_LOSS = full(Why.WINDOW_AFTER_LOSS, event_ns=ns(20), event_packet=5)


def _after_loss(reason: str, **packet: object) -> Case:
    """A round trip with a window that was reduced because of packet 5, and what the link did to that."""
    return Case([SET_UP, busy(), *AFTER_LOSS, busy()]).window((0, 20), (10, 10)).packet("down", 5, 1, reason, **packet)


def _halved(left: int = 10) -> Case:
    """A window of 20 packets before a loss, 10 after it, and a wait for it of 20 ms that is over at 12."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW_AFTER_LOSS, event_ns=ns(10), event_packet=5), busy()])
    return case.window((0, 20), (10, left), (20, left + 2)).packet("down", 5, 1, "loss_entry")


def _restarted(protocol: str = "h2", idle_ms: float = 300, *, lost: bool = False) -> Case:
    """The window falls from 40 packets to 10 at the end of an idle time, and is back a round trip later."""
    again = [edge(Why.APPLICATION, idle_ms, What.SERVER), busy(), *full(Why.SLOW_START), busy(), *full(Why.SLOW_START)]
    case = Case([SET_UP, busy(), *full(Why.SLOW_START), busy(), *again], protocol, threshold=2**31 - 1)
    metric = "tcp_info" if protocol == "h2" else "transport_metrics"
    steps = ((0, 20), (20, 40), (33 + idle_ms, 10), (54 + idle_ms, 40))
    for number, ms in enumerate((11, 32, 32 + idle_ms, 53 + idle_ms)):
        case.captured("server", "down", number, ms)
    if lost:
        case.add("losses", vantage="server", direction="down", time_ns=ns(32 + idle_ms), estimate=False)
    return case.packet("down", 0, 11).packet("up", 0, 22).window(*steps, metric=metric)


def _reduced_again(*, same_episode: bool = True, left: int = 5) -> Case:
    """The window falls from 20 packets to 10 and then to `left`; what the second loss was sent before or after."""
    case = Case([SET_UP, busy(), *full(Why.WINDOW_AFTER_LOSS, event_ns=ns(20), event_packet=6), busy()])
    case.window((0, 20), (10, 10), (20, left))
    for number, sent_ms, lost_ms in ((5, 1, 10), (6, 2 if same_episode else 10.5, 20)):
        case.packet("down", number, sent_ms, "loss_entry").logged("server", "down", number, "sent", time_ns=ns(sent_ms))
        case.add(
            "losses",
            vantage="server",
            transport="quic",
            estimate=False,
            time_ns=ns(lost_ms),
            packet_type="1RTT",
            packet_number=number,
        )
    return case


def _waits(why: Why, protocol: str = "h3", **columns: object) -> Case:
    return Case([SET_UP, busy(), *full(why, **columns), busy()], protocol)


def _nagle() -> Case:
    """A piece waits for the acknowledgment of the one before it, which the receiver holds for 40 ms."""
    there, held, back = full(Why.NAGLE)[0], edge(Why.NAGLE, 40, What.ACK_HELD), full(Why.NAGLE)[1]
    return Case([SET_UP, busy(), there, held, back, busy()], "h2")


def _arrived(*, read: bool) -> Case:
    """Packet 5 was declared lost, and is in the client's capture; its program read it, or only the others."""
    case = _after_loss("", due_ns=ns(15)).packet("down", 6, 1.5)  # the later one overtakes it
    for index in (4, 5, 6):
        case.captured("client", "down", index, 12).captured("server", "down", index, 1)
    case.logged("client", "down", 4, "received")
    return case.logged("client", "down", 5, "received") if read else case


def _queue_of(mine: int, others: int, reason: str = "queue_full") -> Case:
    """Packet 5 was dropped while so many packets of each kind stood in the queue."""
    case = _after_loss(reason)
    for number in range(mine + others):
        case.packet("down", 10 + number, 0.5, queue_ms=30, flow=1 if number < mine else 2)
    for index in (5, *range(10, 10 + mine)):
        case.captured("server", "down", index, 0.5)
    return case


def _amplified(*, before: bool) -> Case:
    """The server sent 3,600 bytes for 1,200, and then nothing for a round trip: of its handshake, or of a response."""
    limit = full(Why.AMPLIFICATION_LIMIT)
    case = Case([SET_UP, *(limit if before else ()), busy(), *(() if before else limit), busy()])
    case.captured("server", "up", 0, 0, payload_bytes=1200)
    for index in range(3):
        case.captured("server", "down", index, 1, payload_bytes=1200)
    return case


def _timer(why: Why, protocol: str = "h3", *, dropped: str = "", acks_dropped: bool = False, **columns: object) -> Case:
    """A wait of 30 ms for a timer, from 11 ms on; packet 5 left before it, and acknowledgments after it."""
    case = Case([SET_UP, busy(), edge(why, 30, What.TIMER, **columns), busy()], protocol)
    case.packet("down", 5, 9, dropped)
    return case.packet("up", 1, 20, "loss_entry" if acks_dropped else "")


def _hole(*reasons: str, ms: tuple[float, ...] = (8, 9, 10)) -> Case:
    """A wait of 30 ms for a probe timer, from 11 ms on, behind packets of 1,480 bytes and one of 80."""
    case = _timer(Why.PROBE_TIMER).packet("down", 20, 9.5, size_bytes=80)
    case.rows["link_packets"] = [row for row in case.rows["link_packets"] if row["index"] != 5]
    for number, (reason, at) in enumerate(zip(reasons, ms, strict=True)):
        case.packet("down", 5 + number, at, reason, size_bytes=1480)
    return case


def _credit(*, lost: bool) -> Case:
    """A round trip without credit of the stream, within which the client allows more by its packet 3."""
    case = _waits(Why.STREAM_CREDIT).packet("up", 3, 21, "loss_entry" if lost else "")
    case.logged("client", "up", 3, "sent")
    frame = {"source": "raw/client.sqlog", "vantage": "client", "direction": "up", "event": "sent"}
    return case.add("frames", **frame, packet_type="1RTT", packet_number=3, frame_type="max_stream_data")


def _slow_reader() -> Case:
    """The receiver kept what it had for 40 ms before it allowed more."""
    held = edge(Why.STREAM_CREDIT, 40, What.ACK_HELD)
    return Case([SET_UP, busy(), edge(Why.STREAM_CREDIT, 10, What.PROPAGATION_DOWN), held, busy()])


def _left_slow_start() -> Case:
    return _waits(Why.WINDOW_AFTER_EXIT, event_ns=ns(11)).window((0, 10), (11, 20))


def _modelled() -> Case:
    """A TCP sender whose BBR is past its start-up, and takes the link of 10 Mbit/s for one of 4."""
    case = _waits(Why.SLOW_START, "h2").packet("down", 5, 1)
    told = {"bbr_bw_bytes_per_s": 500_000, "bbr_pacing_gain_256ths": 256, "snd_cwnd": 20, "ca_state": "open"}
    return case.add("tcp_info", vantage="server", connection="c", time_ns=ns(5), **told)


def _processor(what: What, protocol: str = "h3", *, proxy: bool = False) -> Case:
    """15 ms on the way, then 20 ms at an endpoint, in which a thread of it waited for a processor."""
    case = Case([SET_UP, busy(), edge(Why.PROCESSOR, 5), edge(Why.PROCESSOR, 20, what), busy()], protocol)
    case.record = {"proxy": {"name": "envoy"}} if proxy else {}
    return case.waited("client" if what is What.ACK_HELD else "proxy" if proxy else "server", 20)


CASES: dict[str, tuple[Callable[[], Case], float]] = {
    "handshake_round_trips": (lambda: Case([SET_UP, edge(Why.QUIC_HANDSHAKE, 10, What.PROPAGATION_DOWN), busy()]), 20),
    "hello_retry_request": (lambda: _waits(Why.HELLO_RETRY_REQUEST), 20),
    "retry": (lambda: _waits(Why.RETRY), 20),
    "amplification_limit": (lambda: _amplified(before=True), 20),
    "early_data_amplification_limit": (lambda: _amplified(before=False), 20),
    "handshake_packet_lost": (lambda: Case([edge(Why.SET_UP_LOSS, 1000, What.TIMER), SET_UP, busy()]), 1000),
    "request_and_last_flight": (lambda: Case([edge(Why.REQUEST, 10), busy(), edge(Why.LAST_FLIGHT, 10)]), 20),
    "time_to_answer": (lambda: Case([edge(Why.REQUEST, 10), edge(Why.REQUEST, 80, What.SERVER), busy()]), 80),
    "slow_start": (lambda: _waits(Why.SLOW_START).window((0, 10), (25, 20)), 20),
    "slow_start_left_without_loss": (_left_slow_start, 20),
    "bbr_model_limited": (_modelled, 20),
    "minimum_window": (lambda: _after_loss("loss_entry").window((11, 2)), 20),
    "slow_start_after_idle": (_restarted, 20),
    "reduced_in_recovery": (_reduced_again, 20),
    "larger_window_reduction": (_halved, 20),
    "largest_window": (
        lambda: (
            Case([busy(), *(10 * full(Why.SLOW_START)), busy()])
            .window((0, 10), (20, 10))
            .packet("down", 5, 1)
            .packet("up", 5, 1)
        ),
        200,
    ),
    "loss_on_the_path": (lambda: _after_loss("loss_entry"), 20),
    "path_mtu_black_hole": (lambda: _hole("oversize", "oversize", "oversize"), 30),
    "large_packets_lost": (lambda: _hole("oversize", "", "oversize"), 30),
    "overshoot": (lambda: _queue_of(9, 1), 20),
    "competition_for_the_queue": (lambda: _queue_of(1, 9), 20),
    "policed": (lambda: _after_loss("policed"), 20),
    "active_queue_management": (lambda: _after_loss("aqm"), 20),
    "reordering_taken_for_loss": (lambda: _arrived(read=True), 20),
    "dropped_at_the_receiver": (lambda: _arrived(read=False), 20),
    "stream_flow_control_limited": (lambda: _credit(lost=False), 20),
    "connection_flow_control_limited": (lambda: _waits(Why.CONNECTION_CREDIT), 20),
    "credit_update_lost": (lambda: _credit(lost=True), 20),
    "receive_window_limited": (lambda: _waits(Why.RECEIVE_WINDOW, "h2"), 20),
    "send_buffer_limited": (lambda: _waits(Why.SEND_BUFFER), 20),
    "stream_limit": (lambda: _waits(Why.STREAM_LIMIT), 20),
    "requests_one_after_the_other": (lambda: _waits(Why.LATER_REQUEST), 20),
    "retransmission_timeout": (
        lambda: _timer(Why.LOSS_TIMER, "h2", dropped="loss_entry", prompted_after_ns=210_000_000),
        30,
    ),
    "loss_timer": (lambda: _timer(Why.LOSS_TIMER, dropped="queue_full"), 30),
    "tail_probe": (lambda: _timer(Why.PROBE_TIMER, dropped="loss_entry"), 30),
    "spurious_probe": (lambda: _timer(Why.PROBE_TIMER), 30),
    "acknowledgments_lost": (lambda: _timer(Why.PROBE_TIMER, acks_dropped=True), 30),
    "spurious_retransmission": (lambda: Case([busy(), busy(5, What.NEEDLESS)]).packet("down", 5, 1), 5),
    "repeats": (
        lambda: Case([busy(), busy(5, What.RETRANSMISSION)]).packet("down", 5, 1, "loss_exit", served_ns=ns(2)),
        5,
    ),
    "loss_detection_delay": (lambda: _waits(Why.LOSS_DETECTION), 20),
    "delayed_acknowledgment": (
        lambda: Case([busy(), *full(Why.SLOW_START), edge(Why.SLOW_START, 25, What.ACK_HELD), busy()]),
        25,
    ),
    "bytes_on_the_wire": (lambda: Case([SET_UP, busy(40), busy(2, What.HEADERS)]), 42),
    "handshake_bytes": (lambda: Case([edge(Why.QUIC_HANDSHAKE, 3, What.HANDSHAKE, size_bytes=3750), SET_UP]), 3),
    "abandoned_bytes": (lambda: Case([busy(), busy(7, What.ABANDONED)]), 7),
    "competing_flow": (lambda: Case([busy(), busy(8, What.OTHER_FLOW)]), 8),
    "jitter": (lambda: Case([busy(), edge(Why.SLOW_START, 4, What.JITTER)]), 4),
    "change_of_address": (lambda: _waits(Why.CHANGE_OF_ADDRESS), 20),
    "client_without_processor": (lambda: _processor(What.ACK_HELD), 25),
    "server_without_processor": (lambda: _processor(What.SERVER), 25),
    "proxy_without_processor": (lambda: _processor(What.SERVER, proxy=True), 25),
    "receiver_application_limited": (_slow_reader, 50),
    "pacing": (lambda: _waits(Why.PACING), 20),
    "nagle": (_nagle, 60),
    "cork": (lambda: _waits(Why.CORK), 20),
    "application": (lambda: _waits(Why.APPLICATION), 20),
    "scheduling": (lambda: _waits(Why.SCHEDULING), 20),
    "origin": (lambda: _waits(Why.ORIGIN), 20),
    "answer": (lambda: Case([busy(), edge(Why.ANSWER, 10)]), 10),
}
"""Mechanism → its trial, and the ms that it claims there."""
