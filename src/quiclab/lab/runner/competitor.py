# SPDX-License-Identifier: Apache-2.0
"""One flow beside the measured one, with its programs. A page is loaded again and again, each time by a new browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from quiclab.lab.endpoints import Command
from quiclab.lab.runner.commands import Part
from quiclab.lab.runner.document import read_json
from quiclab.lab.runner.flows import Flow
from quiclab.lab.testbed.hub import Pair
from quiclab.lab.testbed.jail import Jail
from quiclab.lab.testbed.link import End
from quiclab.lab.testbed.process import Process
from quiclab.model import study


class Competitor:
    """Running programs of one flow."""

    def __init__(self, flow: Flow, jail: Jail) -> None:
        """`jail` is that of the flow's client."""
        self.flow = flow
        self.jail = jail
        self.processes: dict[Part, Process] = {}
        self.started_ns: int | None = None
        self.ended = "not started"
        self.congestion_control: str | None = None
        self.loads: list[dict[str, object]] = []
        """The loads of a page that came to their end: when each was asked for, and when it was whole."""
        self._next_is_ready: Path | None = None
        """The file that appears when the browser of the next load may be given the word."""

    @property
    def loads_pages(self) -> bool:
        """True if its client ends, and is to begin again."""
        return self.flow.workload is not None and self.flow.workload.page is not None

    def trouble(self) -> str | None:
        """Reason why it no longer runs."""
        for part, process in self.processes.items():
            if part in ("client", "proxy", "server") and (code := process.poll()) is not None:
                if part == "client" and code == 0 and self.loads_pages:
                    continue
                words = process.last_words() or "it printed nothing"
                return f"its {part} ended with exit code {code}: {words}"
        return None

    def go_on(self, command: Command, start: Callable[[], None]) -> None:
        """Load the page again where it has been loaded; `start` starts another client. Waits for nothing."""
        client = self.processes.get("client")
        if not self.loads_pages or self.started_ns is None or client is None:
            return
        if client.poll() == 0:
            self._keep_account()
            self._next_is_ready = command.ready_file and self.jail.real(command.ready_file)
            if self._next_is_ready is not None:
                self._next_is_ready.unlink(missing_ok=True)
            start()
        elif self._next_is_ready is not None and self._next_is_ready.exists():
            self._next_is_ready = None
            self.processes["client"].go()

    def document(self, ip_version: int) -> dict[str, object]:
        """The flow as trial.json has it."""
        flow = self.flow
        return {
            "label": flow.label,
            "arm": flow.arm.name if flow.arm else None,
            "background": flow.background.kind if flow.background else None,
            "protocol": flow.arm.protocol if flow.arm else _transport(flow.background),
            **ends_of(flow.pair, flow.port, ip_version),
            "started_ns": self.started_ns,
            "ended": self.ended,
            "loads": self.loads if self.loads_pages else None,
            "tcp_congestion_control_asked": flow.tcp.congestion_control,
            "tcp_congestion_control": self.congestion_control,
        }

    def _keep_account(self) -> None:
        """Keep the account of the load that is over, before the next one writes its own."""
        number = len(self.loads) + 1
        for name in ("client.json", "client-trace.json", "client-page.jpg"):
            file = self.jail.raw / name
            if file.exists():
                file.rename(file.with_stem(f"{file.stem}-{number}"))
        account = read_json(self.jail.raw / f"client-{number}.json")
        page = account.get("page") if isinstance(account, dict) else None
        went_ns = page.get("went_ns") if isinstance(page, dict) else None
        self.loads.append({"went_ns": went_ns, "whole_ns": _last_byte_ns(account)})


def ends_of(pair: Pair, port: int, ip_version: int) -> dict[str, object]:
    """The addresses of a flow, and the port of its server, as trial.json has them."""
    ends: tuple[End, ...] = ("client", "server")
    return {**{f"{end}_address": pair.addresses(end)[ip_version] for end in ends}, "server_port": port}


def _transport(background: study.Background | None) -> str:
    return "tcp" if background is not None and background.kind == "short_flows" else "udp"


def told_end_ns(raw: Path) -> int | None:
    """Instant at which the measured browser had what it wanted, by its own account: it takes its time to close. None
    where it does not say so."""
    log = read_json(raw / "client-player.json")
    if isinstance(log, dict) and isinstance(log.get("end_ns"), int):
        return int(log["end_ns"])
    account = read_json(raw / "client.json")
    return _last_byte_ns(account) if isinstance(account, dict) and "page" in account else None


def _last_byte_ns(account: Any) -> int | None:
    """The last byte of all requests of an account, which may be anything."""
    requests = account.get("requests") if isinstance(account, dict) else None
    instants = [each.get("last_byte_ns") for each in requests or () if isinstance(each, dict)]
    return max((instant for instant in instants if type(instant) is int), default=None)
