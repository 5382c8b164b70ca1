# SPDX-License-Identifier: Apache-2.0
"""What the laboratory says about itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.study import read_study
from quiclab.model import number_text
from quiclab.report.page.validity import TextTable, trust_tables
from quiclab.store.layout import BLOCK_VOID

SHAPE = replace(
    Shape(),
    workloads=("100 KB",),
    paths=("loss",),
    failures=frozenset({("loss/100 KB", "h2", 3)}),
    voids=frozenset({("loss/100 KB", "h3", 1)}),
)


def tables(directory: Path) -> dict[str, TextTable]:
    """The tables of a study by their titles."""
    study = read_study(directory)
    return {table.title: table for table in trust_tables(study, analyse(study))}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small study for the tests that only read."""
    return write_study(tmp_path_factory.mktemp("study"), SHAPE)


def test_trials_are_counted_per_arm_with_reasons(written: Path) -> None:
    """Verified, failed, invalid by itself and repeated with its block, and why."""
    h2, h3 = tables(written)["Trials"].rows[:2]
    assert h2 == ("h2", "main", "8", "1", "0", "0", "0", "0", "1 × client reached its time limit of 60 s")
    assert h3 == ("h3", "main", "9", "0", "0", "1", "0", "0", "1 × link late: p99 180 us")


def test_invalid_trials_are_as_many_as_the_numbers_say(tmp_path: Path) -> None:
    """The table counts apart the trials that were repeated only because another one of their block was invalid."""
    directory = write_study(tmp_path, SHAPE)
    file = directory / "tables" / "trials.parquet"
    trials = pl.read_parquet(file)
    partner = trials.filter(pl.col("arm") == "h2").head(1).with_columns(
        status=pl.lit("void"), reason=pl.lit(BLOCK_VOID), attempt=pl.lit(1, trials.schema["attempt"])
    )  # fmt: skip
    pl.concat([trials, partner]).write_parquet(file)
    columns = tables(directory)["Trials"].headings
    counts = [dict(zip(columns, row, strict=True)) for row in tables(directory)["Trials"].rows]
    assert [(each["invalid"], each["with its block"]) for each in counts if each["kind"] == "main"] == [
        ("0", "1"), ("1", "0"),
    ]  # fmt: skip
    arms = [arm for cell in analyse(read_study(directory)).cells().values() for arm in cell.arms]
    assert [sum(arm.voids for arm in arms if arm.arm == name) for name in ("h2", "h3")] == [0, 1]


def test_the_path_as_asked_stands_above_the_path_as_measured(written: Path) -> None:
    """For each network one row of the spec and one of each arm."""
    asked, h2, h3 = tables(written)["The path as asked and as measured"].rows
    assert asked == (
        "1 % loss", "as asked", "20.0 ms", "10.0 Mbit/s", "–", "20.0 ms + queue", "–", "0 %", "1.00 %", "1.00 %", "",
    )  # fmt: skip
    assert (h2[1], h2[2]) == ("h2", "20.1 ms")
    assert h3[1] == "h3"


def test_what_an_end_threw_away_is_told(tmp_path: Path) -> None:
    """In the table, and among the notes that the terminal prints too."""
    directory = write_study(tmp_path, SHAPE)
    assert tables(directory)["Packets that an end refused"].rows == ()
    trials = pl.read_parquet(directory / "tables" / "trials.parquet")
    of_h3 = trials.filter(pl.col("kind") == "main", pl.col("arm") == "h3", pl.col("status") == "verified")
    metrics = pl.read_parquet(directory / "metrics.parquet")
    refused = metrics.filter(pl.col("name") == "ttlb_ms").join(of_h3.select("trial_id"), on="trial_id", how="semi")
    first = pl.col("trial_id") == of_h3["trial_id"][0]
    refused = refused.with_columns(
        name=pl.lit("client_refused_packets"), value=pl.when(first).then(609.0).otherwise(0.0), unit=pl.lit("packets")
    )
    pl.concat([metrics, refused.cast(metrics.schema)]).write_parquet(directory / "metrics.parquet")
    count = of_h3["trial_id"].n_unique()
    assert tables(directory)["Packets that an end refused"].rows == (
        ("1 % loss", "h3", "client", f"1 of {count}", "0 packets", "609 packets"),
    )
    (note,) = [note for note in analyse(read_study(directory)).notes if "threw away" in note]
    assert note.startswith(f"In 1 of {count} trials of h3 the client threw away QUIC packets")


