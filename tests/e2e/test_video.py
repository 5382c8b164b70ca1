# SPDX-License-Identifier: Apache-2.0
"""Videos that Chromium plays over the emulated link: one that runs, one that cannot start, one that is not decoded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from account_facts import facts
from small_study import main_only, quiclab, trials
from stack_study import need

from quiclab.lab.endpoints.clients._player import DASH_JS
from quiclab.lab.runner.films import find_ffmpeg
from quiclab.project import stacks_folder

pytestmark = [pytest.mark.e2e, pytest.mark.netns, pytest.mark.alone]

_SPEC = """\
[study]
name = "videos"
seed = 1
blocks = 1
aa = { workload = "tiny", blocks = 1 }

# A loaded machine must not void what is tested here.
[limits]
disturbance = "100 %"
trial = "60 s"

[[workload]]
name = "tiny"
size = "1 KB"

[[workload]]
name = "plays"
kind = "video"
video = { qualities = ["360p"], length = "2 s", watch = "20 s", loop = "2 s" }

[[workload]]
name = "starves"
kind = "video"
video = { qualities = ["1080p"], bitrates = ["60 Mbit/s"], length = "2 s", watch = "1 s", loop = "2 s" }

[[workload]]
name = "undecoded"
kind = "video"
video = { decode = false, qualities = ["360p"], bitrates = ["4 Mbit/s"], length = "20 s", watch = "9 s", loop = "2 s"}

[[workload]]
name = "adapts"
kind = "video"
video = {delivery = "dash", qualities = ["234p", "360p"], length = "4 s", watch = "7 s", loop = "2 s", segment = "2 s"}

[[path]]
name = "slow"
rate = "2 Mbit/s"
delay = "5 ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "chromium"
server = "caddy"
tcp = { congestion_control = "cubic" }

[[arm]]
name = "h3"
protocol = "h3"
client = "chromium"
server = "nginx"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of it, run once; its files are made in a cache of its own."""
    need(("client", "chromium"), ("server", "nginx"))
    if find_ffmpeg() is None or not (stacks_folder() / "players" / DASH_JS).is_file():
        pytest.skip("there is no ffmpeg, or no dash.js: make stacks")
    folder = tmp_path_factory.mktemp("video")
    spec = folder / "spec.toml"
    spec.write_text(_SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        done = quiclab("run", main_only(spec), "--out", folder / "study", timeout=400)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return folder / "study"


def _trials(study: Path, workload: str) -> dict[str, dict[str, Any]]:
    return {each["row"]["arm"]: each for each in trials(study) if each["row"]["workload"] == workload}


def _metrics(study: Path, trial: dict[str, Any]) -> dict[str, float | None]:
    rows = pl.read_parquet(study / "metrics.parquet").filter(pl.col("trial_id") == trial["trial_id"])
    return dict(rows.select("name", "value").iter_rows())


def _account(study: Path, trial: dict[str, Any], of: str) -> pl.DataFrame:
    """The rows of an account, which leave no gap."""
    edges = pl.read_parquet(study / "tables" / "account" / f"{trial['trial_id']}.parquet").filter(of=of)
    assert edges["from_ns"][1:].to_list() == edges["until_ns"][:-1].to_list()
    return edges


def _ms(edges: pl.DataFrame) -> float:
    return float((edges["until_ns"] - edges["from_ns"]).sum()) / 1e6


def test_accounts_are_true(study: Path) -> None:
    """Of every video that played: by the link's own log, by cause and effect, and by the kernel's clocks."""
    found = facts(study)
    assert found.trials == 8  # with those of an object
    assert not found.untrue, "\n".join(found.lines())


@pytest.mark.parametrize("arm", ["h2", "h3"])
@pytest.mark.parametrize("workload", ["plays", "undecoded", "adapts"])
def test_start_up_is_accounted_for(study: Path, workload: str, arm: str) -> None:
    """To the nanosecond, file by file."""
    trial = _trials(study, workload)[arm]
    edges = _account(study, trial, "start_up")
    assert _ms(edges) == _metrics(study, trial)["startup_ms"]
    assert {{"h2": "tcp_handshake", "h3": "quic_handshake"}[arm], "link_busy", "last_flight"} <= {*edges["why"]}
    names = edges["object"].drop_nulls().unique(maintain_order=True).str.replace(r"\d-", "").to_list()
    assert names == (["manifest.mpd", "init-1.mp4", "00001.m4s"] if workload == "adapts" else ["video.mp4"])


@pytest.mark.parametrize("arm", ["h2", "h3"])
def test_stalls_are_accounted_for(study: Path, arm: str) -> None:
    """At half the bitrate of the video, the link is what a stall waits for."""
    trial = _trials(study, "undecoded")[arm]
    values = _metrics(study, trial)
    stalls = [_account(study, trial, f"stall {number}") for number in range(1, round(values["stalls"] or 0) + 1)]
    assert sum(map(_ms, stalls)) == pytest.approx(values["stall_ms"], abs=1e-6)
    assert _ms(pl.concat(stalls).filter(why="link_busy")) > 0.5 * sum(map(_ms, stalls))


@pytest.mark.parametrize("arm", ["h2", "h3"])
def test_played(study: Path, arm: str) -> None:
    """One file in ranges: shown from beginning to end over the protocol that was asked for."""
    trial = _trials(study, "plays")[arm]
    assert trial["status"] == "verified", trial["reason"]
    assert trial["client"]["requests"][0]["http_version"] == {"h2": "HTTP/2", "h3": "HTTP/3"}[arm]
    values = _metrics(study, trial)
    assert values["startup_ms"]
    assert values["played_s"] == pytest.approx(2, abs=0.2)
    assert values["mean_quality_bit_per_s"] == pytest.approx(365_000)
    assert values["overall_throughput_bit_per_s"]
    assert values["quality_switches"] == 0


@pytest.mark.parametrize("arm", ["h2", "h3"])
def test_a_video_that_never_starts(study: Path, arm: str) -> None:
    """Its trial fails with the reason, and the others go on."""
    trial = _trials(study, "starves")[arm]
    assert trial["status"] == "failed"
    assert "the video did not start within the 1 s that it was watched" in trial["reason"]


@pytest.mark.parametrize("arm", ["h2", "h3"])
def test_without_decoder(study: Path, arm: str) -> None:
    """The model of a player stalls where the link is slower than the video."""
    trial = _trials(study, "undecoded")[arm]
    assert trial["status"] == "verified", trial["reason"]
    values = _metrics(study, trial)
    assert values["stalls"]
    assert values["decoder_stalls"] == 0
    assert values["frames_dropped_pct"] is None


@pytest.mark.parametrize("arm", ["h2", "h3"])
def test_adaptive(study: Path, arm: str) -> None:
    """dash.js plays all segments, in the two qualities that the manifest has."""
    trial = _trials(study, "adapts")[arm]
    assert trial["status"] == "verified", trial["reason"]
    assert trial["client"]["versions"]["dash.js"]
    values = _metrics(study, trial)
    assert values["played_s"] == pytest.approx(4, abs=0.3)
    quality = values["mean_quality_bit_per_s"]
    assert quality is not None
    # A weighted mean in floating point may exceed its largest term in the last digit.
    assert 145_000 <= round(quality) <= 365_000
    assert values["fraction_loaded_pct"] == pytest.approx(100, abs=2)
