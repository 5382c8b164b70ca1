# SPDX-License-Identifier: Apache-2.0
"""A probe's way through the sandbox: from the far end of a trial's link to the device that leads out of it.

    client ─ link ─ server's end ─ veth ─ the sandbox's first network ─ uplink ─ caller's network (host_nat.py)

Every hop forwards IP packets and has fixed neighbour entries, so that only the client's own packets cross.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quiclab.lab.testbed.host_nat import INNER_DEVICE, OUTER_MAC
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.lab.testbed.way_out import default_route

_OUT = "out"
_GATEWAY = "10.78.0.2"
_GATEWAY_OUTSIDE = "10.78.0.6"
"""Address without a host: only the name of the neighbour behind the uplink."""
_OUT_MAC, _NEAR_MAC = "02:00:00:00:04:01", "02:00:00:00:04:02"
_NUD_PERMANENT = 0x80
_ONLINK = 4


class ForwardedWay:
    """The sandbox's first network as a router. Made once, inside the sandbox and in that network."""

    def __init__(self) -> None:
        from pyroute2 import IPRoute

        self._numbers = itertools.count()
        with IPRoute() as ip:
            loopback, uplink = (ip.link_lookup(ifname=name)[0] for name in ("lo", INNER_DEVICE))
            for index in (loopback, uplink):
                ip.link("set", index=index, state="up")
            ip.addr("add", index=loopback, address=_GATEWAY, prefixlen=32)
            ip.neigh("add", dst=_GATEWAY_OUTSIDE, lladdr=OUTER_MAC, ifindex=uplink, state=_NUD_PERMANENT)
            ip.route("add", dst="default", gateway=_GATEWAY_OUTSIDE, oif=uplink, flags=_ONLINK)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    @contextmanager
    def open(self, client: NetworkNamespace, server: NetworkNamespace, route: RouteMetrics) -> Iterator[None]:
        """Connect the far end of an open link, and send what the client has for the rest of the world that way."""
        from pyroute2 import IPRoute

        near = f"near{next(self._numbers)}"
        with IPRoute() as ip:
            far = {"ifname": _OUT, "address": _OUT_MAC, "net_ns_fd": server.fd}
            ip.link("add", ifname=near, kind="veth", address=_NEAR_MAC, peer=far)
            index = ip.link_lookup(ifname=near)[0]
            try:
                ip.link("set", index=index, state="up")
                ip.neigh("add", dst=CLIENT_ADDRESSES[4], lladdr=_OUT_MAC, ifindex=index, state=_NUD_PERMANENT)
                server.write_sysctls({"net.ipv4.ip_forward": "1"})
                server.run(_leave_by_out)
                ip.route("replace", dst=f"{CLIENT_ADDRESSES[4]}/32", oif=index, scope="link")
                client.run(lambda: default_route(SERVER_ADDRESSES[4], metrics=route.netlink()))
                yield
            finally:
                ip.link("del", index=index)


def _leave_by_out() -> None:
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        index = ip.link_lookup(ifname=_OUT)[0]
        ip.link("set", index=index, state="up")
        ip.neigh("add", dst=_GATEWAY, lladdr=_NEAR_MAC, ifindex=index, state=_NUD_PERMANENT)
        ip.route("add", dst="default", gateway=_GATEWAY, oif=index, flags=_ONLINK)
