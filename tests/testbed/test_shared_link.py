# SPDX-License-Identifier: Apache-2.0
"""Links of several trials in one process: each begins, ends and fails by itself."""

from __future__ import annotations

import os
import signal
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from live_link import BACKENDS, Ends, bulk_tcp, in_sandbox, with_backend

from quiclab.lab.testbed import link_process
from quiclab.lab.testbed.link import Backend, Link, LinkSettings
from quiclab.lab.testbed.link_process import SharedLinkProcess
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.model.errors import HostError, VoidError
from quiclab.model.study import Direction
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import Bitrate, Duration
from quiclab.spec.link import link_config

pytestmark = pytest.mark.netns
_DIRECTION = Direction(rate=Bitrate(20_000_000), delay=Duration(2_000_000))
_PATH = LinkPath("shared", up=_DIRECTION, down=_DIRECTION)


def _open(stack: ExitStack, shared: SharedLinkProcess, folder: Path, backend: Backend, **changes: Any) -> Ends:
    """A link in the shared process, with its logs."""
    folder.mkdir()
    settings = LinkSettings(
        backend=backend,
        mtu=_PATH.mtu,
        model=link_config(_PATH, 1),
        route=RouteMetrics("cubic", 10),
        work_dir=folder,
        lateness_p99_ns=[60_000_000_000],
        shared=shared,
    )
    client, server = (stack.enter_context(NetworkNamespace()) for _ in range(2))
    return Ends(client, server, stack.enter_context(Link(replace(settings, **changes), client, server)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_links_come_and_go(tmp_path: Path, backend: Backend) -> None:
    """One ends while the other goes on; each has its own books and files, and knows how many there were."""
    backend = with_backend(backend)

    def work() -> dict[str, Any]:
        with SharedLinkProcess() as shared, ExitStack() as stack:
            first, second = (_open(stack, shared, tmp_path / name, backend) for name in ("first", "second"))
            assert first.link.pid == second.link.pid == shared.pid
            moved = [bulk_tcp(first, 0.2)["bytes"]]
            ended = first.link.stop()
            first.link.close()
            moved.append(bulk_tcp(second, 0.2)["bytes"])
            third = _open(stack, shared, tmp_path / "third", backend)
            time.sleep(0.2)  # opened by a thread of its own, it is among those that are moved a little later
            return {"moved": moved, "links": [ended, second.link.stop(), third.link.stop()]}

    told = in_sandbox(work)
    assert [(link["shared"], link["runs_at_once"]) for link in told["links"]] == [(True, 2), (True, 2), (True, 2)]
    for link, moved in zip(told["links"], told["moved"], strict=False):
        assert link["sound"], link["unsound_reasons"]
        assert link["up"]["bytes_in"] > moved > 0
    assert told["links"][2]["up"]["packets_in"] == 0
    names = {file.name for file in (tmp_path / "first").iterdir()}
    assert {"link.qplog", "client.pcapng", "server.pcapng", "link-config.json", "link.json"} <= names


def test_a_wrong_configuration_ends_no_other_link(tmp_path: Path) -> None:
    """It is told with its reason; links that are there go on, and others can come."""
    backend = with_backend("tun")

    def work() -> dict[str, Any]:
        with SharedLinkProcess() as shared, ExitStack() as stack:
            good = _open(stack, shared, tmp_path / "good", backend)
            told = "nothing"
            try:
                _open(stack, shared, tmp_path / "bad", backend, model=link_config(_PATH, 1) | {"seed": "many"})
            except HostError as error:
                told = error.message
            moved = bulk_tcp(good, 0.2)["bytes"]
            return {"told": told, "moved": moved, "sound": good.link.stop()["sound"]}

    found = in_sandbox(work)
    assert "'many' is not a decimal number" in found["told"]
    assert found["moved"] > 0
    assert found["sound"]


def test_a_process_that_is_killed_voids_the_trials(tmp_path: Path) -> None:
    """Each learns of it, when it looks and when it asks for the account."""
    backend = with_backend("tun")

    def work() -> list[str]:
        told = []
        with SharedLinkProcess() as shared, ExitStack() as stack:
            first, second = (_open(stack, shared, tmp_path / name, backend) for name in ("first", "second"))
            first.link.check()
            os.kill(shared.pid, signal.SIGKILL)
            os.waitid(os.P_PID, shared.pid, os.WEXITED | os.WNOWAIT)
            for ask in (first.link.check, second.link.stop):
                try:
                    ask()
                except VoidError as error:
                    told.append(error.message)
        return told

    assert in_sandbox(work) == ["the link's process ended before its time"] * 2


def test_a_process_has_its_threads_before_it_becomes_real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel refuses a thread whose parent becomes a deadline thread meanwhile, and the process would end."""
    seen: list[int] = []

    def asked(pid: int, *, deadline: bool) -> str:
        seen.append(len(list(Path(f"/proc/{pid}/task").iterdir())))
        return "deadline" if deadline else "fifo"

    monkeypatch.setattr(link_process, "ask_for_real_time", asked)
    for _ in range(20):
        with SharedLinkProcess():
            pass
    assert seen == [3] * 20
