# SPDX-License-Identifier: Apache-2.0
"""The video of a workload (`[workload.video]`), read from a spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.model.video import GROUP, QUALITIES, Video
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, build

VIDEO_KEYS: Mapping[str, Kind[Any]] = {
    "qualities": kinds.several(
        kinds.choice(tuple(QUALITIES)), f"an array of one or more of {', '.join(QUALITIES)}", 1, len(QUALITIES)
    ),
    "bitrates": kinds.several(kinds.RATE, 'an array of as many rates, such as ["5 Mbit/s"]', 1, len(QUALITIES)),
    "delivery": kinds.choice(("progressive", "dash")),
    "length": kinds.TIMEOUT,
    "watch": kinds.TIMEOUT,
    "frame_rate": kinds.whole(1, 120),
    "loop": kinds.TIME,
    "segment": kinds.TIME,
    "decode": kinds.FLAG,
    "buffer": kinds.TIME,
}


def _read_video(node: Node) -> Video:
    """Read a video; its keys are checked against each other once each of them can be read."""
    video = build(Video, node, VIDEO_KEYS)
    if len(set(video.qualities)) < len(video.qualities):
        node.child("qualities").report("a quality stands here twice; write each once")
    if video.delivery == "progressive" and len(video.qualities) > 1:
        node.child("qualities").report('one file has one quality; write one, or delivery = "dash"')
    if video.bitrates is not None and len(video.bitrates) != len(video.qualities):
        told = f"there are {len(video.bitrates)} for {len(video.qualities)} qualities"
        node.child("bitrates").report(f"{told}; write one for each")
    if video.delivery == "dash" and not video.decode:
        node.child("decode").report('a player that adapts the quality needs its decoder; leave out delivery = "dash"')
    if video.delivery == "dash" and video.segment.ns % GROUP.ns:
        node.child("segment").report(
            f"a picture that can be decoded alone comes every {GROUP}; write a multiple of that"
        )
    if video.loop.ns % GROUP.ns:
        node.child("loop").report(f"a picture that can be decoded alone comes every {GROUP}; write a multiple of that")
    return video


VIDEO: Kind[Video] = Kind('a table such as {qualities = ["1080p"]}', _read_video)
