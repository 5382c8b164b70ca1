# SPDX-License-Identifier: Apache-2.0
"""How the knobs of a program are read from its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.model.units import Duration
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, WrongValueError, is_number, show
from quiclab.spec.program import TLS_GROUPS


def _read_time_threshold(node: Node) -> float:
    if not is_number(node.value) or not 1 <= node.value <= 100:
        raise WrongValueError(f"{show(node.value)}; write {_TIME_THRESHOLD.wanted}")
    return float(node.value)


_TIME_THRESHOLD: Kind[float] = Kind("a number of round-trip times from 1 to 100, such as 1.125", _read_time_threshold)

KNOB_KEYS: Mapping[str, Kind[Any]] = {
    "congestion_control": kinds.NAME,
    "initial_window": kinds.whole(1, 10_000),
    "max_window": kinds.SIZE,
    "pacing": kinds.FLAG,
    "hystart": kinds.FLAG,
    "connection_window": kinds.SIZE,
    "stream_window": kinds.SIZE,
    "max_streams": kinds.whole(1, 100_000),
    "groups": kinds.several(
        kinds.choice(TLS_GROUPS), 'an array of TLS groups such as ["secp384r1", "x25519"]', least=1
    ),
    "tls_version": kinds.choice(("1.2", "1.3")),
    "session": kinds.choice(("fresh", "resumed", "early_data")),
    "early_data": kinds.FLAG,
    "ack_delay": kinds.DELAY,
    "ack_frequency": kinds.whole(1, 1000),
    "peer_ack_frequency": kinds.whole(1, 100_000),
    "peer_ack_delay": kinds.quantity(Duration, "a delay", "40 ms", Duration(10**6), Duration(60 * 10**9)),
    "packet_threshold": kinds.whole(1, 100_000),
    "time_threshold": _TIME_THRESHOLD,
    "initial_rtt": kinds.TIME,
    "gso": kinds.FLAG,
    "ecn": kinds.FLAG,
    "max_payload": kinds.whole(1200, 65_527),
    "path_mtu_discovery": kinds.FLAG,
    "scheduler": kinds.choice(("fifo", "round_robin")),
    "priorities": kinds.FLAG,
    "compression": kinds.FLAG,
    "origin_connection": kinds.choice(("warm", "cold")),
    "verify": kinds.FLAG,
    "migration": kinds.choice(("active", "rebinding")),
    "migrate_at": kinds.SIZE,
    "on_address_change": kinds.choice(("migrate", "rebind", "restart", "resume")),
    "reconnect_session": kinds.choice(("fresh", "resumed")),
}
