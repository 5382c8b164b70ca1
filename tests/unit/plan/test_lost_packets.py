# SPDX-License-Identifier: Apache-2.0
"""Paths over which nothing arrives from some instant on."""

from __future__ import annotations

import pathlib

import pytest
from specs import study_of, with_path

from quiclab.plan.lost_packets import loss_warnings

_LATER = '[path.{}]\nschedule = [{{at = "2 s", loss = "100 %"}}, {{at = "3 s", rate = "1 Mbit/s"}}]'


@pytest.mark.parametrize("side", ["up", "down"])
def test_an_outage_that_never_ends_is_told(tmp_path: pathlib.Path, side: str) -> None:
    (path,) = study_of(tmp_path, with_path(_LATER.format(side))).paths
    (told,) = loss_warnings(path)
    assert told.startswith(f"Path plain loses every packet {side} from 2 s on (loss or corrupt = 100 %): trials that")


@pytest.mark.parametrize(
    "lines", ['loss = "99 %"', 'schedule = [{at = "2 s", loss = "100 %"}, {at = "3 s", loss = "0 %"}]']
)
def test_an_outage_that_ends_is_not(tmp_path: pathlib.Path, lines: str) -> None:
    """Heavy loss, or an outage with an end, lets a transfer through."""
    (path,) = study_of(tmp_path, with_path(lines)).paths
    assert loss_warnings(path) == []


def test_of_several_links_the_one_is_named(tmp_path: pathlib.Path) -> None:
    """It is there that the key stands."""
    near, far = '[[path.link]]\nname = "near"\n', '[[path.link]]\nname = "far"\nrate = "10 Mbit/s"\n'
    lines = near + far + '[path.link.down]\nschedule = [{at = "2 s", loss = "100 %"}]'
    text = with_path(lines).replace('rate = "10 Mbit/s"\ndelay = "10 ms"\n', "", 1)
    (told,) = loss_warnings(study_of(tmp_path, text).paths[0])
    assert told.startswith("Path plain, link far, loses every packet down ")
