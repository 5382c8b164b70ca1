# SPDX-License-Identifier: Apache-2.0
"""The schema of every table, as data: what decoders must give, what readers may rely on."""

from __future__ import annotations

from quiclab.tables._api import NEVER, Column, Table
from quiclab.tables.derived import BYTES_ACKNOWLEDGED, DECODE_STATS
from quiclab.tables.link_packets import LINK_PACKETS
from quiclab.tables.packets import PACKETS
from quiclab.tables.quic import HANDSHAKE, QUIC_ACKS, QUIC_FRAMES, QUIC_PACKETS, TRANSPORT_METRICS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        LINK_PACKETS,
        PACKETS,
        QUIC_PACKETS,
        QUIC_FRAMES,
        QUIC_ACKS,
        TRANSPORT_METRICS,
        HANDSHAKE,
        DECODE_STATS,
        BYTES_ACKNOWLEDGED,
    )
}
"""All tables of a trial, by name."""

__all__ = ["NEVER", "TABLES", "Column", "Table"]
