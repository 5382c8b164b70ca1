# SPDX-License-Identifier: Apache-2.0
"""Checks of a competition against the other tables of the spec."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from quiclab.model.study import Arm, Path, Workload
from quiclab.model.units import ByteCount, Duration
from quiclab.spec.link import reference_rate
from quiclab.spec.nodes import Node, closest


def captured_bytes(workload: Workload, path: Path) -> int:
    """Estimate of the bytes in one end's capture of a trial where captures keep whole packets."""
    competition = workload.competition
    if competition is None:
        return workload.total.bytes
    rate, lasts = reference_rate(path.down), competition.duration
    if workload.video is not None:
        lasts = competition.start + workload.video.shown_length
    if lasts is None or rate is None:
        return workload.total.bytes * (1 + competition.flows)
    return int(rate.bit_per_s * lasts.s / 8)


def check_competitions(
    nodes: Sequence[Node],
    arm_nodes: Sequence[Node],
    workloads: Sequence[Workload],
    paths: Sequence[Path],
    arms: Sequence[Arm],
    most: Duration,
) -> None:
    """Report competitions that do not fit the other tables: their arms and workloads must exist and be able to compete,
    their work must not end before the competition does, and it must fit into the limit of a trial (`most`). `nodes` are
    those of `[[workload]]`, `arm_nodes` those of `[[arm]]`."""
    by_arm = {arm.name: arm for arm in arms}
    by_name = {workload.name: workload for workload in workloads}
    for node in nodes:
        workload = by_name.get(_name(node))
        if workload is None or workload.competition is None:
            continue
        competition, here = workload.competition, node.child("competition")
        if workload.page is not None and workload.page.several_hosts:
            here.report(f"a flow is told from others by its server, and this page has several: {_ONE_HOST}")
        for number, competitor in enumerate(competition.competitors):
            place = here.child("competitors").child(number)
            _check_arm(place, competitor.arm, by_arm)
            if competitor.workload is not None and competitor.workload not in by_name:
                close = closest(competitor.workload, by_name, "workloads")
                place.child("workload").report(f'"{competitor.workload}" is not one of the workloads; {close}')
            elif competitor.workload is not None:
                _check_work(place.child("workload"), by_name[competitor.workload])
        for path in paths:
            if path.more_links:
                here.report(f'flows compete at the one link of a path, and "{path.name}" has several')
        for arm in arms:
            if arm.proxy is not None and not arm.proxy_beside_server:
                here.report(f'flows compete at one link, and the proxy of arm "{arm.name}" stands between two')
        _check_lasting(here, workload, by_name, paths, most)
    competitors = [c for each in workloads if each.competition for c in each.competition.competitors]
    _check_used(nodes, {competitor.workload for competitor in competitors})
    _check_used(arm_nodes, {competitor.arm for competitor in competitors})


_ONE_HOST = "write one whose resources all come from its own host"
_CLOSING = Duration(5 * 10**9)
"""Longest time from the end of a video that was watched to the end of its browser."""


def _name(node: Node) -> str:
    return str(node.value.get("name")) if isinstance(node.value, dict) else ""


def _check_arm(place: Node, name: str, by_arm: Mapping[str, Arm]) -> None:
    if name not in by_arm:
        place.child("arm").report(f'"{name}" is not one of the arms; {closest(name, by_arm, "arms")}')
    elif (why := _cannot_compete(by_arm[name])) is not None:
        place.child("arm").report(f'"{name}" {why}, which is for measured flows only; name another arm')


def _cannot_compete(arm: Arm) -> str | None:
    """Reason that keeps an arm from competing, because only the measured flow can have it; None if nothing does."""
    if arm.client.knobs.session in ("resumed", "early_data"):
        return "resumes a session"
    if arm.client.knobs.migration is not None:
        return "migrates"
    return "has a slow processor" if any(program.is_slow for _, program, _ in arm.programs()) else None


def _check_work(place: Node, workload: Workload) -> None:
    """Report work that a competitor cannot do: it can download objects, load a page, or play a video."""
    if workload.upload:
        place.report(f'"{workload.name}" is an upload, and flows compete for the way down; name a download')
    elif workload.address_change is not None:
        place.report(f'the address changes in "{workload.name}", and flows that share a link stay on it; name another')
    elif workload.page is not None and workload.page.several_hosts:
        place.report(f'a flow is told from others by its server, and "{workload.name}" has several: {_ONE_HOST}')


def _check_lasting(
    here: Node, own: Workload, by_name: Mapping[str, Workload], paths: Sequence[Path], most: Duration
) -> None:
    """Report work that ends before the competition does, where that time is known. A page is loaded over and over."""
    assert own.competition is not None
    duration = own.competition.duration
    if duration is not None and duration >= most:
        here.child("duration").report(f"{duration} does not fit in limits.trial, {most}; write a longer limits.trial")
    lasts = duration
    if own.video is not None:
        lasts = own.competition.start + own.video.shown_length + _CLOSING
    if lasts is None:
        return
    place = here if duration is None else here.child("duration")
    others = {each.workload or own.name for each in own.competition.competitors}
    for workload in (by_name[name] for name in sorted(others | {own.name}) if name in by_name):
        is_measured_alone = workload is own and own.name not in others
        if workload.kind == "video" and workload.video is not None and not is_measured_alone:
            if workload.video.length < lasts:
                place.report(
                    f'all may take {lasts}, and the video "{workload.name}" ends after {workload.video.length}; '
                    "give it a longer length"
                )
        elif workload.kind == "object":
            _check_size(place, workload, paths, lasts)


def _check_size(place: Node, workload: Workload, paths: Sequence[Path], lasts: Duration) -> None:
    for path in paths:
        rate = reference_rate(path.down)
        carried = 0 if rate is None else int(rate.bit_per_s * lasts.s / 8)
        if workload.total.bytes < carried:
            place.report(
                f'the path "{path.name}" carries {ByteCount(carried)} in {lasts}, and "{workload.name}" has '
                f"{workload.total}; give it more, so that it cannot end before"
            )


def _check_used(nodes: Sequence[Node], named: Collection[str | None]) -> None:
    """Report what only competes and is in no competition: it would never run."""
    for node in nodes:
        is_for_competitions = isinstance(node.value, dict) and node.value.get("only_for") == "competition"
        if is_for_competitions and _name(node) not in named:
            node.child("only_for").report("no competitor is of this kind; name it in a competition, or leave this out")
