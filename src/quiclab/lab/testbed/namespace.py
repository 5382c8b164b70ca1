# SPDX-License-Identifier: Apache-2.0
"""A network namespace: an open file descriptor, with its interfaces, addresses, routes and sysctls.

It has no name and no mount: it is gone when the descriptor and the last process in it are.
"""

from __future__ import annotations

import errno
import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from quiclab.lab.testbed import _libc
from quiclab.model.errors import HostError

T = TypeVar("T")

_IFA_F_NODAD = 0x02
_NUD_PERMANENT = 0x80
_TABLE_LOCAL = 255
_ROUTE_PATIENCE_S = 10.0
_LOST_DEVICE = "its link's process was killed, if nothing else ended it: run again; finished trials are kept"
_STANDBY = 2048
"""Priority of a route that stands by behind others to the same destination."""


@dataclass(frozen=True)
class RouteMetrics:
    """TCP's settings on the route to the other end."""

    congestion_control: str
    initial_window: int
    """Initial congestion window in packets."""

    def netlink(self) -> dict[str, object]:
        """Metrics as rtnetlink(7) takes them.

        A locked `cwnd` would bound nothing: the kernel takes it with what it remembers of earlier connections, which it
        is told not to (`tcp_no_metrics_save`).
        """
        return {"initcwnd": self.initial_window, "cc_algo": self.congestion_control}


