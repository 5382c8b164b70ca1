# SPDX-License-Identifier: Apache-2.0
"""A plan in a terminal of 80 columns: its tables fit, names and ids stay whole, and the order is a sample."""

from __future__ import annotations

import json
import pathlib

import pytest
from specs import changed, with_path, written

from quiclab.cli.main import main

DEMO = pathlib.Path(__file__).resolve().parents[3] / "experiments" / "demo" / "spec.toml"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def run(capsys: pytest.CaptureFixture[str], *words: str | pathlib.Path) -> str:
    """Output of the verb, whether the programs are here or not."""
    assert main(["plan", *map(str, words)]) in (0, 3)
    return capsys.readouterr().out


def test_it_fits_80_columns(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    """No line is wider, also with long paths."""
    lines = 'queue = ["2 bdp", "20 ms"]\nloss = {model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "9 %"}\n'
    for spec in (DEMO, written(tmp_path, with_path(lines + '[path.up]\nrate = "1 Mbit/s"'))):
        assert max(len(line) for line in run(capsys, spec, "--all").splitlines()) <= 80


def test_long_names_of_cells_and_arms_are_broken_between_their_words(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """The first trials have whole words in 80 columns, and whole ids."""
    text = changed(("blocks = 4", "blocks = 7"), ('"plain"', '"satellite-evening-bursts-5mbit"'))
    spec = written(tmp_path, text.replace('name = "h3"', 'name = "h3-caddy-curl-cffi"'))
    printed = run(capsys, spec)
    order = printed[printed.index("Cell ") :].splitlines()
    assert max(map(len, order)) <= 80
    words = [word for line in order for word in line.split()]
    assert {"evening-", "h3-caddy-curl-", "cffi"} <= set(words)
    ids = [row["trial_id"] for row in json.loads(run(capsys, spec, "--json"))["order"]]
    assert set(ids[:20]) <= set(words)


def test_only_the_first_trials_are_listed_unless_all_are_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    """The order is a sample by default; the rest is counted."""
    spec = written(tmp_path, changed(("blocks = 4", "blocks = 10\naa = {blocks = 10}")))
    ids = [row["trial_id"] for row in json.loads(run(capsys, spec, "--json"))["order"]]
    shown, everything = run(capsys, spec), run(capsys, spec, "--all")
    assert [trial in shown for trial in ids] == [True] * 20 + [False] * 40
    assert "and 40 more" in shown
    assert all(trial in everything for trial in ids)
    assert "more (--all" not in everything


def test_names_of_a_grid_stay_whole_at_80_columns(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Paths in their table, workload and path of each cell in the order; where these are too long, one below the
    other."""
    text = with_path('rtt = ["20 ms", "200 ms"]\nloss = ["0 %", "1 %"]').replace('delay = "10 ms"\n', "", 1)
    spec = tmp_path / "spec.toml"
    spec.write_text(text.replace('name = "plain"', 'name = "a-network-with-a-long-name"', 1))
    words = set(run(capsys, spec).split())
    for rtt in ("20ms", "200ms"):
        for loss in ("0pct", "1pct"):
            assert f"a-network-with-a-long-name-{rtt}-{loss}" in words
