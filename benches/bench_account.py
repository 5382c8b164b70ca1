# SPDX-License-Identifier: Apache-2.0
"""What the account of a trial costs: a pair of transfers of 10 MB, each decoded and then accounted for in one process.

The alternative is the decoding of the same trials in the same run, without which there is no account.

    python benches/bench_account.py [--quick]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from _bench import Row, cpu_seconds, is_quick, paired_ratio, print_table
from _real_logs import run_trials

from quiclab.accounting import account_of_transfer
from quiclab.analysis.study import read_record
from quiclab.decoders import decode_trial
from quiclab.metrics import evidence_of

_TARGET_S = 1.0
_PAIR_MB = 10


def main() -> None:
    """One trial of each protocol over a real link."""
    rounds, size = (2, "5 MB") if is_quick(__doc__) else (5, "10 MB")
    decoded: list[float] = [0.0] * rounds
    accounted: list[float] = [0.0] * rounds
    edges = 0
    with tempfile.TemporaryDirectory() as name:
        for trial in run_trials(Path(name), size).values():
            folder = trial.raw.parent
            tables = decode_trial(folder).tables
            record = read_record(folder)
            for number in range(rounds):
                decoded[number] += cpu_seconds(lambda folder=folder: decode_trial(folder))
                # A new view each time: joins are remembered for a view.
                view = evidence_of(tables, record)
                accounted[number] += cpu_seconds(lambda view=view: account_of_transfer(view))
            edges += len(account_of_transfer(evidence_of(tables, record)))
    ratio = paired_ratio(decoded, accounted)
    row = Row(
        f"account of a pair of {size}, {edges} edges",
        accounted,
        "s",
        "decoding the pair",
        ratio,
        f"under {_TARGET_S:.0f} s for {_PAIR_MB} MB",
        sorted(accounted)[rounds // 2] < _TARGET_S,
    )
    print_table("Accounting for time (CPU time; ratio: how many times as long decoding takes)", [row])


if __name__ == "__main__":
    main()
