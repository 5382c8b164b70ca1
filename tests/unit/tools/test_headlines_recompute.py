# SPDX-License-Identifier: Apache-2.0
"""experiments/headlines/recompute.py against the report: other code, the same trials, the same numbers; a verdict that
follows, or none."""

from __future__ import annotations

import ast
import json
import pathlib
import shutil
import subprocess
import sys
from dataclasses import replace

import headlines
import polars as pl
import pytest
from headlines_results import CELLS, arms_in_name
from synthetic_paper import CLEAR
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse
from quiclab.compare.papers.claims import judge
from quiclab.compare.papers.claims_data import claims_data
from quiclab.compare.papers.paper import read_paper
from quiclab.compare.rows import differences
from quiclab.compare.study import read_study
from quiclab.spec.paper import read_paper as read_paper_toml
from quiclab.spec.paper_json import paper_json

_CLAIM = {
    "section": "4.1", "text": "It is so.", "kind": "direction", "metric": "ttlb_ms", "statistic": "median",
    "arms": ["h2", "h3"], "workloads": ["one", "other"], "paths": ["clean", "loss"], "testable": True,
}  # fmt: skip
_ONE, _MEAN, _RANKED = {"arms": ["h2"]}, {"statistic": "mean"}, {"arms": ["h2", ["h2", "h3"], "h3"]}
CLAIMS = [
    *({"expected": each} for each in ("lower", "higher", "same", "not lower", "not higher")),
    *({"expected": each, "metric": "goodput_bit_per_s"} for each in ("lower", "higher")),
    *({"expected": each, "metric": "stalls"} for each in ("lower", "same", "not higher")),
    {"expected": "same", "metric": "setup_ms"},
    {"expected": "higher", "arms": ["h3", "h2"]},
    {"expected": "lower", "kind": "interaction", "arms": ["h2", "h3", "h3", "h2"]},
    {"expected": "1 s", "margin": "20 %", "kind": "number"} | _ONE | _MEAN,
    {"expected": "8.5 Mbit/s", "margin": "1 Mbit/s", "kind": "number", "metric": "goodput_bit_per_s"} | _ONE | _MEAN,
    {"expected": "22 %", "margin": "5 %", "kind": "number"} | _MEAN,
    {"expected": "22 %", "margin": "5 %", "kind": "number"},
    {"expected": "-9 %", "margin": "2 %", "kind": "number", "metric": "goodput_bit_per_s"} | _MEAN,
    {"expected": "-1 s to 0 s", "kind": "difference"} | _MEAN,
    {"expected": "-200 ms", "margin": "60 ms", "kind": "difference"} | _MEAN,
    {"expected": "1 s", "margin": "20 %", "kind": "number", "arms": [["h2", "h3"]]} | _MEAN,
    {"expected": "11 %", "margin": "5 %", "kind": "number", "arms": ["h2", ["h2", "h3"]]} | _MEAN,
    {"expected": "lower", "arms": ["h2", ["h2", "h3"]]},
    *({"expected": each, "kind": "spread"} for each in ("lower", "higher")),
    *({"expected": each, "kind": "count", "counted": "lower"} for each in ("most", "15 of 30", "at least 3 of 4")),
    *({"expected": "50 %", "kind": "count", "counted": each} for each in ("same", "not lower", "not higher")),
    {"expected": "22 of 30", "margin": "8 of 30", "kind": "count", "counted": "lowest"} | _RANKED,
    {"expected": "2 of 4", "kind": "count", "counted": "above 300 ms"} | _ONE | _MEAN,
    {"expected": "at most 2 of 4", "kind": "count", "counted": "100 ms to 300 ms"} | _ONE,
]
STUDY = replace(CLEAR, workloads=("one", "other"))
SHAPES = {
    "clear": STUDY,
    "failed": replace(
        STUDY, failures=frozenset({("loss/one", "h2", 3), ("loss/one", "h3", 3), ("clean/other", "h3", 7)})
    ),
    "disturbed": replace(STUDY, disturbed={"h2": 1.5, "h3": 3.0}, blocks=12, seed=2),
    "few": replace(STUDY, blocks=8, seed=3, lost=frozenset({("loss/one", "h2", 2)})),
}


