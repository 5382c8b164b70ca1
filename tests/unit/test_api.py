# SPDX-License-Identifier: Apache-2.0
"""What `quiclab.open` gives beside tables: comparisons, figures, frames for pandas, and what a notebook shows."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from plotly.graph_objects import Figure
from synthetic_logs import write_logs
from synthetic_study import Shape, write_study

import quiclab
from quiclab.api import ExploredStudy
from quiclab.model.errors import SpecError
from quiclab.report.page.write import write_report

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "first-look.ipynb"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ExploredStudy:
    """A study with its report, as `make demo` leaves it beside the notebooks' folder."""
    directory = write_study(tmp_path_factory.mktemp("project") / "demo-study")
    write_report(directory)
    return quiclab.open(directory)


def test_open_is_offered_before_anything_is_imported() -> None:
    """An editor sees it; `import quiclab` alone stays quick."""
    asked = "import sys, quiclab; assert 'open' in dir(quiclab); assert 'polars' not in sys.modules"
    subprocess.run([sys.executable, "-c", asked], check=True)


def test_it_says_what_it_is(study: ExploredStudy) -> None:
    """Name, cells, arms, and what the trials came to: attempts that were void are counted apart."""
    told = repr(study).splitlines()
    assert told[0] == f"study synthetic in {study.directory}"
    assert told[1:] == [
        "  cells: 9 (3 workloads × 3 paths), and 2 A/A cells",
        "  arms: h2 (baseline), h3",
        "  trials: 196 verified, 2 failed; 4 earlier attempts invalid",
    ]
    assert sum(study.trials["status"] == "void") == 4


def test_names_of_a_stranger_are_shown_as_text(tmp_path: Path) -> None:
    """In a notebook as a table, and on a terminal; a study may come from anybody."""
    directory = write_study(tmp_path, replace(Shape(), resolved={"name": "<script>alert(1)</script>\x1b[2J"}))
    assert "\x1b" not in repr(quiclab.open(directory))
    shown = quiclab.open(directory)._repr_html_()
    assert shown.startswith("<table>")
    assert "<td>h2 (baseline), h3</td>" in shown
    assert "<script>" not in shown


def test_a_damaged_study_can_be_shown_too(tmp_path: Path) -> None:
    """An object that cannot be printed tells nobody what is wrong with it."""
    directory = write_study(tmp_path)
    (directory / "tables" / "trials.parquet").write_bytes(b"PAR1 but no more")
    assert "cannot be read: the table trials" in repr(quiclab.open(directory))


def test_metrics_say_of_which_trial_they_are(study: ExploredStudy) -> None:
    """The same rows as in the file, each with what its trial ran; a void attempt doubles none."""
    raw = study.table("metrics")
    assert study.metrics.select(raw.columns).equals(raw)
    asked = study.sql(
        "SELECT trial_id, cell_id, arm, path, workload, block, kind, status, name, value FROM metrics "
        "JOIN trials USING (trial_id) WHERE status = 'verified'"
    )
    order = ("trial_id", "name")
    assert study.metrics.select(asked.columns).sort(order).equals(asked.sort(order))


def test_differences_are_those_of_the_report(study: ExploredStudy) -> None:
    """Row by row, as its CSV has them; by another metric too."""
    lies = pl.read_csv(study.directory / "report" / "data" / "differences.csv", infer_schema_length=None)
    assert study.differences.select(lies.columns).write_csv() == lies.write_csv()
    assert set(study.differences_by("ttfb_ms")["metric"]) == {"ttfb_ms"}
    assert study.differences_by("ttfb").equals(study.differences_by("ttfb_ms"))
    for name, told in (("ttfbb", "no metric 'ttfbb'"), ("speed_index_ms", "no trial of this study has a value")):
        with pytest.raises(SpecError, match=told):
            study.differences_by(name)


