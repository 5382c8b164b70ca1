# SPDX-License-Identifier: Apache-2.0
"""Cost of a video, a page or a migration beside what is measured, where it goes, and how much memory a trial takes.

Overhead = from the start of a trial to the start of the next, minus the time that the video is watched, or that between
the word to go to a page and the last byte of it, or that of the migration's transfer: the browser's start and end are
in it, and the wait for a page to stay quiet. Beside videos and pages stands the same browser with an object of 1 KB.
Memory is the highest sum that was seen of client and server with all their processes; pages that processes share are
counted in each.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _bench import Row, print_table
from small_study import quiclab, trials, write_spec

TARGET_MS = 2000
TARGET_MB = 1500
_VIDEO = 'kind = "video"\nvideo = { qualities = ["360p"], length = "20 s", watch = "2 s", loop = "2 s" }'
_PAGE = """kind = "page"
[workload.page]
html = "10 KB"
resources = [{ type = "style", size = "10 KB" }, { type = "image", size = "20 KB", count = 10 }]"""
_OBJECT = 'size = "1 KB"'
_MIGRATION = 'size = "500 KB"\naddress_change = { after = "200 KB" }'
_KINDS = {  # the workload, and the clients of H2 and H3
    "object": (_OBJECT, '"chromium"', '"chromium"'),
    "video": (_VIDEO, '"chromium"', '"chromium"'),
    "page": (_PAGE, '"chromium"', '"chromium"'),
    "page in firefox": (_PAGE, '"firefox"', '"firefox"'),
    "migration": (
        _MIGRATION,
        '{ name = "curl-cffi", on_address_change = "resume" }',
        '{ name = "quiche", on_address_change = "migrate" }',
    ),
}
_MS = 1e6
_MEMORY = "memory"
"""Stands beside the phases."""


def overheads(kind: str, blocks: int) -> list[dict[str, float]]:
    """Milliseconds by phase and in `all`, and megabytes, one for each trial of a small study but the last."""
    with tempfile.TemporaryDirectory() as name:
        lines, client, client_h3 = _KINDS[kind]
        spec = write_spec(Path(name), blocks=blocks, client=client, size="1 KB")
        text = spec.read_text().replace(_OBJECT, lines).replace('client = "curl-cffi"', f"client = {client_h3}")
        spec.write_text(text)
        run = quiclab("run", spec, "--out", Path(name, "study"), "--no-report", timeout=600)
        found = sorted(trials(Path(name, "study")), key=lambda trial: trial["started_monotonic_ns"])
    if len(found) < 2 or any(trial["status"] == "failed" for trial in found):
        raise RuntimeError(f"the study did not run: {run.stdout}{run.stderr}")
    told = []
    for trial, following in itertools.pairwise(found):
        phases = {phase: ns / _MS for phase, ns in trial["time_ns"].items()}
        own = _own_ns(trial)
        whole = (following["started_monotonic_ns"] - trial["started_monotonic_ns"]) / _MS
        phases["judge, move in, ledger"] = whole - sum(phases.values())
        phases["transfer"] -= own / _MS
        memory = sum(cost["peak_memory_bytes"] for cost in trial["host"]["cost"].values()) / 1e6
        told.append(phases | {"all": whole - own / _MS, _MEMORY: memory})
    return told


def _own_ns(trial: dict[str, Any]) -> int:
    """Measured time within a trial."""
    expected, requests = trial["expected"], trial["client"]["requests"]
    if "video" in expected:
        return int(expected["video"]["watch"]["ns"])
    began = trial["client"]["page"]["went_ns"] if "page" in expected else requests[0]["start_ns"]
    return int(max(request["last_byte_ns"] or 0 for request in requests) - began)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--only", choices=_KINDS, help="one kind, for a machine that is quiet for a minute at a time")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    asked = _arguments()
    rounds, blocks = (1, 2) if asked.quick else (2, 3)
    kinds = [asked.only] if asked.only else list(_KINDS)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name in kinds:
            found[name] += overheads(name, blocks)
    rows: list[Row] = []
    for name in kinds:
        rows += _rows(name, found[name], [] if name == "migration" else found.get("object", []))
    trials_of_each = ", ".join(f"{len(told)} of {name}" for name, told in found.items())
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print_table(f"Overhead per trial at 20 Mbit/s ({trials_of_each}; load averages of the machine {load})", rows)


def _rows(name: str, told: Sequence[dict[str, float]], beside: Sequence[dict[str, float]]) -> list[Row]:
    whole, memory = [each["all"] for each in told], [each[_MEMORY] for each in told]
    if name == "object":
        return [Row("overhead of an object", whole, "ms"), Row("  memory", memory, "MB")]
    median = statistics.median(whole)
    ratio = median / statistics.median(each["all"] for each in beside) if beside else None
    against = "object" if beside else ""
    rows = [Row(f"overhead of a {name}", whole, "ms", against, ratio, f"<= {TARGET_MS} ms", median <= TARGET_MS)]
    phases = [phase for phase in told[0] if phase not in ("all", _MEMORY)]
    rows += [Row(f"  {phase}", [each[phase] for each in told], "ms") for phase in phases]
    rows.append(Row("  memory", memory, "MB", target=f"<= {TARGET_MB} MB", reached=max(memory) <= TARGET_MB))
    return rows


if __name__ == "__main__":
    main()
