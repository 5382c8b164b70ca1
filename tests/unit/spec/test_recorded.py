# SPDX-License-Identifier: Apache-2.0
"""Recorded delays and losses: how files are read, and what the emulator gets."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.study import LossTrace
from quiclab.model.units import Duration
from quiclab.spec.link import link_config
from quiclab.spec.outage import mean_loss
from quiclab.spec.recorded import delays
from quiclab.study.specs import traces_of


def _files(folder: pathlib.Path) -> None:
    (folder / "delay.txt").write_text("# ms\n0 25\n10000 40.5\n12000 20\n")
    (folder / "loss.txt").write_text("0 0\n1000 50\n4000 0\n")
    (folder / "packets.txt").write_text("0\n1\n0\n0\n")


def test_recordings_reach_the_emulator(tmp_path: pathlib.Path) -> None:
    """The study keeps copies of them, and the base delay is the least that was recorded."""
    _files(tmp_path)
    lines = """loss = {model = "trace", trace = "packets.txt", by = "packet"}
[path.up]
delay_trace = "delay.txt"
loss = {model = "trace", trace = "loss.txt"}
repeat = "15 s"
"""
    study = study_of(tmp_path, with_path(lines))
    path = study.paths[0]
    assert (path.up.delay, path.down.delay) == (Duration(20 * 10**6), Duration(10 * 10**6))
    up, down = (link_config(path, 1)[side] for side in ("up", "down"))
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    assert (up["delay_ns"], up["delay_trace"]) == (20 * 10**6, str(tmp_path / "delay.txt"))
    assert up["loss"] == {"model": "trace", "path": str(tmp_path / "loss.txt"), "by": "time"}
    assert down["loss"] == {"model": "trace", "path": str(tmp_path / "packets.txt"), "by": "packet"}
    assert "delay_trace" not in down
    assert {each.name for each in traces_of(study)} == {"delay.txt", "loss.txt", "packets.txt"}


def test_the_mean_of_a_recording_is_over_its_time_or_its_packets(tmp_path: pathlib.Path) -> None:
    """Plans estimate with the mean loss of a recording."""
    _files(tmp_path)
    assert mean_loss(LossTrace(str(tmp_path / "loss.txt"))) == pytest.approx(0.5 * 3 / 4)
    assert mean_loss(LossTrace(str(tmp_path / "packets.txt"), "packet")) == 0.25
    found = delays(tmp_path / "delay.txt")
    assert (found.least, found.last) == (20 * 10**6, Duration(12 * 10**9))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('[path.up]\ndelay = "1 ms"\ndelay_trace = "delay.txt"', '"delay_trace" replaces "delay"'),
        (
            '[path.up]\ndelay_trace = "delay.txt"\nschedule = [{at = "1 s", delay = "1 ms"}]',
            '"delay" cannot change where',
        ),
        (
            '[path.up]\ndelay_trace = "delay.txt"\nrepeat = "12 s"',
            "the last line of the delay trace, 12 s, is not before",
        ),
        ('loss = {model = "trace", trace = "nowhere.txt"}', "there is no file"),
        ('loss = {model = "trace", trace = "loss.txt", by = "packet"}', "line 1 is neither 0 nor 1"),
        ('loss = {model = "trace", by = "time"}', '"trace" is missing'),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what to write."""
    _files(tmp_path)
    assert words in only_problem(tmp_path, with_path(lines))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "it has no line"),
        (b"1 5\n", "the instant in line 1 is not 0"),
        (b"0 5\n0 6\n", "the instant in line 2 is not after the one above"),
        (b"0 5\n1\n", "is not an instant in milliseconds and a delay"),
        (b"0 -5\n", "is not an instant"),
        (b"0 1e3\n", "is not an instant"),
        (b"0 60001\n", "is not an instant"),
        (b"0 1\n86400000 1\n", "is not an instant"),
        (b"0 \x1b[31m\n", "x1b[31m"),
        (b"0 5 \xff\n", "cannot be read as a recording"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: pathlib.Path, text: bytes, words: str) -> None:
    """The problem names the line and shows no control characters."""
    file = tmp_path / "delay.txt"
    file.write_bytes(text)
    with pytest.raises(ValueError, match="recording of delays") as caught:
        delays(file)
    assert words in str(caught.value)
    assert str(caught.value).isprintable()