def test_a_figure_is_one_of_plotly(study: ExploredStudy) -> None:
    """Drawn from the data that it gives as well."""
    assert isinstance(study.figure("differences"), Figure)
    one = study.figure("cumulative", cell="1 MB/loss", metric="ttfb_ms")
    assert {trace.name for trace in one.data if trace.name} >= {"h2", "h3"}
    assert set(study.figure_data("cumulative", cell="1 MB/loss", metric="ttfb_ms")["cell_id"]) == {"1 MB/loss"}
    both = study.figure_data("bytes_acknowledged", blocks=[0, 1])
    assert both["trial"].unique().sort().to_list() == ["block 0", "block 1"]
    assert "differences" in study.figures


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("nosuch", {}, "there is no figure 'nosuch'"),
        ("losses", {"blocks": [1, 2]}, "one block at a time"),
        ("sequence", {}, "."),
        ("cumulative", {"cell": "no/where"}, "no/where"),
    ],
)
def test_what_cannot_be_drawn_is_told(study: ExploredStudy, name: str, asked: dict[str, Any], told: str) -> None:
    """As at the command line."""
    with pytest.raises(SpecError, match=told):
        study.figure(name, **asked)


def test_pandas_gets_every_column_as_it_is(study: ExploredStudy) -> None:
    """Whole numbers stay whole, and what is missing stays missing; a frame goes as well as a name."""
    trials = study.pandas("trials")
    assert isinstance(trials, pd.DataFrame)
    assert trials.dtypes["block"] == "int64"
    assert trials["trial_id"].tolist() == study.trials["trial_id"].to_list()
    assert trials.attrs["meaning"]["block"].startswith("Number of the block")
    assert study.pandas("bytes_acknowledged").attrs["units"]["x_ms"] == "ms"
    metrics = study.pandas(study.metrics)
    assert metrics.query("name == 'ttlb_ms'").groupby("arm")["value"].median().to_dict() == {
        arm: pytest.approx(value)
        for arm, value in study.metrics.filter(name="ttlb_ms").group_by("arm").agg(pl.col("value").median()).rows()
    }
    some = study.pandas(pl.DataFrame({"n": [1, None], "flag": [True, None], "text": ["a", None]}))
    assert some.dtypes.astype(str).to_dict() | {"text": ""} == {"n": "Int64", "flag": "boolean", "text": ""}
    assert some["n"].isna().tolist() == [False, True]
    with pytest.raises(SpecError):
        study.pandas("nosuch")


def test_the_notebook_runs_from_its_folder(study: ExploredStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell, as Jupyter starts it: in the folder of the notebook, below the project."""
    folder = study.directory.parent / "docs" / "notebooks"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    shown = [_ran("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    assert [type(each) for each in shown] == [
        type(None), ExploredStudy, pl.DataFrame, Figure, pl.DataFrame, Figure, Figure, pl.DataFrame
    ]  # fmt: skip
    assert shown[2].height == 9
    assert set(shown[4]["arm"]) == {"h2", "h3"}


def _ran(source: str, names: dict[str, Any]) -> Any:
    """What a cell of a notebook shows: the value of its last line, if that is one."""
    *body, last = ast.parse(source).body
    value = last.value if isinstance(last, ast.Expr) else None
    exec(compile(ast.Module(body if value else [*body, last], []), "cell", "exec"), names)
    return eval(compile(ast.Expression(value), "cell", "eval"), names) if value else None


def test_the_how_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lines of Python, one after the other, on a study whose sizes are written with a space."""
    directory = write_study(tmp_path / "demo-study", Shape(paths=("clean", "loss"), blocks=2, aa_blocks=0))
    for trial in sorted((directory / "trials").iterdir()):
        write_logs(directory, trial.name, 200)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "how-to" / "go-on-with-tables.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if "parquet_metadata" in block:
            continue  # of files that decoders wrote
        exec(compile(block.replace("1MB/loss", "1 MB/loss"), "how-to", "exec"), names)
    assert (tmp_path / "cumulative.html").is_file()
    assert names["slow"].height < names["study"].table("link_packets").height
    assert names["numbers"]["cell_id"].unique().to_list() == ["1 MB/loss"]
    assert names["frame"].attrs["meaning"]
    assert set(names["times"]["arm"]) >= {"h2", "h3"}
