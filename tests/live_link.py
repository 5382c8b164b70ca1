# SPDX-License-Identifier: Apache-2.0
"""Real packets through a real link: helpers for tests and benchmarks."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, Backend, Link, LinkSettings
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.lab.testbed.sandbox import run_in_sandbox
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.study import Direction, Tcp
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import ByteCount
from quiclab.spec.link import link_config

BACKENDS: tuple[Backend, ...] = ("tun", "veth")
_UDP_SEGMENT = 103
_SO_MEMINFO, _MEMINFO_DROPS = 55, 8
_TCP_INFO_TOTAL_RETRANS = 100
"""Offset of tcpi_total_retrans in struct tcp_info."""

BIG_BUFFERS = (ByteCount(4096), ByteCount(1 << 20), ByteCount(16 << 20))
"""What may be under way at once fits into what the link holds of an end while the machine keeps it from running."""


def in_sandbox(work: Callable[[], Any]) -> Any:
    """Run `work` in a sandbox of its own and hand back its result (as JSON). Assertions inside are told here."""
    reader, writer = os.pipe()

    def inside() -> int:
        try:
            outcome = {"result": work()}
        except BaseException as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
        with os.fdopen(writer, "w") as pipe:
            json.dump(outcome, pipe)
        return 0

    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os._exit(run_in_sandbox(inside))
    os.close(writer)
    with os.fdopen(reader) as pipe:
        outcome = json.load(pipe)
    os.waitpid(pid, 0)
    assert "error" not in outcome, outcome["error"]
    return outcome["result"]


def with_backend(backend: Backend) -> Backend:
    """The same; skips the test where this machine does not have it."""
    if backend == "tun" and (problem := in_sandbox(tun_problem)) is not None:
        pytest.skip(f"no TUN device here: {problem}")
    return backend


@dataclass
class Ends:
    """A link and the namespaces at its ends."""

    client: NetworkNamespace
    server: NetworkNamespace
    link: Link


@contextmanager
def open_link(
    direction: Direction,
    folder: Path | None,
    backend: Backend = "tun",
    *,
    captures: bool = False,
    mtu: int = 1500,
    real_time: bool = True,
) -> Iterator[Ends]:
    """A symmetric link between two namespaces with large TCP buffers and cubic; inside a sandbox."""
    path = LinkPath("link", up=direction, down=direction, mtu=mtu)
    with open_path(path, folder, backend, captures=captures, real_time=real_time) as ends:
        yield ends


@contextmanager
def open_path(
    path: LinkPath,
    folder: Path | None,
    backend: Backend = "tun",
    *,
    captures: bool = False,
    begins_when_told: bool = False,
    real_time: bool = True,
) -> Iterator[Ends]:
    """The links of a path, with nodes between them; else as `open_link`."""
    tcp = Tcp("cubic", receive_buffer=BIG_BUFFERS, send_buffer=BIG_BUFFERS)
    settings = LinkSettings(
        backend=backend,
        mtu=path.mtu,
        model=link_config(path, 1),
        route=RouteMetrics("cubic", 10),
        work_dir=folder,
        packet_log=folder is not None,
        captures=captures,
        lateness_p99_ns=[100_000] * len(path.links),
        begins_when_told=begins_when_told,
        real_time=real_time,
    )
    with ExitStack() as stack:
        client, *nodes, server = (stack.enter_context(NetworkNamespace()) for _ in range(len(path.links) + 1))
        for namespace in (client, server):
            # Without tail loss probes a retransmission means a loss, not a pause of a busy machine.
            namespace.write_sysctls(sysctls(tcp) | {"net.ipv4.tcp_early_retrans": "0"})
        with Link(settings, client, server, nodes) as link:
            yield Ends(client, server, link)


def bulk_tcp(ends: Ends, seconds: float, ip_version: int = 4) -> dict[str, int]:
    """One TCP connection from client to server for so long: bytes received and the sender's retransmissions."""
    family = socket.AF_INET if ip_version == 4 else socket.AF_INET6
    listener = ends.server.run(lambda: socket.create_server((SERVER_ADDRESSES[ip_version], 5001), family=family))
    sender = ends.client.run(lambda: socket.socket(family, socket.SOCK_STREAM))
    sender.connect((SERVER_ADDRESSES[ip_version], 5001))
    receiver, _ = listener.accept()
    received = 0

    def drain() -> None:
        nonlocal received
        buffer = bytearray(1 << 20)
        while count := receiver.recv_into(buffer):
            received += count

    thread = threading.Thread(target=drain)
    thread.start()
    started = time.monotonic()
    block = bytes(256 << 10)
    while time.monotonic() - started < seconds:
        sender.sendall(block)
    sender.shutdown(socket.SHUT_WR)
    thread.join()
    elapsed = time.monotonic() - started
    info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    retransmits = struct.unpack_from("I", info, _TCP_INFO_TOTAL_RETRANS)[0]
    for each in (sender, receiver, listener):
        each.close()
    return {"bytes": received, "retransmits": retransmits, "bit_per_s": round(received * 8 / elapsed)}


def received(namespace: NetworkNamespace) -> dict[str, int]:
    """What the interface of an end was handed so far: packets, and bytes with their Ethernet headers."""
    line = next(line for line in namespace.read("dev").splitlines() if line.strip().startswith("link0:"))
    count, packets = line.split(":")[1].split()[:2]
    return {"packets": int(packets), "bytes": int(count)}


def udp_flood(ends: Ends, bit_per_s: int, seconds: float, size: int = 1400) -> dict[str, int]:
    """Datagrams at a steady rate in bursts of 20 segments (UDP_SEGMENT) from client to server.

    `arrived` counts what reached the receiver's socket: `received`, which it read, and what a busy machine let it miss.
    """
    address = (SERVER_ADDRESSES[4], 5002)
    receiver = ends.server.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    receiver.bind(address)
    receiver.settimeout(0.5)
    sender = ends.client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sender.bind((CLIENT_ADDRESSES[4], 0))
    sender.setsockopt(socket.SOL_UDP, _UDP_SEGMENT, size)
    received: list[bytes] = []

    all_sent = threading.Event()

    def drain() -> None:
        over = False
        while not over:
            # A busy machine may let half a second pass in the midst of it.
            over = all_sent.is_set()
            try:
                while True:
                    received.append(receiver.recv(2048)[:8])
            except TimeoutError:
                pass

    thread = threading.Thread(target=drain)
    thread.start()
    burst = 20
    gap = burst * (size + 28) * 8 / bit_per_s
    started = time.monotonic()
    sent = 0
    while (now := time.monotonic() - started) < seconds:
        if sent / burst * gap > now:
            time.sleep(sent / burst * gap - now)
            continue
        sender.sendto(b"".join((sent + i).to_bytes(8) + bytes(size - 8) for i in range(burst)), address)
        sent += burst
    all_sent.set()
    thread.join()
    arrived = len(received) + unread(receiver)
    sender.close()
    receiver.close()
    return {"sent": sent, "arrived": arrived, "received": len(received), "distinct": len(set(received))}


def unread(receiver: socket.socket) -> int:
    """Datagrams that found the socket full (SO_MEMINFO: SK_MEMINFO_DROPS)."""
    return int(struct.unpack("9I", receiver.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, 36))[_MEMINFO_DROPS])
