# SPDX-License-Identifier: Apache-2.0
"""A study from its spec to its tables, for programs: run → decode → judge → keep. It prints nothing.

`trials.py` runs the blocks (`blocks.py`), and `trial.py` does with a trial's folder, in memory until then, what
follows: decode once, judge, move into the study, enter into the ledger. `trial_tables.py` makes the tables of a trial
from what was decoded, so that a report after a run decodes nothing, and `tables_on_disk.py` says which are there;
`tables.py` makes those that are missing, or were made by another version, or could not be made for a mistake of
quiclab's own, which ends no run. What the rule of `--keep-raw` does not keep goes when a block is over.

Before a run: `preflight.py` says what can be foreseen, `machine_check.py` tests the machine. With `--jobs`, blocks run
side by side (`side_by_side.py`), a worker each (`worker.py`), as many as `guard.py` allows
(docs/decisions/0014-side-by-side.md); with `--dask`, the workers of a cluster run them (`dask`); `merge.py` joins parts
that ran apart. What watches a run is an `Observer` (`observer.py`); `pace.py` says what is left, `progress.py` the same
from outside. Ctrl-C stops between blocks, and again at once (`stopping.py`). `disturbed.py` has the blocks that stayed
void when all others were over.

`sequential_run.py` runs until an answer is found, `probe.py` against a server of somebody else's, and `confirm` without
a cause. `verification.py` judges raw files again: `as_specified.py` holds a study against its spec, `differences.py`
says what differs. `contradicted.py` holds facts about programs against their logs. `selection.py` is what the latest
run was about. `paper_studies.py` has the cells of papers that come with quiclab, at both of their sizes.

>>> from quiclab.study import run_study  # doctest: +SKIP
>>> run_study("spec.toml", "studies/demo").failed  # doctest: +SKIP
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.study.run import run_study

__all__ = ["run_study"]


def __getattr__(name: str) -> object:
    """`run_study` is imported when it is asked for: the sandbox is entered before much is."""
    if name == "run_study":
        from quiclab.study.run import run_study

        return run_study
    raise AttributeError(f"module 'quiclab.study' has no attribute {name!r}")
