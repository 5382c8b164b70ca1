# SPDX-License-Identifier: Apache-2.0
"""Facts that captures of both formats share."""

from __future__ import annotations

TABLES = (
    "ip_packets",
    "packets",
    "frames",
    "acks",
    "streams",
    "transport_metrics",
    "losses",
    "flow_control",
    "handshake",
    "tls_records",
    "parameters",
    "http_requests",
    "http_frames",
)
"""Tables that captures fill. Those about TCP need no keys; what QUIC and TLS carry does."""
