# SPDX-License-Identifier: Apache-2.0
"""Several clients, or several servers, at one end of the link: each in a namespace of its own behind a hub.

    client 0 ─┐                                ┌─ server 0
    client 1 ─┤ hub ═══════ the link ═══════ hub ├─ server 1
    client 2 ─┘                                └─ server 2

A hub is a namespace that holds the link's device and forwards: a pair of devices to each member, a host route for each
address, no queue of its own. So members share nothing but the link: each has its own TCP settings, route and ports. The
hub reduces the time to live by one, and changes nothing else.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.lab.testbed.link import DEVICE, End, usable_versions
from quiclab.lab.testbed.link_ends import PREFIXES
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth

HUB_SYSCTLS = {
    "net.ipv4.ip_forward": "1",
    "net.ipv4.conf.all.rp_filter": "0",
    "net.ipv4.conf.default.rp_filter": "0",
    "net.ipv4.conf.all.send_redirects": "0",
    "net.ipv4.conf.default.send_redirects": "0",
    "net.ipv6.conf.default.accept_dad": "0",
    "net.ipv6.conf.default.addr_gen_mode": "1",
    "net.ipv6.conf.default.router_solicitations": "0",
    "net.ipv6.conf.all.forwarding": "1",
}
MOST_PAIRS = 200
"""Most pairs, because each has a subnet of its own, by its number."""
_OWN: Mapping[End, str] = {"client": "10.77.255.1", "server": "10.77.255.2"}
_RTNH_F_ONLINK = 4


@dataclass(frozen=True)
class Pair:
    """A client and its server: number 0 is the measured pair, with the addresses that it has without hubs."""

    number: int

    def addresses(self, end: End) -> dict[int, str]:
        """Addresses of the pair at an end, by IP version."""
        host = 1 if end == "client" else 2
        subnet = f"fd77:0:0:{self.number:x}::" if self.number else "fd77::"
        return {4: f"10.77.{self.number}.{host}", 6: f"{subnet}{host}"}


class Hub:
    """One end's namespace with the link's device, and its members."""

    def __init__(self, end: End, namespace: NetworkNamespace, mtu: int) -> None:
        self._end: End = end
        self._far: End = "server" if end == "client" else "client"
        self._mtu = mtu
        self._members: dict[Pair, NetworkNamespace] = {}
        self._dropped_before = 0
        self.namespace = namespace
        self.sysctls = namespace.write_sysctls(HUB_SYSCTLS)

    def add(self, pair: Pair, member: NetworkNamespace, route: RouteMetrics) -> None:
        """Give a member its device, its addresses and its route, the same as it would have without a hub."""
        device = _to(pair)
        macs = (_mac(self._end, pair, 1), _mac(self._end, pair, 2))
        add_veth(self.namespace, device, member, DEVICE, macs)
        versions = usable_versions(self._mtu)
        own, far = pair.addresses(self._end), pair.addresses(self._far)
        member.configure(
            DEVICE, mtu=self._mtu, addresses={own[version]: PREFIXES[version] for version in versions}, route=route
        )
        self.namespace.configure(device, mtu=self._mtu, addresses={}, route=None)
        for version in versions:
            member.neighbour(DEVICE, far[version], macs[0])
            self.namespace.neighbour(device, own[version], macs[1])
        self._members[pair] = member

    def join(self) -> None:
        """Route between the members and the link, which must be running. Until then the link's device has the measured
        pair's addresses, as without a hub."""
        first, versions = Pair(0), usable_versions(self._mtu)

        def work() -> None:
            from pyroute2 import IPRoute

            with IPRoute() as ip:
                link = ip.link_lookup(ifname=DEVICE)[0]
                # A device that loses its last address loses its neighbours too.
                ip.addr("add", index=link, address=_OWN[self._end], prefixlen=32)
                for each in list(ip.get_addr(index=link)):
                    if (address := each.get_attr("IFA_ADDRESS")) in first.addresses(self._end).values():
                        ip.addr("del", index=link, address=address, prefixlen=each["prefixlen"])
                for version in versions:
                    bits = 32 if version == 4 else 128
                    family = socket.AF_INET if version == 4 else socket.AF_INET6
                    beyond = first.addresses(self._far)[version]
                    ip.route("add", family=family, dst=f"{beyond}/{bits}", oif=link)
                    for pair in self._members:
                        own, far = pair.addresses(self._end)[version], pair.addresses(self._far)[version]
                        device = ip.link_lookup(ifname=_to(pair))[0]
                        ip.route("add", family=family, dst=f"{own}/{bits}", oif=device)
                        if pair != first:
                            through: dict[str, object] = {"gateway": beyond, "flags": _RTNH_F_ONLINK}
                            ip.route("add", family=family, dst=f"{far}/{bits}", oif=link, **through)

        self.namespace.run(work)
        self._dropped_before = self._drops()

    def dropped(self) -> int:
        """Number of packets lost between members and hub since it was joined: if there are any, the hub is not a wire,
        and the laboratory is at fault. The link itself reports what its device loses."""
        return self._drops() - self._dropped_before

    def _drops(self) -> int:
        pairs = _drops(self.namespace, "to-")
        return pairs + sum(_drops(member, DEVICE) for member in self._members.values())


def _drops(namespace: NetworkNamespace, device: str) -> int:
    """Packets dropped by the devices whose name begins with `device`, received and sent together (/proc/net/dev)."""
    rows = (line.partition(":") for line in namespace.read("dev").splitlines()[2:])
    counts = (numbers.split() for name, _, numbers in rows if name.strip().startswith(device))
    return sum(int(numbers[3]) + int(numbers[11]) for numbers in counts)


def _to(pair: Pair) -> str:
    return f"to-{pair.number}"


def _mac(end: End, pair: Pair, side: int) -> str:
    return f"02:00:00:01:{pair.number:02x}:{side + (0 if end == 'client' else 2):02x}"
