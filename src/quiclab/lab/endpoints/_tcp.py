# SPDX-License-Identifier: Apache-2.0
"""Facts about every program that sends over Linux TCP: the kernel decides its speed."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.model.study import Tcp

OPENSSL_GROUPS: Mapping[str, str] = {
    "x25519": "X25519",
    "secp256r1": "prime256v1",
    "secp384r1": "secp384r1",
    "x25519mlkem768": "X25519MLKEM768",
}
"""OpenSSL's names of TLS groups, by ours."""


def tcp_sender_facts(tcp: Tcp) -> Mapping[str, str]:
    """Facts about a sender over TCP."""
    name = tcp.congestion_control
    return {
        "congestion_control": f"Linux {name}" + (" with beta 0.5" if name == "reno" else ""),
        "initial_window": f"{tcp.initial_window} packets",
        "packet_size": f"TCP payload {1448 if tcp.timestamps else 1460} bytes",
        "pacing": "paced" if name == "bbr" or tcp.pacing else "not paced",
    }
