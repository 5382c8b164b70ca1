# SPDX-License-Identifier: Apache-2.0
"""A study that has run in part says so, before anything is read from it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.run_notes import unfinished_notes
from quiclab.compare.study import Study, read_study
from quiclab.store.go_on import going_on


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A whole study: nine cells of nine blocks."""
    found = read_study(write_study(tmp_path_factory.mktemp("study"), Shape()))
    return replace(found, resolved=found.resolved | {"blocks": 9, "only_blocks": []})


def test_a_whole_study_has_no_such_note(study: Study) -> None:
    """Void and failed trials have been run."""
    assert unfinished_notes(study) == []
    assert unfinished_notes(replace(study, resolved=study.resolved | {"blocks": 8})) == []


def test_blocks_that_have_not_run_are_counted(study: Study) -> None:
    """The first of the notes, with what stopping there means."""
    part = replace(study, trials=study.trials.filter(pl.col("block") < 2))
    (told,) = unfinished_notes(part)
    assert told == f"Not finished: 18 of 81 planned blocks have run. `{going_on(study.directory)}` runs the rest."
    assert told in analyse(part).notes


def test_cells_that_have_not_begun_are_named(study: Study) -> None:
    """As long as they are few."""
    absent = replace(study, trials=study.trials.filter(~pl.col("cell_id").is_in(["5 MB/far", "1 MB/loss"])))
    assert "63 of 81 planned blocks have run; not begun: 1 MB/loss, 5 MB/far." in unfinished_notes(absent)[0]
    one = replace(study, trials=study.trials.filter(pl.col("cell_id") == "5 MB/far"))
    assert "9 of 81 planned blocks have run; not begun: 8 cells." in unfinished_notes(one)[0]


def test_a_block_or_a_trial_by_itself_is_whole(study: Study) -> None:
    """What `quiclab bundle` packs and `quiclab trial` runs was never meant to be more."""
    part = replace(study, trials=study.trials.filter(pl.col("block") == 0))
    assert unfinished_notes(replace(part, resolved=part.resolved | {"only_blocks": ["x"]})) == []
    assert unfinished_notes(replace(part, trials=part.trials.head(1))) == []
    assert unfinished_notes(replace(part, resolved={})) == []
