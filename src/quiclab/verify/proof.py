# SPDX-License-Identifier: Apache-2.0
"""What a trial can prove about itself: from its packets first, then from its programs. The rest is `unproven`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quiclab.verify.handshake import read_handshake

UNPROVEN = "unproven"


def prove(folder: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Transport, versions, TLS and congestion control as they were, each a value or `unproven`."""
    requests = (document["client"] or {}).get("requests") or [{}]
    capture = folder / "raw" / "client.pcapng"
    handshake = read_handshake(capture, document["server_port"]) if capture.exists() else None
    host = document["host"]
    return {
        "transport": handshake.transport if handshake else UNPROVEN,
        "http_version": requests[0].get("http_version", UNPROVEN),
        "tls_version": _known(handshake and handshake.tls_version),
        "tls_cipher": _known(handshake and handshake.cipher_suite),
        "tls_group": _known(handshake and handshake.group),
        "hello_retry_request": _known(handshake and handshake.hello_retry_request),
        "resumed": _known(handshake and handshake.resumed),
        "early_data_offered": _known(handshake and handshake.early_data_offered),
        "quic_version": _known(handshake and handshake.quic_version),
        "quic_parameters_client": handshake.quic_parameters_client if handshake else UNPROVEN,
        "alpn_offered": list(handshake.alpn_offered) if handshake else UNPROVEN,
        "handshake_problems": list(handshake.problems) if handshake else [],
        "tcp_congestion_control_asked": document["tcp_congestion_control_asked"],
        "tcp_congestion_control": host.get("server_tcp_congestion_control", UNPROVEN),
        "versions": (document["client"] or {}).get("versions", {}),
    }


def _known(value: Any) -> Any:
    """`handshake and …` gives None both without a capture and where the packets do not tell."""
    return UNPROVEN if value is None else value
