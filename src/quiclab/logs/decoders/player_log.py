# SPDX-License-Identifier: Apache-2.0
"""Playback of a video, as our page in the browser reports it: `client-player.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from quiclab.logs.decoders._api import Context, FileTables, Finding, Take
from quiclab.logs.decoders._text import read_json
from quiclab.model.errors import DecodeError
from quiclab.model.json_trouble import json_trouble
from quiclab.model.tables import TABLES, Row
from quiclab.store.packed_logs import read_plain

NETWORK_BELOW_MS = 1000.0
"""Milliseconds of video ahead below which a stall is the network's: a player that has more and shows nothing waits for
its decoder. Chromium stops with 0.2 to 0.6 s left by its own reckoning, because it counts the bytes of one file in
steps."""

_MOST_BYTES = 64 << 20
_SAMPLE = (int, float, float, float, int, int, int)
_SAMPLE_MAY_LACK = (4, 5, 6)
_EVENT = (int, str, float, float, str)
_EVENT_MAY_LACK = (4,)


class PlayerLog:
    """Log of the player of one video."""

    format = "player"
    versions = ("1",)
    tables = ("player_samples", "player_events", "player_stalls")
    clock = "CLOCK_MONOTONIC of the machine that ran the trial, to about 6 µs."

    def sniff(self, head: bytes) -> bool:
        """True if the first key is the one of this format."""
        return head.lstrip()[:1] == b"{" and b'"quiclab_player"' in head[:64]

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """A row per look and per event, and the stalls among them. Raises DecodeError if it cannot be read."""
        del context, take
        log = _read(path)
        samples = [row for row in _list(log, "samples") if _fits(row, _SAMPLE, _SAMPLE_MAY_LACK)]
        events = [row for row in _list(log, "events") if _fits(row, _EVENT, _EVENT_MAY_LACK)]
        bad = len(_list(log, "samples")) + len(_list(log, "events")) - len(samples) - len(events)
        start_ns, end_ns = _instant(log, "start_ns"), _instant(log, "end_ns")
        if start_ns is not None:
            events.insert(0, [start_ns, "requested", 0.0, 0.0, str(log.get("player"))])
        if end_ns is not None:
            last = samples[-1] if samples else [end_ns, 0.0, 0.0]
            events.append([end_ns, "over", last[1], last[2], str(log.get("ended"))])
        tables = {
            "player_samples": _frame("player_samples", [_sample(each) for each in samples]),
            "player_events": _frame("player_events", [_event(each) for each in events]),
            "player_stalls": _frame("player_stalls", stalls([_event(each) for each in events])),
        }
        found = [Finding("malformed_row", "data_loss", bad, "a look or an event that makes no sense")]
        unread = sum(name in log and not isinstance(log[name], list) for name in ("samples", "events"))
        unread += sum(_instant(log, name) is None for name in ("start_ns", "end_ns"))
        found.append(
            Finding("impossible_value", "data_loss", unread, "a member of the log that is not what it must be")
        )
        told = f"{log.get('player')} {log.get('player_version') or ''}".strip()
        return FileTables(
            {name: frame for name, frame in tables.items() if frame.height},
            tuple(each for each in found if each.count),
            dialect=f"version 1, by {told}",
            clock="monotonic",
            resolution_ns=2 * (_instant(log, "clock_uncertainty_ns") or 6000),
        )


def stalls(events: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Stalls: from each `waiting` after the first `playing` to the next `playing`, or to the end; not where the user
    sought."""
    found: list[dict[str, object]] = []
    started, seeking = False, False
    began: Mapping[str, object] | None = None
    for event in events:
        name = event["name"]
        if name in ("seeking", "seeked"):
            seeking = name == "seeking"
        elif name == "waiting" and started and began is None and not seeking:
            began = event
        elif name in ("playing", "ended", "over"):
            if began is not None:
                found.append(_stall(began, event))
            began, seeking, started = None, False, started or name == "playing"
    return found


def _stall(began: Row, ended: Row) -> dict[str, object]:
    return {
        "time_ns": began["time_ns"],
        "duration_ns": ended["time_ns"] - began["time_ns"],
        "position_ms": began["position_ms"],
        "ahead_ms": began["ahead_ms"],
        "cause": "network" if began["ahead_ms"] < NETWORK_BELOW_MS else "decoder",
        "went_on": ended["name"] == "playing",
    }


def _sample(row: Sequence[Any]) -> dict[str, object]:
    return {
        "time_ns": row[0],
        "position_ms": row[1] * 1e3,
        "ahead_ms": row[2] * 1e3,
        "loaded_ms": row[3] * 1e3,
        "height": row[4] or None,
        "frames_decoded": row[5],
        "frames_dropped": row[6],
    }


def _event(row: Sequence[Any]) -> dict[str, object]:
    return {
        "time_ns": row[0],
        "name": row[1],
        "position_ms": row[2] * 1e3,
        "ahead_ms": row[3] * 1e3,
        "detail": row[4],
    }


def _read(path: Path) -> Mapping[str, object]:
    try:
        log = read_json(read_plain(path, _MOST_BYTES).decode(errors="replace"))
    except (OSError, ValueError, RecursionError) as error:
        raise DecodeError(
            f"cannot decode {path}: {json_trouble(error)}", "the file is damaged, or of another format"
        ) from error
    if not isinstance(log, dict) or log.get("quiclab_player") != 1:
        raise DecodeError(f"cannot decode {path}: it is no player's log of version 1", "give a client-player.json")
    return log


def _list(log: Mapping[str, object], name: str) -> list[Any]:
    told = log.get(name)
    return told if isinstance(told, list) else []


def _instant(log: Mapping[str, object], name: str) -> int | None:
    told = log.get(name)
    return told if type(told) is int and 0 <= told < 2**62 else None


def _fits(row: Any, kinds: Sequence[type], may_lack: Sequence[int]) -> bool:
    """True if the values of a row have the right types; whole numbers are allowed in place of fractions."""
    if not isinstance(row, list) or len(row) != len(kinds):
        return False
    for place, (value, kind) in enumerate(zip(row, kinds, strict=True)):
        if value is None and place in may_lack:
            continue
        if kind is str and not isinstance(value, str):
            return False
        if kind is not str and (isinstance(value, bool) or not isinstance(value, (int, kind))):
            return False
        # The first is an instant.
        if isinstance(value, (int, float)) and not (
            math.isfinite(value) and 0 <= value < 2 ** (62 if place == 0 else 32)
        ):
            return False
    return True


def _frame(table: str, rows: list[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=TABLES[table].decoder_schema)
