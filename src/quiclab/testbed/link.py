# SPDX-License-Identifier: Apache-2.0
"""The emulated links of a path as a process: `quiclab-link` between namespaces, its devices configured from here.

One process moves the packets of all links of a path. Between two links stands a node, which forwards IP.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from quiclab.errors import HostError
from quiclab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.testbed.real_time import ask_for_awake_processors, ask_for_real_time

Backend = Literal["tun", "veth"]
End = Literal["client", "server"]

CLIENT_ADDRESSES = {4: "10.77.0.1", 6: "fd77::1"}
NEXT_CLIENT_ADDRESSES = {4: "10.77.0.3", 6: "fd77::3"}
"""Of a client that changes its network."""
SERVER_ADDRESSES = {4: "10.77.0.2", 6: "fd77::2"}
PREFIXES = {4: 24, 6: 64}
_FIRST_HOST = 10
DEVICE = "link0"
"""What programs at the client's end see of the links, and at the server's where there is one link."""
_NODE_NETWORKS = {4: "10.77.0.", 6: "fd77::"}
_FIRST_NODE = 201
_FORWARDING = {"net.ipv4.ip_forward": "1", "net.ipv6.conf.all.forwarding": "1"}


def node_addresses(number: int) -> dict[int, str]:
    """Addresses of a node by IP version; the first, behind the first link, is number 1."""
    return {version: f"{network}{_FIRST_NODE + number - 1}" for version, network in _NODE_NETWORKS.items()}


def host_address(number: int, ip_version: int) -> str:
    """The address of a further host at the server's end; numbers begin at 1."""
    return f"10.77.0.{_FIRST_HOST + number}" if ip_version == 4 else f"fd77::{_FIRST_HOST + number:x}"


@dataclass(frozen=True)
class LinkSettings:
    """What the link process is told, beside its two directions."""

    backend: Backend
    mtu: int
    model: Mapping[str, Any]
    """What the spec says of the links: seed, `up` and `down`, `more_links` (docs/reference/link-config.md)."""
    route: RouteMetrics | None
    """What the routes of both ends and of all nodes say to TCP."""
    work_dir: Path | None
    """Where configuration, packet log, captures and summary are written; None keeps nothing."""
    more_server_addresses: Sequence[str] = ()
    """Beside the server's own, in the same networks."""
    packet_log: bool = True
    captures: bool = True
    snaplen_bytes: int | None = None
    """Bytes of each packet that the captures keep; None keeps all."""
    lateness_p99_ns: Sequence[int] = (100_000,)
    """Of each link."""
    route_at: Mapping[NetworkNamespace, RouteMetrics] = field(default_factory=dict)
    """What the routes of one namespace say, where it is something else."""
    spin_ns: int | None = None
    program: Sequence[str] = ()
    """What to start instead of quiclab-link: a benchmark compares it with programs that say the same words."""


