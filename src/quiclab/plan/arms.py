# SPDX-License-Identifier: Apache-2.0
"""Summary of the arms and of where they still differ: the first line of the plan, of the result table and of the
report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypedDict

from quiclab.model.study import Arm, Program, Study

NOT_TOLD = "unknown"
"""Stand-in for a point on which an arm's programs say nothing, although another arm's do."""
_HTTP = {"h1": "HTTP/1.1", "h2": "HTTP/2", "h3": "HTTP/3"}


class ArmsSummary(TypedDict):
    """Summary of the arms, as text for people."""

    text: str
    differences: list[str]


def arms_summary(study: Study, facts: Mapping[str, Mapping[str, str]]) -> ArmsSummary:
    """Compare the arms on every point that any of their programs reports.

    `facts`: name of the arm → point (`congestion_control`, `initial_window`, `packet_size`, `receive_window`, …) →
    value in words. The programs themselves are compared too, and the TCP settings of arms that use TCP.
    """
    if len(study.measured_arms) == 1:
        return _alone(study.measured_arms[0], facts)
    groups: dict[str, list[Arm]] = {}
    for arm in sorted(study.measured_arms, key=lambda arm: arm.name != study.baseline_of(arm)):
        groups.setdefault(study.baseline_of(arm), []).append(arm)
    found = [_compared(arms, facts) for arms in groups.values()]
    return {
        "text": " ".join(each["text"] for each in found),
        "differences": [told for each in found for told in each["differences"]],
    }


def _compared(arms: list[Arm], facts: Mapping[str, Mapping[str, str]]) -> ArmsSummary:
    """Summary of a baseline, which is the first, and the arms that are compared with it."""
    told = [{**_programs(arm), **facts.get(arm.name, {})} for arm in arms]
    equal: list[str] = []
    different: list[tuple[str, list[str]]] = []
    for point in dict.fromkeys(point for points in told for point in points):
        values = [points.get(point, _unsaid(point, arm)) for arm, points in zip(arms, told, strict=True)]
        if len(set(values)) == 1:
            equal.append(f"{_words(point)} {values[0]}")
        else:
            different.append((_words(point), values))
    different += _tcp_differences(arms)
    names = " against ".join(f"{arm.name} ({_HTTP[arm.protocol]})" for arm in arms)
    text = f"{names}. "
    text += f"Equal: {', '.join(equal)}. " if equal else ""
    listed = "; ".join(f"{point} ({' / '.join(values)})" for point, values in different)
    text += f"They differ in {listed}." if different else "They differ in nothing that is known."
    differences = [
        f"{point}: {', '.join(f'{arm.name} {value}' for arm, value in zip(arms, values, strict=True))}"
        for point, values in different
    ]
    return {"text": text, "differences": differences}


def _alone(arm: Arm, facts: Mapping[str, Mapping[str, str]]) -> ArmsSummary:
    """Summary of a single arm, which differs from nothing."""
    points = {**_programs(arm), **facts.get(arm.name, {})}
    told = ", ".join(f"{_words(point)} {value}" for point, value in points.items())
    return {"text": f"{arm.name} ({_HTTP[arm.protocol]}) alone: {told}.", "differences": []}


def _unsaid(point: str, arm: Arm) -> str:
    """Text for a point on which an arm's programs say nothing."""
    of_a_proxy = "proxy" in point or point.startswith("origin")
    return "none" if of_a_proxy and arm.proxy is None else NOT_TOLD


def _programs(arm: Arm) -> dict[str, str]:
    programs: dict[str, str] = {role: _program(program) for role, program, _ in arm.programs()}
    if arm.proxy is not None:
        programs["place_of_the_proxy"] = "the server's end" if arm.proxy_beside_server else f"behind {arm.proxy_at}"
        programs["origin_protocol"] = _HTTP[arm.origin_protocol]
    for role, program, protocol in arm.programs():
        # For the other programs the facts tell it, or they send little: so it is given only where it was asked for.
        own = getattr(arm.tcp, f"{role}_congestion_control")
        if own is not None and program is not arm.front and protocol != "h3":
            programs[f"{role} congestion control"] = f"Linux {own}"
    intermediates = arm.certificate.intermediates
    chain = f" with {intermediates} intermediates" if intermediates else ""
    return {**programs, "certificate": arm.certificate.key + chain}


def _program(program: Program) -> str:
    """Name of a program, with everything that the spec sets on it."""
    name = program.argv[0] if program.argv else program.name
    name += f" of {program.prefix}" if program.prefix else ""
    name += f" on {program.cpu} of a core (by {program.cpu_by})" if program.cpu else ""
    knobs = ", ".join(f"{_words(knob)} {_setting(getattr(program.knobs, knob))}" for knob in program.knobs.asked())
    return f"{name} with {knobs}" if knobs else name


def _tcp_differences(arms: list[Arm]) -> list[tuple[str, list[str]]]:
    """Settings of TCP in which arms that use it differ, beyond what the programs' facts name."""
    differences = []
    for field in dataclasses.fields(arms[0].tcp):
        if field.name.endswith("congestion_control") or field.name == "initial_window":
            continue
        unsaid = "where the path marks" if field.name == "ecn" else "none"
        settings = [getattr(arm.tcp, field.name) for arm in arms]
        told = [unsaid if setting is None else _setting(setting) for setting in settings]
        values = [value if arm.protocol != "h3" else "no TCP" for arm, value in zip(arms, told, strict=True)]
        if len(set(values) - {"no TCP"}) > 1:
            differences.append((f"TCP {_words(field.name)}", values))
    return differences


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _words(point: str) -> str:
    return point.replace("_", " ")
