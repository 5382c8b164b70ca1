# SPDX-License-Identifier: Apache-2.0
"""Instants at which datagrams reached an end, by its kernel: stamps that the link has no part in.

A packet socket's ring keeps the beginning of each packet with the instant at which the kernel had it. Nobody reads it
meanwhile, so that no program's waking up takes time from what is measured.
"""

from __future__ import annotations

import mmap
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from quiclab.lab.testbed.namespace import NetworkNamespace

_SOL_PACKET, _PACKET_RX_RING, _PACKET_VERSION = 263, 5, 10
_TPACKET_V2 = 1
_ETH_P_IP = 0x0800
_BLOCK, _BLOCKS, _FRAME_BYTES = 1 << 20, 16, 128
_IP_AT = 80
"""Offset of the packet in a frame: behind struct tpacket2_hdr, a struct sockaddr_ll and 16 spare bytes."""
_FRAME = np.dtype(
    {
        "names": ["status", "ip_at", "s", "ns", "protocol", "number"],
        "formats": ["<u4", "<u2", "<u4", "<u4", "u1", ">u8"],
        "offsets": [0, 14, 16, 20, _IP_AT + 9, _IP_AT + 28],
        "itemsize": _FRAME_BYTES,
    }
)

Arrivals = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]
"""Numbers of datagrams, ascending, and the instant of each in nanoseconds (CLOCK_REALTIME)."""


@contextmanager
def stamped(namespace: NetworkNamespace, device: str) -> Iterator[Callable[[], Arrivals]]:
    """Have the kernel note when datagrams over IPv4, which begin with their number, come in by a device; what it yields
    tells those so far."""
    ring = namespace.run(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0))
    with ring:
        ring.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
        shape = struct.pack("4I", _BLOCK, _BLOCKS, _FRAME_BYTES, _BLOCKS * _BLOCK // _FRAME_BYTES)
        ring.setsockopt(_SOL_PACKET, _PACKET_RX_RING, shape)
        with mmap.mmap(ring.fileno(), _BLOCK * _BLOCKS) as memory:
            ring.bind((device, _ETH_P_IP))
            yield lambda: _read(memory)


def _read(memory: mmap.mmap) -> Arrivals:
    frames = np.frombuffer(memory[:], _FRAME)
    frames = frames[(frames["status"] & 1 == 1) & (frames["protocol"] == socket.IPPROTO_UDP)]
    assert (frames["ip_at"] == _IP_AT).all(), "this kernel lays frames out in another way"
    frames = frames[np.argsort(frames["number"], kind="stable")]
    stamps_ns = frames["s"].astype(np.int64) * 10**9 + frames["ns"]
    return frames["number"].astype(np.uint64), stamps_ns
