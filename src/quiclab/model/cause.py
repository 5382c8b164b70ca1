# SPDX-License-Identifier: Apache-2.0
"""Causes of a transfer's time: what had kept the sender from sending earlier, each label with its evidence.

Labels say what the records show. Where they show less, the label is a union of others (`UNIONS`) and says so.
"""

from __future__ import annotations

import enum


class Why(enum.StrEnum):
    """The reason for one stretch of time, in the order in which sums are reported."""

    TCP_HANDSHAKE = "tcp_handshake"
    TLS_ROUND_TRIP = "tls_round_trip"
    QUIC_HANDSHAKE = "quic_handshake"
    HELLO_RETRY_REQUEST = "hello_retry_request"
    RETRY = "retry"
    AMPLIFICATION_LIMIT = "amplification_limit"
    SET_UP = "set_up"
    SET_UP_LOSS = "set_up_loss"
    REQUEST = "request"
    BROWSER = "browser"
    PLAYER = "player"
    CHANGE_OF_ADDRESS = "change_of_address"
    ORIGIN = "origin"
    LINK_BUSY = "link_busy"
    SLOW_START = "slow_start"
    WINDOW_AFTER_LOSS = "window_after_loss"
    WINDOW_AFTER_EXIT = "window_after_exit"
    WINDOW = "window"
    STREAM_CREDIT = "stream_credit"
    CONNECTION_CREDIT = "connection_credit"
    LATER_REQUEST = "later_request"
    STREAM_LIMIT = "stream_limit"
    RECEIVE_WINDOW = "receive_window"
    SEND_BUFFER = "send_buffer"
    CONTESTED = "contested"
    LOSS_DETECTION = "loss_detection"
    AWAITING_ACKS = "awaiting_acks"
    LOSS_TIMER = "loss_timer"
    PROBE_TIMER = "probe_timer"
    PACING = "pacing"
    NAGLE = "nagle"
    CORK = "cork"
    KEPT_IN_KERNEL = "kept_in_kernel"
    APPLICATION = "application"
    SCHEDULING = "scheduling"
    PACING_OR_PROGRAM = "pacing_or_program"
    PROCESSOR = "processor"
    LABORATORY = "laboratory"
    UNEXPLAINED = "unexplained"
    LAST_FLIGHT = "last_flight"
    ANSWER = "answer"

    @property
    def heading(self) -> str:
        """Name of the label for readers."""
        return _HEADINGS[self]

    @property
    def definition(self) -> str:
        """Observation where time has this label, in a sentence."""
        return _DEFINITIONS[self]


UNIONS: dict[Why, tuple[Why, ...]] = {
    Why.SET_UP: (
        Why.TCP_HANDSHAKE,
        Why.TLS_ROUND_TRIP,
        Why.QUIC_HANDSHAKE,
        Why.HELLO_RETRY_REQUEST,
        Why.RETRY,
    ),
    Why.WINDOW: (Why.SLOW_START, Why.WINDOW_AFTER_LOSS, Why.WINDOW_AFTER_EXIT),
    Why.AWAITING_ACKS: (
        Why.SLOW_START,
        Why.WINDOW_AFTER_LOSS,
        Why.WINDOW_AFTER_EXIT,
        Why.WINDOW,
        Why.STREAM_CREDIT,
        Why.CONNECTION_CREDIT,
        Why.RECEIVE_WINDOW,
        Why.SEND_BUFFER,
        Why.CONTESTED,
        Why.LOSS_DETECTION,
        Why.NAGLE,
    ),
    Why.KEPT_IN_KERNEL: (Why.NAGLE, Why.CORK),
    Why.PACING_OR_PROGRAM: (Why.PACING, Why.APPLICATION, Why.SCHEDULING, Why.CORK, Why.KEPT_IN_KERNEL),
}
"""Label → the finer ones that it stands for where the records do not tell them apart; wider unions last."""

