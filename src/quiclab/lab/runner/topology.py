# SPDX-License-Identifier: Apache-2.0
"""The network of one trial: a namespace for every place where programs run, and the links between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.runner.commands import arm_of, path_of, workload_of
from quiclab.lab.runner.first_visit import unimpaired
from quiclab.lab.runner.flows import Flow, other_flows
from quiclab.lab.runner.laboratory import Laboratory
from quiclab.lab.runner.places import CLIENT, SERVER, address_of, front_place, places
from quiclab.lab.testbed.hub import Hub, Pair
from quiclab.lab.testbed.link import DEVICE, SERVER_ADDRESSES, End, Link, LinkSettings, usable_versions
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.lab.testbed.real_time import leaves_room
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model import study as model
from quiclab.model.plan_row import PlanRow
from quiclab.spec.ecn import tcp_on
from quiclab.spec.link import busiest_rate, lateness_bounds, link_config

ENDS: tuple[End, ...] = ("client", "server")
HEADER_BYTES = 200
"""IP, TCP with all its options and the start of the payload: what every table and metric needs."""

_DEVICES_PATIENCE_S = 5.0
_ANY_NS = 2**62
"""Bound of the links' lateness: the verdict asks what lateness cost the trial, not how late a link was."""

ROLES: dict[str, model.Role] = {CLIENT: "client", SERVER: "server"}
"""Roles of the programs at the ends; on a node only proxies run."""


class Topology:
    """Context manager around the namespaces of one trial."""

    def __init__(self, laboratory: Laboratory, row: PlanRow, raw: Path) -> None:
        self._laboratory = laboratory
        self._row = row
        self._raw = raw
        self._arm = arm_of(laboratory.study, row)
        self._path = path_of(laboratory.study, row)
        change = workload_of(laboratory.study, row).address_change
        self._later = None if change is None else change.path_after(self._path)
        self._stack = ExitStack()
        self.namespaces: dict[str, NetworkNamespace] = {}
        """Place → where its programs run, from client to server (`runner.places`)."""
        self.sysctls: dict[str, dict[str, str]] = {}
        """Place → what was pinned there, as read back."""
        self.others: dict[Pair, dict[End, NetworkNamespace]] = {}
        """Namespaces of competitors' programs; if there are any, hubs stand between all namespaces and the link."""
        self._hubs: dict[End, Hub] = {}
        self.lost_in_hubs = 0
        """Number of packets that the hubs lost, known once all is over."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for place in places(self._path):
                self.namespaces[place] = namespace = stack.enter_context(NetworkNamespace())
                # Beside a proxy it is the server that speaks over the loopback, where there is no route to set it on.
                own = tcp_on(self._path, self._tcp_of(ROLES.get(place, "proxy")), self._later)
                self.sysctls[place] = namespace.write_sysctls(sysctls(own))
            front = address_of(front_place(self._arm, self._path), self._path.ip_version)
            self._laboratory.name_front(front)
            if flows := other_flows(self._laboratory.study, self._row):
                self._share(flows, stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _share(self, flows: Sequence[Flow], stack: ExitStack) -> None:
        """Put hubs at both ends, with the measured pair and the others."""
        for end in ENDS:
            self._hubs[end] = Hub(end, stack.enter_context(NetworkNamespace()), self._path.mtu)
            self._hubs[end].add(Pair(0), self.namespaces[end], self._route_at(end))
        for flow in flows:
            self.others[flow.pair] = {}
            for end in ENDS:
                self.others[flow.pair][end] = namespace = stack.enter_context(NetworkNamespace())
                self.sysctls[f"{end} of {flow.label}"] = namespace.write_sysctls(sysctls(tcp_on(self._path, flow.tcp)))
                self._hubs[end].add(flow.pair, namespace, _route(flow.tcp))

    def join(self) -> None:
        """Let the hubs forward over the link, which runs, and a server speak with the proxy beside it as told."""
        for hub in self._hubs.values():
            hub.join()
        if self._arm.proxy_beside_server:
            addresses = [SERVER_ADDRESSES[version] for version in usable_versions(self._path.mtu)]
            self.namespaces[SERVER].tell_loopback(addresses, _route(self._tcp_of("server")))

    def count_losses(self) -> None:
        """Count what the hubs lost, before the link is closed."""
        self.lost_in_hubs = sum(hub.dropped() for hub in self._hubs.values())

    def link(self, *, impaired: bool = True) -> Link:
        """The links between client and server, not yet running; those that are not impaired leave no logs."""
        study, path = self._laboratory.study, self._path if impaired else unimpaired(self._path)
        page, front = self._laboratory.pages.get(self._row.workload), front_place(self._arm, self._path)
        settings = LinkSettings(
            backend=self._laboratory.backend,
            mtu=path.mtu,
            model=link_config(path, self._row.seed, self._later),
            second_network=self._later is not None,
            begins_when_told=bool(path.more_links),  # a proxy between two has fetched something before
            more_addresses=page.addresses(path.ip_version) if page else (),
            more_at=None if front == SERVER else self.namespaces[front],
            route=_route(self._tcp_of("proxy")),
            route_at={self.namespaces[end]: self._route_at(end) for end in ENDS},
            work_dir=self._raw if impaired else None,
            snaplen_bytes=None if study.captures == "whole" else HEADER_BYTES,
            lateness_p99_ns=[_ANY_NS for _ in lateness_bounds(path, self._later)],
            spin_ns=self._laboratory.spin_ns,
            shared=self._laboratory.links if leaves_room(busiest_rate(path)) else None,
        )
        client, *nodes, server = self.namespaces.values()
        if self._hubs:
            client, server = self._hubs["client"].namespace, self._hubs["server"].namespace
        return Link(settings, client, server, nodes)

    def link_instead_of(self, first: Link) -> Link:
        """The links as the spec wants them, running, once those of a first visit are gone."""
        first.close()
        for namespace in self.namespaces.values():
            namespace.await_no_device(DEVICE.rstrip("0"), _DEVICES_PATIENCE_S)
        return self.link()

    def _tcp_of(self, role: model.Role) -> model.Tcp:
        """TCP's settings where a program in this role stands."""
        tcp = self._arm.tcp
        return replace(tcp, congestion_control=tcp.congestion_control_of(role))

    def _route_at(self, end: End) -> RouteMetrics:
        """Settings of the route to the links; beside a server it is the proxy that uses it."""
        role: model.Role = "proxy" if end == SERVER and self._arm.proxy_beside_server else end
        return _route(self._tcp_of(role))


def _route(tcp: model.Tcp) -> RouteMetrics:
    return RouteMetrics(tcp.congestion_control, tcp.initial_window)
