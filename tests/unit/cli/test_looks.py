# SPDX-License-Identifier: Apache-2.0
"""Every command that shows how arms compare leaves a look in the study; what shows single trials leaves none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

import quiclab
from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.store.look_records import FILE, read_looks

SHAPE = replace(Shape(), workloads=("1 MB",), paths=("loss",), blocks=7, resolved={"blocks": 7})
QUERY = "SELECT arm, median(value) AS ms FROM Metrics JOIN trials USING (trial_id) WHERE name = 'ttlb_ms' GROUP BY arm"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study that nobody has looked at."""
    return write_study(tmp_path / "study", SHAPE)


def figure(name: str, study: Path, *more: str) -> list[str]:
    """Arguments that write the data of a figure beside the study."""
    return ["figure", name, str(study), "-o", str(study.parent / "data.csv"), *more]


def test_commands_that_show_results_are_looks(study: Path) -> None:
    """Each with the study's own metric, then the one that was asked for; the same again is none."""
    assert main(figure("differences", study)) == 0
    assert main(figure("distributions", study, "--metric", "ttfb_ms")) == 0
    assert main(["explain", str(study)]) == 0
    assert main(["sql", str(study), QUERY]) == 0
    seen = read_looks(study)
    assert [look.metrics for look in seen] == [("ttlb_ms",), ("ttlb_ms", "ttfb_ms")]
    assert {look.blocks["1 MB/loss"] for look in seen} == {7}


@pytest.mark.parametrize("command", ["explain", "sql", "figure"])
def test_each_of_them_is_one_by_itself(study: Path, command: str) -> None:
    """Whichever comes first."""
    asked = {"explain": ["explain", str(study)], "sql": ["sql", str(study), QUERY]}
    assert main(asked.get(command) or figure("cumulative", study)) == 0
    assert len(read_looks(study)) == 1


def test_what_shows_single_trials_or_fails_is_none(study: Path) -> None:
    """A figure of one block, a query of other tables, a wrong query."""
    assert main(figure("bytes_acknowledged", study, "--block", "1")) == 0
    assert main(["sql", str(study), "SELECT status, count(*) AS attempts FROM trials GROUP BY ALL"]) == 0
    assert main(["sql", str(study), "SELECT nothing FROM metrics"]) != 0
    assert read_looks(study) == []


@pytest.mark.parametrize("command", ["report", "verify", "explain", "sql", "figure"])
def test_a_damaged_ledger_ends_every_command_that_reads_a_study(
    study: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which trials count is not known then, whatever the tables say."""
    (study / "ledger.sqlite").write_bytes(b"SQLite format 3\0" + bytes(4000))
    words = ["figure", "differences"] if command == "figure" else [command]
    assert main([*words, str(study)]) == ExitCode.DECODE
    assert "ledger.sqlite is damaged" in capsys.readouterr().err


def test_python_is_a_look_too(study: Path) -> None:
    """Of metrics, comparisons, figures and queries; printing the study, its trials and its logs are none."""
    opened = quiclab.open(study)
    assert repr(opened)
    assert opened.trials.height
    assert opened.sql("SELECT count(*) AS n FROM trials").height
    assert opened.figure_data("bytes_acknowledged", blocks=[1]).height
    assert read_looks(study) == []
    for number, look in enumerate(
        (lambda: opened.metrics, lambda: opened.differences_by("ttfb_ms"), lambda: opened.sql(QUERY)), 1
    ):
        assert look().height
        assert len(read_looks(study)) == min(number, 2)  # the last one saw what the first one saw


@pytest.mark.parametrize("spoiled", [FILE, "resolved.json"])
def test_a_study_in_which_nothing_can_be_written_is_shown_all_the_same(
    study: Path, spoiled: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor one whose spec is lost: the record must never be in the way."""
    (study / spoiled).unlink(missing_ok=True)
    if spoiled == FILE:
        (study / spoiled).mkdir()
    assert main(["sql", str(study), QUERY]) == 0
    assert main(figure("differences", study)) == 0
    assert quiclab.open(study).differences.height
    assert "h3" in capsys.readouterr().out
    assert read_looks(study) == []
