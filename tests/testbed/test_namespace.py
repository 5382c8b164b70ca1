# SPDX-License-Identifier: Apache-2.0
"""Namespaces as trials get them: settings read back, processes as ordinary users, nothing of the host changed."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.spec.model import Tcp
from quiclab.testbed.namespace import NetworkNamespace
from quiclab.testbed.process import Process
from quiclab.testbed.tcp_settings import sysctls

pytestmark = pytest.mark.netns


def test_sysctls_are_read_back() -> None:
    """What the kernel says after the write is what is kept."""

    def work() -> dict[str, str]:
        with NetworkNamespace() as namespace:
            return namespace.write_sysctls(sysctls(Tcp("reno")))

    told = in_sandbox(work)
    assert told["net.ipv4.tcp_congestion_control"] == "reno"
    assert told["net.ipv4.tcp_no_metrics_save"] == "1"
    assert told["net.ipv4.tcp_rmem"] == "4096 131072 6291456"


def test_the_host_keeps_its_own() -> None:
    """A namespace's sysctl is not the machine's."""
    before = Path("/proc/sys/net/ipv4/tcp_sack").read_text()

    def work() -> None:
        with NetworkNamespace() as namespace:
            namespace.write_sysctls({"net.ipv4.tcp_sack": "0" if before.strip() == "1" else "1"})

    in_sandbox(work)
    assert Path("/proc/sys/net/ipv4/tcp_sack").read_text() == before


def test_endpoints_are_ordinary_users_that_bind_low_ports(tmp_path: Path) -> None:
    """None believes that it is root, has capabilities, or sees the host's network; port 443 is open to it."""
    script = (
        "import os, socket; s = socket.create_server(('127.0.0.1', 443)); "
        "caps = [l.split()[1] for l in open('/proc/self/status') if l.startswith('CapEff')][0]; "
        "print(os.getuid(), int(caps, 16), sorted(os.environ))"
    )

    def work() -> str:
        with NetworkNamespace() as namespace:
            namespace.write_sysctls(sysctls(Tcp("reno")))
            output = tmp_path / "out"
            argv = ["/usr/bin/env", "python3", "-c", script]
            environment = {"PATH": os.environ["PATH"]}
            with Process("it", argv, environment, namespace, work_dir=tmp_path, output=output) as process:
                assert process.wait(10) == 0, output.read_text()
            return output.read_text()

    uid, capabilities, *names = in_sandbox(work).split()
    assert (uid, capabilities) == ("1000", "0")
    assert not {"HOME", "USER", "LANG"} & {name.strip("[],'") for name in names}


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    """Interrupt, grace, kill."""

    def work() -> int:
        with NetworkNamespace() as namespace:
            output = tmp_path / "out"
            argv = ["/bin/sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"]
            with Process("it", argv, {}, namespace, work_dir=tmp_path, output=output) as process:
                while "ready" not in output.read_text():
                    time.sleep(0.01)
                return process.end(grace_s=0.3)

    assert in_sandbox(work) == -9


def test_no_interface_of_the_host_changes() -> None:
    """The list of the host's interfaces is the same before and after."""

    def interfaces() -> str:
        return (
            subprocess.run(["cat", "/proc/net/dev"], capture_output=True, text=True, check=True)
            .stdout.count("\n")
            .__str__()
        )

    before = interfaces()

    def work() -> Any:
        with NetworkNamespace() as one, NetworkNamespace():
            return one.read("dev").count(":")

    assert in_sandbox(work) == 1
    assert interfaces() == before
