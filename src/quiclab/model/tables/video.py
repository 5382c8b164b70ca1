# SPDX-License-Identifier: Apache-2.0
"""Playback of a video, as its player reports it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from quiclab.model.tables._api import NEVER, Column, log_table
from quiclab.model.tables._common import TIME

_POSITION = Column("position_ms", pl.Float64, "ms", NEVER, "Place in the video that was being shown.")
_AHEAD = Column(
    "ahead_ms", pl.Float64, "ms", NEVER,
    "How much of the video was there from that place on. Chromium reckons it for one file by bytes, in steps.",
)  # fmt: skip

PLAYER_SAMPLES = log_table(
    "player_samples",
    "One look at the player of a video, every 100 ms from the request for it on.",
    TIME,
    _POSITION,
    _AHEAD,
    Column("loaded_ms", pl.Float64, "ms", NEVER, "How much of the video is there, whatever the place."),
    Column("height", pl.UInt32, "", "no picture yet", "Lines of the picture that was shown: its quality."),
    Column("frames_decoded", pl.UInt64, "", "nothing is decoded", "Pictures so far, those left out included."),
    Column("frames_dropped", pl.UInt64, "", "nothing is decoded", "Pictures left out so far: too late to be shown."),
)

PLAYER_EVENTS = log_table(
    "player_events",
    "One thing that happened to the player of a video.",
    TIME,
    Column(
        "name", pl.String, "", NEVER,
        "`requested` (asked for), `loadedmetadata`, `first_frame`, `canplay`, `playing`, `waiting` (nothing to show), "
        "`stalled`, `seeking`, `seeked`, `resize` (another quality; its lines in `detail`), `ended`, `player_error`, "
        "and `over`.",
    ),
    _POSITION,
    _AHEAD,
    Column("detail", pl.String, "", "nothing to say", "Details of the event."),
)  # fmt: skip

PLAYER_STALLS = log_table(
    "player_stalls",
    "One time that a video stood still after it had started.",
    replace(TIME, doc="It stopped. " + TIME.doc),
    Column("duration_ns", pl.Int64, "ns", NEVER, "Time until the video went on, or until the trial was over."),
    _POSITION,
    _AHEAD,
    Column(
        "cause", pl.String, "", NEVER,
        "`network`: less than a second of the video was there; `decoder`: it was there, and not decoded in time.",
    ),
    Column("went_on", pl.Boolean, "", NEVER, "Whether it played again before the trial was over."),
)  # fmt: skip
