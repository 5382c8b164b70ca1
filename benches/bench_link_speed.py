# SPDX-License-Identifier: Apache-2.0
"""Speed of the link: bulk TCP through it, beside a bare veth pair without offloads between two namespaces.

The link does what such a pair does (every packet of the MTU by itself), and model and packet log besides. Both ends
and the link share this machine's cores, so the figures are of the whole system.
"""

from __future__ import annotations

from typing import Any

from _bench import Row, is_quick, paired_ratio, print_table
from _ends import memory_folder, open_bare_veth, open_link
from _traffic import bulk_tcp
from live_link import in_sandbox

from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Direction, Queue
from quiclab.model.units import Bitrate, Duration

BARE = "bare veth"
BACKENDS: tuple[Backend, ...] = ("tun", "veth")
RATIO_TARGET = 0.5
GIGABIT = Direction(rate=Bitrate(10**9), delay=Duration(10_000_000), queue=Queue(packets=1000))
GIGABIT_TARGET = 0.85
HIGHEST_GOODPUT = 1448 / 1500
"""Highest goodput of TCP with timestamps over IPv4, as a share of the rate."""


def flow(direction: Direction, backend: Backend, seconds: float) -> dict[str, Any]:
    """One connection through a new link, and what the link says of it."""
    with memory_folder() as folder, open_link(direction, folder, backend) as ends:
        result = bulk_tcp(ends.client, ends.server, seconds)
        summary = ends.link.stop()
    dropped = sum(sum(summary[way]["dropped"].values()) for way in ("up", "down"))
    outside = sum(summary["outside_drops"].values())
    return result | {"not_of_the_model": max(0, result["retransmits"] - dropped) + outside}


def bare_flow(seconds: float) -> dict[str, float]:
    """One connection over the bare pair."""
    with open_bare_veth() as (client, server):
        return bulk_tcp(client, server, seconds)


def measure(rounds: int, seconds: float) -> dict[str, list[dict[str, Any]]]:
    """Flows by name, a list of rounds each."""
    backends: list[Backend] = ["veth"] if tun_problem() else ["tun", "veth"]
    flows: dict[str, list[dict[str, Any]]] = {BARE: []}
    for _ in range(rounds):
        flows[BARE].append(bare_flow(seconds))
        for backend in backends:
            flows.setdefault(backend, []).append(flow(Direction(), backend, seconds))
    for _ in range(rounds):
        for backend in backends:
            flows.setdefault(f"{backend} 1 Gbit/s", []).append(flow(GIGABIT, backend, max(3.0, 2 * seconds)))
    return flows


def main() -> None:
    """Measure and print."""
    rounds, seconds = (2, 1.0) if is_quick(__doc__) else (5, 2.0)
    flows = in_sandbox(lambda: measure(rounds, seconds))
    speeds = {name: [each["gbit_per_s"] for each in rounds] for name, rounds in flows.items()}
    rows = [Row(f"{BARE}, tx/tso/gso/gro off", speeds[BARE], "Gbit/s")]
    for backend in BACKENDS:
        if backend not in flows:
            print(f"no {backend} device can be made here: its rows are missing")
            continue
        ratio, slow = paired_ratio(speeds[backend], speeds[BARE]), f"{backend} 1 Gbit/s"
        shape = "1 Gbit/s, 10 ms each way, 1000 packets"
        rows += [
            Row(
                f"{backend}, no impairment",
                speeds[backend],
                "Gbit/s",
                BARE,
                ratio,
                f"ratio >= {RATIO_TARGET}",
                ratio >= RATIO_TARGET,
            ),
            _not_of_the_model(f"{backend}, no impairment", flows[backend]),
            _limited(f"{backend}, {shape}", speeds[slow]),
            _not_of_the_model(f"{backend}, {shape}", flows[slow]),
        ]
    print_table("Link speed: one TCP connection (cubic), packet log on", rows)


def _limited(what: str, speeds: list[float]) -> Row:
    row = Row(what, speeds, "Gbit/s", f"{HIGHEST_GOODPUT:.3f} Gbit/s", target=f">= {GIGABIT_TARGET}")
    return Row(
        **vars(row) | {"ratio": row.median / HIGHEST_GOODPUT, "reached": row.median >= GIGABIT_TARGET},
    )


def _not_of_the_model(what: str, flows: list[dict[str, Any]]) -> Row:
    """Retransmissions beyond what the model dropped, and drops outside it: the worst round decides."""
    counts = [each["not_of_the_model"] for each in flows]
    return Row(f"{what}: loss outside the model", counts, "packets", target="0 in each round", reached=not any(counts))


if __name__ == "__main__":
    main()
