# SPDX-License-Identifier: Apache-2.0
"""A study's tables as frames and by SQL."""

from __future__ import annotations

import ast
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from synthetic_study import Shape, write_study

import quiclab
from quiclab.cli.main import main
from quiclab.compare.analyse import analyse_study
from quiclab.model.errors import DecodeError, QueryError, SpecError
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.report.page.write import write_report

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs" / "notebooks" / "difference-map.ipynb"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose path needs quoting in SQL."""
    return write_study(tmp_path_factory.mktemp("it's a study"))


def test_a_table_of_logs_says_of_which_trial_each_row_is(directory: Path) -> None:
    """Files become one table, whose `trial_id` is the files' names."""
    study = quiclab.open(directory)
    curves = study.table("bytes_acknowledged")
    assert curves.columns == ["trial_id", "x_ms", "bytes"]
    assert set(curves["trial_id"]) == {file.stem for file in directory.glob("tables/bytes_acknowledged/*")}


def test_units_and_meaning_are_those_of_the_schema(directory: Path) -> None:
    """Only columns with a unit have one; every column has a sentence."""
    study = quiclab.open(directory)
    assert study.units("decode_stats") == {}
    assert study.units("trials") == {}  # the study's own table, not that of one trial's logs
    assert set(study.meaning("trials")) >= set(study.trials.columns)
    assert study.units("bytes_acknowledged")["x_ms"] == "ms"
    assert set(study.meaning("bytes_acknowledged")) >= {"x_ms", "bytes"}


def test_sql_agrees_with_the_frames(directory: Path) -> None:
    """The median of every arm, asked both ways."""
    study = quiclab.open(directory)
    asked = study.sql(
        "SELECT arm, median(value) AS ms FROM metrics JOIN trials USING (trial_id) "
        "WHERE name = 'ttlb_ms' AND status = 'verified' GROUP BY arm ORDER BY arm"
    )
    joined = study.metrics.filter(pl.col("name") == "ttlb_ms").join(
        study.trials.filter(status="verified"), on="trial_id"
    )
    expected = joined.group_by("arm").agg(pl.col("value").median().alias("ms")).sort("arm")
    assert asked.equals(expected)


def test_sql_joins_tables_of_logs_with_trials(directory: Path) -> None:
    """`trial_id` is there by that name, and no name of a file is."""
    study = quiclab.open(directory)
    answer = study.sql("SELECT * FROM bytes_acknowledged JOIN trials USING (trial_id) WHERE arm = 'h3' LIMIT 1")
    assert answer["arm"].to_list() == ["h3"]
    assert "filename" not in answer.columns


def test_a_wrong_query_is_told_as_the_users_mistake(directory: Path) -> None:
    """DuckDB's own words, and what was meant."""
    with pytest.raises(QueryError, match="valu") as told:
        quiclab.open(directory).sql("SELECT valu FROM metrics")
    assert told.value.hint == "did you mean value?"


def test_two_columns_of_one_name_are_told(directory: Path) -> None:
    """Polars has no place for both."""
    with pytest.raises(QueryError, match="same name"):
        quiclab.open(directory).sql("SELECT value, value FROM metrics")


def test_a_table_that_is_not_there_is_told(directory: Path) -> None:
    """With those that are."""
    with pytest.raises(SpecError, match="no table 'losses'"):
        quiclab.open(directory).table("losses")


def test_a_folder_without_a_study_is_told(tmp_path: Path) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(DecodeError, match="no study"):
        quiclab.open(tmp_path)


