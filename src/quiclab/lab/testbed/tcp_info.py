# SPDX-License-Identifier: Apache-2.0
"""The kernel's account of TCP connections, sampled from inside a namespace (inet_diag) and kept as the kernel gave it.

A program of its own does it: it can have real-time scheduling, so that it samples in time when the endpoints keep every
core busy, and costs half as much as such a loop in Python. A sample costs what a walk through the namespace's table of
connections costs. That table is the machine's own, with hundreds of thousands of places, unless the namespace was made
after `net.ipv4.tcp_child_ehash_entries` was written. The file is described in docs/reference/tcp-info-log.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.real_time import RealTime, ask_for_real_time
from quiclab.model.units import Duration
from quiclab.project import own_program

_NETLINK_SOCK_DIAG = 4
_BELOW_THE_LINK = 1
"""Real-time priority, below the link's, which must not be late."""


class TcpInfoSampler:
    """Context manager: writes every connection at `local_port` to `output`, every `interval`.

    Where the kernel refuses, nothing is sampled and `summary` says `unsupported`. Raises HostError when the program is
    not there.
    """

    def __init__(
        self, namespace: NetworkNamespace, ip_version: int, local_port: int, interval: Duration, output: Path
    ) -> None:
        """Prepare the sampler; `local_port` 0 takes every connection of the namespace."""
        self._namespace = namespace
        self._settings = {
            "ip_version": ip_version,
            "local_port": local_port,
            "interval_ns": interval.ns,
            "output": str(output),
        }
        self._stack = ExitStack()
        self._real_time: RealTime = "none"
        self.summary: dict[str, object] = {}
        """Summary after the end, for trial.json: samples, missed, interval_ns, slowest_ns, cpu_share (of one core) and
        real_time; or `unsupported` or `ended_early`, with the reason."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            try:
                diag = stack.enter_context(self._namespace.run(_diag_socket))
            except OSError as error:
                self.summary = {"unsupported": f"inet_diag: {error.strerror}"}
                return self
            self._process = subprocess.Popen(
                [own_program("quiclab-tcp-info"), json.dumps({"socket": diag.fileno()} | self._settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=(diag.fileno(),),
                start_new_session=True,
            )
            stack.enter_context(self._process)
            stack.callback(self._process.kill)
            told = self._next_line()
            if told["event"] != "ready":
                self.summary = {"unsupported": told["message"]}
                return self
            self._real_time = ask_for_real_time(self._process.pid, deadline=False)
            if self._real_time != "none":
                with contextlib.suppress(OSError):
                    os.sched_setparam(self._process.pid, os.sched_param(_BELOW_THE_LINK))
            stack.callback(self._finish)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _finish(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        told = self._next_line()
        if told["event"] == "summary":
            summary = told["summary"]
            self.summary = {**(summary if isinstance(summary, dict) else {}), "real_time": self._real_time}
        else:
            self.summary = {"ended_early": told["message"]}

    def _next_line(self) -> dict[str, object]:
        """The program's next line."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        try:
            told: dict[str, object] = json.loads(line)
        except json.JSONDecodeError:
            return {"event": "error", "message": f"it ended without a word (exit code {self._process.wait()})"}
        return told


def _diag_socket() -> socket.socket:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG)
