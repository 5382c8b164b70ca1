# SPDX-License-Identifier: Apache-2.0
"""The kernel tells when a program was stopped, and how long it had no processor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from quiclab.lab.testbed import _process_tree
from quiclab.lab.testbed.process_cost import ProcessCosts, Stops, reap
from quiclab.lab.testbed.run_delay import RunDelay, RunDelayCourse, run_delays
from quiclab.logs.decoders import Context, decoder_of
from quiclab.why.account.disturbance import GRAIN_NS

pytestmark = pytest.mark.alone


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def _stands(pid: int) -> bool:
    return _process_tree.everybody()[pid].stopped


def _grows(stops: Stops) -> bool:
    before = stops.summary()
    time.sleep(0.01)
    return stops.summary() != before


@contextmanager
def _running(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, start_new_session=True) as program:
        try:
            yield program
        finally:
            program.kill()


def test_every_stop_is_counted_once() -> None:
    """However short it is; what was before does not count, and what lasts does."""
    with _running("sleep", "100") as program:
        stops = Stops(program.pid)
        assert stops.summary() == {"number": 0, "stopped_ns": 0}
        for number in (1, 2, 3):
            program.send_signal(signal.SIGSTOP)
            _until(lambda: _stands(program.pid))  # a stop that SIGCONT overtakes is none
            _until(lambda number=number: stops.summary()["number"] == number)  # type: ignore[misc]
            program.send_signal(signal.SIGCONT)
            _until(lambda: not _grows(stops))  # stops that follow one another unseen are told as one
        _until(lambda: not _grows(stops))
        stops.begin()
        assert stops.summary()["number"] == 0
        program.send_signal(signal.SIGSTOP)
        _until(lambda: stops.summary()["stopped_ns"] > 10_000_000)
        assert stops.summary()["number"] == 1


def test_the_program_can_be_waited_for() -> None:
    """The watch leaves the news of its end to the one that waits."""
    for _ in range(20):
        program = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
        stops = Stops(program.pid)
        reap(program)
        assert program.returncode == 3
        assert stops.summary()["number"] == 0


def test_a_thread_that_others_keep_from_its_processor_waits() -> None:
    """Two programs on one processor: each waits about as long as the other runs."""
    core = {max(os.sched_getaffinity(0))}
    busy = sys.executable, "-c", "while True: pass"
    with _running(*busy) as one, _running(*busy) as other:
        for program in (one, other):
            os.sched_setaffinity(program.pid, core)
        delay = RunDelay()
        delay.begin([one.pid])
        _until(lambda: run_delays(one.pid)[one.pid] > 0)
        delay.begin([one.pid])
        _until(lambda: (delay.update([one.pid]) or delay.summary()["sum_ns"] or 0) > 50_000_000)
        assert delay.summary()["longest_ns"] == delay.summary()["sum_ns"]
        # Turns of milliseconds: it waits far longer than what many short ones may.
        turns = delay.summary()["longest_turns"] or 0
        assert 0 < turns < (delay.summary()["longest_ns"] or 0) / GRAIN_NS


def test_waits_for_a_processor_are_told_when_they_were(tmp_path: Path) -> None:
    """Two programs that share a core wait by turns, each about half of the time, while a third sleeps; a thread that
    comes later counts from its beginning."""
    log, spin = tmp_path / "run-delay.jsonl", "while True: pass"
    later = f"import threading, time; time.sleep(0.5); threading.Thread(target=lambda: exec({spin!r})).start()"
    core = {min(os.sched_getaffinity(0))}
    with (
        RunDelayCourse(log) as course,
        _running(sys.executable, "-c", spin) as one,
        _running(sys.executable, "-c", later) as two,
        _running("sleep", "100") as asleep,
    ):
        for role, each in (("server", one), ("client", two), ("proxy", asleep)):
            os.sched_setaffinity(each.pid, core)
            course.know(role, [each.pid])
        time.sleep(0.4)
        alone_until_ns = time.monotonic_ns()
        before = run_delays(one.pid)[one.pid]
        _until(lambda: run_delays(one.pid)[one.pid] - before > 600_000_000)
        least = {"server": sum(run_delays(one.pid).values()), "client": sum(run_delays(two.pid).values())}
    decoder = decoder_of(log)
    assert decoder is not None
    rows = decoder.decode(log, Context()).tables["run_delays"]
    assert (rows["since_ns"] < rows["time_ns"]).all()
    assert (rows["longest_ns"] <= rows["waited_ns"]).all()
    shared = rows.filter(pl.col("since_ns") > alone_until_ns)
    waited = dict(shared.group_by("role").agg(pl.col("waited_ns").sum()).iter_rows())
    assert waited["server"] >= 400_000_000
    assert waited["client"] >= 200_000_000
    assert waited.get("proxy", 0) < 50_000_000
    every = dict(rows.group_by("role").agg(pl.col("waited_ns").sum()).iter_rows())
    # The first look is where the counting begins.
    assert all(every[role] >= 0.8 * least[role] for role in least)
    assert rows.filter(pl.col("role") == "client")["threads"].max() == 2


def test_a_program_that_stood_still_during_the_transfer() -> None:
    """As trial.json has it."""
    with ProcessCosts() as costs, _running("sleep", "100") as program:
        costs.watch("server", program.pid)
        costs.begin()
        program.send_signal(signal.SIGSTOP)
        _until(lambda: _stands(program.pid))
        watch = costs._roles["server"].stops
        assert watch is not None
        _until(lambda: watch.summary()["stopped_ns"] > 0)  # a stop that is over before it is seen has no length
        program.send_signal(signal.SIGCONT)
        _until(lambda: not _stands(program.pid))
        time.sleep(0.05)
        costs.end()
        told = costs.summary()["server"]
        assert told["stood_still"]["number"] == 1
        assert told["stood_still"]["stopped_ns"] > 0
        assert told["run_delay"]["longest_ns"] is not None