class Link:
    """Context manager: between `with` and its end, packets flow from `client` to `server` and back, over all links."""

    def __init__(
        self,
        settings: LinkSettings,
        client: NetworkNamespace,
        server: NetworkNamespace,
        nodes: Sequence[NetworkNamespace] = (),
    ) -> None:
        """`nodes`: from client to server, one less than there are links."""
        self._settings = settings
        self._places = [client, *nodes, server]
        self._stack = ExitStack()
        self._process: subprocess.Popen[str] | None = None
        self._real_time = False
        self._awake = False
        self.summary: dict[str, Any] = {}
        """The link's own account, once `stop` was called."""
        self.ready: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start(self) -> None:
        settings = self._settings
        namespaces = list(self._places)
        for node in self._places[1:-1]:
            node.write_sysctls(_FORWARDING)
        middle = None
        if settings.backend == "veth":
            middle = self._stack.enter_context(NetworkNamespace())
            namespaces.append(middle)
            middle.write_sysctls({"net.ipv6.conf.default.disable_ipv6": "1"})
        first, *more = (
            {**model, **self._of_link(number, middle)}
            for number, model in enumerate([settings.model, *settings.model.get("more_links", ())])
        )
        config = {
            **first,
            "backend": settings.backend,
            "log": {
                **first["log"],
                "summary": self._file("link.json"),
                "snaplen_bytes": settings.snaplen_bytes,
                "buffer_bytes": 256 << 20,
            },
            "timer": {"spin_ns": settings.spin_ns},
            **({"more_links": more} if more else {}),
        }
        text = json.dumps(config, indent=1)
        if settings.work_dir is not None:
            (settings.work_dir / "link-config.json").write_text(text)
        config_fd = os.memfd_create("link-config")
        try:
            os.write(config_fd, text.encode())
            self._process = subprocess.Popen(
                [*(settings.program or [link_binary()]), f"/proc/self/fd/{config_fd}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=(config_fd, *(namespace.fd for namespace in namespaces)),
                start_new_session=True,
            )
        finally:
            os.close(config_fd)
        self._stack.callback(self._reap)
        if settings.backend == "veth":
            # The devices are there already, and the link needs as long to open its own side.
            self._configure_places()
        self.ready = self._message("ready")
        self._real_time = self.ready.get("real_time", False) or ask_for_real_time(self._process.pid, deadline=True)
        self._awake = ask_for_awake_processors(self._process.pid)
        if settings.backend == "tun":
            self._configure_places()

    def replace_client_address(self, version: int, when: Callable[[], bool]) -> int | None:
        """The client is in another network from the instant that is returned, over the same link."""
        client, device, prefix = self._places[0], _device(0), PREFIXES[version]
        route = self._settings.route_at.get(client, self._settings.route)
        assert route is not None
        old, new = CLIENT_ADDRESSES[version], NEXT_CLIENT_ADDRESSES[version]
        return client.replace_address(device, old, new, prefix, route, when)

    def _of_link(self, number: int, middle: NetworkNamespace | None) -> dict[str, Any]:
        """What the link process is told of one link beside its model; with `middle`, the devices are made."""
        settings, device = self._settings, _device(number)
        ends: dict[str, dict[str, Any]] = {}
        for side, namespace in zip(_SIDES, self._places[number : number + 2], strict=True):
            end = ends[side] = {"netns": f"/proc/self/fd/{namespace.fd}", "device": device, "mtu": settings.mtu}
            if middle is not None:
                near = f"to-{side}{number or ''}"
                add_veth(namespace, device, middle, near, (_mac(number, side, "end"), _mac(number, side, "near")))
                middle.configure(near, mtu=settings.mtu, addresses={}, route=None)
                end |= {"near_netns": f"/proc/self/fd/{middle.fd}", "near_device": near}
                end |= {"mac": _mac(number, side, "link"), "peer_mac": _mac(number, side, "end")}
        bound_ns = settings.lateness_p99_ns[number]
        return {
            "ends": ends,
            "log": self._log_files(number),
            "void": {"lateness_p99_ns": bound_ns, "one_way_delay_share": 0.02},
        }

    def _configure_places(self) -> None:
        """Bring the devices up, with addresses and the routes to all other places."""
        settings = self._settings
        last = len(self._places) - 1
        for place, namespace in enumerate(self._places):
            route = settings.route_at.get(namespace, settings.route)
            own = self._addresses(place)
            if place in (0, last):
                device, others = _device(0 if place == 0 else last - 1), [n for n in range(last + 1) if n != place]
                sides = {device: others}
                addresses = {address: PREFIXES[version] for version, address in own.items()}
                namespace.configure(device, mtu=settings.mtu, addresses=addresses, route=route)
                if place == last and settings.more_server_addresses:
                    namespace.add_addresses(device, settings.more_server_addresses)
            else:
                sides = {_device(place - 1): list(range(place)), _device(place): list(range(place + 1, last + 1))}
                for device, others in sides.items():
                    far = [address for n in others for address in self._reachable(n)]
                    namespace.configure_node(device, mtu=settings.mtu, own=list(own.values()), far=far, route=route)
            if settings.backend == "veth":
                for number, (device, others) in zip(_links_at(place, last), sides.items(), strict=True):
                    mac = _mac(number, _SIDES[0 if number == place else 1], "link")
                    for address in (address for n in others for address in self._reachable(n)):
                        namespace.neighbour(device, address, mac)

    def _addresses(self, place: int) -> dict[int, str]:
        last = len(self._places) - 1
        known = {0: CLIENT_ADDRESSES, last: SERVER_ADDRESSES}
        addresses = known[place] if place in known else node_addresses(place)
        return {version: addresses[version] for version in usable_versions(self._settings.mtu)}

    def _reachable(self, place: int) -> list[str]:
        """All addresses that this place may have: a client its next one, too, a server those of its further hosts."""
        addresses = list(self._addresses(place).values())
        if place == 0:
            addresses += [NEXT_CLIENT_ADDRESSES[version] for version in usable_versions(self._settings.mtu)]
        return [*addresses, *(self._settings.more_server_addresses if place == len(self._places) - 1 else ())]

    def _log_files(self, number: int) -> dict[str, str | None]:
        settings, files = self._settings, link_files(number)
        wanted = {"packet_log": settings.packet_log}
        return {key: self._file(name) if wanted.get(key, settings.captures) else None for key, name in files.items()}

    def _file(self, name: str) -> str | None:
        folder = self._settings.work_dir
        return str(folder / name) if folder else None

    @property
    def pid(self) -> int:
        """Of the link's process."""
        return self._require().pid

    def stop(self) -> dict[str, Any]:
        """Close the link and return its summary; packets still inside are counted there."""
        process = self._require()
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()
            self.summary = self._message("summary") | {
                "real_time": self._real_time,
                "awake_processors": self._awake,
            }
        return self.summary

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End it without its account, which may be done again."""
        self._stack.close()

    def _reap(self) -> None:
        process = self._require()
        # After its summary it ends by itself, and nobody needs to watch it.
        if not self.summary:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def _require(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise RuntimeError("the link was not started")
        return self._process

    def _message(self, event: str) -> dict[str, Any]:
        """The next line of the link process, which must be `event`."""
        process = self._require()
        line = process.stdout.readline() if process.stdout else ""
        try:
            message: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:
            raise HostError(f"the link process ended without a word (exit code {process.poll()})") from None
        if message.get("event") != event:
            raise HostError(f"the link cannot run: {message.get('message', line)}", message.get("hint", ""))
        return message


_SIDES: tuple[Literal["client", "server"], ...] = ("client", "server")


def link_files(number: int) -> dict[str, str]:
    """Names of the files of a link, which counts from 0: those of the first have the plain names."""
    before = "" if number == 0 else f"link-{number + 1}-"
    return {
        "packet_log": f"{before[:-1] or 'link'}.qplog",
        "capture_client": f"{before}client.pcapng",
        "capture_server": f"{before}server.pcapng",
    }


def _device(number: int) -> str:
    """Of a link, at both its ends."""
    return f"link{number}"


def _links_at(place: int, last: int) -> list[int]:
    """Numbers of the links that end at a place."""
    return [number for number in (place - 1, place) if 0 <= number < last]


def _mac(number: int, side: Literal["client", "server"], of: Literal["end", "link", "near"]) -> str:
    """The Ethernet address of a link's end, of the link as this end sees it, or of the near device of the pair to it.

    The link reads what an end sends before it goes through the pair. To the device there it is addressed to somebody
    else, so that the kernel drops it as soon as it sees it.
    """
    return f"02:00:00:{number:02x}:0{_SIDES.index(side) + 1}:0{('end', 'link', 'near').index(of) + 1}"


def link_binary() -> str:
    """Path of `quiclab-link`, which is installed beside this Python. Raises HostError."""
    beside = Path(sys.executable).with_name("quiclab-link")
    found = str(beside) if beside.exists() else shutil.which("quiclab-link")
    if found is None:
        raise HostError("the link emulator quiclab-link is not built", "run: make setup")
    return found


def usable_versions(mtu: int) -> tuple[int, ...]:
    """IP versions that a link of this MTU carries and this kernel speaks (RFC 8200 section 5: IPv6 needs 1280)."""
    has_ipv6 = mtu >= 1280 and Path("/proc/sys/net/ipv6").exists()
    return (4, 6) if has_ipv6 else (4,)
