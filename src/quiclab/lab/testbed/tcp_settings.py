# SPDX-License-Identifier: Apache-2.0
"""The one pinned table of network settings that every namespace gets: no setting of TCP is the machine's default."""

from __future__ import annotations

from quiclab.model.study import Tcp


def sysctls(tcp: Tcp) -> dict[str, str]:
    """Names and values for one namespace. Initial window and congestion control are on the route as well: a user
    namespace may set on a route what the machine's `tcp_allowed_congestion_control` forbids as a sysctl."""
    return {
        "net.ipv4.ip_unprivileged_port_start": "0",
        "net.ipv4.ping_group_range": "0 0",
        "net.ipv4.tcp_congestion_control": tcp.congestion_control,
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_slow_start_after_idle": _flag(tcp.slow_start_after_idle),
        "net.ipv4.tcp_ecn": _flag(bool(tcp.ecn)),
        "net.ipv4.tcp_sack": _flag(tcp.sack),
        "net.ipv4.tcp_timestamps": _flag(tcp.timestamps),
        "net.ipv4.tcp_rmem": " ".join(str(size.bytes) for size in tcp.receive_buffer),
        "net.ipv4.tcp_wmem": " ".join(str(size.bytes) for size in tcp.send_buffer),
        "net.ipv4.tcp_fastopen": "0",
        "net.mptcp.enabled": "0",
        "net.ipv4.tcp_mtu_probing": "0",
        "net.ipv4.tcp_window_scaling": "1",
        "net.ipv4.tcp_moderate_rcvbuf": "1",
        "net.ipv4.tcp_dsack": _flag(tcp.dsack),
        "net.ipv4.tcp_recovery": _flag(tcp.rack),
        "net.ipv4.tcp_early_retrans": "3",
        "net.ipv4.tcp_reordering": str(tcp.reordering),
        "net.ipv6.conf.default.accept_dad": "0",
        "net.ipv6.conf.default.accept_ra": "0",
        "net.ipv6.conf.default.addr_gen_mode": "1",
        "net.ipv6.conf.default.router_solicitations": "0",
        "net.ipv6.conf.all.forwarding": "0",
    }


def _flag(on: bool) -> str:
    return "1" if on else "0"
