# SPDX-License-Identifier: Apache-2.0
"""Senders and receivers for benchmarks, the same for the emulated link and for what it is compared with.

Each end is a process of its own. A socket belongs to the namespace in which it was made, so the processes need not
enter it.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES
from quiclab.lab.testbed.namespace import NetworkNamespace

_TCP_INFO_TOTAL_RETRANS = 100
"""Offset of tcpi_total_retrans in struct tcp_info of linux/tcp.h."""
_UDP_SEGMENT = 103
_SO_TIMESTAMPNS = 35
_SO_MAX_PACING_RATE = 47
_ECHO_REQUEST, _ECHO_REPLY = 8, 0


def in_process(work: Callable[[], Any]) -> Callable[[], Any]:
    """Start `work` in a child process; calling what comes back waits for its result (as JSON)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        try:
            os.write(writer, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)

    def result() -> Any:
        with os.fdopen(reader) as pipe:
            text = pipe.read()
        os.waitpid(pid, 0)
        return json.loads(text)

    return result


def bulk_tcp(
    client: NetworkNamespace, server: NetworkNamespace, seconds: float, *, most_bit_per_s: int | None = None
) -> dict[str, float]:
    """One TCP connection that sends from client to server for so long; the sender's kernel keeps to `most_bit_per_s`.

    `gbit_per_s` is the goodput as the receiver sees it, slow start included; `retransmits` is the sender's count.
    """
    listener = server.run(lambda: socket.create_server((SERVER_ADDRESSES[4], 0)))
    sender = client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))

    def drain() -> dict[str, int]:
        receiver, _ = listener.accept()
        buffer = bytearray(1 << 20)
        received, first_ns, last_ns = 0, 0, 0
        while count := receiver.recv_into(buffer):
            last_ns = time.monotonic_ns()
            first_ns = first_ns or last_ns
            received += count
        return {"bytes": received, "ns": last_ns - first_ns}

    with listener, sender:
        drained = in_process(drain)
        if most_bit_per_s is not None:
            sender.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, most_bit_per_s // 8)
        sender.connect(listener.getsockname())
        end = time.monotonic() + seconds
        block = bytes(256 << 10)
        while time.monotonic() < end:
            sender.sendall(block)
        sender.shutdown(socket.SHUT_WR)
        result = drained()
        info = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    (retransmits,) = struct.unpack_from("I", info, _TCP_INFO_TOTAL_RETRANS)
    return {"gbit_per_s": result["bytes"] * 8 / result["ns"], "retransmits": retransmits}


def udp_stream(
    client: NetworkNamespace,
    server: NetworkNamespace,
    bit_per_s: float,
    seconds: float,
    *,
    burst: int,
    size: int = 1400,
) -> None:
    """Datagrams at a steady rate of IP bytes, in super-packets of `burst`, each of which begins with its number; the
    receiver's socket lets them pile up."""
    receiver = server.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    sender = client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    with receiver, sender:
        receiver.bind((SERVER_ADDRESSES[4], 0))
        sender.connect(receiver.getsockname())
        sender.setsockopt(socket.SOL_UDP, _UDP_SEGMENT, size)
        rest = bytes(size - 8)
        interval_s = burst * (size + 28) * 8 / bit_per_s
        start = time.monotonic()
        for i in range(int(seconds / interval_s)):
            data = b"".join(number.to_bytes(8) + rest for number in range(i * burst, (i + 1) * burst))
            if (ahead := start + i * interval_s - time.monotonic()) > 0:
                time.sleep(ahead)
            sender.send(data)


def echo_rtts_us(client: NetworkNamespace, count: int, interval_s: float) -> list[float]:
    """Round-trip times of ICMP echoes, one after the other, in microseconds.

    As `ping` takes them: the server's kernel answers, and the client's kernel stamps the answer's arrival, so no
    program's waking up is in them. One before them, which may have to find the server's Ethernet address, does not
    count.
    """
    icmp = client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
    rtts = []
    with icmp:
        icmp.bind((CLIENT_ADDRESSES[4], 0))
        icmp.connect((SERVER_ADDRESSES[4], 0))
        icmp.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        icmp.settimeout(5)
        for sequence in range(count + 1):
            message = _echo_request(sequence)
            sent_ns = time.time_ns()
            icmp.send(message)
            while True:
                packet, ancillary, _, _ = icmp.recvmsg(2048, 64)
                kind, number = packet[20], int.from_bytes(packet[26:28])
                if (kind, number) == (_ECHO_REPLY, sequence):
                    break
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            rtts.append((seconds * 10**9 + nanoseconds - sent_ns) / 1000)
            time.sleep(interval_s)
    return rtts[1:]


def _echo_request(sequence: int) -> bytes:
    words = (_ECHO_REQUEST << 8, 0, 1, sequence)
    total = sum(words)
    checksum = ~(total + (total >> 16)) & 0xFFFF
    return struct.pack("!HHHH56x", words[0], checksum, *words[2:])
