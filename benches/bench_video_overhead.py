# SPDX-License-Identifier: Apache-2.0
"""What a video trial costs beside the time that the video is watched, and where it goes.

Overhead = from the start of a trial to the start of the next, minus the time from when the page was asked for the video
to its end: the browser's start and end are in it. Beside it the same client with an object of 1 KB.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from pathlib import Path

from _bench import Row, is_quick, print_table
from small_study import quiclab, trials, write_spec

TARGET_MS = 2000
_VIDEO = 'kind = "video"\nvideo = { qualities = ["360p"], length = "20 s", watch = "2 s", loop = "2 s" }'
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
        video = trial["expected"].get("video")
        request = trial["client"]["requests"][0]
        own = video["watch"]["ns"] if video else request["last_byte_ns"] - request["start_ns"]
        whole = (following["started_monotonic_ns"] - trial["started_monotonic_ns"]) / _MS
        phases["judge, move in, ledger"] = whole - sum(phases.values())
        phases["transfer"] -= own / _MS
        told.append(phases | {"all": whole - own / _MS})
    return told


def main() -> None:
    """Measure and print."""
    rounds, blocks = (1, 2) if is_quick(__doc__) else (2, 3)
    videos: list[dict[str, float]] = []
    objects: list[dict[str, float]] = []
    for _ in range(rounds):
        videos += overheads(_VIDEO, blocks)
        objects += overheads('size = "1 KB"', blocks)
    whole, beside = [each["all"] for each in videos], [each["all"] for each in objects]
    median = statistics.median(whole)
    ratio = median / statistics.median(beside)
    rows = [
        Row("overhead of a video trial", whole, "ms", "object", ratio, f"<= {TARGET_MS} ms", median <= TARGET_MS),
        Row("overhead of an object, same client", beside, "ms"),
        *(Row(f"  {phase}", [each[phase] for each in videos], "ms") for phase in videos[0] if phase != "all"),
    ]
    print_table(f"Overhead per trial: Chromium, 360p watched for 2 s at 20 Mbit/s, {len(videos)} trials", rows)


if __name__ == "__main__":
    main()
