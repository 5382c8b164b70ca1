# SPDX-License-Identifier: Apache-2.0
"""Handshake round trips: what must pass before a request can be sent."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import Why
from quiclab.why.account.levels import Level
from quiclab.why.mechanisms._api import Claim, Counted, Each, Fact, Family, Mechanism, Rival, Setting
from quiclab.why.mechanisms._handshake_packets import ROUND_TRIPS
from quiclab.why.mechanisms._trial import Trial


def _claim(trial: Trial) -> Claim:
    edges = trial.why(*ROUND_TRIPS)
    ways = trial.account.filter(edges & trial.what(What.PROPAGATION_UP))["link"]
    trips = int(ways.value_counts()["count"].max() or 0)  # type: ignore[arg-type]  # over links in a row one each
    return Claim(edges, (Fact("round_trips", trips, ""),) if trips else ())


HANDSHAKE_ROUND_TRIPS = Mechanism(
    "handshake_round_trips",
    "handshake round trips",
    Family.SET_UP,
    "TCP and TLS 1.3 need two round trips before the request, with TLS 1.2 three; QUIC needs one, and with early data "
    "none.",
    "Round trips from the client's first packet to the first that can carry a request, each answered by a step of the "
    "handshake.",
    Level.E1,
    "RFC 9293 section 3.5, RFC 8446 section 2, RFC 9001 section 4",
    _claim,
    (
        Rival("handshake_packet_lost", "something of the handshake is sent again"),
        Rival("hello_retry_request", "the server answers the first ClientHello with a HelloRetryRequest"),
    ),
    (
        Setting(
            "client",
            "session",
            "early_data",
            "The request leaves with the client's first packets.",
            ("the server sends no certificate", "over QUIC the response may reach the amplification limit"),
        ),
        Setting(
            "client",
            "tls_version",
            "1.3",
            "TLS 1.3 needs a round trip less than TLS 1.2.",
            ("over QUIC it is always 1.3",),
        ),
    ),
    reasons=(Why.TCP_HANDSHAKE, Why.TLS_ROUND_TRIP, Why.QUIC_HANDSHAKE, Why.SET_UP),
    counted=Counted("round_trips", Each.ROUND_TRIP),
)
