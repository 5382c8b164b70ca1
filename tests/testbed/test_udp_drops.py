# SPDX-License-Identifier: Apache-2.0
"""Which socket lost datagrams, as the kernel counts them."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from live_link import in_sandbox

from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.sampler import counters
from quiclab.lab.testbed.udp_drops import UdpDrops
from quiclab.logs.decoders import Context, decoder_of

pytestmark = pytest.mark.netns


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_full_socket_is_told_from_its_neighbour(family: int, address: str) -> None:
    """Drops stand under the full socket's port, agree with the namespace's sum, and outlive the socket."""

    def work() -> dict[str, Any]:
        with NetworkNamespace() as namespace, UdpDrops(namespace) as drops:
            full, read, sender = (
                namespace.run(lambda: socket.socket(socket.AddressFamily(family), socket.SOCK_DGRAM)) for _ in range(3)
            )
            full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for each, port in ((full, 4433), (read, 4434)):
                each.bind((address, port))
            for port in [4433] * 50 + [4434] * 3:
                sender.sendto(bytes(1000), (address, port))
            taken = 0
            full.setblocking(False)
            try:
                while full.recv(2000):
                    taken += 1
            except BlockingIOError:
                pass
            time.sleep(0.3)
            for each in (full, read, sender):
                each.close()
            time.sleep(0.2)
            # /proc/net/snmp counts IPv4 alone.
            total = counters(namespace)["UdpRcvbufErrors"]
            return {"found": [(each.port, each.drops) for each in drops.per_socket()], "taken": taken, "total": total}

    told = in_sandbox(work)
    assert told["found"] == [[4433, 50 - told["taken"]]]
    assert told["total"] == (50 - told["taken"] if family == socket.AF_INET else 0)
    assert told["taken"] < 50


def test_drops_are_told_between_two_looks(tmp_path: Path) -> None:
    """Each burst in a span of its own that holds the instants at which it was sent, and all of them together."""
    log = tmp_path / "server-udp-drops.jsonl"

    def work() -> dict[str, Any]:
        with NetworkNamespace() as namespace, UdpDrops(namespace, log) as drops:
            full, sender = (namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2))
            full.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            full.bind(("127.0.0.1", 4433))
            bursts = []
            for _ in range(3):
                begun_ns = time.monotonic_ns()
                for _ in range(50):
                    sender.sendto(bytes(1000), ("127.0.0.1", 4433))
                bursts.append([begun_ns, time.monotonic_ns()])
                time.sleep(0.2)
            for each in (full, sender):
                each.close()
            return {"bursts": bursts, "drops": [each.drops for each in drops.per_socket()]}

    told = in_sandbox(work)
    decoder = decoder_of(log)
    assert decoder is not None
    rows = decoder.decode(log, Context(vantage="server")).tables["udp_drops"]
    assert set(rows["port"]) == {4433}
    assert [rows["drops"].sum()] == told["drops"]
    for begun_ns, over_ns in told["bursts"]:
        within = rows.filter((pl.col("time_ns") >= begun_ns) & (pl.col("since_ns") <= over_ns))
        assert 40 <= within["drops"].sum() <= 50


def test_a_quiet_namespace_has_nothing_to_tell() -> None:
    """Sockets without drops are left out."""

    def work() -> int:
        with NetworkNamespace() as namespace, UdpDrops(namespace) as drops:
            receiver = namespace.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            receiver.bind(("127.0.0.1", 4433))
            time.sleep(0.15)
            receiver.close()
            return len(drops.per_socket())

    assert in_sandbox(work) == 0
