# SPDX-License-Identifier: Apache-2.0
"""The files of videos: how they are made, and that ffmpeg makes them as asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.lab.runner import films
from quiclab.lab.workloads import Film, build_site
from quiclab.lab.workloads.video import film
from quiclab.model.errors import HostError
from quiclab.model.study import Video, Workload
from quiclab.model.units import Bitrate, Duration

SECOND = 10**9
SHORT = Video(("234p",), (Bitrate(400_000),), length=Duration(8 * SECOND), loop=Duration(8 * SECOND))


@pytest.fixture
def ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is here, and its files go where nobody else looks."""
    if films.find_ffmpeg() is None:
        pytest.skip("there is no ffmpeg: make stacks")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_site() -> None:
    """No content in memory, but how it is made; the same for the same seed."""
    workload = Workload("v", kind="video", video=SHORT)
    site = build_site(workload, 1)
    assert (site.files, site.requests) == ({}, ("v/video.mp4",))
    assert site.film is not None
    assert site.film.key == film(SHORT, 1).key != film(SHORT, 2).key


def test_made_once_with_the_bitrate(ffmpeg: None) -> None:
    """Within a tenth of what was asked: the buffer may run empty in every loop. The index comes first."""
    made = films.make(film(SHORT, 1))
    assert [file.name for file in made.iterdir()] == ["video.mp4"]
    content = (made / "video.mp4").read_bytes()
    assert len(content) * 8 == pytest.approx(400_000 * 8, rel=0.1)
    assert content.index(b"moov") < content.index(b"mdat")
    before = (made / "video.mp4").stat().st_mtime_ns
    assert films.make(film(SHORT, 1)) == made
    assert (made / "video.mp4").stat().st_mtime_ns == before


def test_segments(ffmpeg: None) -> None:
    """A manifest, and for each quality its beginning and a file every four seconds."""
    video = Video(("234p", "360p"), length=Duration(8 * SECOND), loop=Duration(4 * SECOND), delivery="dash")
    made = films.make(film(video, 1))
    names = sorted(file.name for file in made.iterdir())
    segments = [f"{quality}-0000{number}.m4s" for quality in (0, 1) for number in (1, 2)]
    assert names == sorted([*segments, "init-0.mp4", "init-1.mp4", "manifest.mpd"])
    manifest = (made / "manifest.mpd").read_text()
    assert 'height="234"' in manifest
    assert 'height="360"' in manifest
    assert "BaseURL" not in manifest
    assert "UTCTiming" not in manifest


def test_what_ffmpeg_refuses(ffmpeg: None, tmp_path: Path) -> None:
    """Its own words, and nothing is kept."""
    with pytest.raises(HostError, match="ffmpeg failed: "):
        films.make(Film((("-nostdin", "-i", "nothing.mp4", "out.mp4"),), ()))
    assert list(films.cache_folder().iterdir()) == []


def test_no_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DASH takes its script, one file does not."""
    monkeypatch.setenv("QUICLAB_STACKS", str(tmp_path))
    films.check_players([Workload("v", kind="video", video=SHORT)])
    with pytest.raises(HostError, match=r"there is no dash\.js"):
        films.check_players([Workload("v", kind="video", video=Video(("234p",), delivery="dash"))])


def test_no_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    """What to do."""
    monkeypatch.setattr(films, "find_ffmpeg", lambda: None)
    with pytest.raises(HostError, match="there is no ffmpeg"):
        films.make(film(SHORT, 1))
