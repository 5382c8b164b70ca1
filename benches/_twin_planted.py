# SPDX-License-Identifier: Apache-2.0
"""Cases in which one cause alone holds the sender back, so that its share of the account is its effect as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.why.account import What, Why

_SEGMENT = 1448
_BASE: dict[str, Any] = {"body_bytes": 1_000_000, "delay_ns": 40_000_000, "control": "unlimited"}
_QUIC = _BASE | {"protocol": "h3"}
_RENO = _BASE | {"control": "reno"}


@dataclass(frozen=True)
class Planted:
    """A case, what it is without its cause, and the labels under which its time stands."""

    name: str
    case: Mapping[str, Any]
    without: Mapping[str, Any]
    labels: tuple[Why | What, ...]


PLANTED = (
    Planted("h2: TLS's round trip", _BASE, {"flight_bytes": 0}, (Why.TLS_ROUND_TRIP,)),
    Planted("h2: slow start", _RENO, {"control": "unlimited"}, (Why.SLOW_START,)),
    Planted(
        "h2: slow start left early",
        _RENO | {"threshold": 20},
        {"control": "unlimited"},
        (Why.SLOW_START, Why.WINDOW_AFTER_EXIT),
    ),
    Planted(
        "h2: receive window", _BASE | {"receive_window": 40 * _SEGMENT}, {"receive_window": None}, (Why.RECEIVE_WINDOW,)
    ),
    Planted("h2: send buffer", _BASE | {"send_buffer": 40 * _SEGMENT}, {"send_buffer": None}, (Why.SEND_BUFFER,)),
    Planted("h2: stream credit", _BASE | {"stream_window": 65_535}, {"stream_window": None}, (Why.STREAM_CREDIT,)),
    Planted(
        "h2: application",
        _BASE | {"pause_at": 500_000, "pause_ns": 900_000_000},
        {"pause_ns": 0},
        (Why.APPLICATION,),
    ),
    Planted("h2: tail lost (timer)", _BASE | {"drop_down": [692]}, {"drop_down": []}, (Why.LOSS_TIMER,)),
    Planted("h2: tail lost (news)", _BASE | {"drop_down": [688]}, {"drop_down": []}, (Why.LOSS_DETECTION,)),
    Planted("h2: headers", _BASE, {"no_headers": True}, (What.HEADERS,)),
    Planted("h2: propagation", _BASE, {"delay_ns": 0}, (What.PROPAGATION_UP, What.PROPAGATION_DOWN)),
    Planted(
        "h3: slow start and pacing", _QUIC | {"control": "reno"}, {"control": "unlimited"}, (Why.SLOW_START, Why.PACING)
    ),
    Planted("h3: stream credit", _QUIC | {"stream_window": 65_536}, {"stream_window": None}, (Why.STREAM_CREDIT,)),
    Planted(
        "h3: connection credit", _QUIC | {"receive_window": 65_536}, {"receive_window": None}, (Why.CONNECTION_CREDIT,)
    ),
    Planted(
        "h3: application",
        _QUIC | {"pause_at": 500_000, "pause_ns": 900_000_000},
        {"pause_ns": 0},
        (Why.APPLICATION,),
    ),
    Planted("h3: propagation", _QUIC, {"delay_ns": 0}, (What.PROPAGATION_UP, What.PROPAGATION_DOWN)),
)
"""`drop_down` counts from the SYN-ACK, which is 0; the last packet of the response is 692."""
