# SPDX-License-Identifier: Apache-2.0
"""Waits of a program's threads for a processor: which part its own threads took from each other."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import polars as pl
import pytest

from quiclab.decoders import Context, decoder_of
from quiclab.testbed.run_delay import RunDelayCourse, own_waits

MS = 1_000_000


@pytest.mark.parametrize(
    ("threads", "together", "processors", "own"),
    [
        ([(20, 80)], 20, 2, [0]),
        ([(70, 30), (100, 0)], 170, 2, [30, 0]),
        ([(10, 30), (100, 0)], 110, 2, [30, 0]),
        ([(67, 33), (67, 33), (67, 33)], 201, 2, [33, 33, 33]),
        ([(57, 43), (57, 43), (57, 43)], 171, 2, [28, 28, 28]),
        ([(5, 20), (40, 20)], 45, 2, [0, 0]),
        ([(10, 20), (5, 20)], 15, 1, [0, 0]),
        ([(50, 50), (50, 50)], 100, 1, [50, 50]),
        ([(30, 60)], 130, 1, [60]),
    ],
    ids=[
        "alone, for longer than the look",
        "beside one that always runs",
        "and sleeps meanwhile",
        "three on two processors",
        "three, and another program",
        "two that others keep waiting",
        "two on one, mostly asleep",
        "two on one, all the time",
        "beside threads that have ended",
    ],
)
def test_threads_that_compete_with_each_other(
    threads: list[tuple[int, int]], together: int, processors: int, own: list[int]
) -> None:
    """Of 100 ms, in which each ran and waited for so long, at least so much of its wait was beside its own program."""
    found = own_waits([(ran * MS, waited * MS) for ran, waited in threads], together * MS, 100 * MS, processors)
    assert [each // MS for each in found] == own


def test_a_program_that_takes_all_processors_waits_for_itself(tmp_path: Path) -> None:
    """More threads that compute than there are processors: whatever else runs, a part of their waits is their own."""
    log, over, block = tmp_path / "run-delay.jsonl", threading.Event(), bytes(1 << 20)

    def compute() -> None:
        while not over.is_set():  # a hash of so much lets other threads of Python run beside it
            hashlib.sha256(block).digest()

    threads = [threading.Thread(target=compute) for _ in range(4 * (os.cpu_count() or 1))]
    with RunDelayCourse(log) as course:
        course.know("client", [os.getpid()])
        for thread in threads:
            thread.start()
        over.wait(1)
        over.set()
        for thread in threads:
            thread.join()
    decoder = decoder_of(log)
    assert decoder is not None
    looks = decoder.decode(log, Context()).tables["run_delays"].filter(pl.col("threads") >= len(threads))
    assert looks.height > 3
    assert 0 < looks["own_ns"].sum() <= looks["waited_ns"].sum()
    assert (looks["longest_held_ns"] <= looks["longest_ns"]).all()
    assert looks["longest_held_ns"].sum() < looks["longest_ns"].sum()
