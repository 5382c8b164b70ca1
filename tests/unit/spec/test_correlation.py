# SPDX-License-Identifier: Apache-2.0
"""Correlated losses, marks in the place of losses, PIE and DualPI2: the spec, and what the emulator gets."""

from __future__ import annotations

import pathlib

import pytest
from specs import only_problem, study_of, with_path

from quiclab.model.study import Bernoulli
from quiclab.model.units import Share
from quiclab.spec.ecn import marking
from quiclab.spec.link import link_config


def test_correlations_and_marks_reach_the_emulator(tmp_path: pathlib.Path) -> None:
    """A loss without a correlation has the form that it had; TCP negotiates ECN where losses mark."""
    lines = """loss = "1 %"
[path.up]
loss = {model = "bernoulli", probability = "1 %", correlation = "25 %"}
loss_as = "ecn mark"
duplicate = "2 %"
duplicate_correlation = "10 %"
corrupt = "3 %"
corrupt_correlation = "20 %"
"""
    path = study_of(tmp_path, with_path(lines)).paths[0]
    assert path.up.loss == Bernoulli(Share(0.01), Share(0.25))
    assert str(path.up.loss) == "1 %, correlation 25 %"
    up, down = (link_config(path, 1)[side] for side in ("up", "down"))
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    assert down["loss"] == {"model": "bernoulli", "probability": 0.01}
    assert "loss_as" not in down
    assert up["loss"] == {"model": "bernoulli", "probability": 0.01, "correlation": 0.25}
    assert (up["loss_as"], up["duplicate_correlation"], up["corrupt_correlation"]) == ("ecn_mark", 0.1, 0.2)
    assert (marking(path.up), marking(path.down)) == (frozenset({"ect"}), frozenset())


def test_pie_reaches_the_emulator(tmp_path: pathlib.Path) -> None:
    """RFC 8033's own values stand where nothing is asked for; TCP negotiates ECN where it marks."""
    path = study_of(
        tmp_path, with_path('aqm = "pie"\n[path.up]\naqm = {model = "pie", target = "5 ms", ecn = true}')
    ).paths[0]
    up, down = (link_config(path, 1)[side] for side in ("up", "down"))
    assert isinstance(up, dict)
    assert isinstance(down, dict)
    usual = {"model": "pie", "target_ns": 15_000_000, "update_ns": 15_000_000, "burst_ns": 150_000_000, "ecn": False}
    assert down["aqm"] == usual
    assert up["aqm"] == usual | {"target_ns": 5_000_000, "ecn": True}
    assert (marking(path.up), marking(path.down)) == (frozenset({"ect"}), frozenset())
    assert str(path.up.aqm) == "queue under PIE, target 5 ms, marks"


def test_dualpi2_reaches_the_emulator(tmp_path: pathlib.Path) -> None:
    """Both kinds of senders may be marked."""
    path = study_of(tmp_path, with_path('aqm = {model = "dualpi2", threshold = "2 ms"}')).paths[0]
    config = link_config(path, 1)["up"]
    assert isinstance(config, dict)
    wanted = {"model": "dualpi2", "target_ns": 15_000_000, "update_ns": 16_000_000, "threshold_ns": 2_000_000}
    assert config["aqm"] == wanted
    assert marking(path.up) == frozenset({"ect"})


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('loss = {model = "bernoulli", probability = "1 %", correlation = "100 %"}', "a correlation is below 100 %"),
        ('duplicate = "1 %"\nduplicate_correlation = "100 %"', "a share above 0 % and below 100 %"),
        ('aqm = {model = "pie", update = "10 us"}', "an update every 10 us is too often"),
        ('schedule = [{at = "1 s", aqm = "dualpi2"}]', 'the two queues of "dualpi2" cannot come or go'),
        ('loss_as = "ecn mark"', "no loss is drawn by chance"),
        ('loss = "1 %"\nloss_as = "mark"', "is not known here"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what to write."""
    assert words in only_problem(tmp_path, with_path(lines))
