# SPDX-License-Identifier: Apache-2.0
"""Settings of a spec that do nothing for an arm, and limits that cannot bind, each as a sentence that says what to do.

What an arm's programs cannot do at all is an objection of `endpoints`, and stops the study.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from quiclab.model.program import BROWSERS
from quiclab.model.study import Arm, Study, Tcp, Workload


def idle_settings(study: Study) -> list[str]:
    """Say which settings of arms and which limits of a study change nothing."""
    return [*_unused_tcp(study), *(told for arm in study.arms for told in _unused_knobs(arm, study)), *_limits(study)]


def _unused_tcp(study: Study) -> Iterator[str]:
    """TCP settings that an arm over QUIC has for itself. One that has none takes those of another arm."""
    lent = [arm.tcp for arm in study.arms if _uses_tcp(arm, study)]
    lent = lent or [arm.tcp for arm in study.arms if arm.name == study.baseline]
    for arm in study.arms:
        if _uses_tcp(arm, study) or arm.tcp in lent:
            continue
        names = [each.name for each in dataclasses.fields(Tcp)]
        keys = [name for name in names if getattr(arm.tcp, name) != getattr(lent[0], name)]
        yield (
            f"Arm {arm.name}: tcp ({', '.join(keys)}) does nothing over HTTP/3. Leave it out; QUIC's settings are keys "
            'of a program, such as server = {name = "…", congestion_control = "…"}.'
        )


def _uses_tcp(arm: Arm, study: Study) -> bool:
    """True if any packet of the arm's trials may go over TCP between its programs."""
    if arm.protocol != "h3" or (arm.proxy is not None and arm.origin_protocol != "h3") or arm.client.name in BROWSERS:
        return True
    competitions = [each.competition for each in study.workloads if each.competition is not None]
    beside = {background.kind for competition in competitions for background in competition.background}
    return arm.name == study.baseline and "short_flows" in beside  # these have the baseline's settings


def _unused_knobs(arm: Arm, study: Study) -> Iterator[str]:
    workloads = study.measured_workloads
    objects = all(each.kind == "object" for each in workloads)
    for role, program, protocol in arm.programs():
        knobs, owner = program.knobs, f"Arm {arm.name}: {{}} of the {role} does nothing"
        if program.argv and knobs.congestion_control is not None and (role == "client" or protocol != "h3"):
            why = ": TCP's is tcp.congestion_control" if protocol != "h3" else ": only that of a server is told"
            yield owner.format("congestion_control") + f"{why}. Leave it out."
        if program.cpu is None and program.cpu_by == "competitor":
            yield owner.format("cpu_by") + ' without cpu, its share of a core. Write cpu = "50 %", or leave it out.'
        if study.count_system_calls and program.cpu_by == "emulator":
            yield f"Arm {arm.name}: system calls of the {role} include those of its emulator."
        if objects and all(len(each.object_sizes) == 1 for each in workloads):
            for name in ("scheduler", "priorities"):
                if getattr(knobs, name) is not None:
                    yield owner.format(name) + ": every workload is of one object. Give one a count, or leave it out."
        if objects and knobs.compression and all(each.content == "random" for each in workloads):
            yield owner.format("compression") + ': the content is random. Write content = "text" in the workload.'
        if knobs.on_address_change is not None and all(each.address_change is None for each in workloads):
            yield owner.format("on_address_change") + ": no workload has an address_change. Add one, or leave it out."
        if knobs.http_cache and all(_is_document_alone(each) for each in workloads):
            yield owner.format("http_cache") + ": the document is asked for each time, and no page has anything else."
        if role != "client" and knobs.early_data and program is arm.front and arm.client.knobs.session != "early_data":
            yield owner.format("early_data") + ': the client does not send any. Write session = "early_data" there.'
    if arm.tcp.pacing and arm.protocol != "h3" and arm.tcp.congestion_control == "bbr":
        yield f"Arm {arm.name}: tcp.pacing does nothing, because bbr always paces. Leave it out."


def _is_document_alone(workload: Workload) -> bool:
    page = workload.page
    return page is None or not (page.resources or page.mix or page.folder or page.har)


def _limits(study: Study) -> Iterator[str]:
    """A bound that has no effect any more, or that no trial can keep."""
    if study.limits.lateness_p99 is not None:
        yield (
            "limits.lateness_p99 has no effect any more: a trial is repeated if this machine added too much to its "
            f'time. Leave it out, or write disturbance = "…" in its place ({study.tolerated} without it).'
        )
    if study.tolerated.value == 0:
        yield (
            "limits.disturbance = 0 % repeats every trial, as each machine adds something. Write 1 % or more, or leave "
            "it out."
        )
