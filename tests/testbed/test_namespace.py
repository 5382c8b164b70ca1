# SPDX-License-Identifier: Apache-2.0
"""Namespaces as trials get them: settings read back, processes as ordinary users, nothing of the host changed."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from live_link import in_sandbox

from quiclab.lab.testbed import namespace as namespace_module
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.lab.testbed.process import Process
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.errors import HostError
from quiclab.model.study import Tcp

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


@pytest.mark.parametrize("address", ["10.77.0.2", "fd77::2"])
def test_programs_of_one_place_speak_as_told(address: str) -> None:
    """The congestion control of a connection over the loopback, at both its ends, whatever the machine's own is."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET

    def ends() -> list[str]:
        with socket.create_server((address, 8443), family=family) as server, socket.socket(family) as client:
            client.connect((address, 8443))
            accepted, _ = server.accept()
            with accepted:
                told = [end.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16) for end in (client, accepted)]
        return [name.rstrip(b"\0").decode() for name in told]

    def work() -> list[list[str]]:
        with NetworkNamespace() as place, NetworkNamespace() as other:
            add_veth(place, "link0", other, "far", ("02:00:00:00:00:01", "02:00:00:00:00:02"))
            addresses = {"10.77.0.2": 24, "fd77::2": 64}
            place.configure("link0", mtu=1500, addresses=addresses, route=RouteMetrics("reno", 10))
            found = []
            for name in ("reno", "cubic"):
                place.tell_loopback(list(addresses), RouteMetrics(name, 10))
                found.append(place.run(ends))
        return found

    assert in_sandbox(work) == [["reno", "reno"], ["cubic", "cubic"]]


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


def test_a_device_that_goes_while_it_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its link's process may be killed at any instant: told as that, and with what to do."""

    def work() -> list[str]:
        with NetworkNamespace() as place, NetworkNamespace() as other:
            add_veth(place, "link0", other, "far", ("02:00:00:00:00:01", "02:00:00:00:00:02"))
            addresses, told = {"10.77.0.2": 24}, []
            index_of = namespace_module._index

            def index_and_gone(ip: Any, device: str) -> int:
                index = index_of(ip, device)
                ip.link("del", index=index)
                return index

            for index in (index_and_gone, index_of):
                monkeypatch.setattr(namespace_module, "_index", index)
                try:
                    place.configure("link0", mtu=1500, addresses=addresses, route=None)
                except HostError as error:
                    told.append(f"{error.message}: {error.hint}")
            return told

    went, absent = in_sandbox(work)
    assert went.startswith("a network device went while it was configured: its link's process was killed")
    assert absent.startswith("the network device link0 is not there: its link's process was killed")
