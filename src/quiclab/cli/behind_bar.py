# SPDX-License-Identifier: Apache-2.0
"""Trials of a study, run in the sandbox behind a bar: for `run`, `compare --interleave` and `explain --confirm`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from quiclab.cli.trouble import code_of
from quiclab.model.errors import ExitCode
from quiclab.model.study import Study
from quiclab.plan.part import WHOLE, Part
from quiclab.store.keep_raw import KEEP_ALL, KeepRaw
from quiclab.store.layout import StudyDir
from quiclab.study.blocks import ROUNDS_LATER

if TYPE_CHECKING:
    from quiclab.cli.trials import Bar
    from quiclab.lab.testbed.link import Backend
    from quiclab.study.observer import Observer


def run_behind_bar(
    study: Study,
    study_dir: StudyDir,
    *,
    backend: Backend | None,
    jobs: int | None,
    interrupted: str,
    blocks: Mapping[str, int] = MappingProxyType({}),
    part: Part = WHOLE,
    rounds_later: int = ROUNDS_LATER,
    keep_raw: KeepRaw = KEEP_ALL,
    anyway: bool = True,
    watched_by: Callable[[Bar], Observer] | None = None,
    until_s: float = math.inf,
    repeated_by: str | None = "The same command",
    goes_on: bool = False,
    tables_follow: bool = True,
) -> int:
    """Run all trials of a study that are not done yet, as `run_trials` does, and say what did not go well.

    To be called in the sandbox, before this process has threads. The first Ctrl-C finishes the blocks under way, a
    second one stops at once, and `interrupted` is what is told then. No block begins from `until_s` on, by the clock of
    `time.monotonic`: what has run by then is a good end. `repeated_by` is told as what tries disturbed blocks again;
    with None nothing is told of them. Where a run `goes_on`, link and machine were told of before. Where
    no `tables_follow` it, trials without them are told.
    Returns an exit code.
    """

    def work() -> int:
        from quiclab.study.side_by_side import up_to

        with up_to(jobs) as side_by_side:
            from quiclab.cli.trials import Bar, tell
            from quiclab.study.observer import Both
            from quiclab.study.stopping import Stop, TimeIsOver
            from quiclab.study.trials import run_trials

            bar = Bar(anyway=anyway, rounds_later=rounds_later, goes_on=goes_on, until_s=until_s)
            observer = bar if watched_by is None else Both(bar, watched_by(bar))
            try:
                with Stop(observer.stopping, until_s) as stop:
                    outcome = run_trials(
                        study,
                        study_dir,
                        backend,
                        blocks=blocks,
                        part=part,
                        rounds_later=rounds_later,
                        observer=observer,
                        side_by_side=side_by_side,
                        keep_raw=keep_raw,
                        stop=stop,
                        check_machine=not goes_on,
                    )
            except TimeIsOver:
                return ExitCode.OK
            return tell(outcome, repeated_by, tables_follow=tables_follow)

    return code_of(work, interrupted)
