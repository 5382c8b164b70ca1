# SPDX-License-Identifier: Apache-2.0
"""`[workload.video]`: which video is played, how it is delivered, and for how long it is watched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from quiclab.model.units import Bitrate, ByteCount, Duration

MEDIA_TYPE = "video/mp4"


@dataclass(frozen=True)
class Quality:
    """Size of the picture, and the usual bitrate of a video of that size."""

    width: int
    height: int
    bitrate: Bitrate


QUALITIES: Mapping[str, Quality] = {
    "234p": Quality(416, 234, Bitrate(145_000)),
    "360p": Quality(640, 360, Bitrate(365_000)),
    "432p": Quality(768, 432, Bitrate(1_100_000)),
    "540p": Quality(960, 540, Bitrate(2_000_000)),
    "720p": Quality(1280, 720, Bitrate(4_500_000)),
    "1080p": Quality(1920, 1080, Bitrate(6_000_000)),
    "1440p": Quality(2560, 1440, Bitrate(8_100_000)),
    "2160p": Quality(3840, 2160, Bitrate(16_800_000)),
}
"""Sizes and bitrates of Apple's HLS Authoring Specification for Apple Devices: up to 1080p from its table for H.264,
above that from the one for HEVC, because the H.264 table ends there."""


@dataclass(frozen=True)
class Video:
    """A video that a browser plays. It is made by ffmpeg from a synthetic source with the study's seed, without sound,
    at a constant bitrate, and kept in the user's cache directory."""

    qualities: tuple[str, ...]
    """One quality; with `delivery = "dash"`, those that the player chooses from. Sizes and bitrates are those of
    Apple's HLS authoring specification; the bitrate of 2160p is the one for HEVC."""
    bitrates: tuple[Bitrate, ...] | None = None
    """Bitrate of each quality, instead of the usual one: `145 kbit/s`, `365 kbit/s`, `1.1 Mbit/s`, `2 Mbit/s`, `4.5
    Mbit/s`, `6 Mbit/s`, `8.1 Mbit/s` and `16.8 Mbit/s`, from 234p to 2160p."""
    delivery: Literal["progressive", "dash"] = "progressive"
    """One MP4 file whose index comes first, or a DASH manifest with segments and dash.js, which adapts the quality."""
    length: Duration = Duration(600 * 10**9)
    """Length of the whole video."""
    watch: Duration = Duration(60 * 10**9)
    """The trial ends this long after the video was asked for, or at the end of the video. A video that has not started
    by then has failed."""
    frame_rate: int = 30
    """Pictures a second."""
    loop: Duration = Duration(10 * 10**9)
    """Length of the part that is encoded; the video repeats it. A short loop is made quickly."""
    segment: Duration = Duration(4 * 10**9)
    """Length of a segment of DASH."""
    decode: bool = True
    """True if the video is decoded. With `false`, a page fetches the file and keeps a clock: its player is a model that
    buffers as `buffer` says and stalls when the bytes of the next instant are missing. Use it for videos that the
    machine decodes too slowly, so that all stalls are the network's. Progressive only."""
    buffer: Duration = Duration(10 * 10**9)
    """Time that the player without a decoder reads ahead; Chromium's own player aims at 10 s."""

    @property
    def bit_rates(self) -> tuple[Bitrate, ...]:
        """Bitrate of each quality."""
        return self.bitrates or tuple(QUALITIES[name].bitrate for name in self.qualities)

    @property
    def size(self) -> ByteCount:
        """Estimated size of the whole video in its best quality."""
        return ByteCount(round(max(rate.bit_per_s for rate in self.bit_rates) * self.length.s / 8))

    @property
    def shown_length(self) -> Duration:
        """Length of the trial if nothing goes wrong."""
        return min(self.watch, self.length)

    @property
    def entry(self) -> str:
        """The file that the player asks for first."""
        return "video.mp4" if self.delivery == "progressive" else "manifest.mpd"

    def __str__(self) -> str:
        best = max(zip(self.bit_rates, self.qualities, strict=True), key=lambda each: each[0].bit_per_s)
        several = f"{len(self.qualities)} qualities up to " if len(self.qualities) > 1 else ""
        told = f"{several}{best[1]} at {best[0]}"
        how = self.delivery if self.decode else f"{self.delivery}, not decoded"
        return f"video of {self.length}, {told}, {how}, {self.watch} watched"


GROUP = Duration(2 * 10**9)
"""Time between pictures that can be decoded alone (closed groups of pictures)."""