def cell_of(folder: pathlib.Path, shape: Shape) -> pathlib.Path:
    """A cell with what is kept of a synthetic study, by the code that keeps those of real ones."""
    study, cell = write_study(folder / "study", shape), folder / "cell"
    _add_stalls(study)
    data = study / "report" / "data"
    for new in (cell, data):
        new.mkdir(parents=True)
    (cell / "spec.toml").write_text('[study]\nmatters = "2 %"\n')
    lines = ['[paper]\nauthors = "A"\ntitle = "T"\nvenue = "V"\nyear = 2024\n']
    for number, claim in enumerate(CLAIMS):
        keys = {"id": f"claim-{number}"} | _CLAIM | claim
        lines += ["[[claim]]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
    (cell / "paper.toml").write_text("\n".join(lines))
    (study / "paper.json").write_text(json.dumps(paper_json(read_paper_toml(cell / "paper.toml"), {})))
    found, paper = read_study(study), read_paper(study)
    assert paper is not None
    analysis = analyse(found)
    claims_data(judge(found, analysis, paper)).write_csv(data / "claims.csv")
    differences(analysis).write_csv(data / "differences.csv")
    trials = study / "tables" / "trials.parquet"
    pl.read_parquet(trials).with_columns(began_utc=pl.lit("2026-11-30T13:00:00")).write_parquet(trials)
    shutil.copy(cell / "spec.toml", study)
    headlines.keep(study, cell / "results", {})
    return cell


def _add_stalls(study: pathlib.Path) -> None:
    """Give verified trials small counts, which are zero and tied now and then."""
    metrics = pl.read_parquet(study / "metrics.parquet")
    arms = pl.read_parquet(study / "tables" / "trials.parquet").filter(status="verified")
    more = pl.when(pl.col("arm") == "h2").then(pl.col("block") % 4).otherwise(pl.col("block") % 3)
    stalls = arms.select(
        "trial_id", name=pl.lit("stalls"), value=more.cast(pl.Float64), unit=pl.lit(""), better=pl.lit("lower"),
        note=pl.lit(None, pl.String),
    )  # fmt: skip
    both = [metrics, stalls.select(metrics.columns)]
    pl.concat(both, how="vertical_relaxed").write_parquet(study / "metrics.parquet")


def recompute(cell: pathlib.Path) -> tuple[int, str]:
    """Exit code and output of the script, in a Python that does not see quiclab."""
    command = [sys.executable, "-I", str(CELLS / "recompute.py"), str(cell)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def change_an_arm(trials: pathlib.Path) -> None:
    """Make all values of the first arm of a claim a hundredth greater: a median need not move with one of them."""
    table = pl.read_csv(trials, infer_schema=False)
    claims = pl.read_csv(trials.parent / "claims.csv", infer_schema=False)
    of_claim = claims.filter(pl.col("verdict") != "not testable here", pl.col("ours").is_not_null()).head(1)
    place = of_claim.select("workload", "path", "metric", arm="first_arm").row(0, named=True)
    place["arm"] = arms_in_name(place["arm"])[0]  # the side of a claim may be a mean over several
    is_changed = pl.all_horizontal(pl.col(name) == value for name, value in place.items())
    greater = (pl.col("value").cast(pl.Float64) * 1.01).cast(pl.String)
    table.with_columns(value=pl.when(is_changed).then(greater).otherwise("value")).write_csv(trials)


def test_it_has_none_of_our_code() -> None:
    """Python's own library, numpy and scipy."""
    tree = ast.parse((CELLS / "recompute.py").read_text(encoding="utf-8"))
    names = {name.name for each in ast.walk(tree) if isinstance(each, ast.Import) for name in each.names}
    names |= {str(each.module) for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - sys.stdlib_module_names == {"numpy", "scipy"}


@pytest.mark.parametrize("name", SHAPES)
def test_it_finds_what_the_report_found(name: str, tmp_path: pathlib.Path) -> None:
    """Directions, numbers of one arm and of two, differences, ranges, interactions, counts with zeros and ties."""
    cell = cell_of(tmp_path, SHAPES[name])
    code, output = recompute(cell)
    assert code == 0, output
    rows = pl.read_csv(cell / "results" / "claims.csv").filter(pl.col("verdict") != "not testable here").height
    assert output.count("claims.csv: ") == rows - 4  # those of the interaction


def test_changed_values_are_seen(tmp_path: pathlib.Path) -> None:
    """Another verdict in claims.csv is seen, and values that are a hundredth greater."""
    cell = cell_of(tmp_path, SHAPES["clear"])
    whole = (cell / "results" / "claims.csv").read_text()
    (cell / "results" / "claims.csv").write_text(whole.replace(",differs,", ",agrees,"))
    assert recompute(cell)[0] == 1
    (cell / "results" / "claims.csv").write_text(whole)
    change_an_arm(cell / "results" / "trials.csv")
    code, output = recompute(cell)
    assert code == 1
    assert "WRONG: its number is " in output


def test_every_cell_with_trials_is_recomputed(tmp_path: pathlib.Path) -> None:
    """The kept claims.csv follows from trials.csv, and not from one with greater values."""
    for trials in sorted(CELLS.glob("*/results/trials.csv")):
        cell = trials.parent.parent
        code, output = recompute(cell)
        assert code == 0, f"{cell.name}: {output}"
        other = pathlib.Path(shutil.copytree(cell, tmp_path / cell.name))
        change_an_arm(other / "results" / "trials.csv")
        assert recompute(other)[0] == 1, cell.name


def test_a_cell_without_trials_is_named(tmp_path: pathlib.Path) -> None:
    """Nothing is computed from what is not there, nor guessed."""
    assert recompute(tmp_path / "cell") == (2, "cell: no trials are kept of it\n")
