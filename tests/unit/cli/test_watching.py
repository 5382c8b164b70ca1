# SPDX-License-Identifier: Apache-2.0
"""A run that is watched: the view in a terminal, medians so far, events as JSON lines."""

from __future__ import annotations

import io
import json
import os
import re
from pathlib import Path

import polars as pl
import pytest
from rich.progress import Progress
from specs import study_of
from unit.cli.test_json import fits

from quiclab.cli.console import VisibleConsole
from quiclab.cli.event_file import event_file
from quiclab.cli.events import EVENTS, Events, Finished
from quiclab.cli.live_view import LiveProgress
from quiclab.cli.medians import Medians
from quiclab.cli.run_document import trial_counts
from quiclab.cli.tally import Line, Tally
from quiclab.model.errors import HostError, SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.tables import OF_STUDY
from quiclab.model.terminal_escape import _Visible
from quiclab.store.layout import Attempt, StudyDir
from quiclab.store.look_records import read_looks
from quiclab.study.observer import Beginning


def _row(cell: str, arm: str, block: int = 0, kind: str = "main") -> PlanRow:
    workload, path, *_ = cell.split("/")
    name = f"{cell}-{arm}-{block}".replace("/", "_")
    return PlanRow(name, kind, cell, workload, path, arm, arm, "h2", block, f"{cell}-{block}", 1, 0)


_CELLS = [f"{size}/plain" for size in ("1MB", "2MB", "3MB", "4MB")]
_BLOCKS = [[_row(cell, arm) for arm in ("h2", "h3")] for cell in _CELLS]
_ROWS = [row for block in reversed(_BLOCKS) for row in block]


def _attempt(row: PlanRow, status: str = "verified", reason: str = "") -> Attempt:
    return Attempt(row.trial_id, 1, status, reason)


def test_a_tally_counts_blocks_and_groups_reasons_by_their_words() -> None:
    tally = Tally(_ROWS)
    assert (tally.planned, tally.over, tally.places) == (8, 0, 8)
    one, two = _BLOCKS[0]
    tally.running(one)
    assert tally.under_way == [one]
    tally.ended(one, _attempt(one, "void", "the link was 1.2 ms late"))
    tally.ended(two, _attempt(two, "void", "the link was 13 ms late"))
    tally.ended(two, _attempt(two, "failed", "no answer"))
    assert tally.under_way == []
    tally.running(one)
    tally.run_anew(_BLOCKS[0])
    assert tally.under_way == []
    assert tally.wrong == [
        (2, "void", "the link was 13 ms late (1MB/plain h3 block 0)"),
        (1, "failed", "no answer (1MB/plain h3 block 0)"),
    ]
    tally.block_over(_BLOCKS[0], void=True)
    assert (tally.over, tally.void) == (0, 2)
    assert (tally.attempts, len(tally.disturbed), len(tally.repeated)) == (3, 2, 1)
    tally.block_over(_BLOCKS[0], void=False)  # run again
    assert (tally.over, tally.void) == (2, 0)
    assert tally.lines(8)[0] == Line(("1MB/plain", "h2"), 1, 1, 0)


@pytest.mark.parametrize("width", [60, 72, 80, 120])
@pytest.mark.parametrize(
    ("trials", "left"), [("", "about 12 minutes left"), ("112/154 trials, 3 repeated", "12:09 left")]
)
def test_the_bar_is_one_line_and_its_numbers_are_whole(width: int, trials: str, left: str) -> None:
    """The bar and the name of what runs give way."""
    console = VisibleConsole(force_terminal=True, width=width, height=20, file=io.StringIO(), no_color=True)
    progress = LiveProgress(console, dict)
    progress.add_task("", total=100, completed=30, now="100KB/long-path h3-quiche", trials=trials,
                      left=lambda: left)  # fmt: skip
    console.print(*progress.get_renderables())
    assert isinstance(console.file, io.StringIO)
    (line,) = console.file.getvalue().splitlines()
    assert line.startswith("100K")
    assert trials in line
    assert "0:00:00" in line
    assert line.rstrip().endswith(left)


