# SPDX-License-Identifier: Apache-2.0
"""A path by which nothing can ever be transferred is a mistake of the spec; an outage that ends is none."""

from __future__ import annotations

import pathlib

import pytest
from specs import problems_of, study_of, with_path

from quiclab.model.study import Bernoulli, Bursts, DropList, GilbertElliott, Loss
from quiclab.model.units import Duration, Share
from quiclab.spec.outage import endless_outage, mean_loss


@pytest.mark.parametrize(
    ("loss", "share"),
    [
        (None, 0.0),
        (DropList((1, 2)), 0.0),
        (Bernoulli(Share(0.02)), 0.02),
        (GilbertElliott(Share(0.01), Share(0.19)), 0.05),
        (GilbertElliott(Share(0.0), Share(0.0)), 0.0),
        (Bursts(Duration(980_000_000), Duration(20_000_000)), 0.02),
        (Bursts(Duration(10**9), Duration(10**9), Share(0.1), Share(0.5)), 0.3),
    ],
)
def test_the_mean_of_a_loss_model(loss: Loss | None, share: float) -> None:
    """Time in the bad state times its loss, plus the rest."""
    assert mean_loss(loss) == pytest.approx(share)


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        ('loss = "100 %"', "path[plain].loss"),
        ('[path.down]\nloss = "100 %"', "path[plain].down.loss"),
        ('[path.up]\ncorrupt = "100 %"', "path[plain].up.corrupt"),
        ('loss = "100 %"\n[path.up]\nloss = "1 %"', "path[plain].loss"),
        (
            '[path.up]\nloss = {model = "bursts", mean_good = "1 s", mean_bad = "1 s", loss_good = "100 %"}',
            "path[plain].up.loss",
        ),
        ('schedule = [{at = "0 s", loss = "100 %"}, {at = "3 s", rate = "1 Mbit/s"}]', "path[plain].schedule"),
        ('[path.up]\nloss = "100 %"\nschedule = [{at = "2 s", rate = "1 Mbit/s"}]', "path[plain].up.loss"),
    ],
)
def test_nothing_that_ever_arrives_is_refused(tmp_path: pathlib.Path, lines: str, key: str) -> None:
    """One problem, at the key that loses all, with what to write in its place."""
    (problem,) = problems_of(tmp_path, with_path(lines))
    assert f": {key}: every packet is lost from the beginning to the end" in problem
    ends = 'or in a spec an outage that ends: schedule = [{at = "2 s", loss = "100 %"}'
    assert f"write less than 100 %, {ends}" in problem


@pytest.mark.parametrize(
    ("lines", "from_ns"),
    [
        ('loss = "99 %"', None),
        ('[path.up]\nloss = {model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "10 %"}', None),
        ('[path.up]\nloss = "100 %"\nschedule = [{at = "2 s", loss = "0 %"}]', None),
        ('[path.up]\nschedule = [{at = "2 s", loss = "100 %"}, {at = "3 s", loss = "0 %"}]', None),
        ('[path.up]\nschedule = [{at = "2 s", loss = "100 %"}]', 2 * 10**9),
    ],
)
def test_what_lets_some_packets_pass_is_read(tmp_path: pathlib.Path, lines: str, from_ns: int | None) -> None:
    """A transfer may be over before an outage that begins later and never ends: that is read, and foretold."""
    (path,) = study_of(tmp_path, with_path(lines)).paths
    assert endless_outage(path.up) == (None if from_ns is None else Duration(from_ns))


def test_of_several_links_the_one_is_named(tmp_path: pathlib.Path) -> None:
    near, far = '[[path.link]]\nname = "near"\n', '[[path.link]]\nname = "far"\nrate = "10 Mbit/s"\n'
    lines = near + far + '[path.link.down]\nloss = "100 %"'
    text = with_path(lines).replace('rate = "10 Mbit/s"\ndelay = "10 ms"\n', "", 1)
    (problem,) = problems_of(tmp_path, text)
    assert "link[far].down.loss: every packet is lost" in problem