def test_a_broken_file_is_told(tmp_path: Path) -> None:
    """Which table, and how to make it anew."""
    study = write_study(tmp_path)
    next((study / "tables" / "decode_stats").glob("*.parquet")).write_bytes(b"PAR1 but no more")
    with pytest.raises(DecodeError, match="decode_stats cannot be read") as told:
        quiclab.open(study).table("decode_stats")
    assert "quiclab report" in told.value.hint


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("csv", lambda text: pl.read_csv(text.encode()).rows()),
        ("json", lambda text: [tuple(*map(dict.values, json.loads(text)))]),
    ],
)
def test_the_verb_prints_what_other_programs_read(
    directory: Path, form: str, read: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """CSV and JSON hold the same row."""
    assert main(["sql", str(directory), "SELECT count(*) AS n, 'a,b' AS text FROM trials", "--format", form]) == 0
    attempts = quiclab.open(directory).trials.height
    assert read(capsys.readouterr().out) == [(attempts, "a,b")]


def test_lists_and_structs_are_json_in_csv(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV has no form of its own for them."""
    query = "select [1, 2] as some, {'a': 'x'} as more, null::int[] as none"
    assert main(["sql", str(directory), query, "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["some,more,none", '"[1, 2]","{""a"": ""x""}",']


def test_the_verb_lists_what_can_be_asked(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables with their columns."""
    assert main(["sql", str(directory)]) == 0
    assert "bytes_acknowledged: trial_id, x_ms, bytes" in capsys.readouterr().out


@pytest.fixture(scope="module", params=["h2", *by_night("h3")])
def reported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with its report where `make demo` writes it: with trials that failed, most of one cell, and void ones."""
    failures = Shape().failures | {("far/5 MB", "h2", block) for block in range(6)}
    study = write_study(
        tmp_path_factory.mktemp("in") / "demo-study",
        replace(Shape(), failures=failures, seed=5, disturbed={"h2": 12.0, "h3": 0.0}),
    )
    file = study / "tables" / "trials.parquet"
    baseline = pl.when(kind="main").then(pl.lit(request.param)).otherwise("baseline_arm")
    pl.read_parquet(file).with_columns(baseline_arm=baseline).write_parquet(file)
    write_report(study)
    return study


def test_the_notebook_has_the_numbers_of_the_report(reported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as it is: the differences, both tests, and what either leaves blank; whichever arm the baseline is."""
    folder = reported.parent / "docs" / "notebooks"
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    *_, paper_map, our_map = [_ran("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    compared = {(c.path, c.workload): c for c in analyse_study(reported).comparisons}
    rows = {(row["path"], row["workload"]): row for row in names["cells"].iter_rows(named=True)}
    assert rows.keys() == compared.keys()
    for place, row in rows.items():
        first, second = compared[place].baseline.median, compared[place].other.median
        change = None
        if first is not None and second is not None and math.isfinite(first) and math.isfinite(second):
            change = 100 * (second / first - 1)
        assert row["of medians, %"] == (change if change is None else pytest.approx(change))
        assert row["difference_pct"] == pytest.approx(compared[place].difference_pct)
        assert row["welch"] == pytest.approx(compared[place].welch_p)
    paper, ours = _shown(paper_map), _shown(our_map)
    known = {place: c for place, c in compared.items() if c.difference_pct is not None}
    assert paper.keys() == {place for place, c in known.items() if c.welch_p is not None and c.welch_p < 0.01}
    assert ours.keys() == {place for place, c in known.items() if c.outcome.significant}
    assert ("far", "1 MB") in paper.keys() - ours.keys()  # the machine may have made it
    assert ("loss", "5 MB") in ours.keys() - paper.keys()  # some of its trials failed
    assert ("far", "5 MB") not in known  # most of its trials failed
    assert 0.01 < (known["clean", "1 MB"].welch_p or 0) < 0.05  # so that the paper's level is seen
    assert ours["loss", "5 MB"] == pytest.approx(known["loss", "5 MB"].difference_pct, abs=0.05)


def _ran(source: str, names: dict[str, Any]) -> Any:
    """What a cell of a notebook shows: the value of its last line, if that is one."""
    *body, last = ast.parse(source).body
    value = last.value if isinstance(last, ast.Expr) else None
    exec(compile(ast.Module(body if value else [*body, last], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(value), "cell", "eval"), names) if value else None


def _shown(drawn: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Network and size → what the map shows there."""
    cells = drawn.unpivot(index=("other_arm", "path"), variable_name="workload").drop_nulls("value")
    return {(row["path"], row["workload"]): row["value"] for row in cells.iter_rows(named=True)}


def test_the_demo_is_where_the_notebooks_look_for_it() -> None:
    """`make demo` writes the study that they open, two folders above them."""
    for notebook in NOTEBOOK.parent.glob("*.ipynb"):
        asked = re.search(r"STUDY = \\\"../../(.+)\\\"", notebook.read_text(encoding="utf-8"))
        assert asked is not None
        assert f"--out {asked[1]} " in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_how_tos_query_has_the_medians_of_the_report(reported: Path) -> None:
    """Failed trials rank worst, and void attempts count no trial twice."""
    page = (ROOT / "docs" / "how-to" / "go-on-with-tables.md").read_text(encoding="utf-8")
    query = re.search(r'quiclab sql demo-study "\n(.+?)"\n', page, re.DOTALL)
    assert query is not None
    told = {(row[0], row[1], row[2]): row[3:] for row in quiclab.open(reported).sql(query[1]).rows()}
    for comparison in analyse_study(reported).comparisons:
        for arm in (comparison.baseline, comparison.other):
            trials, median = told[comparison.workload, comparison.path, arm.arm]
            assert trials == len(arm.trials)
            assert median == pytest.approx(math.inf if arm.median is None else arm.median)


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of a capture with its keys, and of nothing else."""
    logs = ROOT / "tests" / "unit" / "cli" / "recordings"
    tables = tmp_path_factory.mktemp("decoded") / "tables"
    assert main(["decode", str(logs / "h2.pcapng.gz"), str(logs / "h2.keys"), "-o", str(tables)]) == 0
    return tables


def test_decoded_logs_are_opened_like_a_study(decoded: Path) -> None:
    """Every table that was written, without trials, by frames and by SQL."""
    opened = quiclab.open(decoded)
    assert set(opened.tables) == {file.stem for file in decoded.glob("*.parquet")}
    packets = opened.table("packets")
    assert "trial_id" not in packets.columns
    assert packets.equals(pl.read_parquet(decoded / "packets.parquet"))
    assert opened.sql("SELECT count(*) AS rows FROM packets")["rows"].to_list() == [packets.height]
    assert opened.units("packets")["time_ns"] == "ns"
    assert repr(opened).startswith(f"decoded logs in {decoded}")


def test_decoded_logs_have_no_trials(decoded: Path) -> None:
    """Numbers of a study are not made up, and a command that needs one says so."""
    opened = quiclab.open(decoded)
    for asked in (lambda: opened.trials, lambda: opened.metrics):
        with pytest.raises(SpecError, match="has no table 'trials'"):
            asked()
    with pytest.raises(SpecError, match="nothing is compared"):
        _ = opened.differences


def test_a_table_that_decoded_logs_gave_no_row_of_is_empty(decoded: Path) -> None:
    """No retransmission is an answer, by frames and by SQL with the same columns and types; a wrong name is none."""
    opened = quiclab.open(decoded)
    logged = {name for name, table in TABLES.items() if table.from_logs} - OF_STUDY.keys()
    lacking = sorted(logged.difference(opened.tables))
    assert lacking
    for name in lacking:
        assert opened.table(name).schema == TABLES[name].schema()
        assert opened.sql(f"FROM {name}").schema == TABLES[name].schema()
        assert opened.meaning(name)
    with pytest.raises(SpecError, match="has no table 'nothing'"):
        opened.table("nothing")
    with pytest.raises(QueryError, match="nothing"):
        opened.sql("FROM nothing")


def test_several_queries_are_refused(directory: Path) -> None:
    """DuckDB would answer the last one alone."""
    with pytest.raises(QueryError, match="several queries"):
        quiclab.open(directory).sql("SELECT 1; SELECT 2")
    assert quiclab.open(directory).sql("SELECT 1 AS one;")["one"].to_list() == [1]


def test_sql_of_decoded_logs(decoded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command lists and answers; nothing is written into the folder."""
    before = sorted(decoded.iterdir())
    assert main(["sql", str(decoded)]) == 0
    assert "packets: source, vantage" in capsys.readouterr().out
    assert main(["sql", str(decoded), "SELECT count(*) AS metrics FROM sources", "--format", "csv"]) == 0
    assert capsys.readouterr().out == "metrics\n1\n"
    assert sorted(decoded.iterdir()) == before
    assert main(["explain", str(decoded)]) == 4