def test_a_view_with_little_room_has_the_cells_that_ran_last() -> None:
    tally = Tally(_ROWS)
    assert [line.place[0] for line in tally.lines(8)] == [cell for cell in _CELLS for _ in range(2)]
    for number in (3, 1):
        tally.running(_BLOCKS[number][0])
    assert [line.place for line in tally.lines(3)] == [("2MB/plain", "h2"), ("2MB/plain", "h3"), ("4MB/plain", "h2")]


_NO_ANSWER = "failed", "\x1b]0;no answer"


def _drawn(height: int, *, terminal: bool = True, width: int = 90, wrong: tuple[str, str] = _NO_ANSWER) -> str:
    """The view of a run whose first cell has been run, and whose others have not."""
    console = VisibleConsole(force_terminal=terminal, width=width, height=height, file=io.StringIO(), no_color=True)
    progress = LiveProgress(console, lambda: {"cpu": 12.4, "io": 0.0})
    tally = progress.tally = Tally(_ROWS)
    progress.medians = "ttlb", {("1MB/plain", "h2"): "812 ms"}
    for row in _BLOCKS[0]:
        tally.running(row)
        tally.ended(row, _attempt(row))
    tally.block_over(_BLOCKS[0], void=False)
    for block in _BLOCKS:
        tally.running(block[0])
    status, reason = wrong
    tally.ended(_BLOCKS[3][0], _attempt(_BLOCKS[3][0], status, reason))
    console.print(*progress.get_renderables())
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[\d;]*m", "", console.file.getvalue())


def test_the_view_says_what_runs_what_went_wrong_how_busy_it_is_and_each_median() -> None:
    """Control characters of a reason are shown, and steer no terminal."""
    lines = [" ".join(line.split()) for line in _drawn(40).splitlines() if line.strip()]
    assert lines[:4] == [
        "under way 1MB/plain h2 0, 2MB/plain h2 0, 3MB/plain h2 0",
        "waited for in 10 s cpu 12 %, io 0 %",
        "1 × failed ␛]0;no answer (4MB/plain h2 block 0)",
        "cell arm over redo median ttlb so far",
    ]
    assert lines[4:7] == ["1MB/plain h2 1/1 – 812 ms", "1MB/plain h3 1/1 – –", "2MB/plain h2 0/1 – –"]
    assert len(lines) == 12


def test_the_view_says_once_that_a_trial_was_disturbed() -> None:
    """Its label says so, as does its reason where that stands alone."""
    drawn = _drawn(40, wrong=("void", "disturbed: this machine added 4.1 ms (2.0 %): the client waited"))
    assert drawn.count("disturbed") == 1


def test_a_view_fits_into_its_terminal_and_is_none_elsewhere() -> None:
    small = _drawn(12).splitlines()
    assert len(small) <= 12
    assert small[-1].strip() == "5 lines more: `quiclab status` has all"
    narrow = _drawn(40, width=46).splitlines()
    assert any(line.split()[1] == "h3" for line in narrow if line.strip().startswith("1MB"))
    assert not _drawn(40, terminal=False).strip()


def test_a_bar_steers_its_terminal_beside_what_may_not(tmp_path: Path) -> None:
    """Two wrappers are around the stream then: that which shows control characters, and the bar's own."""
    with (tmp_path / "terminal").open("w+", encoding="utf-8") as stream:
        stdout = _Visible(stream)
        console = VisibleConsole(force_terminal=True, width=60)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", stdout)
            with Progress(console=console) as progress:
                progress.add_task("all", total=2)
                print("\x1b]0;title")
                progress.refresh()
        stream.seek(0)
        told = stream.read()
    assert "\x1b[2K" in told
    assert "␛[" not in told
    assert "\x1b]" not in told


@pytest.fixture
def study_dir(tmp_path: Path) -> StudyDir:
    made = StudyDir(tmp_path / "study")
    made.create()
    resolved = {"blocks": 3, "alpha": 0.05, "matters_pct": 2.0, "workloads": [{"name": "1MB", "kind": "object"}]}
    made.resolved.write_text(json.dumps(resolved))
    (made.tables / "metrics").mkdir(exist_ok=True)
    return made


