# SPDX-License-Identifier: Apache-2.0
"""Trials side by side against one at a time: how many an hour, and whether they are the same trials.

    make bench-study, or study_speed.py [--blocks 30] [--quick]

A sample of a paper's matrix (Yu and Benson, WWW 2021: objects over 10 Mbit/s, RTT of 15 ms, without and with loss) is
run twice, in turns of a few blocks: `quiclab run` with --jobs 1, and with --jobs auto. Each trial has its twin of the
same seed, so the losses that the model draws are the same. Trials of the second study that ran alone, from which the
guard learns, are not compared.

Printed are the speeds; the void trials of each arm; for each arm of each cell the mean difference of the time to the
last byte of twins with its interval of 90 per cent (`quiclab.compare.statistics.mean`); and the same for each category
of the account of time, in per cent of the whole. Equivalent means that the interval lies within 1 per cent, or, where
there is loss, within 0.2 standard deviations of the trials that ran alone (two one-sided tests at 5 per cent).
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import _bench  # noqa: F401 - it makes the tests' helpers importable
import numpy as np
import polars as pl
from small_study import quiclab, trials

from quiclab.compare.statistics import mean

_SPEC = """\
[study]
name = "side-by-side"
seed = {seed}
blocks = {blocks}

[[workload]]
name = "1MB"
size = "1 MB"

[[workload]]
name = "5MB"
size = "5 MB"

[[path]]
name = "plain"
rate = "10 Mbit/s"
delay = "7.5 ms"
queue = "50 packets"

[[path]]
name = "loss"
rate = "10 Mbit/s"
delay = "7.5 ms"
queue = "50 packets"
loss = "1 %"

[[arm]]
name = "h2"
protocol = "h2"
server = "caddy"
client = "curl-cffi"
tcp = {{ congestion_control = "reno", initial_window = 32 }}

[[arm]]
name = "h3"
protocol = "h3"
server = "caddy"
client = "curl-cffi"
"""
_CELLS = ("1MB/plain", "1MB/loss", "5MB/plain", "5MB/loss")
_TURN = 10
"""Blocks of a cell in a turn."""
_WITHIN, _WITHIN_SD = 0.01, 0.2
_MS = 1e6

Key = tuple[str, str]
"""Cell and arm."""


@dataclass
class Way:
    """One of the two ways to run the study."""

    folder: Path
    jobs: str
    seconds: float = 0.0

    def run(self, spec: Path, blocks: int) -> None:
        """Run up to so many blocks of each cell."""
        cells = [word for cell in _CELLS for word in ("--cell", cell)]
        began = time.monotonic()
        done = quiclab(
            *("run", spec, "--out", self.folder, "--jobs", self.jobs, "--no-report", "--quiet"),
            *("--blocks", str(blocks), *cells),
            timeout=7200,
        )
        self.seconds += time.monotonic() - began
        if done.returncode not in (0, 1, 8):
            raise RuntimeError(done.stdout + done.stderr)

    def voids(self) -> dict[str, int]:
        """Void attempts by arm."""
        found: dict[str, int] = {}
        for trial in trials(self.folder):
            if trial["status"] == "void":
                found[trial["row"]["arm"]] = found.get(trial["row"]["arm"], 0) + 1
        return found


def difference(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Mean of second minus first, with its interval of 90 per cent (`quiclab.compare.statistics.mean`)."""
    found = mean(np.array([packed - alone for alone, packed in pairs]), 0.9)
    assert found is not None
    if found.interval is None:
        return found.estimate, -math.inf, math.inf
    return found.estimate, found.interval.low, found.interval.high


def times(folder: Path) -> dict[str, tuple[Key, float, bool]]:
    """Verified trial → cell and arm, ms to the last byte, and whether its link was shared."""
    found = {}
    for trial in trials(folder):
        if trial["status"] == "verified":
            requests = trial["client"]["requests"]
            ms = (requests[-1]["last_byte_ns"] - requests[0]["start_ns"]) / _MS
            key = trial["row"]["cell_id"], trial["row"]["arm"]
            found[trial["row"]["trial_id"]] = key, ms, bool(trial["link"].get("shared"))
    return found


