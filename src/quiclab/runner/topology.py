# SPDX-License-Identifier: Apache-2.0
"""The network of one trial: a namespace for every place where programs run, and the link between them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.plan.rows import PlanRow
from quiclab.runner.commands import arm_of, path_of
from quiclab.runner.laboratory import Laboratory
from quiclab.spec.link import lateness_bound, link_config
from quiclab.testbed.link import Link, LinkSettings
from quiclab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.testbed.tcp_settings import sysctls

HEADER_BYTES = 200
"""IP, TCP with all its options and the start of the payload: what every table and metric needs."""


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
        """Place → where its programs run. A server has its proxy, if any, beside it."""
        self.sysctls: dict[str, dict[str, str]] = {}
        """Place → what was pinned there, as read back."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for place in ("client", "server"):
                self.namespaces[place] = namespace = stack.enter_context(NetworkNamespace())
                self.sysctls[place] = namespace.write_sysctls(sysctls(self._arm.tcp))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def link(self) -> Link:
        """The link between client and server, not yet running."""
        study, tcp, path = self._laboratory.study, self._arm.tcp, self._path
        page = self._laboratory.pages.get(self._row.workload)
        settings = LinkSettings(
            backend=self._laboratory.backend,
            mtu=path.mtu,
            model=link_config(path, self._row.seed),
            more_server_addresses=page.addresses(path.ip_version) if page else (),
            route=RouteMetrics(tcp.congestion_control, tcp.initial_window, tcp.max_window),
            work_dir=self._raw,
            snaplen_bytes=None if study.captures == "whole" else HEADER_BYTES,
            lateness_p99_ns=lateness_bound(path, study.limits.lateness_p99).ns,
            spin_ns=self._laboratory.spin_ns,
        )
        return Link(settings, self.namespaces["client"], self.namespaces["server"])
