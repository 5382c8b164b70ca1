# SPDX-License-Identifier: Apache-2.0
"""Datagrams from the client's end to the server's that tell, by the kernels' stamps alone, how long a link took."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable

from live_link import Ends

from quiclab.lab.testbed.link import SERVER_ADDRESSES

_PORT = 5003
_SO_TIMESTAMPING, _SO_TIMESTAMPNS = 37, 35
_TX_SOFTWARE, _SOFTWARE, _OPT_ID, _OPT_TSONLY = 1 << 1, 1 << 4, 1 << 7, 1 << 11
_SILENCE_S = 0.5


def one_way_delays_ns(
    ends: Ends, count: int, gap_s: float, before_each: Callable[[int], None] = lambda _: None
) -> dict[int, int]:
    """From the instant at which the sender's device had a datagram to that at which the receiver's stack had it, by its
    number; what got lost is left out."""
    receiver = ends.server.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    receiver.bind((SERVER_ADDRESSES[4], _PORT))
    receiver.settimeout(_SILENCE_S)
    sender = ends.client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sender.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, _TX_SOFTWARE | _SOFTWARE | _OPT_ID | _OPT_TSONLY)
    sent, received = {}, {}
    all_sent = threading.Event()

    def drain() -> None:
        while not all_sent.is_set() or len(received) < count:
            try:
                data, ancillary, _, _ = receiver.recvmsg(64, 256)
            except TimeoutError:
                if all_sent.is_set():
                    return
                continue
            (stamp,) = (_ns(value) for _, kind, value in ancillary if kind == _SO_TIMESTAMPNS)
            received[int.from_bytes(data[:8])] = stamp

    thread = threading.Thread(target=drain)
    thread.start()
    begun = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begun + number * gap_s - time.monotonic()))
        before_each(number)
        sender.sendto(number.to_bytes(8), (SERVER_ADDRESSES[4], _PORT))
        # The stamp is made before sendto returns, or as soon as the datagram leaves.
        while number not in sent:
            sent.update(_sent(sender))
    all_sent.set()
    thread.join()
    for each in (sender, receiver):
        each.close()
    return {number: received[number] - sent[number] for number in sorted(received)}


def _sent(sender: socket.socket) -> dict[int, int]:
    """What the socket's error queue tells: each datagram's number and stamp."""
    try:
        _, ancillary, _, _ = sender.recvmsg(0, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return {}
    (stamp,) = (_ns(value) for _, kind, value in ancillary if kind == _SO_TIMESTAMPING)
    # struct sock_extended_err: ee_data is the datagram's number.
    (number,) = (struct.unpack_from("IBBBBII", value)[6] for level, _, value in ancillary if level == socket.SOL_IP)
    return {number: stamp}


def _ns(timespec: bytes) -> int:
    seconds, nanoseconds = struct.unpack_from("qq", timespec)
    return seconds * 1_000_000_000 + nanoseconds
