# SPDX-License-Identifier: Apache-2.0
"""Activities that pass the time of a transfer: the physical side of an account, each label defined by what is
observed."""

from __future__ import annotations

import enum


class What(enum.StrEnum):
    """The thing that takes the time of one stretch, in the order in which sums are reported."""

    PAYLOAD = "payload"
    OTHER_OBJECT = "other_object"
    OTHER_CONNECTION = "other_connection"
    HEADERS = "headers"
    HANDSHAKE = "handshake"
    RETRANSMISSION = "retransmission"
    NEEDLESS = "needless_retransmission"
    PROBE = "probe"
    ACKNOWLEDGMENTS = "acknowledgments"
    SERVED = "served"
    ABANDONED = "abandoned"
    OTHER_FLOW = "other_flow"
    PROPAGATION_DOWN = "propagation_down"
    PROPAGATION_UP = "propagation_up"
    LINK_UP = "link_up"
    LINK_DOWN = "link_down"
    NODE = "node"
    ACK_HELD = "ack_held"
    CLIENT = "client"
    SERVER = "server"
    TIMER = "timer"
    JITTER = "jitter"
    LATE = "late"
    UNEXPLAINED = "unexplained"

    @property
    def heading(self) -> str:
        """Name of the label for readers."""
        return self.value.replace("_", " ")

    @property
    def meaning(self) -> str:
        """Observation where time has this label, as the rest of a sentence."""
        return _MEANINGS[self]


_MEANINGS = {
    What.PAYLOAD: "the bottleneck serves bytes that the transport carries for the first time",
    What.OTHER_OBJECT: "the bottleneck serves such bytes of an object that is not the last to be there",
    What.OTHER_CONNECTION: "the bottleneck serves packets of another connection of the client while one of this waits",
    What.HEADERS: "the bottleneck serves headers and tags of packets with such bytes",
    What.HANDSHAKE: "the bottleneck serves packets of the set-up",
    What.RETRANSMISSION: "the bottleneck serves bytes again of which no earlier copy arrived whole",
    What.NEEDLESS: "the bottleneck serves bytes again that an earlier copy brought",
    What.PROBE: "the bottleneck serves packets without data or acknowledgments: PING, padding",
    What.ACKNOWLEDGMENTS: "the bottleneck serves packets of the sender without data",
    What.SERVED: "the bottleneck serves packets whose contents no log shows",
    What.ABANDONED: "the bottleneck serves packets for an address that the client has left",
    What.OTHER_FLOW: "the bottleneck serves another flow's packets while this one's wait",
    What.PROPAGATION_DOWN: "a packet is on its way to the client, behind the queue of a link",
    What.PROPAGATION_UP: "a packet is on its way to the server, behind the queue of a link",
    What.LINK_UP: "a packet to the server that sends the bodies waits or is served at a link",
    What.LINK_DOWN: "a packet to the client that uploads waits or is served at a link",
    What.NODE: "a packet is at the node between two links",
    What.ACK_HELD: "the receiver has a packet and has not yet sent the acknowledgment or credit that follows it",
    What.CLIENT: "the client has a packet and has not yet sent what follows it, beyond acknowledgments",
    What.SERVER: "the server has a packet and has not yet sent the one that follows it",
    What.TIMER: "an endpoint waits for a timer of its own: of losses, of probes, of pacing",
    What.JITTER: "the path's delay beyond the least of this direction",
    What.LATE: "the laboratory's link wrote a packet later than its model says",
    What.UNEXPLAINED: "no record shows what passed",
}