def _measure(study_dir: StudyDir, row: PlanRow, value: float | None) -> None:
    found = [(row.trial_id, "ttlb_ms", value, "ms", "lower", None), (row.trial_id, "ttfb_ms", 1.0, "ms", "lower", None)]
    table = pl.DataFrame(found, schema=OF_STUDY["metrics"].schema(), orient="row")
    table.write_parquet(study_dir.tables / "metrics" / f"{row.trial_id}.parquet")


def test_medians_are_of_blocks_that_count_and_a_failure_is_the_worst(study_dir: StudyDir) -> None:
    """What has been seen when the next trial begins is kept as a look; a block that is void has none, nor has the
    control of equal arms."""
    medians = Medians(study_dir)
    assert medians.heading == "ttlb"
    for number, (h2, h3) in enumerate([(100.0, 90.0), (200.0, None), (300.0, None)]):
        block = [_row("1MB/plain", "h2", number), _row("1MB/plain", "h3", number)]
        for row, value in zip(block, (h2, h3), strict=True):
            _measure(study_dir, row, value)
        medians.block_over(block, void=False)
        if number:
            medians.running(block[0])
    void = [_row("1MB/plain", "h2", 9), _row("2MB/plain", "h2", 0)]
    for row in void:
        _measure(study_dir, row, 1.0)
        medians.block_over([row], void=True)
    assert medians.shown == {("1MB/plain", "h2"): "200 ms", ("1MB/plain", "h3"): "failed"}
    medians.block_over([_row("1MB/plain/aa-h2", "h2#1", 0, "aa")], void=False)
    medians.over()
    looks = read_looks(study_dir.root)
    assert [look.blocks for look in looks] == [{"1MB/plain": 2}, {"1MB/plain": 3}]
    assert (looks[0].planned, looks[0].metrics, looks[0].alpha) == (3, ("ttlb_ms",), 0.05)


def test_each_event_is_a_line_of_the_form_of_the_reference(tmp_path: Path) -> None:
    """All kinds, in the order in which they happened; what was in the file stays."""
    file = tmp_path / "events.jsonl"
    file.write_text("{}\n")
    row = _BLOCKS[0][0]
    with event_file(str(file), as_json=True) as descriptor:
        assert descriptor is not None
        events = Events(descriptor, tmp_path)
        events.began(Beginning(study_of(tmp_path), "tun", "", {"h3": "no"}, _ROWS))
        events.at_once(2)
        events.running(row)
        events.ended(row, _attempt(row, "void", "late"))
        events.set_aside(row.trial_id, tmp_path)
        events.again([_BLOCKS[0]])
        events.run_anew(_BLOCKS[0], "its worker is gone")
        events.block_over(_BLOCKS[0], void=False)
        events.stopping()
        events.over()
        events.write(Finished(0, trial_counts(["verified", None])))
    first, *lines = map(json.loads, file.read_text().splitlines())
    assert first == {}
    assert {line["event"] for line in lines} == set(EVENTS)
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]{12}\+00:00", line.pop("when_utc"))
        assert fits(EVENTS[line.pop("event")], line)
    assert lines[3]["status"] == "void"
    assert lines[7] == {"cell_id": "1MB/plain", "block": 0, "void": False}


def test_events_go_where_they_can_or_say_why_not(tmp_path: Path) -> None:
    with event_file(None, as_json=True) as none:
        assert none is None
    with pytest.raises(HostError, match=r"cannot write events to .+/nowhere/e: No such file"):
        event_file(str(tmp_path / "nowhere" / "e"), as_json=False).__enter__()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HostError, match="nobody reads it"):
        event_file(str(tmp_path / "pipe"), as_json=False).__enter__()
    with pytest.raises(SpecError, match="both want standard output"):
        event_file("-", as_json=True).__enter__()
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(HostError, match="cannot write events: Broken pipe"):
        Events(write, tmp_path).over()
    os.close(write)
