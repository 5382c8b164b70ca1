# SPDX-License-Identifier: Apache-2.0
"""The kernel's account of sockets and protocols inside a namespace."""

from __future__ import annotations

from typing import Any, Literal

from quiclab.lab.testbed.namespace import NetworkNamespace

_AF = {4: 2, 6: 10}
_ESTABLISHED = 1 << 1
_INET_DIAG_CONG = 1 << 3


Side = Literal["local", "remote"]
_PORTS: dict[Side, str] = {"local": "idiag_sport", "remote": "idiag_dport"}


def tcp_congestion_control(
    namespace: NetworkNamespace, ip_version: int, port: int, side: Side | None = None
) -> str | None:
    """Congestion control of the namespace's end of an established TCP connection with `port` on that side, or on any;
    None when there is none (inet_diag)."""
    keys = list(_PORTS.values()) if side is None else [_PORTS[side]]

    def work() -> str | None:
        from pyroute2 import DiagSocket

        with DiagSocket() as diag:
            diag.bind()
            for answer in diag.get_sock_stats(family=_AF[ip_version], states=_ESTABLISHED, extensions=_INET_DIAG_CONG):
                if port in (answer[key] for key in keys):
                    name: Any = answer.get_attr("INET_DIAG_CONG")
                    return None if name is None else str(name)
        return None

    return namespace.run(work)


def counters(namespace: NetworkNamespace) -> dict[str, int]:
    """The namespace's counters of losses inside a host (/proc/net/snmp, RFC 4113 and RFC 4022 names)."""
    wanted = {
        "Udp": ("RcvbufErrors", "SndbufErrors", "InErrors", "InCsumErrors"),
        "Tcp": ("RetransSegs", "InErrs", "InCsumErrors"),
    }
    found = {}
    lines = namespace.read("snmp").splitlines()
    for header, values in zip(lines[::2], lines[1::2], strict=True):
        protocol, *names = header.replace(":", "").split()
        numbers = dict(zip(names, values.split()[1:], strict=True))
        for name in wanted.get(protocol, ()):
            found[f"{protocol}{name}"] = int(numbers.get(name, 0))
    return found
