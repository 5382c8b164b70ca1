# SPDX-License-Identifier: Apache-2.0
"""Waits of a program's threads for a processor: which part the program itself explains."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import polars as pl
import pytest

from quiclab.lab.testbed.run_delay import RunDelayCourse, Stretch, held
from quiclab.logs.decoders import Context, decoder_of

MS = 1_000_000


@pytest.mark.parametrize(
    ("threads", "ran", "together", "one"),
    [
        ([(20, 130)], 20, 130, 130),
        ([(20, 80)], 20, 80, 80),
        ([(70, 30), (100, 0)], 170, 0, 0),
        ([(10, 30), (60, 0)], 70, 30, 30),
        ([(10, 30), (80, 0)], 90, 10, 10),
        ([(57, 43), (57, 43), (57, 43)], 171, 0, 0),
        ([(15, 80), (15, 80), (15, 80)], 45, 55, 55),
        ([(5, 20), (40, 20)], 45, 40, 20),
        ([(40, 20), (40, 20)], 80, 20, 20),
        ([(30, 60)], 90, 10, 10),
    ],
    ids=[
        "alone, since before the look",
        "alone",
        "beside one that always runs",
        "while another one runs at times",
        "while another one runs most of the time",
        "three that have more than a processor",
        "three that have less",
        "two that others keep waiting",
        "two, of nearly a processor",
        "beside threads that have ended",
    ],
)
def test_a_program_is_owed_one_processor(threads: list[tuple[int, int]], ran: int, together: int, one: int) -> None:
    """In 100 ms each thread ran and waited for so long; the program does not explain all of it."""
    found = held([(ran * MS, waited * MS) for ran, waited in threads], ran * MS, 100 * MS)
    assert [each // MS for each in found] == [together, one]


@pytest.mark.parametrize(
    ("lacking", "longest"),
    [((), 30), ((0,), 0), ((20,), 20), ((50,), 30), ((20, 0), 10), ((15, 10), 20), ((5, 10), 15)],
    ids=["not seen", "ran", "lacked 20", "lacked all", "ran in the last", "spans both", "spans both, ran more"],
)
def test_a_wait_that_began_before_is_judged_by_the_looks_before(lacking: tuple[int, ...], longest: int) -> None:
    """A thread waited 130 ms by the end of 100 ms in which others ran all the time; looks of 20 or 50 ms before."""
    length = 50 if len(lacking) == 1 else 20
    ends = [-(len(lacking) - at - 1) * length for at in range(len(lacking))]
    before = [Stretch((end - length) * MS, end * MS, each * MS) for end, each in zip(ends, lacking, strict=True)]
    found = held([(0, 130 * MS), (100 * MS, 0)], 100 * MS, 100 * MS, before)
    assert found == (longest * MS, longest * MS)


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
    assert looks["held_ns"].sum() < looks["waited_ns"].sum()
    assert (looks["longest_held_ns"] <= looks["longest_ns"]).all()
    assert looks["longest_held_ns"].sum() < looks["longest_ns"].sum()
