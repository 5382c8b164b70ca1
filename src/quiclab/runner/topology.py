# SPDX-License-Identifier: Apache-2.0
"""The network of one trial: a namespace for every place where programs run, and the links between them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.plan.rows import PlanRow
from quiclab.runner.commands import arm_of, path_of
from quiclab.runner.laboratory import Laboratory
from quiclab.runner.places import CLIENT, SERVER, address_of, front_place, places
from quiclab.spec import model
from quiclab.spec.link import lateness_bounds, link_config
from quiclab.testbed.link import Link, LinkSettings
from quiclab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.testbed.tcp_settings import sysctls

HEADER_BYTES = 200
"""IP, TCP with all its options and the start of the payload: what every table and metric needs."""

ROLES: dict[str, model.Role] = {CLIENT: "client", SERVER: "server"}
"""Who stands at the ends; on a node only proxies do."""


class Topology:
    """Context manager around the namespaces of one trial."""

    def __init__(self, laboratory: Laboratory, row: PlanRow, raw: Path) -> None:
        self._laboratory = laboratory
        self._row = row
        self._raw = raw
        self._arm = arm_of(laboratory.study, row)
        self._path = path_of(laboratory.study, row)
        self._stack = ExitStack()
        self.namespaces: dict[str, NetworkNamespace] = {}
        """Place → where its programs run, from client to server (`runner.places`)."""
        self.sysctls: dict[str, dict[str, str]] = {}
        """Place → what was pinned there, as read back."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for place in places(self._path):
                self.namespaces[place] = namespace = stack.enter_context(NetworkNamespace())
                # Beside a proxy it is the server that speaks over the loopback, where there is no route to set it on.
                role = ROLES.get(place, "proxy")
                own = replace(self._arm.tcp, congestion_control=self._arm.tcp.congestion_control_of(role))
                self.sysctls[place] = namespace.write_sysctls(sysctls(own))
            front = address_of(front_place(self._arm, self._path), self._path.ip_version)
            self._laboratory.name_front(front)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def link(self) -> Link:
        """The links between client and server, not yet running."""
        study, arm, path = self._laboratory.study, self._arm, self._path
        settings = LinkSettings(
            backend=self._laboratory.backend,
            mtu=path.mtu,
            model=link_config(path, self._row.seed),
            route=self._route("proxy"),
            route_at={
                self.namespaces[CLIENT]: self._route("client"),
                self.namespaces[SERVER]: self._route("proxy" if arm.proxy_beside_server else "server"),
            },
            work_dir=self._raw,
            snaplen_bytes=None if study.captures == "whole" else HEADER_BYTES,
            lateness_p99_ns=[bound.ns for bound in lateness_bounds(path, study.limits.lateness_p99)],
            spin_ns=self._laboratory.spin_ns,
        )
        client, *nodes, server = self.namespaces.values()
        return Link(settings, client, server, nodes)

    def _route(self, role: model.Role) -> RouteMetrics:
        """What routes say to TCP where a program in this role stands."""
        tcp = self._arm.tcp
        return RouteMetrics(tcp.congestion_control_of(role), tcp.initial_window, tcp.max_window)
