# SPDX-License-Identifier: Apache-2.0
"""The emulated links of a path as a process: `quiclab-link` between namespaces, its devices configured from here.

One process moves the packets of all links of a path. Between two links stands a node, which forwards IP.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from quiclab.lab.testbed.link_ends import PREFIXES, SIDES, Ends, LinkPlace, Span
from quiclab.lab.testbed.link_files import LINK_CONFIG, LINK_SUMMARY, SECOND_NETWORK_FILES, link_files
from quiclab.lab.testbed.link_process import LinkProcess, OwnProcess, SharedLinkProcess, folder_fd
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.model.errors import HostError, SpecError, VoidError
from quiclab.spec.link import ONE_WAY_DELAY_SHARE
from quiclab.store.own_files import write_anew

Backend = Literal["tun", "veth"]
End = Literal["client", "server"]

CLIENT_ADDRESSES = {4: "10.77.0.1", 6: "fd77::1"}
NEXT_CLIENT_ADDRESSES = {4: "10.77.0.3", 6: "fd77::3"}
"""Addresses of a client after it has changed its network, by IP version."""
SERVER_ADDRESSES = {4: "10.77.0.2", 6: "fd77::2"}
_FIRST_HOST = 10
DEVICE = "link0"
"""Name of the device that programs see at the client's end, and at the server's where there is one link."""
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
    """Settings of the link process."""

    backend: Backend
    mtu: int
    model: Mapping[str, object]
    """The spec's part of the configuration: seed, `up` and `down`, `more_links` (docs/reference/link-config.md)."""
    route: RouteMetrics | None
    """TCP's settings on the routes of both ends and of all nodes."""
    work_dir: Path | None
    """Folder for configuration, packet log, captures and summary; None keeps nothing."""
    second_network: bool = False
    """True if the last link of `model` is the client's in a second network, to which it changes; it ends where the
    first link does."""
    begins_when_told: bool = False
    """True if packets that pass before `begin` do not belong to the workload; otherwise it begins with the first
    packet."""
    more_addresses: Sequence[str] = ()
    """Further addresses of the front, which answers the client, in the same networks as its own."""
    more_at: NetworkNamespace | None = None
    """Namespace of the front; None is the server's end."""
    packet_log: bool = True
    captures: bool = True
    snaplen_bytes: int | None = None
    """Bytes of each packet that the captures keep; None keeps all."""
    lateness_p99_ns: Sequence[int] = (100_000,)
    """Bound of the p99 lateness of each link."""
    route_at: Mapping[NetworkNamespace, RouteMetrics] = field(default_factory=dict)
    """TCP's settings on the routes of namespaces that differ from `route`."""
    spin_ns: int | None = None
    real_time: bool = True
    """False leaves real-time scheduling out."""
    program: Sequence[str] = ()
    """Program to start instead of quiclab-link: a benchmark compares it with others that have the same protocol."""
    shared: SharedLinkProcess | None = None
    """Process that moves the packets, together with those of other trials; None starts one."""


