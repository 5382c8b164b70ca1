# SPDX-License-Identifier: Apache-2.0
"""The log of a video's player, whole and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quiclab.logs.decoders._api import Context
from quiclab.logs.decoders.log_files import decoder_for
from quiclab.logs.decoders.player_log import PlayerLog
from quiclab.model.errors import DecodeError
from quiclab.model.tables import TABLES

LOG: dict[str, Any] = {
    "quiclab_player": 1,
    "player": "element",
    "player_version": None,
    "start_ns": 1000,
    "end_ns": 9000,
    "clock_uncertainty_ns": 6000,
    "ended": "watched",
    "samples": [[2000, 0, 0.5, 0.5, 720, 3, 0], [8000, 1.5, 0, 1.5, 0, None, None]],
    "events": [[2500, "playing", 0, 0.5, None], [7000, "waiting", 1.5, 0.3, None]],
}


def _file(tmp_path: Path, log: Any) -> Path:
    path = tmp_path / "client-player.json"
    path.write_text(json.dumps(log))
    return path


def test_whole(tmp_path: Path) -> None:
    """Recognised by content; what was asked for and the end are events; the stall lasts until the end."""
    path = _file(tmp_path, LOG)
    assert isinstance(decoder_for(path.read_bytes()), PlayerLog)
    found = PlayerLog().decode(path, Context())
    assert found.findings == ()
    for name, frame in found.tables.items():
        assert frame.schema == TABLES[name].decoder_schema
    assert found.tables["player_events"]["name"].to_list() == ["requested", "playing", "waiting", "over"]
    assert found.tables["player_samples"]["height"].to_list() == [720, None]
    (stall,) = found.tables["player_stalls"].to_dicts()
    assert (stall["time_ns"], stall["duration_ns"], stall["cause"], stall["went_on"]) == (7000, 2000, "network", False)


def test_damaged_rows_are_counted(tmp_path: Path) -> None:
    """And the others stay."""
    samples = [*LOG["samples"], [1], "x", [2000, 0, -1, 0, 0, 0, 0], [True, 0, 0, 0, 0, 0, 0], [1.5, 0, 0, 0, 0, 0, 0]]
    found = PlayerLog().decode(_file(tmp_path, LOG | {"samples": samples}), Context())
    assert found.tables["player_samples"].height == 2
    assert [(finding.name, finding.count) for finding in found.findings] == [("malformed_row", 5)]


@pytest.mark.parametrize("log", [[], {"quiclab_player": 2}, 7])
def test_not_one(tmp_path: Path, log: Any) -> None:
    """Refused."""
    with pytest.raises(DecodeError):
        PlayerLog().decode(_file(tmp_path, log), Context())