class NetworkNamespace:
    """A new network namespace with its loopback up. Leave the `with` block to let it go."""

    def __init__(self) -> None:
        self.fd = -1

    def __enter__(self) -> Self:
        self.fd = _in_thread(_new_namespace)
        self.run(lambda: _link("lo", state="up"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.fd)

    def run(self, work: Callable[[], T]) -> T:
        """Run `work` inside the namespace, in a thread of its own so that the caller never moves."""

        def inside() -> T:
            _libc.setns(self.fd, _libc.CLONE_NEWNET)
            return work()

        return _in_thread(inside)

    def configure(self, device: str, *, mtu: int, addresses: Mapping[str, int], route: RouteMetrics | None) -> None:
        """Bring `device` up with addresses (address → prefix length) and TCP's settings on its routes."""

        def work() -> None:
            _link(device, mtu=mtu, txqlen=10_000, state="up")
            with _netlink() as ip:
                index = _index(ip, device)
                for address, prefix in addresses.items():
                    if route is None:
                        ip.addr("add", index=index, address=address, prefixlen=prefix, flags=_IFA_F_NODAD)
                        continue
                    # A host address and an explicit route, so that there is no other route without the metrics.
                    bits = 128 if ":" in address else 32
                    ip.addr("add", index=index, address=address, prefixlen=bits, flags=_IFA_F_NODAD)
                    ip.route(
                        "add",
                        dst=f"{_network(address, prefix)}/{prefix}",
                        oif=index,
                        prefsrc=address,
                        metrics=route.netlink(),
                    )

        self.run(work)

    def replace_address(
        self,
        old: tuple[str, str],
        new: tuple[str, str],
        prefix: int,
        route: RouteMetrics,
        when: Callable[[], bool],
    ) -> int | None:
        """Replace an address. The new one stands by at its device until `when` returns, and takes the place of the old
        one if that is true: sockets without an address send from there, and those with the old one are cut off, because
        nothing receives their packets. Returns the instant (CLOCK_MONOTONIC ns) of the change, or None without one."""

        def work() -> int | None:
            with _netlink() as ip:
                (old_address, old_index), (new_address, new_index) = (
                    (address, _index(ip, device)) for address, device in (old, new)
                )
                bits, to = 128 if ":" in new_address else 32, f"{_network(new_address, prefix)}/{prefix}"
                ip.addr("add", index=new_index, address=new_address, prefixlen=bits, flags=_IFA_F_NODAD)
                # Behind the route that goes with the old address.
                metrics = route.netlink()
                ip.route("add", dst=to, oif=new_index, prefsrc=new_address, priority=_STANDBY, metrics=metrics)
                if not when():
                    return None
                ip.addr("del", index=old_index, address=old_address, prefixlen=bits)
                if bits == 128:  # an IPv4 address takes the route with it
                    ip.route("del", dst=to, oif=old_index)
                return time.monotonic_ns()

        return self.run(work)

    def add_addresses(self, device: str, addresses: Collection[str]) -> None:
        """Further addresses of a device that is configured already: they share its routes."""

        def work() -> None:
            with _netlink() as ip:
                index = _index(ip, device)
                for address in addresses:
                    bits = 128 if ":" in address else 32
                    ip.addr("add", index=index, address=address, prefixlen=bits, flags=_IFA_F_NODAD)

        self.run(work)

    def await_no_device(self, prefix: str, patience_s: float) -> None:
        """Wait until no device's name begins with `prefix`: the kernel needs time to remove those of a process that has
        ended. Raises HostError."""
        deadline = time.monotonic() + patience_s

        def names() -> list[str]:
            with _netlink() as ip:
                return [str(each.get_attr("IFLA_IFNAME")) for each in ip.get_links()]

        while any(name.startswith(prefix) for name in self.run(names)):
            if time.monotonic() > deadline:
                raise HostError(f"the devices {prefix}… of an earlier link are still there")
            time.sleep(0.005)

    def configure_node(
        self, device: str, *, mtu: int, own: Sequence[str], far: Sequence[str], route: RouteMetrics | None
    ) -> None:
        """Bring one of a node's devices up: the node's addresses, and host routes to what lies that way.

        Without addresses it uses those of other devices."""

        def work() -> None:
            _link(device, mtu=mtu, txqlen=10_000, state="up")
            metrics = {} if route is None else {"metrics": route.netlink()}
            with _netlink() as ip:
                index = _index(ip, device)
                for address in own:
                    bits = 128 if ":" in address else 32
                    ip.addr("add", index=index, address=address, prefixlen=bits, flags=_IFA_F_NODAD)
                for address in far:
                    sources = [each for each in own if (":" in each) == (":" in address)]
                    source = {"prefsrc": sources[0]} if sources else {}
                    bits = 128 if ":" in address else 32
                    ip.route("add", dst=f"{address}/{bits}", oif=index, **source, **metrics)

        self.run(work)

    def tell_loopback(self, addresses: Collection[str], route: RouteMetrics) -> None:
        """Apply TCP's settings between programs of this namespace that use these addresses of its own: the kernel's
        routes to them, which cannot have settings, are replaced by routes that do."""

        def work() -> None:
            with _netlink() as ip:
                for address in addresses:
                    index = ip.get_addr(address=address)[0]["index"]
                    family, bits = (socket.AF_INET6, 128) if ":" in address else (socket.AF_INET, 32)
                    local = {"dst": f"{address}/{bits}", "table": _TABLE_LOCAL, "type": "local", "family": family}
                    if family == socket.AF_INET6:  # the kernel's own would go before ours
                        _delete_soon(ip, local)
                    ip.route("replace", oif=index, scope="host", metrics=route.netlink(), **local)

        self.run(work)

    def neighbour(self, device: str, address: str, mac: str) -> None:
        """A permanent neighbour entry: no ARP or neighbour discovery ever crosses the link."""

        def work() -> None:
            with _netlink() as ip:
                index = _index(ip, device)
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                ip.neigh("add", family=family, dst=address, lladdr=mac, ifindex=index, state=_NUD_PERMANENT)

        self.run(work)

    def write_sysctls(self, values: Mapping[str, str]) -> dict[str, str]:
        """Write each value and read it back; return what the kernel now says, with `unsupported: …` where it
        refused."""

        def work() -> dict[str, str]:
            result = {}
            for name, value in values.items():
                file = Path("/proc/sys", name.replace(".", "/"))
                try:
                    file.write_text(value)
                    result[name] = " ".join(file.read_text().split())
                except OSError as error:
                    result[name] = f"unsupported: {error.strerror}"
            return result

        return self.run(work)

    def read(self, path: str) -> str:
        """A file of /proc/net as this namespace sees it (`tcp`, `udp6`, `snmp`, …)."""
        return self.run(lambda: Path("/proc/thread-self/net", path).read_text())


def add_veth(outer: NetworkNamespace, name: str, inner: NetworkNamespace, peer: str, macs: tuple[str, str]) -> None:
    """A veth pair `name` in `outer` and `peer` in `inner`, with fixed MAC addresses, both left down."""

    def work() -> None:
        with _netlink() as ip:
            # The peer is made in its namespace: moving a device later takes the kernel ten times as long.
            far = {"ifname": peer, "address": macs[1], "net_ns_fd": inner.fd}
            ip.link("add", ifname=name, kind="veth", address=macs[0], peer=far)

    outer.run(work)


def _network(address: str, prefix: int) -> str:
    import ipaddress

    return str(ipaddress.ip_interface(f"{address}/{prefix}").network.network_address)


def _new_namespace() -> int:
    _libc.unshare(_libc.CLONE_NEWNET, "a network namespace")
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _link(name: str, **settings: Any) -> None:
    with _netlink() as ip:
        ip.link("set", index=_index(ip, name), **settings)


def _index(ip: Any, device: str) -> int:
    found = ip.link_lookup(ifname=device)
    if not found:
        raise HostError(f"the network device {device} is not there", _LOST_DEVICE)
    return int(found[0])


def _delete_soon(ip: Any, route: Mapping[str, object]) -> None:
    """Remove a route that the kernel makes by itself; for an IPv6 address it does so only some time after the address
    was added."""
    from pyroute2.netlink.exceptions import NetlinkError

    deadline = time.monotonic() + _ROUTE_PATIENCE_S
    while True:
        try:
            ip.route("del", **route)
        except NetlinkError as error:
            if error.code != errno.ESRCH:
                raise
            if time.monotonic() > deadline:
                raise HostError(f"the kernel made no route to its own address {route['dst']}") from error
            time.sleep(0.001)
        else:
            return


@contextmanager
def _netlink() -> Iterator[Any]:
    """Talk to the kernel about this namespace. Raises HostError for a device that has gone meanwhile."""
    # Imported late: it takes a fifth of a second, which `quiclab --help` need not wait for.
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    with IPRoute() as ip:
        try:
            yield ip
        except NetlinkError as error:
            if error.code not in (errno.ENODEV, errno.ENXIO):
                raise
            raise HostError("a network device went while it was configured", _LOST_DEVICE) from error


def _in_thread(work: Callable[[], T]) -> T:
    """Run `work` in a new thread; return its result or raise its exception."""
    outcome: list[T] = []
    trouble: list[BaseException] = []

    def body() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            trouble.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if trouble:
        raise trouble[0]
    return outcome[0]
