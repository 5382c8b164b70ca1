# SPDX-License-Identifier: Apache-2.0
"""Accuracy of the link: delay, lateness, spacing and rate, live, beside the same link that only sleeps.

The link sleeps until shortly before a packet is due and spins the rest (spin_ns as it chooses by itself); the
alternative never spins (spin_ns 0) and is as late as this machine wakes threads up.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

from _bench import Row, is_quick, paired_ratio, print_table
from _ends import memory_folder, open_bare_veth, open_link
from _gaps import through_link, without_link
from _programs import build
from _traffic import bulk_tcp, echo_rtts_us
from live_link import in_sandbox

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Direction, Queue
from quiclab.model.units import Bitrate, Duration

SLEEPS = "no spin"
DELAY = Duration(10_000_000)
ECHO_PAUSE_S = 0.005
RTT_TARGET_US = 50
IDLE = Direction(delay=DELAY)
GIGABIT = Direction(rate=Bitrate(10**9), delay=DELAY, queue=Queue(packets=1000))
SPACED_MBIT_PER_S = (100, 300)

Measurement = dict[str, float]


def idle(backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """Echoes over an idle link: the error of the mean RTT, and how late the link was."""
    with memory_folder() as folder, open_link(IDLE, folder, backend, spin_ns=spin_ns) as ends:
        rtts_us = echo_rtts_us(ends.client, int(seconds / 0.025), ECHO_PAUSE_S)
        summary = ends.link.stop()
    return {"rtt_error_us": statistics.fmean(rtts_us) - 2 * DELAY.ns / 1000} | _lateness("idle", summary)


def loaded(backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """Lateness of the link under TCP at 1 Gbit/s."""
    with memory_folder() as folder, open_link(GIGABIT, folder, backend, spin_ns=spin_ns) as ends:
        bulk_tcp(ends.client, ends.server, seconds)
        return _lateness("loaded", ends.link.stop())


def spaced(mbit_per_s: int, backend: Backend, spin_ns: int | None, seconds: float) -> Measurement:
    """Evenness of the gaps at a rate, and the error of the mean rate."""
    found = through_link(backend, mbit_per_s * 10**6, spin_ns, seconds)
    return {f"{key}_{mbit_per_s}": value for key, value in found.items()}


def bare(timer: str | None, seconds: float) -> Measurement:
    """Bounds that the machine sets: the round-trip time of the stacks alone, as cold as the link's packets find them,
    and even gaps by a thread that does nothing else, where there is such a program."""
    with open_bare_veth() as (client, _):
        rtt = {"rtt_us": statistics.fmean(echo_rtts_us(client, 50, ECHO_PAUSE_S + 2 * DELAY.ns / 1e9))}
    if timer is None:
        return rtt
    return rtt | {f"even_{mbit}": without_link(timer, mbit * 10**6, seconds) for mbit in SPACED_MBIT_PER_S}


def _lateness(when: str, summary: dict[str, Any]) -> Measurement:
    return {f"{when}_{p}_us": summary["lateness"][f"{p}_ns"] / 1000 for p in ("p50", "p99")}


def measure(timer: str | None, rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Measure every backend that is possible here: the link (`spins`), the alternative (`sleeps`) and `bare`, with a
    list of rounds each."""
    backends: list[Backend] = ["veth"] if tun_problem() else ["tun", "veth"]
    return [measure_backend(backend, timer, rounds, seconds) for backend in backends]


def measure_backend(backend: Backend, timer: str | None, rounds: int, seconds: float) -> dict[str, Any]:
    """Measure one backend: the link, the alternative and what the machine allows in turns."""
    evens = (partial(spaced, mbit) for mbit in SPACED_MBIT_PER_S)
    parts: list[Callable[[Backend, int | None, float], Measurement]] = [idle, loaded, *evens]
    found: dict[str, Any] = {"backend": backend, "spins": [], "sleeps": [], "bare": []}
    for _ in range(rounds):
        turn: dict[str, Measurement] = {"spins": {}, "sleeps": {}}
        for part in parts:
            turn["spins"] |= part(backend, None, seconds)
            turn["sleeps"] |= part(backend, 0, seconds)
        turn["bare"] = bare(timer, seconds)
        for name, measurement in turn.items():
            found[name].append(measurement)
    return found


def main() -> None:
    """Measure and print."""
    rounds, seconds = (1, 2.0) if is_quick(__doc__) else (3, 3.0)
    timer = (build() or {}).get("bare_timer")
    if timer is None:
        print("which gaps this machine allows is not measured: cargo is not installed")
    for found in in_sandbox(lambda: measure(timer, rounds, seconds)):
        print_backend(found)


def print_backend(found: dict[str, Any]) -> None:
    """Print the table of one backend."""

    def values(name: str, key: str) -> list[float]:
        return [each[key] for each in found[name]]

    def row(what: str, key: str, unit: str, target: float, *, at_least: bool = False) -> Row:
        ours, theirs = values("spins", key), values("sleeps", key)
        median = statistics.median(ours)
        reached = median >= target if at_least else median <= target
        sign = ">=" if at_least else "<="
        return Row(what, ours, unit, SLEEPS, paired_ratio(ours, theirs), f"{sign} {target:g}", reached)

    def even(mbit: int) -> list[Row]:
        what, machine = f"gaps within 10 % of ideal, {mbit} Mbit/s", f"even_{mbit}"
        rows = [
            row(f"{what}, by the receiver's kernel", f"outside_{mbit}", "%", 95, at_least=True),
            row(f"{what}, by the link's log", f"logged_{mbit}", "%", 95, at_least=True),
            row(f"error of the mean rate, {mbit} Mbit/s", f"rate_error_pct_{mbit}", "%", 0.1),
        ]
        if machine in found["bare"][0]:
            rows.insert(1, Row("  a thread that does nothing else (bare veth)", values("bare", machine), "%"))
        return rows

    stacks_us = values("bare", "rtt_us")
    above_us = [ours - theirs for ours, theirs in zip(values("spins", "rtt_error_us"), stacks_us, strict=True)]
    reached = statistics.median(above_us) <= RTT_TARGET_US
    rows = [
        row("mean RTT error, idle, 10 ms each way", "rtt_error_us", "us", RTT_TARGET_US),
        Row("  of which the stacks of both ends (bare veth)", stacks_us, "us"),
        Row("  above them", above_us, "us", target=f"<= {RTT_TARGET_US}", reached=reached),
        row("lateness p50, idle", "idle_p50_us", "us", 5),
        row("lateness p99, idle", "idle_p99_us", "us", 100),
        row("lateness p50, 1 Gbit/s TCP", "loaded_p50_us", "us", 5),
        row("lateness p99, 1 Gbit/s TCP", "loaded_p99_us", "us", 100),
        *(each for mbit in SPACED_MBIT_PER_S for each in even(mbit)),
    ]
    print_table(f"Link truth ({found['backend']}), one value per round", rows)


if __name__ == "__main__":
    main()
