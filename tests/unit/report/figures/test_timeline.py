# SPDX-License-Identifier: Apache-2.0
"""The critical path as bands: short spells share a column, long ones stand alone, and no time is lost."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from synthetic_logs import write_account
from synthetic_study import Shape, write_study
from unit.why.account.test_reason_runs import account

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.report.figures import Asked
from quiclab.report.figures._reason_style import reason_style
from quiclab.report.figures._style import contrast
from quiclab.report.figures.timeline import Timeline, heaps
from quiclab.why.account import Why

BUSY, WINDOW = "link_busy", "window"


def test_a_long_spell_stands_alone_and_short_ones_share_a_column_by_their_lengths() -> None:
    """Ten alternating spells of 1 and 3 ms, then one of 50: whatever is not seen alone is seen as a share."""
    ends = [1.0, 4.0, 5.0, 8.0, 9.0, 12.0, 13.0, 16.0, 17.0, 20.0, 70.0]
    found = heaps([0.0, *ends[:-1]], ends, [BUSY, WINDOW] * 5 + [BUSY], 10.0)
    assert [(heap.first, heap.last, heap.from_x, heap.until_x) for heap in found] == [
        (0, 5, 0.0, 12.0), (6, 9, 12.0, 20.0), (10, 10, 20.0, 70.0),
    ]  # fmt: skip
    assert found[0].parts == {BUSY: (0.0, 0.25), WINDOW: (0.25, 0.75)}
    assert found[2].parts == {BUSY: (0.0, 1.0)}
    assert [after.from_x - before.until_x for before, after in pairwise(found)] == [0.0, 0.0]


@pytest.mark.parametrize("least", [0.5, 3.0, 11.0, 1000.0])
def test_heaps_keep_the_time_of_each_reason(least: float) -> None:
    """However coarse: the area of a reason is its time."""
    ends = [float(each) for each in (1, 2, 5, 6, 7, 20, 22, 23, 24, 60)]
    whys = [BUSY, WINDOW, "request", BUSY, WINDOW] * 2
    found = heaps([0.0, *ends[:-1]], ends, whys, least)
    for why in set(whys):
        exact = sum(end - begin for begin, end, each in zip([0.0, *ends[:-1]], ends, whys, strict=True) if each == why)
        assert math.isclose(sum(heap.parts[why][1] * heap.length for heap in found if why in heap.parts), exact)


def test_known_reasons_look_different() -> None:
    """To a reader who sees no colours, too: two of one pattern differ in lightness. Each has words of its own."""
    looks = {why: reason_style(str(why)) for why in Why}
    assert len({*looks.values(), reason_style("?")}) == len(looks) + 1
    alike = [
        (one, other)
        for one, other in itertools.combinations(looks, 2)
        if (looks[one].pattern, looks[one].spacing) == (looks[other].pattern, looks[other].spacing)
        and contrast(looks[one].colour, looks[other].colour) < 1.25
    ]
    assert alike == []


def test_each_trial_is_a_band_and_its_marks_name_its_spells(tmp_path: Path) -> None:
    """Bars of both arms on one axis of time; what a click opens is the place of a spell."""
    study = write_study(tmp_path, Shape(("1 MB",), ("clean",), blocks=2, aa_blocks=0))
    for number, trial in enumerate(sorted((study / "trials").iterdir())):
        write_account(study, trial.name, 40 + number)
    asked = Asked(open_study(study), analyse_study(study), cell="1 MB/clean", block=0)
    data = Timeline().gather(asked)
    assert data.select("arm", "why").rows()[:5] == [
        ("h2", why) for why in ("quic_handshake", "request", "slow_start", "link_busy", "last_flight")
    ]
    assert data.filter(arm="h2")["from_ms"].to_list()[:3] == [0.0, 20.0, 30.0]
    figure = Timeline().draw(data)
    bars = [trace for trace in figure.data if trace.get("meta")]
    assert {trace.meta.band for trace in bars} == {0, 1}
    slow = next(trace for trace in bars if trace.meta.why == "slow_start" and trace.meta.band == 0)
    assert slow.customdata == [[2, 2]]
    assert slow.y == [1.0]
    assert figure.layout.xaxis.range == figure.layout.xaxis2.get("range", figure.layout.xaxis.range)


def test_an_event_that_tightened_a_window_is_a_mark(tmp_path: Path) -> None:
    """At its own instant, which can lie long before the wait."""
    study = write_study(tmp_path, Shape(("1 MB",), ("clean",), blocks=1, aa_blocks=0))
    for trial in (study / "trials").iterdir():
        write_account(study, trial.name, 1)
        file = study / "tables/account" / f"{trial.name}.parquet"
        edges = account((BUSY, "payload", 9), (WINDOW, "propagation_up", 20), event_ns=[None, 1_004_000_000],
                        event_packet=[None, 3])  # fmt: skip
        edges.write_parquet(file)
    data = Timeline().gather(Asked(open_study(study), analyse_study(study), cell="1 MB/clean", block=0))
    marks = [trace for trace in Timeline().draw(data).data if trace.get("meta", {}).get("event")]
    assert [trace.x for trace in marks] == [[4.0], [4.0]]
    assert marks[0].hovertext == ["the window was tightened at 4.00 ms: loss of packet 3"]
    assert data.filter(pl.col("why") == WINDOW)["event_packet"].to_list() == [3, 3]
