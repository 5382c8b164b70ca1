# SPDX-License-Identifier: Apache-2.0
"""Causes of a transfer's time: what had kept the sender from sending earlier, each label with its evidence.

Labels say what the records show. Where they show less, the label is a union of others (`UNIONS`) and says so. A label
is declared here and nowhere else: name, heading, style and words. Figures, pages and docs take them from here.

Reasons of one family share a hue: windows orange, credit and buffers blue, losses and timers red, the sender itself
green, handshake violet. A busy link is grey, since nothing waits then but for the link. Any two reasons have another
pattern or another lightness, so that none is told by its hue alone.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


@dataclass(frozen=True)
class BarStyle:
    """Style of the bars of one reason."""

    colour: str
    pattern: str = ""
    """Pattern of the bars, as plotly names it; empty is a full bar."""
    spacing: int = 6
    """Distance of the pattern's lines or dots, in pixels."""


_NO_STYLE = BarStyle("")


class Why(enum.StrEnum):
    """The reason for one stretch of time, in the order in which sums are reported."""

    # A lookup by name has none of the words: `Why("pacing")`.
    def __new__(
        cls, name: str, heading: str = "", style: BarStyle = _NO_STYLE, definition: str = "", details: str = ""
    ) -> Why:
        why = str.__new__(cls, name)
        why._value_, why.heading, why.style, why.definition, why.details = name, heading, style, definition, details
        return why

    heading: str
    """Name of the label for readers."""
    style: BarStyle
    """Style of the label in figures and tables."""
    definition: str
    """Observation where time has this label, in a sentence."""
    details: str
    """Rules behind the definition, in sentences; empty where there are none."""

    TCP_HANDSHAKE = (
        "tcp_handshake", "TCP handshake", BarStyle("#6a3fb5", "/"),
        "From the client's first SYN to its ClientHello.",
    )  # fmt: skip
    TLS_ROUND_TRIP = (
        "tls_round_trip", "TLS over TCP", BarStyle("#9b7bd4", "x"),
        "From a ClientHello over TCP, or from the client's next message, to what follows the answer.",
    )  # fmt: skip
    QUIC_HANDSHAKE = (
        "quic_handshake", "QUIC handshake", BarStyle("#6a3fb5", "|"),
        "From the client's first packet, or the next of its flights, to what follows the answer.",
    )  # fmt: skip
    HELLO_RETRY_REQUEST = (
        "hello_retry_request", "HelloRetryRequest", BarStyle("#9b7bd4", "+"),
        "A handshake round trip that a HelloRetryRequest answers.",
    )  # fmt: skip
    RETRY = (
        "retry", "QUIC Retry or version negotiation", BarStyle("#9b7bd4", "."),
        "A handshake round trip that Retry or Version Negotiation answers.",
    )  # fmt: skip
    AMPLIFICATION_LIMIT = (
        "amplification_limit", "amplification limit", BarStyle("#4b2a86", "."),
        "The server had sent three times what it had received, and had more to send.",
        "It counts from the instant at which the server falls silent (RFC 9000 section 8), while no packet has shown "
        "it the client's address. It goes on with its handshake, or after early data with the response, when more has "
        "come. What it repeats then is `set_up_loss`.",
    )  # fmt: skip
    SET_UP = (
        "set_up", "handshake", BarStyle("#6a3fb5", "/", 12),
        "Handshake round trips, whatever they carry, but for the amplification limit: it may also hold back a "
        "response.",
    )  # fmt: skip
    SET_UP_LOSS = (
        "set_up_loss", "handshake loss (timer)", BarStyle("#7d1128", "x"),
        "An endpoint sends something of the handshake again more than 1 ms after the last packet came to it; or a "
        "round trip after which the client does, because only that showed the loss.",
        "Or a round trip that the client begins with acknowledgments alone, in which the server repeats something. "
        "What begins anew after Retry or refused early data is not sent again.",
    )  # fmt: skip
    REQUEST = (
        "request", "request", BarStyle("#14746f", "/"),
        "From the first packet that can carry the request to the first of the response that is served; of an upload "
        "to that packet's own service.",
        "Over TLS the response begins with the first segment of the record that has its headers. Its part that is "
        "`server` passes between the arrival of the whole request and the answer. Without keys a capture over TCP "
        "shows neither: such time is then `application`, if the kernel had nothing to send. After early data it "
        "leaves out the round trips in which the handshake goes on, and all that passes until the client last repeats "
        "its request or probes: that is its `loss_timer` or `probe_timer`.",
    )  # fmt: skip
    BROWSER = (
        "browser", "the browser", BarStyle("#8d6e63", "."),
        "Of a page: the object that led to the next step has come, and the browser has not yet asked for the next "
        "one, begun its connection, or fired the load event.",
        "`http_requests` names the objects, `page_events` the load event.",
    )  # fmt: skip
    PLAYER = (
        "player", "the player's own time", BarStyle("#5d4037", "/"),
        "Of a video: the player has what it asked for, and has not yet asked for more or shown it.",
        "`http_requests` has what it asked for, `player_events` what it has shown.",
    )  # fmt: skip
    CHANGE_OF_ADDRESS = (
        "change_of_address", "change of address", BarStyle("#5d4037", "\\"),
        "The client's address has changed, and none of the body to the new one has been served.",
        "`event_ns` says when. It is a connection's handshake and second request, or the validation of the path.",
    )  # fmt: skip
    ORIGIN = (
        "origin", "the proxy's origin", BarStyle("#8d6e63", "\\"),
        "The proxy sends after a packet with data from its origin, and no log shows that a window was full; or it "
        "gives credit for an upload of which it had more than it had sent on.",
        "The data came within 1 ms before it sends, and nothing came from the client since, or the proxy had sent on "
        "all it had got before, to within a TLS record; if it had, and sends later than that, it is the time until "
        "the data came.",
    )  # fmt: skip
    LINK_BUSY = (
        "link_busy", "transmitting", BarStyle("#c3c8ce"),
        "The bottleneck serves packets of the sender, or one is on its way from one bottleneck to the next.",
    )  # fmt: skip
    SLOW_START = (
        "slow_start", "slow start", BarStyle("#f2b04c", "/"),
        "The window is full and was never reduced.",
        "Without a log of the sender: its capture has as much in flight as at any time of the round trip before, and "
        "that grows by what is acknowledged, or has so far; or, over QUIC, it never grows, in packets that are not "
        "cut: a bound of the window.",
    )  # fmt: skip
    WINDOW_AFTER_LOSS = (
        "window_after_loss", "congestion window after loss", BarStyle("#d55e00"),
        "The window is full and was last reduced by a loss, which the row names.",
        "`event_ns` and `event_packet` do. Of a log that names no lost packets (quiche's) the captures tell them, or "
        "the recovery that begins then. A reduction that is taken back at once, as CUBIC's rollback does, counts no "
        "more from then on. Without a log of the sender: its capture has had less in flight ever since the loss than "
        "before it.",
    )  # fmt: skip
    WINDOW_AFTER_EXIT = (
        "window_after_exit", "congestion window after slow-start exit", BarStyle("#d55e00", "|"),
        "The window is full; slow start had ended without a loss, and nothing was reduced since.",
        "Without a log of the sender: nothing is lost, and behind slow start the flights of six round trips or more "
        "grow little by little.",
    )  # fmt: skip
    WINDOW = (
        "window", "congestion window full", BarStyle("#e58a3c", "x"),
        "The window is full; what last reduced it is not in the logs, or the arms' logs differ in that.",
    )  # fmt: skip
    STREAM_CREDIT = (
        "stream_credit", "stream flow control", BarStyle("#1f63a0"),
        "The stream of what is sent next has the highest offset that it was allowed, until a packet of the receiver "
        "raised the limit.",
        "The limit is the announced one, or the last that the receiver gave; what is sent again needs none.",
    )  # fmt: skip
    CONNECTION_CREDIT = (
        "connection_credit", "connection flow control", BarStyle("#1f63a0", "-"),
        "The connection has the highest offset that it was allowed, until a packet of the receiver raised the limit.",
        "The limit is the announced one, or the last that the receiver gave; what is sent again needs none.",
    )  # fmt: skip
    LATER_REQUEST = (
        "later_request", "requests sent later", BarStyle("#14746f", "|"),
        "All that was asked for is sent, and the next object is asked for (or uploaded) later: when the client has "
        "another one.",
        "The client asks for so many at a time. Of several connections, and of HTTP/1.1, it is the time since the "
        "answer that gave it a place for the next.",
    )  # fmt: skip
    STREAM_LIMIT = (
        "stream_limit", "concurrent stream limit", BarStyle("#16456f"),
        "The same, and the next could not be asked for until the server allowed one more stream; or the sender says "
        "that their number is used up.",
        "QUIC's limit was raised later than the client had a place for the next; HTTP/2's is lower than what the "
        "client asks for at once.",
    )  # fmt: skip
    RECEIVE_WINDOW = (
        "receive_window", "TCP receive window", BarStyle("#56b4e9"),
        "TCP: the kernel counts this time as limited by the receive window; without its samples the sender's capture "
        "shows a window without room.",
    )  # fmt: skip
    SEND_BUFFER = (
        "send_buffer", "send buffer", BarStyle("#56b4e9", "\\"),
        "TCP: the kernel counts this time as limited by the send buffer, or its samples show that full and all of it "
        "sent. Without these, and over QUIC: the unacknowledged bytes, of QUIC those of a stream, are at one number "
        "that they reach three times or more and never exceed.",
        "TCP's is full where that is more than two thirds of its bound, so that poll(2) calls the socket unwritable. "
        "Where no log tells of a window a packet is cut for that number, or it is a multiple of 1,000 or 1,024 and no "
        "number of full packets: a congestion window lets whole packets out, and grows. Where the sender's log shows "
        "room in its window, any such number counts. Four times of five the sender goes on from there within 1 ms of "
        "an acknowledgment: a program that writes in pieces goes on by itself.",
    )  # fmt: skip
    CONTESTED = (
        "contested", "congestion window and flow control", BarStyle("#7f7fbf", "/", 12),
        "Congestion window and credit are both used up, and one packet of the receiver ends both.",
    )  # fmt: skip
    LOSS_DETECTION = (
        "loss_detection", "loss detection", BarStyle("#cc79a7"),
        "What ends the wait is sent again, because of a packet of the receiver; a window is not full.",
        "Or nothing new was left, or none that the credit allowed, and the sender did not know of the loss for most "
        "of the wait (`losses` of QUIC's log; of TCP the kernel's counts of lost segments and of those sent again).",
    )  # fmt: skip
    AWAITING_ACKS = (
        "awaiting_acks", "waiting for ACKs or flow control", BarStyle("#a67c52", "-"),
        "It sends within 1 ms after a packet of the receiver; no log says what it waited for.",
    )  # fmt: skip
    LOSS_TIMER = (
        "loss_timer", "loss timer", BarStyle("#b3123f", "\\"),
        "A timer declares a loss: a retransmission timeout, or the time threshold of QUIC.",
        "A time threshold is also looked at when an acknowledgment comes: a loss that the log declares within 0.25 ms "
        "after that is `loss_detection`.",
    )  # fmt: skip
    PROBE_TIMER = (
        "probe_timer", "probe timer", BarStyle("#b3123f", "+"),
        "A probe timeout: a tail loss probe of TCP, or a PTO of QUIC.",
    )  # fmt: skip
    PACING = (
        "pacing", "pacing", BarStyle("#009e73", "\\"),
        "The sender says that it paces. TCP: the socket can pace (BBR, a limit of its rate, or fq below it), and the "
        "kernel has bytes to send and leaves more than a third of its window free.",
        "`tcp_info` and the record's `tcp_queues` show whether the socket can; `tcp.pacing` sets a limit of its rate. "
        "Of QUIC also eight packets or more that were sent, to within a tenth, at the rate that RFC 9002 section 7.7 "
        "gives a pacer, 1.25 of the window in a smoothed round trip, where the log shows both, or the capture in slow "
        "start (of transfers over one connection: a page's waits are not held against it). Without a log also "
        "eight even intervals or more between full packets, with nothing having come in three of them.",
    )  # fmt: skip
    NAGLE = (
        "nagle", "Nagle's algorithm", BarStyle("#009e73", "\\", 12),
        "TCP's kernel has less than a full segment to send and room in its window, and the acknowledgment of the last "
        "segment that was not full lets it go.",
        "RFC 9293 section 3.7.4. A receiver that delays this acknowledgment is seen as `ack_held`.",
    )  # fmt: skip
    CORK = (
        "cork", "corked socket", BarStyle("#009e73", "x", 12),
        "TCP's kernel has less than a full segment to send and more than a third of its window free, the socket "
        "cannot pace, no segment that was not full is unacknowledged, and no packet lets it go.",
    )  # fmt: skip
    KEPT_IN_KERNEL = (
        "kept_in_kernel", "held in the sender's kernel", BarStyle("#009e73", "-", 12),
        "TCP's kernel has bytes to send and more than a third of its window free, and the socket cannot pace: Nagle's "
        "algorithm, a cork, or the bound on what may stand in the queues below it (small queues).",
    )  # fmt: skip
    APPLICATION = (
        "application", "waiting for the application", BarStyle("#006b4e", "x"),
        "The sender says, or the kernel's send buffer shows, that there is nothing to send.",
        "Without any log it is told where the receiver had answered all data and nothing more had come for half a "
        "round trip: a pacer spreads two packets or more over a round trip (RFC 9002 sections 7.2 and 7.7), and no "
        "probe timer runs with nothing on its way. Or the last packet was not full, and the window had room: "
        "little was in flight, nothing came until the next packet, or there had been room for that before.",
    )  # fmt: skip
    SCHEDULING = (
        "scheduling", "stream scheduling", BarStyle("#7ccfb2", "x"),
        "The sender says that another stream has its turn.",
    )  # fmt: skip
    PACING_OR_PROGRAM = (
        "pacing_or_program", "pacing or the sender's program", BarStyle("#7ccfb2", "\\"),
        "Window and credit have room and no packet of the receiver prompts the sender: it paces, or its program had "
        "nothing, or got no processor. No log tells which.",
        "What it sent is new or had room. A sender that paces spreads its window over a round trip: then this is the "
        "window's time, where the link idles for most of it.",
    )  # fmt: skip
    PROCESSOR = (
        "processor", "waiting for a CPU", BarStyle("#8a6d1f", "x"),
        "An endpoint had packets to read or to answer for 10 ms or more, and a thread of it waited for a processor "
        "for at least half of that: the part in which it did.",
        "`run_delays` tells, through a proxy that of the proxy. What waits for an `origin` stays its own. A TCP "
        "kernel needs no processor of its program for windows, acknowledgments and timers.",
    )  # fmt: skip
    LABORATORY = (
        "laboratory", "the laboratory itself", BarStyle("#5c5c5c", "."),
        "The laboratory's link wrote a packet later than its model says, by more than 0.05 ms.",
        "It is time of neither endpoint. With short waits of programs for a processor it is in the metric "
        "`disturbance_ms`, by which a trial is judged.",
    )  # fmt: skip
    UNEXPLAINED = (
        "unexplained", "unexplained", BarStyle("#33363b", "/"),
        "It sends again more than 1 ms after the last packet of the receiver, and no log says why then.",
    )  # fmt: skip
    LAST_FLIGHT = (
        "last_flight", "last delivery", BarStyle("#7f848a", "/"),
        "From the end of service of the packet that completes the bodies to its arrival.",
    )  # fmt: skip
    ANSWER = (
        "answer", "server's answer to an upload", BarStyle("#14746f", "/", 12),
        "Of an upload: from the arrival of the last body's last byte to that of the server's answer.",
        "Without it the edges add up to `upload_ms`. A proxy answers when its origin has: `link` tells what passed "
        "behind it.",
    )  # fmt: skip


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
