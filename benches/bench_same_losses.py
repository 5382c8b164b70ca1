# SPDX-License-Identifier: Apache-2.0
"""Losses that arms of a block share by each key of the draws, without a machine's noise: the golden twin.

1 MB at 10 Mbit/s over 20 ms with losses down, in virtual time, where a replay is the same to the nanosecond. For each
pair of arms, over many seeds: the correlation of the logarithms of their times, and the pairs that the signed-rank test
takes to find a change of 10 % at 5 % in four of five studies. HTTP/3 against HTTP/2, and each against itself with one
thing changed, as a counterfactual is run.

    python benches/bench_same_losses.py [--quick]
"""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from _bench import is_quick
from golden_twin import Twin, built
from replay_noise import correlation

from quiclab.compare.statistics import pairs_for_noise

_KEYS = ("index", "class", "bytes")
_LOSSES = (0.002, 0.01, 0.03)
_CHANGE = 100 * math.log(1.1)
_QUEUE = {"queue_bytes": 48_000}
_ARMS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("h3 against h2", {"protocol": "h3"}, {"protocol": "h2"}),
    ("h2, CUBIC against Reno", {"control": "cubic"}, {}),
    ("h2, initial window 32 against 10", {"initial_window": 32}, {}),
    ("h2, certificates of 3,200 against 1,200 B", {"flight_bytes": 3200}, {}),
    ("h3, initial window 32 against 10", {"protocol": "h3", "initial_window": 32}, {"protocol": "h3"}),
)


def main() -> None:
    """One row for each pair of arms and share of losses."""
    seeds = range(40 if is_quick(__doc__) else 200)
    if shutil.which("cargo") is None:
        sys.exit("cargo is not installed, with which the twin is built")
    twin = built("release")
    head = "".join(f"{f'by {key}':>25}" for key in _KEYS)
    print(f"\nCorrelation within blocks (95 % interval), and pairs for a change of 10 %; {len(seeds)} seeds")
    print(f"{'':44}{'loss':>6}{head}")
    for name, first, second in _ARMS:
        for loss in _LOSSES:
            cells = "".join(f"{cell:>25}" for cell in _cells(twin, seeds, loss, first, second))
            print(f"{name:44}{100 * loss:5g}%{cells}")


def _cells(
    twin: Twin, seeds: Sequence[int], loss: float, first: dict[str, Any], second: dict[str, Any]
) -> Iterator[str]:
    for key in _KEYS:
        common = {"loss_down": loss, "loss_by": key, **_QUEUE}
        times = [_times(twin, seeds, {**common, **arm}) for arm in (first, second)]
        found = correlation(zip(*times, strict=True))
        sd = float(np.std(100 * np.log(np.divide(*times)), ddof=1))
        shown = "-" if found is None else f"{found.value:.2f} ({found.low:.2f}..{found.high:.2f})"
        yield f"{shown} {pairs_for_noise(sd, _CHANGE, 0.05):4d}"


def _times(twin: Twin, seeds: Sequence[int], case: dict[str, Any]) -> list[int]:
    answers = twin.answers({"case": {**case, "seed": seed}, "only_total": True} for seed in seeds)
    return [json.loads(answer)["total_ns"] for answer in answers]


if __name__ == "__main__":
    main()
