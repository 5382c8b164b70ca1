# SPDX-License-Identifier: Apache-2.0
"""Paths over which nothing arrives."""

from __future__ import annotations

import pathlib

import pytest
from specs import study_of, with_path

from quiclab.plan.lost_packets import loss_warnings

_FOREVER = "loses every packet {} (loss or corrupt = 100 %): every trial will fail at limits.trial"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('loss = "99 %"', []),
        ('loss = "100 %"', [_FOREVER.format("up"), _FOREVER.format("down")]),
        ('[path.down]\nloss = "100 %"', [_FOREVER.format("down")]),
        ('[path.up]\ncorrupt = "100 %"', [_FOREVER.format("up")]),
        (
            '[path.up]\nloss = {model = "bursts", mean_good = "1 s", mean_bad = "1 s", loss_good = "100 %"}',
            [_FOREVER.format("up")],
        ),
        ('[path.up]\nloss = {model = "gilbert-elliott", good_to_bad = "1 %", bad_to_good = "10 %"}', []),
        ('[path.up]\nloss = "100 %"\nschedule = [{at = "2 s", loss = "0 %"}]', []),
        (
            '[path.up]\nschedule = [{at = "2 s", loss = "100 %"}, {at = "3 s", rate = "1 Mbit/s"}]',
            ["loses every packet up from 2 s on (loss or corrupt = 100 %): trials that are not over by then will fail"],
        ),
        ('[path.up]\nschedule = [{at = "2 s", loss = "100 %"}, {at = "3 s", loss = "0 %"}]', []),
    ],
)
def test_only_what_never_ends_is_told(tmp_path: pathlib.Path, lines: str, told: list[str]) -> None:
    """An outage that ends is what a schedule is for."""
    (path,) = study_of(tmp_path, with_path(lines)).paths
    found = loss_warnings(path)
    assert [each[: len(want)] for each, want in zip(found, [f"Path plain {want}" for want in told], strict=True)] == [
        f"Path plain {want}" for want in told
    ]


def test_of_several_links_the_one_is_named(tmp_path: pathlib.Path) -> None:
    """It is there that the key stands."""
    near, far = '[[path.link]]\nname = "near"\n', '[[path.link]]\nname = "far"\nrate = "10 Mbit/s"\n'
    lines = near + far + '[path.link.down]\nloss = "100 %"'
    text = with_path(lines).replace('rate = "10 Mbit/s"\ndelay = "10 ms"\n', "", 1)
    (told,) = loss_warnings(study_of(tmp_path, text).paths[0])
    assert told.startswith("Path plain, link far, loses every packet down ")