def test_what_every_trial_proved_is_told_once(written: Path) -> None:
    """Facts that are the same in all trials of an arm are shown; what changes with every trial is not."""
    rows = {row[0]: row[1:] for row in tables(written)["What ran"].rows}
    assert rows["ALPN"] == ("h2", "h3")
    assert rows["versions: libcurl"] == ("8.19.0", "8.19.0")
    assert not any("SHA-256" in key for key in rows)


def test_decode_statistics_are_summed_over_trials(written: Path) -> None:
    """17 main and 36 A/A trials with three lines each."""
    assert tables(written)["What the decoders reported"].rows == (
        ("notice", "raw/client-qlog/*.sqlog", "unknown_event", "159", "53", "A newer dialect: nothing is lost."),
    )


def test_lateness_is_told_per_network_and_arm(written: Path) -> None:
    """The median and the worst trial, in microseconds, and the latest packet, which p99 does not show; and how many
    trials ran side by side."""
    rows = tables(written)["Lateness of the emulated link"].rows
    assert [row[:2] for row in rows] == [("1 % loss", "h2"), ("1 % loss", "h3")]
    assert all(value.endswith(" µs") for row in rows for value in row[2:5])
    assert [row[4:] for row in rows] == [(f"{number_text.number(97_000)} µs", "3")] * 2


def test_arms_against_themselves_are_told_apart(written: Path) -> None:
    """One row per A/A cell, by the arm's own name."""
    assert [row[0] for row in tables(written)["Each arm against itself (A/A)"].rows] == ["h2", "h3"]


def test_an_empty_study_has_only_empty_tables(tmp_path: Path) -> None:
    """Each table says by itself what is not there."""
    assert all(table.rows == () and table.empty for table in tables(tmp_path).values())


def test_an_unknown_severity_is_shown_last(tmp_path: Path) -> None:
    """A severity that this version does not know does not hide the line."""
    write_study(tmp_path, SHAPE)
    row = {"source": ["x"], "name": ["y"], "severity": ["odd"], "count": [1], "advice": ["z"]}
    pl.DataFrame(row).write_parquet(tmp_path / "tables" / "decode_stats" / "extra.parquet")
    assert tables(tmp_path)["What the decoders reported"].rows[-1][0] == "odd"


def test_reasons_that_differ_in_their_numbers_are_counted_as_one(tmp_path: Path) -> None:
    """The commonest first, with an example; what happened to another trial of the block is no fault of this one."""
    directory = write_study(tmp_path, replace(SHAPE, voids=frozenset({("loss/100 KB", "h3", n) for n in range(6)})))
    path = directory / "tables" / "trials.parquet"
    reasons = [f"the client waited {number}.5 ms" for number in range(3)] + [BLOCK_VOID, BLOCK_VOID, None]
    trials = pl.read_parquet(path)
    void = pl.col("status") == "void"
    told = trials.with_columns(reason=pl.when(void).then(pl.col("trial_id")).otherwise(pl.col("reason")))
    names = dict(zip(told.filter(void)["trial_id"].to_list(), reasons, strict=True))
    told.with_columns(pl.col("reason").replace(names)).write_parquet(path)
    (h3,) = [row for row in tables(directory)["Trials"].rows if row[:2] == ("h3", "main")]
    assert h3[-1] == (
        "3 × such as the client waited 0.5 ms; 2 × run again, as another trial of its block was invalid; "
        "1 × no reason given"
    )
