# SPDX-License-Identifier: Apache-2.0
"""Background traffic, as a program of its own: `python -I THIS source|sink job.json`. It runs until it is ended.

The sink waits for a line on stdin, then asks: by datagrams until the first one comes back, or by connections. It keeps
no account, because the packets show what it received.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import sys
import time
from pathlib import Path
from typing import Any

_HEADER_BYTES = {4: 28, 6: 48}
"""Bytes of the headers of IP and UDP, by version of IP."""
_ASK_AGAIN_S = 0.2
_SIZE_BYTES = 8
_MOST_BEHIND_NS = 100_000_000
"""Longest backlog: a source that the machine kept from running does not send all that it missed at once."""


def main() -> None:
    """Run as source or sink; never returns by itself."""
    job = json.loads(Path(sys.argv[2]).read_text())
    source = sys.argv[1] == "source"
    if job["kind"] == "short_flows":
        asyncio.run(_serve(job) if source else _fetch(job))
    elif source:
        _send(job)
    else:
        _receive(job)


def _udp(job: dict[str, object]) -> socket.socket:
    return socket.socket(socket.AF_INET if job["ip_version"] == 4 else socket.AF_INET6, socket.SOCK_DGRAM)


def _send(job: dict[str, Any]) -> None:
    """Send datagrams, each when it is due, to the first sink that asks."""
    source = _udp(job)
    source.bind((job["address"], job["port"]))
    _, peer = source.recvfrom(64)
    size = job["packet_bytes"]
    gap_ns = (size + _HEADER_BYTES[job["ip_version"]]) * 8 * 10**9 // job["bit_per_s"]
    on_ns, off_ns = job["on_ns"], job["off_ns"]
    began_ns = due_ns = time.monotonic_ns()
    number = 0
    while True:
        within_ns = (due_ns - began_ns) % (on_ns + off_ns) if off_ns else 0
        if off_ns and within_ns >= on_ns:
            due_ns += on_ns + off_ns - within_ns
        wait_ns = due_ns - time.monotonic_ns()
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
        due_ns -= min(0, wait_ns + _MOST_BEHIND_NS)
        source.sendto(number.to_bytes(8) + bytes(size - 8), peer)
        number += 1
        due_ns += gap_ns


def _wait_for_go(job: dict[str, Any]) -> None:
    Path(job["ready_file"]).touch()
    sys.stdin.readline()


def _receive(job: dict[str, object]) -> None:
    """Ask until something arrives, then receive for ever."""
    sink = _udp(job)
    sink.settimeout(_ASK_AGAIN_S)
    _wait_for_go(job)
    while True:
        sink.sendto(b"begin", (job["address"], job["port"]))
        try:
            sink.recv(1 << 16)
            break
        except (TimeoutError, ConnectionError):
            continue
    sink.settimeout(None)
    while True:
        sink.recv(1 << 16)


async def _serve(job: dict[str, Any]) -> None:
    """Answer each connection with as many bytes as it asks for, then close it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(bytes(int.from_bytes(await reader.readexactly(_SIZE_BYTES))))
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            writer.close()

    server = await asyncio.start_server(answer, job["address"], job["port"])
    await server.serve_forever()


async def _fetch(job: dict[str, Any]) -> None:
    """Open connections at random, as many as the rate demands in the long run."""
    _wait_for_go(job)
    source = random.Random(job["seed"])  # noqa: S311
    per_s = job["bit_per_s"] / (8 * job["flow_bytes"])
    due_s = time.monotonic()
    under_way = set()
    while True:
        due_s += source.expovariate(per_s)
        await asyncio.sleep(max(0.0, due_s - time.monotonic()))
        flow = asyncio.create_task(_one(job))
        under_way.add(flow)
        flow.add_done_callback(under_way.discard)


async def _one(job: dict[str, Any]) -> None:
    try:
        reader, writer = await asyncio.open_connection(job["address"], job["port"])
        writer.write(job["flow_bytes"].to_bytes(_SIZE_BYTES))
        while await reader.read(1 << 16):
            pass
        writer.close()
        await writer.wait_closed()
    except OSError:
        return  # the kernel gave up on it; the next one begins all the same


if __name__ == "__main__":
    main()
