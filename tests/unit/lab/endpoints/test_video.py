# SPDX-License-Identifier: Apache-2.0
"""Videos: who is refused when the plan is made, and what the player is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from contexts import CONTEXT

from quiclab.lab.endpoints import find, objections
from quiclab.lab.endpoints.clients._player import player_settings, problem
from quiclab.model.study import Arm, Program, Tcp, Video, Workload

VIDEO = Workload("v", kind="video", video=Video(("360p",)), content_type="video/mp4")
ARM = Arm("x", "h3", Program("chromium"), Program("caddy"), Tcp("reno"))


def test_who_cannot() -> None:
    """A client without a player, and a server that serves whole files only."""
    assert objections(ARM, [VIDEO]) == []
    told = objections(replace(ARM, client=Program("curl-cffi"), server=Program("quinn")), [VIDEO])
    assert "the client curl-cffi cannot play a video: unsupported; chromium can" in told
    assert "the server quinn cannot serve parts of a file: unsupported; caddy, nginx can" in told


def test_the_program_and_its_settings() -> None:
    """Another program than for objects, with the length of watching and which player."""
    command = find("client", "chromium").command(replace(CONTEXT, video=VIDEO.video))
    assert Path(command.argv[-2]).name == "_chromium_video_program.py"
    (text,) = command.files.values()
    settings = json.loads(text)["video"]
    assert (settings["player"], settings["watch_ms"], settings["heights"]) == ("element", 60_000, [360])
    assert "video" not in json.loads(next(iter(find("client", "chromium").command(CONTEXT).files.values())))


def test_the_player_follows_the_delivery() -> None:
    """DASH brings its script; without decoder there is a model."""
    assert player_settings(Video(("360p",), delivery="dash"))["script"].endswith("/players/dash.mediaplayer.min.js")
    assert player_settings(Video(("360p",), decode=False))["player"] == "model"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"events": [[1, "playing", 0, 0, None]]}, None),
        ({"error": "the player gave up: code 4"}, "the player gave up: code 4"),
        ({}, "start within the 5 s that it was watched; 0.5 s of it were loaded"),
        ({"events": [[1, "play_refused", 0, 0, "no"]]}, "start within the 5 s that it was watched: no"),
    ],
)
def test_what_is_no_watched_video(changes: dict[str, object], words: str | None) -> None:
    """The reason tells what the player said, or how far it came."""
    told = {"events": [], "samples": [[5, 0, 0.5, 0.5, 0, 0, 0]], **changes}
    found = problem(told, 5000)
    assert found is None if words is None else found is not None and found.endswith(words)
