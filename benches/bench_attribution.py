# SPDX-License-Identifier: Apache-2.0
"""Error of a transfer's account beside the truth, on the golden twin: transfers in virtual time, drawn anew.

In the first table one cause alone holds the sender back: its share of the account, the share that the sender itself
gives it, and its effect, which is the time less that of the same transfer without the cause. For the others, one for
each transport and amount of evidence, transfers are drawn with losses, queues and limits at random, several at once:
of each category the mean attribution error in per cent of the whole, over all runs and over those in which the category
occurs (`tests/golden_twin.py` defines the error).

    python benches/bench_attribution.py [--quick]
"""

from __future__ import annotations

import random
import secrets
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

from _bench import is_quick
from _twin_draws import drawn
from _twin_planted import PLANTED, Planted
from golden_twin import Logs, Run, Twin, built, told

from quiclab.why.account import Why

_TARGET = 0.03
_WORST = 3
_KINDS: tuple[tuple[str, Logs], ...] = (
    ("h2", "state"),
    ("h2", "captures"),
    ("h3", "own_word"),
    ("h3", "state"),
    ("h3", "captures"),
)


def main() -> None:
    """Both tables; the worst runs are printed as cases that can be run again."""
    count = 20 if is_quick(__doc__) else 200
    if shutil.which("cargo") is None:
        sys.exit("cargo is not installed, with which the twin is built")
    twin = built("release")
    _print_planted(twin)
    for protocol, logs in _KINDS:
        _print_drawn(twin, protocol, logs, count, secrets.randbits(32))


def _print_planted(twin: Twin) -> None:
    print(
        f"\n{'One cause (ms)':28} {'time':>9} {'account':>9} {'truth':>9} {'effect':>9}  account less effect, % of time"
    )
    for planted in PLANTED:
        (run,) = twin.runs([planted.case], logs="own_word")
        account = _share_ns(planted, run)
        truth = sum(run.truth.get(label, 0) for label in planted.labels if isinstance(label, Why))
        effect = twin.effect_ns(planted.case, **planted.without)
        of_state = f"{truth / 1e6:9.2f}" if isinstance(planted.labels[0], Why) else f"{'-':>9}"
        off = 100 * (account - effect) / run.total_ns
        ms = f"{run.total_ns / 1e6:9.2f} {account / 1e6:9.2f} {of_state} {effect / 1e6:9.2f}"
        print(f"{planted.name:28} {ms} {off:7.3f}")


def _share_ns(planted: Planted, run: Run) -> int:
    shares = run.shares()
    return sum(shares[label] for label in planted.labels)


def _print_drawn(twin: Twin, protocol: str, logs: Logs, count: int, seed: int) -> None:
    rng = random.Random(seed)
    found: defaultdict[Why, list[float]] = defaultdict(list)
    truths: Counter[Why] = Counter()
    worst: list[tuple[float, Run]] = []
    accounts = 0
    for run in twin.runs([drawn(rng, protocol) for _ in range(count)], logs=logs):
        if run.account.is_empty():
            continue
        accounts += 1
        of_run = run.errors(logs)
        worst = sorted([*worst, (max(of_run.values()), run)], key=lambda each: -each[0])[:_WORST]
        for why, error in of_run.items():
            found[why].append(error)
        truths.update({why: length_ns / run.total_ns for why, length_ns in told(run.truth, logs).items()})  # type: ignore[dict-item]
    _print_errors(f"{protocol}, evidence: {logs}, {count} runs, seed {seed}", found, truths, accounts)
    for error, run in worst:
        print(f"  worst run: {100 * error:.2f} % in {dict(run.case)}")
    if accounts < count:
        print(f"  {count - accounts} runs have no account")


def _print_errors(title: str, found: dict[Why, list[float]], truths: Counter[Why], accounts: int) -> None:
    print(f"\n{title}\n{'category':24} {'runs':>5} {'share %':>8} {'error %':>8} {'where %':>8} {'worst %':>8}")
    means: list[float] = []
    for why, each in sorted(found.items(), key=lambda item: -sum(item[1])):
        mean = sum(each) / accounts
        means.append(mean)
        share = 100 * truths[why] / accounts
        where = 100 * sum(each) / len(each)
        print(f"{why:24} {len(each):5} {share:8.2f} {100 * mean:8.3f} {where:8.3f} {100 * max(each):8.2f}")
    print(f"  largest mean error {100 * max(means):.2f} %, target {100 * _TARGET:.0f} %: {_verdict(means)}")


def _verdict(means: Sequence[float]) -> str:
    return "reached" if max(means) <= _TARGET else "missed"


if __name__ == "__main__":
    main()
