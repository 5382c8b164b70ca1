# SPDX-License-Identifier: Apache-2.0
"""The schema of every table, as data: what decoders must return, and what readers may rely on.

Each column has its unit, its meaning and when it is null; `crates/log-decode` declares the same columns in Rust, and
a test holds them equal. QUIC and TCP share packets, acknowledgments, losses, metrics, flow control and the handshake,
so that one query compares them. `drop_reasons.py` has why links drop packets, and which kind of reason each is.
"""

from __future__ import annotations

from quiclab.model.tables._api import CAPTURED, LEFT, MADE_LATER, NEVER, SOURCE, Column, Row, Table
from quiclab.model.tables._common import CONNECTION
from quiclab.model.tables.account import ACCOUNT, ACCOUNT_TOTALS, MECHANISM_FACTS, PREDICTED_EFFECTS
from quiclab.model.tables.competition import FLOW_THROUGHPUT, FLOWS
from quiclab.model.tables.derived import (
    ABSENT,
    BYTES_ACKNOWLEDGED,
    DECODE_STATS,
    DELIVERY_WAITS,
    OBJECT_RUNS,
    PAGE_PROGRESS,
    SOURCES,
    UNACKNOWLEDGED,
    VIDEO_THROUGHPUT,
)
from quiclab.model.tables.held_up import RUN_DELAYS, TCP_LIMITS, UDP_DROPS
from quiclab.model.tables.http import HTTP_FRAMES, HTTP_REQUESTS, PAGE_EVENTS, STREAMS
from quiclab.model.tables.ip_packets import IP_PACKETS
from quiclab.model.tables.link_events import LINK_EVENTS
from quiclab.model.tables.link_packets import LINK_PACKETS
from quiclab.model.tables.study import ATTEMPTS, METRICS
from quiclab.model.tables.tcp_info import TCP_INFO
from quiclab.model.tables.transport import (
    ACKS,
    BLOCKED,
    CC_STATES,
    FLOW_CONTROL,
    FRAMES,
    HANDSHAKE,
    LOSSES,
    PACKETS,
    PARAMETERS,
    TIMERS,
    TLS_RECORDS,
    TRANSPORT_METRICS,
)
from quiclab.model.tables.trials import PROCESS_USAGE, TRIALS
from quiclab.model.tables.video import PLAYER_EVENTS, PLAYER_SAMPLES, PLAYER_STALLS

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        TRIALS,
        LINK_PACKETS,
        LINK_EVENTS,
        IP_PACKETS,
        PACKETS,
        FRAMES,
        ACKS,
        STREAMS,
        TRANSPORT_METRICS,
        CC_STATES,
        LOSSES,
        TIMERS,
        FLOW_CONTROL,
        BLOCKED,
        HANDSHAKE,
        TLS_RECORDS,
        PARAMETERS,
        HTTP_REQUESTS,
        HTTP_FRAMES,
        PAGE_EVENTS,
        PLAYER_SAMPLES,
        PLAYER_EVENTS,
        PLAYER_STALLS,
        TCP_INFO,
        TCP_LIMITS,
        PROCESS_USAGE,
        RUN_DELAYS,
        UDP_DROPS,
        SOURCES,
        DECODE_STATS,
        ABSENT,
        BYTES_ACKNOWLEDGED,
        UNACKNOWLEDGED,
        PAGE_PROGRESS,
        VIDEO_THROUGHPUT,
        FLOW_THROUGHPUT,
        FLOWS,
        OBJECT_RUNS,
        DELIVERY_WAITS,
        ACCOUNT,
        ACCOUNT_TOTALS,
        MECHANISM_FACTS,
        PREDICTED_EFFECTS,
    )
}
"""All tables of a trial, by name."""

OF_STUDY: dict[str, Table] = {table.name: table for table in (ATTEMPTS, METRICS)}
"""Tables of a whole study, by name."""

__all__ = [
    "CAPTURED",
    "CONNECTION",
    "LEFT",
    "MADE_LATER",
    "NEVER",
    "OF_STUDY",
    "SOURCE",
    "TABLES",
    "Column",
    "Row",
    "Table",
]
