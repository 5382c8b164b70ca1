# SPDX-License-Identifier: Apache-2.0
"""Settings of a video's player (player.js), and the log that it leaves: client-player.json."""

from __future__ import annotations

from pathlib import Path

from quiclab.lab.endpoints.clients._browser import Json, PageClock
from quiclab.model.video import QUALITIES, Video
from quiclab.project import stacks_folder

PAGE_SCRIPT = Path(__file__).with_name("player.js")
DASH_JS = "dash.mediaplayer.min.js"
_SAMPLE_MS = 100
_MODEL_STARTS_WITH_S = 1.0
"""Seconds of video that must be there before the player without a decoder starts, or goes on after a stall."""


def player_settings(video: Video) -> dict[str, object]:
    """Settings as player.js reads them; the URL is added later."""
    names = {"progressive": "element", "dash": "dash.js"}
    return {
        "player": names[video.delivery] if video.decode else "model",
        "script": str(stacks_folder() / "players" / DASH_JS) if video.delivery == "dash" else None,
        "watch_ms": video.watch.ms,
        "length_s": video.length.s,
        "heights": [QUALITIES[name].height for name in video.qualities],
        "sample_ms": _SAMPLE_MS,
        "buffer_s": video.buffer.s,
        "start_s": _MODEL_STARTS_WITH_S,
    }


def player_log(told: Json, url: str, clock: PageClock) -> Json:
    """The page's report with its instants by CLOCK_MONOTONIC; what is not known of a sample is null."""
    return {
        "quiclab_player": 1,
        "url": url,
        "player": told["player"],
        "player_version": told.get("version"),
        "start_ns": clock.at(told["start"]),
        "end_ns": clock.at(told["end"]),
        "clock_uncertainty_ns": clock.uncertainty_ns,
        "ended": told["ended"],
        "duration_s": told.get("duration"),
        "samples": [[clock.at(sample[0]), *sample[1:]] for sample in told["samples"]],
        "events": [[clock.at(event[0]), *event[1:]] for event in told["events"]],
    }


def problem(told: Json, watch_ms: float) -> str | None:
    """Reason why the video was not watched: it never started, or its player gave up; None if it was."""
    refused = next((event[4] for event in told["events"] if event[1] in ("play_refused", "player_error")), None)
    started = any(event[1] in ("first_frame", "playing") for event in told["events"])
    if "error" in told:
        return str(told["error"])
    if started:
        return None
    loaded = told["samples"][-1][3]
    why = f": {refused}" if refused else f"; {loaded:.1f} s of it were loaded"
    return f"the video did not start within the {watch_ms / 1e3:g} s that it was watched{why}"
