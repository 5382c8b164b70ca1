# SPDX-License-Identifier: Apache-2.0
"""Activities that pass the time of a transfer: the physical side of an account, each label defined by what is observed.

A label is declared here and nowhere else; pages and docs take its words from here.
"""

from __future__ import annotations

import enum


class What(enum.StrEnum):
    """The thing that takes the time of one stretch, in the order in which sums are reported."""

    # A lookup by name has none of the words: `What("payload")`.
    def __new__(cls, name: str, meaning: str = "", details: str = "") -> What:
        what = str.__new__(cls, name)
        what._value_, what.meaning, what.details = name, meaning, details
        return what

    meaning: str
    """Observation where time has this label, as the rest of a sentence."""
    details: str
    """Rules behind the meaning, in sentences; empty where there are none."""

    @property
    def heading(self) -> str:
        """Name of the label for readers."""
        return self.value.replace("_", " ")

    PAYLOAD = (
        "payload",
        "the bottleneck serves bytes that the transport carries for the first time",
    )  # fmt: skip
    OTHER_OBJECT = (
        "other_object",
        "the bottleneck serves such bytes of an object that is not the last to be there",
        "A packet counts as the object's with the most bytes in it; over TCP the frames of HTTP/2 tell, to within a "
        "segment.",
    )  # fmt: skip
    OTHER_CONNECTION = (
        "other_connection",
        "the bottleneck serves packets of another connection of the client while one of this waits",
    )  # fmt: skip
    HEADERS = (
        "headers",
        "the bottleneck serves headers and tags of packets with such bytes",
        "The headers' share of each run of packets stands at its end.",
    )  # fmt: skip
    HANDSHAKE = (
        "handshake",
        "the bottleneck serves handshake packets",
    )  # fmt: skip
    RETRANSMISSION = (
        "retransmission",
        "the bottleneck serves bytes again of which no earlier copy arrived whole",
    )  # fmt: skip
    NEEDLESS = (
        "needless_retransmission",
        "the bottleneck serves bytes again that an earlier copy brought",
    )  # fmt: skip
    PROBE = (
        "probe",
        "the bottleneck serves packets without data or acknowledgments: PING, padding",
    )  # fmt: skip
    ACKNOWLEDGMENTS = (
        "acknowledgments",
        "the bottleneck serves packets of the sender without data",
        "No wait ends with them, nor with a probe larger than all data before it, which looks for the path's MTU: the "
        "next packet with data counts.",
    )  # fmt: skip
    SERVED = (
        "served",
        "the bottleneck serves packets whose contents no log shows",
    )  # fmt: skip
    ABANDONED = (
        "abandoned",
        "the bottleneck serves packets for an address that the client has left",
        "What counts is when they came, or would have come.",
    )  # fmt: skip
    OTHER_FLOW = (
        "other_flow",
        "the bottleneck serves another flow's packets while this one's wait",
    )  # fmt: skip
    PROPAGATION_DOWN = (
        "propagation_down",
        "a packet is on its way to the client, behind the queue of a link",
    )  # fmt: skip
    PROPAGATION_UP = (
        "propagation_up",
        "a packet is on its way to the server, behind the queue of a link",
    )  # fmt: skip
    LINK_UP = (
        "link_up",
        "a packet to the server that sends the bodies waits or is served at a link",
    )  # fmt: skip
    LINK_DOWN = (
        "link_down",
        "a packet to the client that uploads waits or is served at a link",
    )  # fmt: skip
    NODE = (
        "node",
        "a packet is at the node between two links",
    )  # fmt: skip
    ACK_HELD = (
        "ack_held",
        "the receiver has a packet and has not yet sent the acknowledgment or credit that follows it",
        "Where any acknowledgment would end the wait, it counts from the second packet on that the receiver had not "
        "answered (RFC 5681 section 4.2, RFC 9000 section 13.2.2).",
    )  # fmt: skip
    CLIENT = (
        "client",
        "the client has a packet and has not yet sent what follows it, beyond acknowledgments",
    )  # fmt: skip
    SERVER = (
        "server",
        "the server has a packet and has not yet sent the one that follows it",
    )  # fmt: skip
    TIMER = (
        "timer",
        "an endpoint waits for a timer of its own: of losses, of probes, of pacing",
    )  # fmt: skip
    JITTER = (
        "jitter",
        "the path's delay beyond the least of this direction",
        "Jitter, packets held back to be overtaken, or a delay that changed.",
    )  # fmt: skip
    LATE = (
        "late",
        "the laboratory's link wrote a packet later than its model says",
        "By more than 0.05 ms.",
    )  # fmt: skip
    UNEXPLAINED = (
        "unexplained",
        "no record shows what passed",
    )  # fmt: skip
