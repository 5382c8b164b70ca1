# SPDX-License-Identifier: Apache-2.0
"""Jitter that would make delays negative is told, with the delay that packets get."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, study_of

from quiclab.plan.cut_jitter import jitter_warnings

OWN = 'name = "plain"\nrate = "10 Mbit/s"\ndelay = "10 ms"\n'


def _told(folder: pathlib.Path, lines: str) -> list[str]:
    return jitter_warnings(study_of(folder, changed((OWN, f'name = "plain"\nrate = "10 Mbit/s"\n{lines}\n'))).paths[0])


@pytest.mark.parametrize(
    ("delay", "jitter", "expected"),
    [
        ("2 ms", '{distribution = "normal", scale = "5 ms"}', ["34%", "3.15 ms", "3.57 ms"]),
        ("5 ms", '{distribution = "uniform", scale = "10 ms"}', ["25%", "5.62 ms"]),
        ("12 ms", '{distribution = "normal", scale = "5 ms"}', None),
        ("5 ms", '{distribution = "uniform", scale = "5 ms"}', None),
        ("4 ms", '{distribution = "pareto", scale = "5 ms"}', None),
    ],
)
def test_a_cut_is_told_with_what_packets_get(
    tmp_path: pathlib.Path, delay: str, jitter: str, expected: list[str] | None
) -> None:
    """Once for both ways; not where all but a few delays are possible."""
    told = _told(tmp_path, f'delay = "{delay}"\njitter = {jitter}')
    assert len(told) == (expected is not None)
    assert all(part in told[0] for part in expected or ())


def test_one_way_and_a_change_count_by_themselves(tmp_path: pathlib.Path) -> None:
    """A change that shortens the delay cuts what was whole before."""
    schedule = 'schedule = [{at = "1 s", delay = "2 ms"}]'
    told = _told(
        tmp_path, f'delay = "20 ms"\n[path.down]\njitter = {{scale = "5 ms", distribution = "normal"}}\n{schedule}'
    )
    assert len(told) == 1
    assert "down" in told[0]
    assert " up" not in told[0]


def test_jitter_that_ended_is_not_told(tmp_path: pathlib.Path) -> None:
    """A delay that becomes short behind it cuts nothing."""
    schedule = 'schedule = [{at = "1 s", jitter = "none"}, {at = "2 s", delay = "2 ms"}]'
    assert _told(tmp_path, f'delay = "20 ms"\njitter = {{scale = "5 ms", distribution = "normal"}}\n{schedule}') == []
