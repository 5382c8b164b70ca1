# SPDX-License-Identifier: Apache-2.0
"""Gain of a second thread: wall time of one decoding with two threads against one, in turns.

How much a second thread could be worth depends on what else the machine does. So the same rounds have two decodings
with a thread each, at once, which share nothing: what they gain over one after the other is what there was to gain.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from _bench import Row, paired_ratio


def bench_threads(what: str, decode: Callable[[int], object], rounds: int) -> list[Row]:
    """Rows about `decode(threads)`."""
    walls: dict[str, list[float]] = {"one": [], "two": [], "apart": []}
    processor: dict[str, list[float]] = {"one": [], "two": [], "apart": []}

    def apart() -> None:
        beside = threading.Thread(target=decode, args=(1,))
        beside.start()
        decode(1)
        beside.join()

    for _ in range(rounds):
        for name, work in (("one", lambda: decode(1)), ("two", lambda: decode(2)), ("apart", apart)):
            wall, cpu = time.perf_counter(), time.process_time()
            work()
            walls[name].append(time.perf_counter() - wall)
            processor[name].append(time.process_time() - cpu)
    gain = [one / two for one, two in zip(walls["one"], walls["two"], strict=True)]
    possible = [2 * one / two for one, two in zip(walls["one"], walls["apart"], strict=True)]
    cost = [two / one for one, two in zip(processor["one"], processor["two"], strict=True)]
    return [
        Row(f"{what}, two threads", gain, "× as fast", "two decodings apart", paired_ratio(gain, possible)),
        Row("  two decodings apart", possible, "× as fast"),
        Row("  its processor time", cost, "× that of one"),
    ]
