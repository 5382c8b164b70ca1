# SPDX-License-Identifier: Apache-2.0
"""Cost of the account of time: a pair of transfers of 10 MB, and a study of 1,000 trials on two processors.

The alternative to the pair is the decoding of the same trials in the same run, without which there is no account. The
study is the demo's over its first path: 100 KB, 1 MB and 5 MB over both protocols, run once. Two processes read the
kept tables of these trials in turn, 500 in each process, and make the accounts anew each time. CPU time counts: of the
process that needs more, as if each had a processor to itself. Memory is bounded if a process needs no more after all
trials than after a tenth of them.

    python benches/bench_account.py [--quick]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _bench import ROOT, Row, cpu_seconds, is_quick, paired_ratio, print_table
from _real_logs import run_trials
from small_study import quiclab

from quiclab.compare.study import read_record
from quiclab.evidence.metrics import evidence_of
from quiclab.logs.decoders import decode_trial
from quiclab.why.account import account_of_transfer

_TARGET_S = 1.0
_PAIR_MB = 10
_STUDY_TARGET_S = 60.0
_TRIALS = 1000
_PROCESSES = 2
_GROWTH = 1.1
"""Growth of memory since a tenth of the trials that is still taken for none."""


def main() -> None:
    """Print both tables."""
    quick = is_quick(__doc__)
    with tempfile.TemporaryDirectory() as name:
        pair = _pair(Path(name), *((2, "5 MB") if quick else (5, "10 MB")))
        study = _study(Path(name), _TRIALS // 10 if quick else _TRIALS)
    print_table("Accounting for time (CPU time; ratio: how many times as long decoding takes)", [pair])
    print_table(f"Accounts of a study on {_PROCESSES} processors (CPU time and memory of the larger process)", study)


def _pair(folder: Path, rounds: int, size: str) -> Row:
    """One trial of each protocol over a real link."""
    decoded: list[float] = [0.0] * rounds
    accounted: list[float] = [0.0] * rounds
    edges = 0
    for trial in run_trials(folder, size).values():
        tables = decode_trial(trial.raw.parent).tables
        record = read_record(trial.raw.parent)
        for number in range(rounds):
            decoded[number] += cpu_seconds(lambda trial=trial: decode_trial(trial.raw.parent))
            # A new view each time: joins are remembered for a view.
            view = evidence_of(tables, record)
            accounted[number] += cpu_seconds(lambda view=view: account_of_transfer(view))
        edges += len(account_of_transfer(evidence_of(tables, record)))
    return Row(
        f"account of a pair of {size}, {edges} edges",
        accounted,
        "s",
        "decoding the pair",
        paired_ratio(decoded, accounted),
        f"under {_TARGET_S:.0f} s for {_PAIR_MB} MB",
        sorted(accounted)[rounds // 2] < _TARGET_S,
    )


def _study(folder: Path, trials: int) -> list[Row]:
    """Six real trials, accounted for until they are as many as asked."""
    spec = (ROOT / "experiments" / "demo" / "spec.toml").read_text()
    file = folder / "demo.toml"
    file.write_text(spec[: spec.index('[[path]]\nname = "loss"')] + spec[spec.index("[[arm]]") :])
    done = quiclab("run", file, "--out", folder / "demo", "--blocks", "1", "--no-report", timeout=900)
    if not list((folder / "demo").glob("trials/*")):
        raise RuntimeError(f"no trial of the demo: {done.stdout}{done.stderr}")
    command = [sys.executable, Path(__file__).with_name("_account_study.py"), folder / "demo"]
    command.append(str(trials // _PROCESSES))
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(_PROCESSES)]
    told = [json.loads(each.communicate()[0]) for each in running]
    cpu_s = max(each["cpu_s"] for each in told)
    largest = max(told, key=lambda each: float(each["largest_mb"]))
    return [
        Row(
            f"accounts of {trials} trials, their tables read",
            [cpu_s],
            "s",
            target=f"under {_STUDY_TARGET_S:.0f} s for {_TRIALS}",
            reached=cpu_s * _TRIALS / trials < _STUDY_TARGET_S,
        ),
        Row("largest memory after a tenth of them", [largest["early_mb"]], "MB"),
        Row(
            "largest memory after all",
            [largest["largest_mb"]],
            "MB",
            target="no growth",
            reached=largest["largest_mb"] < _GROWTH * largest["early_mb"],
        ),
    ]


if __name__ == "__main__":
    main()
