# SPDX-License-Identifier: Apache-2.0
"""Videos as specs say them."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of

from quiclab.model.study import Workload
from quiclab.model.units import Bitrate, ByteCount, Duration

SIZE = 'size = "100 KB"'


def _lines(video: str) -> str:
    return f'kind = "video"\nvideo = {{ {video} }}'


def _workload(folder: pathlib.Path, video: str) -> Workload:
    return study_of(folder, changed((SIZE, _lines(video + ', watch = "50 s"')))).workloads[0]


def test_one_file(tmp_path: pathlib.Path) -> None:
    """Its name, its type and about its size."""
    workload = _workload(tmp_path, 'qualities = ["1080p"], length = "80 s"')
    assert workload.object_names == ("100KB/video.mp4",)
    assert (workload.total, workload.content_type) == (ByteCount(60_000_000), "video/mp4")
    assert workload.video is not None
    assert workload.video.watch == Duration(50 * 10**9)
    assert str(workload.video) == "video of 80 s, 1080p at 6 Mbit/s, progressive, 50 s watched"


def test_a_trial_that_would_be_over_too_early(tmp_path: pathlib.Path) -> None:
    """By default a trial may take as long as a video is watched, which is too short."""
    told = only_problem(tmp_path, changed((SIZE, _lines('qualities = ["360p"]'))))
    assert "workload[100KB].video: limits.trial stops the trial after 60 s" in told


def test_adaptive(tmp_path: pathlib.Path) -> None:
    """Several qualities with rates of their own."""
    text = 'qualities = ["360p", "720p"], bitrates = ["500 kbit/s", "3 Mbit/s"], delivery = "dash"'
    workload = _workload(tmp_path, text)
    assert workload.object_names == ("100KB/manifest.mpd",)
    assert workload.video is not None
    assert workload.video.bit_rates == (Bitrate(500_000), Bitrate(3_000_000))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('kind = "video"', ["workload[100KB]", '"video" is missing']),
        (f"{SIZE}\n" + 'video = { qualities = ["360p"] }', ["workload[100KB].video", 'kind = "video"']),
        (_lines("length = '1 s'"), ['"qualities" is missing']),
        (_lines('qualities = ["361p"]'), ["361p", "360p"]),
        (_lines('qualities = ["360p"], watch = "9 s"') + f"\n{SIZE}", ["workload[100KB].size", "no such key"]),
        (_lines('qualities = ["360p", "720p"]'), ["one file has one quality"]),
        (_lines('qualities = ["360p", "360p"], delivery = "dash"'), ["twice"]),
        (_lines('qualities = ["360p"], bitrates = ["1 Mbit/s", "2 Mbit/s"]'), ["there are 2 for 1 qualities"]),
        (_lines('qualities = ["360p"], delivery = "dash", decode = false'), ["needs its decoder"]),
        (_lines('qualities = ["360p"], delivery = "dash", segment = "3 s"'), ["segment", "a multiple"]),
        (_lines('qualities = ["360p"], loop = "5 s"'), ["loop", "a multiple"]),
    ],
)
def test_wrong(tmp_path: pathlib.Path, lines: str, words: list[str]) -> None:
    """One sentence that says what to do."""
    told = only_problem(tmp_path, changed((SIZE, lines)))
    assert all(word in told for word in words), told