def totals(folder: Path, trial_id: str) -> Mapping[str, float]:
    """Category of the account → ms, of the time to the last byte."""
    table = pl.read_parquet(folder / "tables" / "account_totals" / f"{trial_id}.parquet")
    whole = table.filter(pl.col("of") == "ttlb")
    return {what: ns / _MS for what, ns in whole.group_by("what").agg(pl.col("total_ns").sum()).iter_rows()}


def compare(alone: Way, packed: Way) -> None:
    """Print what twins differ by."""
    first, second = times(alone.folder), times(packed.folder)
    twins: dict[Key, list[str]] = {}
    for trial_id, (key, _, shared) in second.items():
        if shared and trial_id in first:
            twins.setdefault(key, []).append(trial_id)
    heads = f"{'pairs':>5} {'alone':>9} {'difference':>11} {'90 % interval':>20}"
    print(f"\n{'cell':<10} {'arm':<3} {heads}  bound  equivalent")
    for key, ids in sorted(twins.items()):
        pairs = [(first[each][1], second[each][1]) for each in ids]
        whole = statistics.fmean(one for one, _ in pairs)
        bound = _WITHIN * whole
        if key[0].endswith("loss"):
            bound = _WITHIN_SD * statistics.stdev(one for one, _ in pairs)
        shift, low, high = (100 * each / whole for each in difference(pairs))
        share = 100 * bound / whole
        told = "yes" if -share < low and high < share else "not shown"
        print(
            f"{key[0]:<10} {key[1]:<3} {len(ids):>5} {whole:>6.0f} ms {shift:>+9.2f} % {low:>+9.2f} … {high:>+6.2f} %"
            f"  {share:.1f} %  {told}"
        )
    print("\nby category of the account, in per cent of the whole time:")
    for key, ids in sorted(twins.items()):
        both = [(totals(alone.folder, each), totals(packed.folder, each)) for each in ids]
        whole = statistics.fmean(sum(one.values()) for one, _ in both)
        print(f"{key[0]} {key[1]}")
        for what in sorted({name for one, two in both for name in (*one, *two)}):
            shift, low, high = difference([(one.get(what, 0.0), two.get(what, 0.0)) for one, two in both])
            if max(abs(low), abs(high)) / whole > 0.0005:
                shift, low, high = (100 * each / whole for each in (shift, low, high))
                print(f"  {what:<18} {shift:>+7.2f} % ({low:+.2f} … {high:+.2f} %)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=100, help="blocks of each cell (default: 100)")
    parser.add_argument("--quick", action="store_true", help="10 blocks, which decide nothing")
    parser.add_argument("--keep", type=Path, help="folder in which the two studies are kept")
    asked = parser.parse_args()
    blocks = _TURN if asked.quick else asked.blocks
    place = asked.keep or Path(tempfile.mkdtemp(prefix="study-speed-"))
    place.mkdir(parents=True, exist_ok=True)
    spec = place / "spec.toml"
    spec.write_text(_SPEC.format(seed=2021, blocks=blocks))
    alone, packed = Way(place / "alone", "1"), Way(place / "packed", "auto")
    for number in range(_TURN, blocks + _TURN, _TURN):
        for way in (alone, packed) if number // _TURN % 2 else (packed, alone):
            way.run(spec, min(number, blocks))
    for way in (alone, packed):
        count = len(times(way.folder))
        voids = ", ".join(f"{arm} {number}" for arm, number in sorted(way.voids().items())) or "none"
        speed = 3600 * count / way.seconds
        print(
            f"--jobs {way.jobs:<4} {count} trials in {way.seconds:.0f} s: {speed:.0f} an hour; void attempts: {voids}"
        )
    print(f"side by side: {alone.seconds / packed.seconds:.2f} times as many an hour")
    compare(alone, packed)
    if asked.keep is None:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
