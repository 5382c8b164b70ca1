# SPDX-License-Identifier: Apache-2.0
"""How true the link is: delay, lateness, spacing and rate, live, beside the same link that only sleeps.

The link sleeps until shortly before a packet is due and spins the rest (spin_ns as it chooses by itself); the
alternative never spins (spin_ns 0) and is as late as this machine wakes threads up.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
from _bench import Row, is_quick, paired_ratio, print_table
from _ends import memory_folder, open_bare_veth, open_link
from _packet_log import UP, delivered, written_ns
from _traffic import bulk_tcp, echo_rtts_us, udp_stream
from live_link import in_sandbox

from quiclab.spec.model import Direction, Queue
from quiclab.testbed.backend import tun_problem
from quiclab.testbed.link import Backend
from quiclab.units import Bitrate, Duration

SLEEPS = "no spin"
DELAY = Duration(10_000_000)
IDLE = Direction(delay=DELAY)
GIGABIT = Direction(rate=Bitrate(10**9), delay=DELAY, queue=Queue(packets=1000))
SPACED_BIT_PER_S = 100_000_000
SPACED = Direction(rate=Bitrate(SPACED_BIT_PER_S), queue=Queue(packets=100))

Measurement = dict[str, float]


def idle(backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """Echoes over an idle link: the error of the mean RTT, and how late the link was."""
    with memory_folder() as folder, open_link(IDLE, folder, backend, spin_ns=spin_ns) as ends:
        rtts_us = echo_rtts_us(ends.client, int(seconds / 0.025), 0.005)
        summary = ends.link.stop()
    return {"rtt_error_us": statistics.fmean(rtts_us) - 2 * DELAY.ns / 1000} | _lateness("idle", summary)


def loaded(backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """How late the link was under TCP at 1 Gbit/s."""
    with memory_folder() as folder, open_link(GIGABIT, folder, backend, spin_ns=spin_ns) as ends:
        bulk_tcp(ends.client, ends.server, seconds)
        return _lateness("loaded", ends.link.stop())


def spaced(backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """UDP at 1.1 times the rate: the share of even gaps, and the error of the mean rate, by the instants of writing."""
    with memory_folder() as folder:
        # Nothing comes back, so only this direction is limited.
        with open_link(SPACED, folder, backend, down=Direction(), spin_ns=spin_ns) as ends:
            udp_stream(ends.client, ends.server, 1.1 * SPACED_BIT_PER_S, seconds, burst=5)
            ends.link.stop()
        packets = delivered(folder / "link.qplog", UP)
    # Between packets that found the link busy, gaps should be one time of service.
    instants = written_ns(packets)
    busy = packets["queue_bytes"][1:] > 0
    gaps, ideal = np.diff(instants)[busy], packets["service_ns"][1:][busy]
    even = np.abs(gaps - ideal) <= 0.1 * ideal
    rate = packets["size_bytes"][1:][busy].sum() * 8e9 / gaps.sum()
    return {"even_gaps_pct": 100 * float(even.mean()), "rate_error_pct": 100 * abs(rate / SPACED_BIT_PER_S - 1)}


def bare_rtt_us() -> float:
    """Round-trip time of the two kernels' stacks with nothing between them."""
    with open_bare_veth() as (client, _):
        return statistics.fmean(echo_rtts_us(client, 50, 0.005))


def _lateness(when: str, summary: dict[str, Any]) -> Measurement:
    return {f"{when}_{p}_us": summary["lateness"][f"{p}_ns"] / 1000 for p in ("p50", "p99")}


def measure(rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Measure every backend that is possible here: the link (`spins`) and the alternative (`sleeps`), with a list of
    rounds each."""
    backends: list[Backend] = ["veth"] if tun_problem() else ["tun", "veth"]
    return [measure_backend(backend, rounds, seconds) for backend in backends]


def measure_backend(backend: Backend, rounds: int, seconds: float) -> dict[str, Any]:
    """Measure one backend: the link and the alternative in turns."""
    parts: tuple[Callable[[Backend, int | None, float], Measurement], ...] = (idle, loaded, spaced)
    found: dict[str, Any] = {"backend": backend, "spins": [], "sleeps": [], "bare_rtt_us": []}
    for _ in range(rounds):
        turn: dict[str, Measurement] = {"spins": {}, "sleeps": {}}
        for part in parts:
            turn["spins"] |= part(backend, None, seconds)
            turn["sleeps"] |= part(backend, 0, seconds)
        found["bare_rtt_us"].append(bare_rtt_us())
        for name, measurement in turn.items():
            found[name].append(measurement)
    return found


def main() -> None:
    """Measure and print."""
    rounds, seconds = (1, 2.0) if is_quick(__doc__) else (3, 3.0)
    for found in in_sandbox(lambda: measure(rounds, seconds)):
        print_backend(found)


def print_backend(found: dict[str, Any]) -> None:
    """Print the table of one backend."""

    def row(what: str, key: str, unit: str, target: float, *, at_least: bool = False) -> Row:
        ours, theirs = ([each[key] for each in found[name]] for name in ("spins", "sleeps"))
        median = statistics.median(ours)
        reached = median >= target if at_least else median <= target
        sign = ">=" if at_least else "<="
        return Row(what, ours, unit, SLEEPS, paired_ratio(ours, theirs), f"{sign} {target:g}", reached)

    rows = [
        row("mean RTT error, idle, 10 ms each way", "rtt_error_us", "us", 50),
        Row("  of which the stacks of both ends (bare veth)", found["bare_rtt_us"], "us"),
        row("lateness p50, idle", "idle_p50_us", "us", 5),
        row("lateness p99, idle", "idle_p99_us", "us", 100),
        row("lateness p50, 1 Gbit/s TCP", "loaded_p50_us", "us", 5),
        row("lateness p99, 1 Gbit/s TCP", "loaded_p99_us", "us", 100),
        row("gaps within 10 % of ideal, 100 Mbit/s", "even_gaps_pct", "%", 95, at_least=True),
        row("error of the mean rate, 100 Mbit/s", "rate_error_pct", "%", 0.1),
    ]
    print_table(f"Link truth ({found['backend']}), one value per round", rows)


if __name__ == "__main__":
    main()
