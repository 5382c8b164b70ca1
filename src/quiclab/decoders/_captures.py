# SPDX-License-Identifier: Apache-2.0
"""What captures of both formats have in common."""

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
    "parameters",
    "http_requests",
    "http_frames",
)
"""Without keys: all of TCP's; what QUIC and TLS carry needs them."""
