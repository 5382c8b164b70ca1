# SPDX-License-Identifier: Apache-2.0
"""Reading `[[workload]]`.

The video of a workload (`[workload.video]`), read from a spec.

The other flows that use the link while a workload runs (`competition`), read from a spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quiclab.model.address_change import AddressChange
from quiclab.model.competition import MOST_FLOWS, Background, Competition, Competitor
from quiclab.model.network import Link, Path
from quiclab.model.units import Bitrate, ByteCount
from quiclab.model.video import GROUP, MEDIA_TYPE, QUALITIES, Video
from quiclab.model.workload import Workload
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, build, form_of, table
from quiclab.spec.page import PAGE
from quiclab.spec.paths import LINK_KEYS, read_link

COMPETITOR_KEYS: Mapping[str, Kind[Any]] = {
    "arm": kinds.NAME,
    "workload": kinds.NAME,
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}


BACKGROUND_KEYS: Mapping[str, Kind[Any]] = {
    "kind": kinds.choice(("udp", "on_off", "short_flows")),
    "rate": kinds.quantity(Bitrate, "a rate", "2 Mbit/s", Bitrate(1000), Bitrate(10**9)),
    "packet": kinds.quantity(ByteCount, "a size", "1200 B", ByteCount(16), ByteCount(9000)),
    "on": kinds.TIME,
    "off": kinds.TIME,
    "flow_size": kinds.quantity(ByteCount, "a size", "20 KB", ByteCount(1), ByteCount(10**9)),
    "count": kinds.whole(1, MOST_FLOWS),
    "start": kinds.INSTANT,
}


_ONLY: Mapping[str, tuple[str, ...]] = {
    "packet": ("udp", "on_off"),
    "on": ("on_off",),
    "off": ("on_off",),
    "flow_size": ("short_flows",),
}


_COMPETITOR: Kind[Competitor] = table('a table such as {arm = "h2"}', Competitor, COMPETITOR_KEYS)


def _read_background(node: Node) -> Background:
    background = build(Background, node, BACKGROUND_KEYS)
    wrong = [key for key, of in _ONLY.items() if key in node.value and background.kind not in of]
    for key in wrong:
        node.child(key).report(f'it is for {" and ".join(_ONLY[key])}, not for "{background.kind}"; leave it out')
    if wrong:
        raise ReportedError
    return background


_BACKGROUND: Kind[Background] = table(
    'a table such as {kind = "udp", rate = "2 Mbit/s"}', Background, BACKGROUND_KEYS, _read_background
)


COMPETITION_KEYS: Mapping[str, Kind[Any]] = {
    "duration": kinds.TIMEOUT,
    "start": kinds.INSTANT,
    "start_spread": kinds.TIME,
    "competitors": kinds.several(_COMPETITOR, 'an array of tables such as [{arm = "h2", count = 2}]'),
    "background": kinds.several(_BACKGROUND, 'an array of tables such as [{kind = "udp", rate = "2 Mbit/s"}]'),
}


def _read_competition(node: Node) -> Competition:
    competition = build(Competition, node, COMPETITION_KEYS)
    if competition.flows > MOST_FLOWS:
        node.report(f"there are {competition.flows} flows beside the measured one; at most {MOST_FLOWS} are possible")
    if competition.duration is not None:
        starts = [competition.start, *(each.start + competition.start_spread for each in competition.others)]
        if max(starts) >= competition.duration:
            node.report(
                f"a flow starts at {max(starts)}, and all end at {competition.duration}; write an earlier start"
            )
    elif not competition.flows:
        node.report('it is empty; write "duration", "competitors" or "background"')
    return competition


COMPETITION: Kind[Competition] = table(
    'a table such as {duration = "60 s", competitors = [{arm = "h2", count = 2}]}',
    Competition,
    COMPETITION_KEYS,
    _read_competition,
)


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


VIDEO: Kind[Video] = table('a table such as {qualities = ["1080p"]}', Video, VIDEO_KEYS, _read_video)


# Reading `address_change` of a workload.
SECOND_LINK_KEYS: Mapping[str, Kind[Any]] = {key: kind for key, kind in LINK_KEYS.items() if key != "name"}
SECOND_LINK: Kind[Link] = Kind(
    'a table with the keys of a link, such as {rate = "2 Mbit/s", delay = "30 ms"}',
    lambda node: read_link(node, Path.mtu, SECOND_LINK_KEYS),
    form_of(SECOND_LINK_KEYS, Link),
)
ADDRESS_CHANGE_KEYS: Mapping[str, Kind[Any]] = {
    "after": kinds.SIZE,
    "at": kinds.TIMEOUT,
    "notice": kinds.choice(("told", "reset", "timeout")),
    "timeout": kinds.TIMEOUT,
    "link": SECOND_LINK,
}


def _read(node: Node) -> AddressChange:
    change = build(AddressChange, node, ADDRESS_CHANGE_KEYS)
    problems = []
    if (change.after is None) == (change.at is None):
        problems.append('it happens after a number of bytes or at a time: write either "after" or "at"')
    if (change.notice == "timeout") != (change.timeout is not None):
        problems.append('notice = "timeout" and "timeout" need each other')
    for problem in problems:
        node.report(problem)
    if problems:
        raise ReportedError
    return change


ADDRESS_CHANGE: Kind[AddressChange] = table(
    'a table such as {after = "2 MB"}', AddressChange, ADDRESS_CHANGE_KEYS, _read
)


MOST_OBJECTS = 200
"""Most objects on one connection."""

WORKLOAD_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "size": kinds.SIZE,
    "kind": kinds.choice(("object", "page", "video")),
    "direction": kinds.choice(("download", "upload")),
    "content_type": kinds.MEDIA_TYPE,
    "content": kinds.choice(("random", "text")),
    "count": kinds.whole(1, MOST_OBJECTS),
    "sizes": kinds.several(
        kinds.SIZE, f'an array of 1 to {MOST_OBJECTS} sizes, such as ["10 KB", "1 MB"]', 1, MOST_OBJECTS
    ),
    "concurrency": kinds.whole(1, MOST_OBJECTS),
    "page": PAGE,
    "video": VIDEO,
    "address_change": ADDRESS_CHANGE,
    "competition": COMPETITION,
    "only_for": kinds.choice(("competition",)),
}
_OF_OBJECTS = ("size", "direction", "content", "count", "sizes", "concurrency", "address_change")


def _read_workload(node: Node) -> Workload:
    """Read a workload; its keys are checked against each other once each of them can be read."""
    workload = build(Workload, node, WORKLOAD_KEYS)
    if workload.only_for is not None and workload.competition is not None:
        node.child("competition").report('it would never be measured; leave out "only_for" or "competition"')
    if workload.kind == "page":
        return _page_workload(node, workload)
    if workload.page is not None:
        node.child("page").report('it belongs to workloads of kind = "page"')
        raise ReportedError
    if workload.kind == "video":
        return _with_video(node, workload)
    if workload.video is not None:
        node.child("video").report('only a video has it; write kind = "video"')
        raise ReportedError
    for key, value in (("competition", workload.competition), ("address_change", workload.address_change)):
        if workload.upload and value is not None:
            node.child("direction").report(f'it is for downloads only; leave out "direction" or "{key}"')
    objects = len(workload.object_sizes)
    for key in ("size", "count"):
        if workload.sizes is not None and key in node.value:
            node.child(key).report('it cannot stand beside "sizes", which gives all of them; write one or the other')
    if not objects:
        node.report(f'"size" is missing; write {kinds.SIZE.wanted}, or "sizes" for objects that differ')
    elif workload.at_once > objects:
        things = f"there {'is 1 object' if objects == 1 else f'are {objects} objects'} here"
        node.child("concurrency").report(f"{workload.concurrency} at once, but {things}; write at most {objects}")
    if workload.address_change is not None and objects > 1:
        node.child("address_change").report("the address changes under one object; write one size")
    if workload.address_change is not None and workload.competition is not None:
        node.child("address_change").report('it cannot stand beside "competition": flows that share a link stay on it')
    return workload


def _page_workload(node: Node, workload: Workload) -> Workload:
    if workload.page is None:
        node.report(f'"page" is missing; write {PAGE.wanted}')
    for key in (*_OF_OBJECTS, "content_type"):
        if key in node.value:
            node.child(key).report('it belongs to objects; what a page is made of stands in "page"')
    for key in ("video", "direction", "address_change"):
        if key in node.value:
            node.child(key).report("a page has no such key")
    _check_ends_by_itself(node, workload, "a page ends when it is loaded")
    return workload


def _check_ends_by_itself(node: Node, workload: Workload, when: str) -> None:
    """Report a competition with a duration: a browser gives its account only where it may come to its own end."""
    if workload.competition is not None and workload.competition.duration is not None:
        node.child("competition").child("duration").report(f"{when}, and the competition with it; leave it out")


def _with_video(node: Node, workload: Workload) -> Workload:
    for key in _OF_OBJECTS:
        if key in node.value:
            node.child(key).report("a video has no such key; its size follows from its length and bitrate")
    if workload.video is None:
        node.report(f'"video" is missing; write {VIDEO.wanted}')
    _check_ends_by_itself(node, workload, 'a video ends when it has been watched ("watch")')
    return replace(workload, content_type=MEDIA_TYPE) if "content_type" not in node.value else workload


WORKLOAD: Kind[Workload] = table("a table", Workload, WORKLOAD_KEYS, _read_workload)
