# SPDX-License-Identifier: Apache-2.0
"""Bounds that this machine itself sets the link, and the link beside them: is a missed target the link's or not?

Three bounds, measured in turns with the link: a thread that waits as the link does and has nothing else to do; a
forwarder on the link's devices that writes at once what it reads; the two kernels' stacks with nothing between them.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from functools import partial
from typing import Any

from _bench import Row, is_quick, paired_ratio, print_table
from _ends import memory_folder, open_bare_veth, open_link
from _programs import build
from _traffic import bulk_tcp, echo_rtts_us, in_process
from bench_link_speed import bare_flow, flow
from bench_link_truth import DELAY, idle, loaded
from live_link import in_sandbox

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.lab.testbed.real_time import ask_for_awake_processors, ask_for_real_time, leaves_room
from quiclab.model.study import Direction

GIGABIT_PACKET_NS = 12_000
"""Time that a packet of 1500 bytes takes at 1 Gbit/s."""
IDLE_NS = (1_000_000, 10_000_000)
LOADED_NS = (GIGABIT_PACKET_NS, GIGABIT_PACKET_NS)
ECHO_INTERVAL_S = DELAY.ns / 1e9

BARE, EMPTY, TIMER = "bare veth", "empty forwarder", "timer alone"

Found = dict[str, list[float]]


def timer(program: str, distances_ns: tuple[int, int], seconds: int, *, only_sleeps: bool = False) -> dict[str, float]:
    """Lateness of a thread that waits as the link does, in microseconds; or of one that only sleeps, on processors that
    halt."""
    numbers = [*distances_ns, seconds, *([0] if only_sleeps else [])]
    command = [program, *(str(number) for number in numbers)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout:
            process.stdout.readline()
        if leaves_room(None):  # as for the links beside it, which have no rate or a high one
            ask_for_real_time(process.pid, deadline=True)
        if not only_sleeps:
            ask_for_awake_processors(process.pid)
        answer = json.loads(process.communicate("\n")[0])
    return {p: answer[f"{p}_ns"] / 1000 for p in ("p50", "p99")}


def timer_beside_tcp(program: str, seconds: int) -> dict[str, float]:
    """The same, for an instant per packet of 1 Gbit/s, while so much goes over a bare pair beside it."""
    with open_bare_veth() as (client, server):
        flowing = in_process(partial(bulk_tcp, client, server, seconds + 1, most_bit_per_s=10**9))
        time.sleep(0.5)
        found = timer(program, LOADED_NS, seconds)
        flowing()
    return found


def empty(program: str, how: str, backend: Backend, seconds: float) -> dict[str, float]:
    """Through the forwarder: goodput of one connection, and what it adds to the round trip of an idle one."""
    with memory_folder() as folder, open_link(Direction(), folder, backend, program=(program, how)) as ends:
        rtts_us = echo_rtts_us(ends.client, 50, ECHO_INTERVAL_S)
        return {"rtt": statistics.fmean(rtts_us)} | bulk_tcp(ends.client, ends.server, seconds)


def bare_rtt_us(*, awake: bool) -> float:
    """Round-trip time of the stacks alone, as cold as the link's packets find them."""
    with open_bare_veth(awake=awake) as (client, _):
        return statistics.fmean(echo_rtts_us(client, 50, ECHO_INTERVAL_S))


def measure(programs: dict[str, str], rounds: int, seconds: int) -> Found:
    """Values by name, one a round."""
    backends: list[Backend] = ["veth"] if tun_problem() else ["tun", "veth"]
    found: Found = {}
    for _ in range(rounds):
        for name, value in _measure_once(programs, backends, seconds).items():
            found.setdefault(name, []).append(value)
    return found


