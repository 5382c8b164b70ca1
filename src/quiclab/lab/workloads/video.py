# SPDX-License-Identifier: Apache-2.0
"""A video that a browser plays, and the calls of ffmpeg that make its files."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass

from quiclab.lab.workloads._api import Site
from quiclab.model.study import Video, Workload
from quiclab.model.units import Bitrate
from quiclab.model.video import GROUP, QUALITIES

_NOISE = 12
"""Strength of the noise over ffmpeg's moving test picture: enough that no picture can be left out, and few enough bits
that the rate control does not run short. What is missing from the bitrate is filled up (NAL units of type 12)."""
_EXACT = ("-bitexact", "-map_metadata", "-1")
_QUIET = ("-nostdin", "-hide_banner", "-loglevel", "error", "-y")


@dataclass(frozen=True)
class Film:
    """The files of one video, made by these calls of ffmpeg in an empty folder."""

    steps: tuple[tuple[str, ...], ...]
    """Arguments of each call; file names are relative."""
    scratch: tuple[str, ...]
    """Files that only later steps need."""

    @property
    def key(self) -> str:
        """Key of the film: equal keys mean equal files, with the same ffmpeg."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


class VideoWorkload:
    """One file, or a manifest with its segments, in a folder named like the workload."""

    kind = "video"

    def build(self, workload: Workload, seed: int) -> Site:
        """Make a site without files, which are too large for memory: `film` says how they are made."""
        assert workload.video is not None
        return Site(files={}, requests=workload.object_names, film=film(workload.video, seed))


def film(video: Video, seed: int) -> Film:
    """Describe how a video is made: each quality is encoded once for the length of the loop, then repeated without
    another encoding."""
    loops = [f"loop-{name}.mp4" for name in video.qualities]
    steps = [
        _encode(video, quality, rate, seed, loop)
        for quality, rate, loop in zip(video.qualities, video.bit_rates, loops, strict=True)
    ]
    again = str(math.ceil(video.length.ns / video.loop.ns) - 1)
    inputs = [argument for loop in loops for argument in ("-stream_loop", again, "-i", loop)]
    mapped = [argument for number in range(len(loops)) for argument in ("-map", f"{number}:v")]
    whole = (*_QUIET, *inputs, *mapped, "-c", "copy", "-t", str(video.length.s), *_EXACT)
    steps.append((*whole, *_container(video), video.entry))
    return Film(tuple(steps), tuple(loops))


def _encode(video: Video, quality: str, rate: Bitrate, seed: int, file: str) -> tuple[str, ...]:
    """Call that encodes at a constant bitrate: the decoder's buffer (VBV) holds half a second, and filler keeps it
    level."""
    size, bits = QUALITIES[quality], str(rate.bit_per_s)
    source = f"testsrc2=size={size.width}x{size.height}:rate={video.frame_rate}:duration={video.loop.s}"
    noise = f"noise=alls={_NOISE}:allf=t:all_seed={seed % 2**31}"
    group = str(round(GROUP.s * video.frame_rate))
    return (
        *(*_QUIET, "-f", "lavfi", "-i", f"{source},{noise}", "-c:v", "libx264", "-preset", "ultrafast"),
        *("-profile:v", "high", "-pix_fmt", "yuv420p", "-threads", "2", "-g", group, "-keyint_min", group),
        *("-sc_threshold", "0", "-b:v", bits, "-minrate", bits, "-maxrate", bits),
        *("-bufsize", str(rate.bit_per_s // 2), "-x264-params", "nal-hrd=cbr:force-cfr=1", *_EXACT, file),
    )


def _container(video: Video) -> tuple[str, ...]:
    if video.delivery == "progressive":
        return ("-movflags", "+faststart")
    segments = ("-seg_duration", str(video.segment.s), "-use_template", "1", "-use_timeline", "0")
    names = ("-init_seg_name", "init-$RepresentationID$.mp4", "-media_seg_name", "$RepresentationID$-$Number%05d$.m4s")
    return ("-f", "dash", *segments, *names, "-adaptation_sets", "id=0,streams=v")
