# SPDX-License-Identifier: Apache-2.0
"""What a competition says of other tables of the spec."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from quiclab.spec.link import reference_rate
from quiclab.spec.model import Arm, Path, Workload
from quiclab.spec.nodes import Node, closest
from quiclab.units import ByteCount, Duration


def captured_bytes(workload: Workload, path: Path) -> int:
    """About how much one end's capture of a trial keeps where it keeps whole packets."""
    competition = workload.competition
    if competition is None:
        return workload.total.bytes
    rate = reference_rate(path.down)
    if competition.duration is None or rate is None:
        return workload.total.bytes * (1 + competition.flows)
    return int(rate.bit_per_s * competition.duration.s / 8)


def check_competitions(
    nodes: Sequence[Node], workloads: Sequence[Workload], paths: Sequence[Path], arms: Sequence[Arm], most: Duration
) -> None:
    """What a competition says of other tables: arms and workloads that there are, objects that do not end before it
    does, and a limit of trials (`most`) that it fits in. `nodes` are those of `[[workload]]`."""
    by_arm = {arm.name: arm for arm in arms}
    by_name = {workload.name: workload for workload in workloads}
    for node in nodes:
        workload = by_name.get(str(node.value.get("name"))) if isinstance(node.value, dict) else None
        if workload is None or workload.competition is None:
            continue
        competition, here = workload.competition, node.child("competition")
        downloads = {workload.name: workload}
        for number, competitor in enumerate(competition.competitors):
            place = here.child("competitors").child(number)
            if competitor.arm not in by_arm:
                told = f'"{competitor.arm}" is not one of the arms; {closest(competitor.arm, by_arm, "arms")}'
                place.child("arm").report(told)
            elif (why := _cannot_compete(by_arm[competitor.arm])) is not None:
                place.child("arm").report(
                    f'"{competitor.arm}" {why}, which is for measured flows only; name another arm'
                )
            if competitor.workload is not None and competitor.workload not in by_name:
                close = closest(competitor.workload, by_name, "workloads")
                place.child("workload").report(f'"{competitor.workload}" is not one of the workloads; {close}')
            elif competitor.workload is not None:
                downloads[competitor.workload] = by_name[competitor.workload]
        for path in paths:
            if path.more_links:
                here.report(f'flows compete at the one link of a path, and "{path.name}" has several')
        for arm in arms:
            if arm.proxy is not None and not arm.proxy_beside_server:
                here.report(f'flows compete at one link, and the proxy of arm "{arm.name}" stands between two')
        if competition.duration is not None:
            _check_duration(here, competition.duration, downloads.values(), paths, most)


def _cannot_compete(arm: Arm) -> str | None:
    """What only the measured flow can have."""
    if arm.client.knobs.session in ("resumed", "early_data"):
        return "resumes a session"
    if arm.client.knobs.migration is not None:
        return "migrates"
    return "has a slow processor" if any(program.cpu is not None for _, program, _ in arm.programs()) else None


def _check_duration(
    node: Node, duration: Duration, downloads: Collection[Workload], paths: Sequence[Path], most: Duration
) -> None:
    if duration >= most:
        node.child("duration").report(f"{duration} does not fit in limits.trial, {most}; write a longer limits.trial")
    for path in paths:
        rate = reference_rate(path.down)
        carried = 0 if rate is None else int(rate.bit_per_s * duration.s / 8)
        for workload in downloads:
            if workload.total.bytes < carried and workload.kind == "object":
                node.child("duration").report(
                    f'the path "{path.name}" carries {ByteCount(carried)} in {duration}, and "{workload.name}" has '
                    f"{workload.total}; give it more, so that it cannot end before"
                )
