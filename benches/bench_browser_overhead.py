# SPDX-License-Identifier: Apache-2.0
"""What a video or a page costs beside the time that is measured, and where it goes.

Overhead = from the start of a trial to the start of the next, minus the time that the video is watched, or that between
the word to go to a page and the last byte of it: the browser's start and end are in it, and the wait for a page to stay
quiet. Beside them the same client with an object of 1 KB.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from pathlib import Path
from typing import Any

from _bench import Row, is_quick, print_table
from small_study import quiclab, trials, write_spec

TARGET_MS = 2000
_VIDEO = 'kind = "video"\nvideo = { qualities = ["360p"], length = "20 s", watch = "2 s", loop = "2 s" }'
_PAGE = """kind = "page"
[workload.page]
html = "10 KB"
resources = [{ type = "style", size = "10 KB" }, { type = "image", size = "20 KB", count = 10 }]"""
_MS = 1e6


def overheads(lines: str, blocks: int) -> list[dict[str, float]]:
    """Milliseconds by phase and in `all`, one for each trial of a small study of Chromium but the last."""
    with tempfile.TemporaryDirectory() as name:
        spec = write_spec(Path(name), blocks=blocks, client='"chromium"', size="1 KB")
        text = spec.read_text().replace('size = "1 KB"', lines).replace('client = "curl-cffi"', 'client = "chromium"')
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
        told.append(phases | {"all": whole - own / _MS})
    return told


def _own_ns(trial: dict[str, Any]) -> int:
    """What is measured in a trial."""
    expected, requests = trial["expected"], trial["client"]["requests"]
    if "video" in expected:
        return int(expected["video"]["watch"]["ns"])
    began = trial["client"]["page"]["went_ns"] if "page" in expected else requests[0]["start_ns"]
    return int(max(request["last_byte_ns"] or 0 for request in requests) - began)


def main() -> None:
    """Measure and print."""
    rounds, blocks = (1, 2) if is_quick(__doc__) else (2, 3)
    kinds = {"video": _VIDEO, "page": _PAGE, "object": 'size = "1 KB"'}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, lines in kinds.items():
            found[name] += overheads(lines, blocks)
    whole = {name: [each["all"] for each in told] for name, told in found.items()}
    beside = statistics.median(whole["object"])
    rows = [Row("overhead of an object of 1 KB", whole["object"], "ms")]
    for name in ("video", "page"):
        median = statistics.median(whole[name])
        target = f"<= {TARGET_MS} ms"
        rows.append(
            Row(f"overhead of a {name}", whole[name], "ms", "object", median / beside, target, median <= TARGET_MS)
        )
        phases = (phase for phase in found[name][0] if phase != "all")
        rows += [Row(f"  {phase}", [each[phase] for each in found[name]], "ms") for phase in phases]
    print_table(f"Overhead per trial: Chromium at 20 Mbit/s, {len(whole['page'])} trials each", rows)


if __name__ == "__main__":
    main()
