# SPDX-License-Identifier: Apache-2.0
"""Cost of logs per packet: alone, as the link's own benchmark counts it, and live, as CPU time of the whole link.

Live, the same UDP goes through a link without impairment: without logs, with the packet log, with the captures besides.
Sleeping and spinning are left out (nothing is delayed), both threads of the link are counted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

from _bench import ROOT, Row, is_quick, paired_ratio, print_table
from _ends import memory_folder, open_link
from _traffic import udp_stream
from live_link import in_sandbox

from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.link import Backend
from quiclab.model.study import Direction

LOG_TARGET_NS = 50
RECORD = "packet log record"
LOGS = {
    "no logs": {"packet_log": False},
    "packet log": {},
    "packet log and captures": {"captures": True},
}
_BIT_PER_S = 400_000_000


def cpu_ns_per_packet(backend: Backend, seconds: float, logs: dict[str, bool]) -> float:
    """CPU time of the link per packet of 1428 bytes that it forwarded."""
    with memory_folder() as folder, open_link(Direction(), folder, backend, spin_ns=0, **logs) as ends:
        udp_stream(ends.client, ends.server, _BIT_PER_S, seconds, burst=20)
        summary = ends.link.stop()
    return float(summary["cpu_ns"] / summary["up"]["delivered"])


def measure(rounds: int, seconds: float) -> dict[str, Any]:
    """CPU time per packet by kind of logs, a list of rounds each."""
    backend, _ = choose_backend()
    found: dict[str, Any] = {name: [] for name in LOGS}
    for _ in range(rounds):
        for name, logs in LOGS.items():
            found[name].append(cpu_ns_per_packet(backend, seconds, logs))
    return found | {"backend": backend}


def alone() -> list[dict[str, Any]] | str:
    """The rows of the link's own benchmark, or why there are none."""
    if shutil.which("cargo") is None:
        return "cargo is not installed"
    command = ["cargo", "bench", "--quiet", "--locked", "--package", "link-run", "--bench", "per_packet"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit code {run.returncode}"
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def main() -> None:
    """Measure and print."""
    rounds, seconds = (2, 1.0) if is_quick(__doc__) else (5, 2.0)
    parts = alone()
    if isinstance(parts, str):
        print(f"the parts of the link alone are not measured: {parts}")
    else:
        record_ns = next(part["median_ns"] for part in parts if part["part"] == RECORD)
        rows = []
        for part in parts:
            values = [part["median_ns"], part["min_ns"], part["max_ns"]]
            row = Row(part["part"], values, "ns", RECORD, part["median_ns"] / record_ns)
            if part["part"] == RECORD:
                row = Row(row.what, values, "ns", target=f"<= {LOG_TARGET_NS}", reached=record_ns <= LOG_TARGET_NS)
            rows.append(row)
        print_table("Parts of the link alone, per packet", rows)
    found = in_sandbox(lambda: measure(rounds, seconds))
    none = found["no logs"]
    rows = [
        Row(name, found[name], "ns", "" if name == "no logs" else "no logs", ratio)
        for name in LOGS
        for ratio in [None if name == "no logs" else paired_ratio(found[name], none)]
    ]
    for what, more, less in (
        ("cost of the packet log", "packet log", "no logs"),
        ("cost of the captures of both ends", "packet log and captures", "packet log"),
    ):
        rows.append(Row(what, [a - b for a, b in zip(found[more], found[less], strict=True)], "ns"))
    print_table(f"Logs, live ({found['backend']}): CPU time of the link per packet, UDP at 400 Mbit/s", rows)


if __name__ == "__main__":
    main()
