# SPDX-License-Identifier: Apache-2.0
"""Sentences about a search for settings: verdict first, and never more than fresh blocks show."""

from __future__ import annotations

from dataclasses import replace

from quiclab.cli.tune_text import result_lines
from quiclab.study.tune.result import (
    JudgedDifference,
    NeighbourResult,
    ProgramLines,
    RacedSetting,
    RaceRound,
    SideEffect,
    TuningResult,
)

_FASTER = JudgedDifference("faster", -41.0, -44.2, -38.1, 0.95, 9, 898.0, 518.0)
_RESULT = TuningResult(
    study="s",
    cell="300KB/far",
    arm="h3",
    metric="ttlb_ms",
    unit="ms",
    candidates=("server.initial_window = 32", "server.gso = true"),
    left_out=(),
    rounds=(RaceRound("/s/tune/a-1/heat-1-round-1", 1, (RacedSetting("server.initial_window = 32", -50.0, 3),)),),
    setting="server.initial_window = 32",
    fresh_directory="/s/tune/a-1/fresh",
    found=_FASTER,
    neighbours=(
        NeighbourResult("twice the RTT", replace(_FASTER, pairs=7)),
        NeighbourResult("no loss", replace(_FASTER, verdict="slower", difference_pct=12.0, low_pct=3.0, high_pct=20.0)),
    ),
    side_effects=(SideEffect("wire_bytes_down", "IP bytes sent going down", "bytes", 350_000.0, 360_000.0, 2.9),),
    arm_table='[[arm]]\nname = "h3"\n',
    program_lines=(
        ProgramLines("nginx (server)", ("http3_stream_buffer_size 1048576;",), is_ours=False),
        ProgramLines("quinn (client)", ('"initial_window": 32',), is_ours=True),
    ),
)


def _text(result: TuningResult) -> str:
    return "\n".join(result_lines(result))


def test_the_verdict_is_of_the_fresh_blocks() -> None:
    """The gain stands first, with its interval, its pairs and the number of settings; that of the race is not told."""
    text = _text(_RESULT)
    assert "h3 in 300KB/far is 41.0 % faster with server.initial_window = 32 (−41.0 %, −44.2 … −38.1 % at 95 %" in text
    assert "9 fresh pairs; median 898 ms → 518 ms; chosen from 2 settings" in text
    assert "50.0" not in text


def test_neighbouring_networks_and_what_else_changes() -> None:
    """A network over which the setting is slower is told as such, and a metric with both medians."""
    text = _text(_RESULT)
    assert "twice the RTT  faster (−41.0 %" in text
    assert "no loss        slower (+12.0 %, +3.0 … +20.0 %" in text
    assert "IP bytes sent going down  350\u2009000 B → 360\u2009000 B (+2.9 %)" in text


def test_lines_to_paste() -> None:
    """A program has its directive; one of quiclab's own has none, which is said in place of its file."""
    text = _text(_RESULT)
    assert "  [[arm]]\n" in text
    assert "nginx (server):\n  http3_stream_buffer_size 1048576;" in text
    assert "quinn (client): a knob of quiclab's own program" in text
    assert '"initial_window": 32' not in text


def test_nothing_faster_is_an_answer() -> None:
    """The sentence has the number of settings, also where the race had no faster one."""
    not_shown = replace(_FASTER, verdict="not shown", difference_pct=-1.0, low_pct=-4.0, high_pct=2.0)
    text = _text(replace(_RESULT, found=not_shown))
    assert "is not shown to be faster with server.initial_window = 32" in text
    assert "No setting of these 2 was shown to be faster." in text
    assert "To paste" not in text
    nothing = replace(_RESULT, setting=None, found=None, fresh_directory=None)
    assert _text(nothing) == "No setting of these 2 was shown to be faster: none was in the race."


def test_settings_that_did_not_race_are_named() -> None:
    """A reader sees them where nothing was faster, and after a setting that was."""
    some = replace(_RESULT, left_out=("server.initial_window = 64", "server.pacing = true"))
    told = "2 more settings did not race:\n  server.initial_window = 64  server.pacing = true"
    assert told in _text(some)
    assert told in _text(replace(some, setting=None, found=None, fresh_directory=None))
    assert "did not race" not in _text(_RESULT)


def test_a_search_that_was_ended_says_the_best_so_far() -> None:
    """The setting is named, and that nothing has tested it."""
    text = _text(replace(_RESULT, found=None, fresh_directory=None))
    assert text == "Best so far: server.initial_window = 32. It is not tested: no fresh blocks have judged it."


def test_a_disturbed_machine_judges_nothing() -> None:
    """Trials that the laboratory disturbed show no difference, and none is told."""
    text = _text(replace(_RESULT, found=replace(_FASTER, verdict="not judged")))
    assert "is not judged: the machine disturbed the trials" in text
    assert "faster" not in text