def _measure_once(programs: dict[str, str], backends: list[Backend], seconds: int) -> dict[str, float]:
    waits, forwards = programs["bare_timer"], programs["empty_forwarder"]
    turn = {
        f"{BARE} rtt, halting": bare_rtt_us(awake=False),
        f"{BARE} rtt": bare_rtt_us(awake=True),
        f"{BARE} speed": bare_flow(seconds)["gbit_per_s"],
    }
    timers: dict[str, dict[str, float]] = {
        "sleeps": timer(waits, IDLE_NS, seconds, only_sleeps=True),
        "idle": timer(waits, IDLE_NS, seconds),
        "loaded": timer_beside_tcp(waits, seconds),
    }
    for when, lateness in timers.items():
        turn |= {f"{TIMER} {when} {p}": value for p, value in lateness.items()}
    for backend in backends:
        for how in ("whole", "split") if backend == "tun" else ("split",):
            through: dict[str, Any] = empty(forwards, how, backend, seconds)
            turn |= {f"{EMPTY} {backend} {how} rtt": through["rtt"]}
            turn |= {f"{EMPTY} {backend} {how} speed": through["gbit_per_s"]}
        link = idle(backend, None, seconds) | loaded(backend, None, seconds)
        turn |= {f"{backend} {key}": value for key, value in link.items()}
        turn[f"{backend} speed"] = flow(Direction(), backend, seconds)["gbit_per_s"]
    return turn


def main() -> None:
    """Measure and print."""
    rounds, seconds = (1, 2) if is_quick(__doc__) else (3, 2)
    programs = build()
    if programs is None:
        print("what this machine allows is not measured: cargo is not installed")
        return
    found = in_sandbox(lambda: measure(programs, rounds, seconds))
    backends = [backend for backend in ("tun", "veth") if f"{backend} speed" in found]
    print_table("Bounds: being on time, beside the link", _on_time(found, backends))
    print_table("Bounds: the round trip of an idle link (error at 10 ms each way)", _round_trip(found, backends))
    print_table("Bounds: one TCP connection, no impairment", _speed(found, backends))


def _row(found: Found, what: str, key: str, unit: str, bound: tuple[str, str] | None = None, target: str = "") -> Row:
    """`bound` is the name to show and the key of what the machine allows."""
    against, ratio = (bound[0], paired_ratio(found[key], found[bound[1]])) if bound else ("", None)
    return Row(what, found[key], unit, against, ratio, target)


def _on_time(found: Found, backends: list[str]) -> list[Row]:
    rows = [
        _row(found, f"{TIMER}, sleeps only, processors halt: {p}", f"{TIMER} sleeps {p}", "us") for p in ("p50", "p99")
    ]
    for when, load in (("idle", "idle"), ("loaded", "1 Gbit/s TCP")):
        for p, target in (("p50", "<= 5"), ("p99", "<= 100")):
            bound = f"{TIMER} {when} {p}"
            beside = " beside it" if when == "loaded" else ""
            rows.append(_row(found, f"{TIMER}, waits as the link, {load}{beside}: {p}", bound, "us", target=target))
            rows += [
                _row(found, f"  link on {backend}", f"{backend} {when}_{p}_us", "us", (TIMER, bound), target)
                for backend in backends
            ]
    return rows


def _round_trip(found: Found, backends: list[str]) -> list[Row]:
    rows = [
        _row(found, f"{BARE}, processors halt", f"{BARE} rtt, halting", "us", target="<= 50"),
        _row(found, BARE, f"{BARE} rtt", "us", target="<= 50"),
    ]
    for backend in backends:
        bound = f"{EMPTY} {backend} split rtt"
        rows.append(_row(found, f"{EMPTY} on {backend}", bound, "us", (BARE, f"{BARE} rtt"), "<= 50"))
        rows.append(_row(found, f"  link on {backend}", f"{backend} rtt_error_us", "us", (EMPTY, bound), "<= 50"))
    return rows


def _speed(found: Found, backends: list[str]) -> list[Row]:
    bare = f"{BARE} speed"
    rows = [_row(found, f"{BARE}, tx/tso/gso/gro off", bare, "Gbit/s")]
    for backend in backends:
        names = {
            f"{EMPTY} on {backend}, super-packets whole": f"{EMPTY} {backend} whole speed",
            f"{EMPTY} on {backend}, cut to the MTU": f"{EMPTY} {backend} split speed",
            f"  link on {backend}": f"{backend} speed",
        }
        rows += [
            _row(found, what, key, "Gbit/s", (BARE, bare), "ratio >= 0.5")
            for what, key in names.items()
            if key in found
        ]
    return rows


if __name__ == "__main__":
    main()