class Link:
    """Context manager: between `with` and its end, packets flow from `client` to `server` and back, over all links."""

    def __init__(
        self,
        settings: LinkSettings,
        client: NetworkNamespace,
        server: NetworkNamespace,
        nodes: Sequence[NetworkNamespace] = (),
    ) -> None:
        """Prepare the links; `nodes` are in order from client to server, one fewer than there are links."""
        self._settings = settings
        self._places = [client, *nodes, server]
        self._ends = self._make_ends()
        self._stack = ExitStack()
        self._process: LinkProcess | None = None
        self.summary: dict[str, object] = {}
        """The link's own account, once `stop` was called."""
        self.ready: dict[str, object] = {}

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
        models, spans = links_of(settings.model), self._ends.spans
        first, *more = (
            {**model, **self._link_document(span, middle)} for span, model in zip(spans, models, strict=True)
        )
        config = {
            **first,
            "backend": settings.backend,
            "log": {
                **self._log_files(spans[0]),
                "snaplen_bytes": settings.snaplen_bytes,
                "buffer_bytes": 256 << 20,
            },
            "timer": {"spin_ns": settings.spin_ns, "real_time": settings.real_time},
            "begins_when_told": settings.begins_when_told,
            **({"more_links": more} if more else {}),
        }
        text = json.dumps(config, indent=1)
        if settings.work_dir is not None:
            write_anew(settings.work_dir / LINK_CONFIG, text)
        config_fd = os.memfd_create("link-config")
        try:
            os.write(config_fd, text.encode())
            self._process = self._ask(config_fd, namespaces)
        finally:
            os.close(config_fd)
        self._stack.callback(self._reap)
        if settings.backend == "veth":
            # The devices are there already, and the link needs as long to open its own side.
            self._ends.configure()
        self.ready = self._message("ready")
        self._process.make_punctual(str(self.ready["real_time"]))
        if settings.backend == "tun":
            self._ends.configure()

    def _ask(self, config_fd: int, namespaces: Sequence[NetworkNamespace]) -> LinkProcess:
        """The process that runs the links of a configuration, which names these namespaces."""
        settings, fds = self._settings, [namespace.fd for namespace in namespaces]
        if settings.shared is None:
            return OwnProcess(settings.program, config_fd, fds, real_time=settings.real_time)
        paths = {f"/proc/self/fd/{fd}": fd for fd in fds}
        with ExitStack() as stack:
            if settings.work_dir is not None:
                paths[str(settings.work_dir)] = folder = folder_fd(settings.work_dir)
                stack.callback(os.close, folder)
            return settings.shared.ask(config_fd, paths)

    def replace_client_address(self, version: int, when: Callable[[], bool]) -> int | None:
        """Move the client to its second network; it is there from the instant that is returned."""
        client, spans = self._ends.places[0], self._ends.spans
        assert client.route is not None
        old, new = (CLIENT_ADDRESSES[version], spans[0].device), (NEXT_CLIENT_ADDRESSES[version], spans[-1].device)
        return client.namespace.replace_address(old, new, PREFIXES[version], client.route, when)

    def _make_ends(self) -> Ends:
        settings, last = self._settings, len(self._places) - 1
        versions = usable_versions(settings.mtu)
        known = {0: CLIENT_ADDRESSES, last: SERVER_ADDRESSES}
        places = []
        for number, namespace in enumerate(self._places):
            addresses = known[number] if number in known else node_addresses(number)
            places.append(
                LinkPlace(
                    namespace,
                    {version: addresses[version] for version in versions},
                    settings.route_at.get(namespace, settings.route),
                    more=settings.more_addresses if namespace is (settings.more_at or self._places[last]) else (),
                    later=[NEXT_CLIENT_ADDRESSES[each] for each in versions]
                    if number == 0 and settings.second_network
                    else (),
                )
            )
        row = [Span(number, number, number + 1) for number in range(last)]
        later = Span(last, 0, 1) if settings.second_network else None
        return Ends(places, row, settings.mtu, later, ethernet=settings.backend == "veth")

    def _link_document(self, span: Span, middle: NetworkNamespace | None) -> dict[str, object]:
        """Configuration of one link besides its model; with `middle`, the devices are made."""
        settings, device = self._settings, span.device
        ends: dict[str, dict[str, object]] = {}
        for side, place in zip(SIDES, (span.client, span.server), strict=True):
            namespace = self._places[place]
            end = ends[side] = {"netns": f"/proc/self/fd/{namespace.fd}", "device": device, "mtu": settings.mtu}
            if middle is not None:
                near = f"to-{side}{span.number or ''}"
                add_veth(namespace, device, middle, near, (span.mac(side, "end"), span.mac(side, "near")))
                middle.configure(near, mtu=settings.mtu, addresses={}, route=None)
                end |= {"near_netns": f"/proc/self/fd/{middle.fd}", "near_device": near}
                end |= {"mac": span.mac(side, "link"), "peer_mac": span.mac(side, "end")}
        bound_ns = settings.lateness_p99_ns[span.number]
        return {
            "ends": ends,
            "log": self._log_files(span),
            "void": {"lateness_p99_ns": bound_ns, "one_way_delay_share": ONE_WAY_DELAY_SHARE},
        }

    def _log_files(self, span: Span) -> dict[str, str | None]:
        settings = self._settings
        files = SECOND_NETWORK_FILES if span is self._ends.later else link_files(span.number)
        wanted = {"packet_log": settings.packet_log}
        return {key: self._file(name) if wanted.get(key, settings.captures) else None for key, name in files.items()}

    def _file(self, name: str) -> str | None:
        folder = self._settings.work_dir
        return str(folder / name) if folder else None

    def begin(self) -> None:
        """Begin the workload: the next packet that reaches a link is its packet 0, at t = 0."""
        process = self._require()
        if self._settings.begins_when_told:
            process.say("begin\n")
            self._message("begun")

    def change(self, change: Mapping[str, object]) -> int:
        """Change settings of the running links (docs/reference/link-config.md); return the instant in their model's
        time, in ns. An empty change only asks for it. Raises SpecError with what the link refuses."""
        process = self._require()
        process.say(f"{json.dumps({'change': change})}\n")
        message = self._message("changed", "refused")
        if message["event"] == "refused":
            raise SpecError(f"the link cannot change as asked: {message['message']}", "it goes on as it was")
        at_ns = message["at_ns"]
        assert isinstance(at_ns, int)
        return at_ns

    def check(self) -> None:
        """Raise VoidError if the link's process has ended without being told to."""
        if (how := self._require().ended()) is not None:
            raise _gone(how)

    @property
    def pid(self) -> int:
        """Process id of the link."""
        return self._require().pid

    def stop(self) -> dict[str, object]:
        """Close the link and return its summary; packets still inside are counted there."""
        process = self._require()
        if process.stop():
            self.summary = self._message("summary") | {"awake_processors": process.awake}
            if (file := self._file(LINK_SUMMARY)) is not None:
                write_anew(Path(file), f"{json.dumps(self.summary)}\n")
        return self.summary

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the link without its account; this may be called again."""
        self._stack.close()

    def _reap(self) -> None:
        self._require().close(accounted=bool(self.summary))

    def _require(self) -> LinkProcess:
        if self._process is None:
            raise RuntimeError("the link was not started")
        return self._process

    def _message(self, *events: str) -> dict[str, object]:
        """The next line of the link process, which must be one of `events`."""
        process = self._require()
        line = process.hear()
        try:
            message: dict[str, object] = json.loads(line)
        except json.JSONDecodeError:
            raise _gone(process.kill()) from None
        if message.get("event") not in events:
            raise HostError(f"the link cannot run: {message.get('message', line)}", str(message.get("hint", "")))
        return message


def links_of(config: Mapping[str, object]) -> list[Mapping[str, object]]:
    """All links of a configuration, the first one first."""
    more = config.get("more_links")
    return [config, *(more if isinstance(more, list | tuple) else ())]


def _gone(how: str) -> VoidError:
    return VoidError(
        f"the link's process {how} before its time", "the trial is invalid; the same command runs it again"
    )


def usable_versions(mtu: int) -> tuple[int, ...]:
    """IP versions that a link of this MTU carries and this kernel speaks (RFC 8200 section 5: IPv6 needs 1280)."""
    has_ipv6 = mtu >= 1280 and Path("/proc/sys/net/ipv6").exists()
    return (4, 6) if has_ipv6 else (4,)
