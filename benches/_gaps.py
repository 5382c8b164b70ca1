# SPDX-License-Identifier: Apache-2.0
"""Evenness of packets that leave a busy bottleneck: by the link's packet log, and by stamps of the receiving kernel."""

from __future__ import annotations

import socket
import subprocess
from typing import Any

import numpy as np
import numpy.typing as npt
from _arrivals import stamped
from _ends import BARE_DEVICES, memory_folder, open_bare_veth, open_link
from _packet_log import UP, delivered, written_ns
from _traffic import udp_stream

from quiclab.lab.testbed.link import DEVICE, SERVER_ADDRESSES, Backend
from quiclab.lab.testbed.real_time import ask_for_real_time, leaves_room
from quiclab.model.study import Direction, Queue
from quiclab.model.units import Bitrate

SIZE = 1400
"""Payload of a datagram."""
_PACKET_BITS = (SIZE + 28) * 8
_TOLERANCE = 0.1


def through_link(backend: Backend, bit_per_s: int, spin_ns: int | None, seconds: float) -> dict[str, float]:
    """UDP at 1.1 times the rate: shares of even gaps in per cent, `logged` by the instants of writing and `outside` by
    the stamps of the receiving kernel, and the error of the mean rate by the former."""
    with memory_folder() as folder:
        spaced = Direction(rate=Bitrate(bit_per_s), queue=Queue(packets=100))
        # Nothing comes back, so only this direction is limited.
        with (
            open_link(spaced, folder, backend, down=Direction(), spin_ns=spin_ns) as ends,
            stamped(ends.server, DEVICE) as arrivals,
        ):
            udp_stream(ends.client, ends.server, 1.1 * bit_per_s, seconds, burst=5, size=SIZE)
            ends.link.stop()
            numbers, stamps_ns = arrivals()
        packets = delivered(folder / "link.qplog", UP)
    assert np.array_equal(numbers, packets["index"]), "what arrived is not what the link says that it delivered"
    # Between packets that found the link busy, gaps should be one time of service.
    busy, ideal = packets["queue_bytes"][1:] > 0, packets["service_ns"][1:]
    written = np.diff(written_ns(packets))
    rate = packets["size_bytes"][1:][busy].sum() * 8e9 / written[busy].sum()
    return {
        "logged": _even_pct(written[busy], ideal[busy]),
        "outside": _even_pct(np.diff(stamps_ns)[busy], ideal[busy]),
        "rate_error_pct": 100 * abs(rate / bit_per_s - 1),
    }


def without_link(program: str, bit_per_s: int, seconds: float) -> float:
    """The share, in per cent, where a thread that does nothing else sends a packet at each instant over a bare pair."""
    gap_ns = round(_PACKET_BITS * 1e9 / bit_per_s)
    with (
        open_bare_veth() as (client, server),
        server.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as receiver,
        client.run(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sender,
    ):
        receiver.bind((SERVER_ADDRESSES[4], 0))
        sender.connect(receiver.getsockname())
        with stamped(server, BARE_DEVICES[1]) as arrivals:
            _send_at_instants(program, sender, gap_ns, round(seconds))
            _, stamps_ns = arrivals()
    return _even_pct(np.diff(stamps_ns), np.full(len(stamps_ns) - 1, gap_ns))


def _send_at_instants(program: str, sender: socket.socket, gap_ns: int, seconds: int) -> None:
    """Scheduled as the link would be that carries as much."""
    numbers = (gap_ns, gap_ns, seconds, sender.fileno(), SIZE)
    command: list[Any] = [program, *(str(number) for number in numbers)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, pass_fds=[sender.fileno()]
    ) as process:
        if process.stdout:
            process.stdout.readline()
        if leaves_room(Bitrate(round(_PACKET_BITS * 1e9 / gap_ns))):
            ask_for_real_time(process.pid, deadline=True)
        process.communicate("\n")


def _even_pct(gaps: npt.NDArray[np.int64], ideal: npt.NDArray[Any]) -> float:
    """Share of gaps within the tolerance, in per cent."""
    return 100 * float((np.abs(gaps - ideal.astype(np.int64)) <= _TOLERANCE * ideal).mean())