_HEADINGS = {
    Why.TCP_HANDSHAKE: "TCP handshake",
    Why.TLS_ROUND_TRIP: "TLS over TCP",
    Why.QUIC_HANDSHAKE: "QUIC handshake",
    Why.HELLO_RETRY_REQUEST: "HelloRetryRequest",
    Why.RETRY: "QUIC Retry or version negotiation",
    Why.AMPLIFICATION_LIMIT: "amplification limit",
    Why.SET_UP: "set-up",
    Why.SET_UP_LOSS: "loss in the set-up (timer)",
    Why.REQUEST: "request",
    Why.BROWSER: "the browser",
    Why.PLAYER: "the player's own time",
    Why.CHANGE_OF_ADDRESS: "change of address",
    Why.ORIGIN: "the proxy's origin",
    Why.LINK_BUSY: "link busy",
    Why.SLOW_START: "slow start",
    Why.WINDOW_AFTER_LOSS: "window reduced after a loss",
    Why.WINDOW_AFTER_EXIT: "window after slow start ended without a loss",
    Why.WINDOW: "congestion window full",
    Why.STREAM_CREDIT: "credit of the stream",
    Why.CONNECTION_CREDIT: "credit of the connection",
    Why.LATER_REQUEST: "requests sent later",
    Why.STREAM_LIMIT: "number of streams",
    Why.RECEIVE_WINDOW: "TCP's receive window",
    Why.SEND_BUFFER: "the sender's own send buffer",
    Why.CONTESTED: "window and credit, both used up",
    Why.LOSS_DETECTION: "noticing a loss",
    Why.AWAITING_ACKS: "awaiting ACKs or credit",
    Why.LOSS_TIMER: "loss timer",
    Why.PROBE_TIMER: "probe timer",
    Why.PACING: "pacing",
    Why.NAGLE: "Nagle's algorithm",
    Why.CORK: "corked socket",
    Why.KEPT_IN_KERNEL: "kept in the sender's kernel",
    Why.APPLICATION: "nothing to send from the application",
    Why.SCHEDULING: "another stream's turn",
    Why.PACING_OR_PROGRAM: "pacing or the sender's program",
    Why.PROCESSOR: "a program without a processor",
    Why.LABORATORY: "the laboratory itself",
    Why.UNEXPLAINED: "unexplained",
    Why.LAST_FLIGHT: "last flight",
    Why.ANSWER: "server's answer to an upload",
}
_CREDIT = "has the highest offset that it was allowed, until a packet of the receiver raised the limit"
_DEFINITIONS = {
    Why.TCP_HANDSHAKE: "From the client's first SYN to its ClientHello.",
    Why.TLS_ROUND_TRIP: "From a ClientHello over TCP, or from the client's next message, to what follows the answer.",
    Why.QUIC_HANDSHAKE: "From the client's first packet, or the next of its flights, to what follows the answer.",
    Why.HELLO_RETRY_REQUEST: "A round trip of the set-up that a HelloRetryRequest answers.",
    Why.RETRY: "A round trip of the set-up that Retry or Version Negotiation answers.",
    Why.AMPLIFICATION_LIMIT: "The server had sent three times what it had received, and had more to send.",
    Why.SET_UP: "The round trips of the set-up, whatever they carry, but for the amplification limit: it may also hold "
    "back a response.",
    Why.SET_UP_LOSS: "An endpoint sends something of the set-up again more than 1 ms after the last packet came to "
    "it; or a round trip after which the client does, because only that showed the loss.",
    Why.REQUEST: "From the first packet that can carry the request to the first of the response that is served; of an "
    "upload to that packet's own service.",
    Why.BROWSER: "Of a page: the object that led to the next step has come, and the browser has not yet asked for the "
    "next one, begun its connection, or fired the load event.",
    Why.PLAYER: "Of a video: the player has what it asked for, and has not yet asked for more or shown it.",
    Why.CHANGE_OF_ADDRESS: "The client's address has changed, and none of the body to the new one has been served.",
    Why.ORIGIN: "The proxy sends after a packet with data from its origin, and no log shows that a window was full; or "
    "it gives credit for an upload of which it had more than it had sent on.",
    Why.LINK_BUSY: "The bottleneck serves packets of the sender, or one is on its way from one bottleneck to the next.",
    Why.SLOW_START: "The window is full and was never reduced.",
    Why.WINDOW_AFTER_LOSS: "The window is full and was last reduced by a loss, which the row names.",
    Why.WINDOW_AFTER_EXIT: "The window is full; slow start had ended without a loss, and nothing was reduced since.",
    Why.WINDOW: "The window is full; what last reduced it is not in the logs, or the arms' logs differ in that.",
    Why.STREAM_CREDIT: f"The stream of what is sent next {_CREDIT}.",
    Why.CONNECTION_CREDIT: f"The connection {_CREDIT}.",
    Why.LATER_REQUEST: "All that was asked for is sent, and the next object is asked for (or uploaded) later: when the "
    "client has another one.",
    Why.STREAM_LIMIT: "The same, and the next could not be asked for until the server allowed one more stream; or the "
    "sender says that their number is used up.",
    Why.RECEIVE_WINDOW: "TCP: the kernel counts this time as limited by the receive window.",
    Why.SEND_BUFFER: "TCP: the kernel counts this time as limited by the send buffer, or its samples show that full "
    "and all of it sent. QUIC: the stream's unacknowledged bytes are at one round number that they reach three times "
    "or more and never exceed.",
    Why.CONTESTED: "Congestion window and credit are both used up, and one packet of the receiver ends both.",
    Why.LOSS_DETECTION: "What ends the wait is sent again, because of a packet of the receiver; a window is not full.",
    Why.AWAITING_ACKS: "It sends within 1 ms after a packet of the receiver; no log says what it waited for.",
    Why.LOSS_TIMER: "A timer declares a loss: a retransmission timeout, or the time threshold of QUIC.",
    Why.PROBE_TIMER: "A probe timeout: a tail loss probe of TCP, or a PTO of QUIC.",
    Why.PACING: "The sender says that it paces. TCP: the socket can pace (BBR, a limit of its rate, or fq below it), "
    "and the kernel has bytes to send and leaves more than a third of its window free.",
    Why.NAGLE: "TCP's kernel has less than a full segment to send and room in its window, and the acknowledgment of "
    "the last segment that was not full lets it go.",
    Why.CORK: "TCP's kernel has less than a full segment to send and more than a third of its window free, the socket "
    "cannot pace, no segment that was not full is unacknowledged, and no packet lets it go.",
    Why.KEPT_IN_KERNEL: "TCP's kernel has bytes to send and more than a third of its window free, and the socket "
    "cannot pace: Nagle's algorithm, a cork, or the bound on what may stand in the queues below it (small queues).",
    Why.APPLICATION: "The sender says, or the kernel's send buffer shows, that there is nothing to send.",
    Why.SCHEDULING: "The sender says that another stream has its turn.",
    Why.PACING_OR_PROGRAM: "Window and credit have room and no packet of the receiver prompts the sender: it paces, or "
    "its program had nothing, or got no processor. No log tells which.",
    Why.PROCESSOR: "An endpoint had packets to read or to answer for 10 ms or more, and a thread of it waited for a "
    "processor for at least half of that: the part in which it did.",
    Why.LABORATORY: "The laboratory's link wrote a packet later than its model says, by more than 0.05 ms.",
    Why.UNEXPLAINED: "It sends again more than 1 ms after the last packet of the receiver, and no log says why then.",
    Why.LAST_FLIGHT: "From the end of service of the packet that completes the bodies to its arrival.",
    Why.ANSWER: "Of an upload: from the arrival of the last body's last byte to that of the server's answer.",
}
