# SPDX-License-Identifier: Apache-2.0
"""Two namespaces with a wire between them: the emulated link, or a bare veth pair to compare it with."""

from __future__ import annotations

import ctypes
import fcntl
import socket
import struct
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path

from _bench import ROOT  # noqa: F401 - makes the tests' helpers importable
from live_link import BIG_BUFFERS, Ends

from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, Backend, Link, LinkSettings
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.lab.testbed.real_time import ask_for_awake_processors
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.model.study import Direction, Tcp
from quiclab.model.study import Path as LinkPath
from quiclab.spec.link import link_config

_ROUTE = RouteMetrics("cubic", 10)
BARE_DEVICES = ("bare0", "bare1")
"""The devices of a bare pair: the client's and the server's."""
_SIOCETHTOOL = 0x8946
_OFFLOADS = {"tx": 0x17, "gso": 0x24, "tso": 0x1F, "gro": 0x2C}
"""ETHTOOL_STXCSUM, ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_SGRO of linux/ethtool.h."""


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory, as a trial has it: logs wait for no disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name)


@contextmanager
def _namespaces() -> Iterator[tuple[NetworkNamespace, NetworkNamespace]]:
    """Client and server, with large TCP buffers and cubic."""
    settings = sysctls(Tcp("cubic", receive_buffer=BIG_BUFFERS, send_buffer=BIG_BUFFERS))
    with NetworkNamespace() as client, NetworkNamespace() as server:
        for namespace in (client, server):
            namespace.write_sysctls(settings)
        yield client, server


@contextmanager
def open_link(
    up: Direction,
    folder: Path,
    backend: Backend = "tun",
    *,
    down: Direction | None = None,
    packet_log: bool = True,
    captures: bool = False,
    spin_ns: int | None = None,
    program: Sequence[str] = (),
) -> Iterator[Ends]:
    """An emulated link with its logs in `folder`; symmetric unless `down` is given. Inside a sandbox. `program` is
    started instead of quiclab-link."""
    path = LinkPath("bench", up=up, down=down or up)
    settings = LinkSettings(
        backend=backend,
        mtu=1500,
        model=link_config(path, 1),
        route=_ROUTE,
        work_dir=folder,
        packet_log=packet_log,
        captures=captures,
        spin_ns=spin_ns,
        program=program,
    )
    with _namespaces() as (client, server), Link(settings, client, server) as link:
        yield Ends(client, server, link)


@contextmanager
def _awake_processors() -> Iterator[None]:
    """Keep processors awake, as for the link."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        ask_for_awake_processors(process.pid)
        yield
        process.communicate()


@contextmanager
def open_bare_veth(*, awake: bool = True) -> Iterator[tuple[NetworkNamespace, NetworkNamespace]]:
    """A veth pair straight from client to server, without offloads: every packet of the MTU goes by itself."""
    with _awake_processors() if awake else nullcontext(), _namespaces() as (client, server):
        add_veth(client, BARE_DEVICES[0], server, BARE_DEVICES[1], ("02:00:00:00:01:01", "02:00:00:00:02:01"))
        addresses = (CLIENT_ADDRESSES, SERVER_ADDRESSES)
        for namespace, device, own in zip((client, server), BARE_DEVICES, addresses, strict=True):
            namespace.run(partial(_offloads_off, device))
            namespace.configure(device, mtu=1500, addresses={own[4]: 24}, route=_ROUTE)
        yield client, server


def _offloads_off(device: str) -> None:
    """Switch offloads off, like `ethtool -K DEVICE tx off gso off tso off gro off`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        for command in _OFFLOADS.values():
            value = bytearray(struct.pack("II", command, 0))
            address = (ctypes.c_char * len(value)).from_buffer(value)
            request = struct.pack("16sP", device.encode(), ctypes.addressof(address)) + bytes(16)
            fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
