# SPDX-License-Identifier: Apache-2.0
"""Invalid attempts and late packets on a machine in use, at three loads, beside what they were.

The named alternative is a link with the system's own slice, judged by the first rule of decision 4: a trial was void
when 1 % of its packets were later than one packet's time of service, or when a thread of an end waited for a fifth of
the transfer. Now: the link as it is, and the status that attempts really got. Both run the same two cells without loss.

As root the link is real-time in both, so that only the rules differ: run it as an ordinary account, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from _bench import Row, is_quick, print_table
from small_study import QUICLAB

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.link_process import OwnProcess
from quiclab.store.layout import WITH_ITS_BLOCK, StudyDir
from quiclab.store.ledger import look_into_ledger

AS_BEFORE = "--with-the-system-slice"
BEFORE = "system's slice, rule by p99"
_DEMO = Path(__file__).parents[1] / "experiments/demo/spec.toml"
_CELLS = ("100KB/plain", "1MB/plain")
_PACKET_NS = 1_200_000
"""Time of service of a packet of 1500 bytes at 10 Mbit/s, the bound of the first rule on this path."""
_LEAST_WAIT_NS, _WAIT_SHARE = 5_000_000, 0.2
_HOG = """
import time
while True:
    until = time.monotonic() + {busy_s}
    while time.monotonic() < until:
        pass
    time.sleep({asleep_s})
"""
_SOME, _ALWAYS = _HOG.format(busy_s=0.04, asleep_s=0.06), _HOG.format(busy_s=1, asleep_s=0)


@dataclass(frozen=True)
class Tried:
    """One attempt at a trial."""

    invalid: bool
    """True for an attempt whose status says that the laboratory spoiled it."""
    void_before: bool
    """Verdict of the first rule."""
    p99_us: float


def loads() -> dict[str, list[str]]:
    """Programs beside the study, by the name of the load."""
    processors = len(os.sched_getaffinity(0))
    return {"none": [], "40 % of one": [_SOME], f"all {processors} busy": [_ALWAYS] * processors}


def main() -> None:
    """Run both in turns at each load, and print medians over the rounds."""
    if AS_BEFORE in sys.argv[1:2]:
        sys.exit(with_the_system_slice(sys.argv[2:]))
    quick = is_quick(__doc__)
    rounds, blocks = (1, 2) if quick else (3, 5)
    rows = []
    for load, neighbours in loads().items():
        now, before = [], []
        for _ in range(rounds):
            with running(neighbours):
                before.append(attempts(blocks, [sys.executable, __file__, AS_BEFORE]))
                now.append(attempts(blocks, [str(QUICLAB)]))
        invalid = [100 * sum(each.invalid for each in tried) / len(tried) for tried in now]
        void = [100 * sum(each.void_before for each in tried) / len(tried) for tried in before]
        late, late_before = ([median(each.p99_us for each in tried) for tried in which] for which in (now, before))
        rows += [
            Row(f"{load}: invalid, {BEFORE}", void, "of 100"),
            Row(f"{load}: invalid, now", invalid, "of 100", BEFORE, _ratio(invalid, void)),
            Row(f"{load}: p99 lateness, {BEFORE}", late_before, "us"),
            Row(f"{load}: p99 lateness, now", late, "us", BEFORE, _ratio(late, late_before)),
        ]
    user = "root" if os.geteuid() == 0 else "an ordinary account"
    print_table(f"A machine in use, as {user}: {rounds} x {4 * blocks} trials of 100 KB and 1 MB at 10 Mbit/s", rows)


def _ratio(now: Sequence[float], before: Sequence[float]) -> float | None:
    """Ratio of the means; None where there was nothing before."""
    return sum(now) / sum(before) if sum(before) > 0 else None


@contextmanager
def running(programs: Sequence[str]) -> Iterator[None]:
    """Run these programs of Python meanwhile, each in a session of its own as a user's other programs are."""
    started = [subprocess.Popen([sys.executable, "-S", "-c", each], start_new_session=True) for each in programs]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


def attempts(blocks: int, quiclab: Sequence[str]) -> list[Tried]:
    """Run two cells of the demo by a command; all attempts at their trials."""
    with tempfile.TemporaryDirectory() as name:
        study = StudyDir(Path(name, "study"))
        cells = [word for cell in _CELLS for word in ("--cell", cell)]
        command = [
            *quiclab,
            "run",
            str(_DEMO),
            "--out",
            str(study.root),
            "--blocks",
            str(blocks),
            "--no-report",
            *cells,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not study.ledger.exists():
            raise RuntimeError(f"the study did not run: {done.stdout}{done.stderr}")
        with look_into_ledger(study) as ledger:
            tried = [each for tries in ledger.attempts().values() for each in tries]
        found = []
        for each in tried:
            file = study.folder(each) / "trial.json"
            if file.exists():
                trial = json.loads(file.read_text())
                invalid = each.status == "void" and each.reason not in WITH_ITS_BLOCK
                found.append(Tried(invalid, void_before(trial), trial["link"]["lateness"]["p99_ns"] / 1e3))
        return found


def void_before(trial: dict[str, Any]) -> bool:
    """Verdict of the first rule: by the p99 of the link's lateness, and by the longest wait of a thread of an end."""
    bound_ns = max(_LEAST_WAIT_NS, _WAIT_SHARE * trial["time_ns"]["transfer"])
    costs = (trial["host"].get("cost") or {}).values()
    longest_ns = max(((cost.get("run_delay") or {}).get("longest_ns") or 0 for cost in costs), default=0)
    return bool(trial["link"]["lateness"]["p99_ns"] > _PACKET_NS or longest_ns > bound_ns)


def with_the_system_slice(arguments: Sequence[str]) -> int:
    """`quiclab` with a link whose slice is that of all other programs."""
    from quiclab.cli.main import main as quiclab

    as_it_is = OwnProcess.make_punctual

    def make_punctual(self: OwnProcess, real_time: str) -> None:
        as_it_is(self, real_time)
        if os.sched_getscheduler(self.pid) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER:
            _libc.set_slice(self.pid, 0, inherited=False)

    OwnProcess.make_punctual = make_punctual  # type: ignore[method-assign]
    return quiclab(list(arguments))


if __name__ == "__main__":
    main()
