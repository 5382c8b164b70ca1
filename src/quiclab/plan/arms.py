# SPDX-License-Identifier: Apache-2.0
"""Summary of the arms and of where they still differ: the first line of the plan, of the result table and of the
report."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from quiclab.model.study import Arm, Program, Study, Tcp
from quiclab.project import release_name

NOT_TOLD = "unknown"
"""Stand-in for a point on which an arm's programs say nothing, although another arm's do."""
_NO_TCP = "no TCP"
"""Value of a setting of TCP in an arm over QUIC, which is no other setting."""
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
    by_name = {arm.name: arm for arm in study.measured_arms}
    for arm in study.compared_arms:
        baseline = study.baseline_of(arm)
        groups.setdefault(baseline, [by_name[baseline]]).append(arm)
    arms = [arm for of_baseline in groups.values() for arm in of_baseline]
    points = [*_points(arms, facts), *_tcp_points(arms)]
    texts = [_text(of_baseline, points) for of_baseline in groups.values()]
    differences = [
        f"{each.name}: {', '.join(f'{arm.name} {each.values[arm.name]}' for arm in arms)}"
        for each in points
        if any(each.differs(of_baseline) for of_baseline in groups.values())
    ]
    return {"text": " ".join(texts), "differences": differences}


@dataclass(frozen=True)
class _Point:
    """A point on which arms can differ."""

    name: str
    values: Mapping[str, str]
    """Arm → value in words."""
    told: frozenset[str]
    """Arms that say something of it."""
    is_tcp: bool = False
    """True of a setting of TCP, which is told only where it differs."""

    def differs(self, arms: Sequence[Arm]) -> bool:
        """True if any of the arms tells it, and they do not have one value."""
        values = {self.values[arm.name] for arm in arms}
        return not self.told.isdisjoint(arm.name for arm in arms) and len(values - {_NO_TCP}) > 1


def _points(arms: Sequence[Arm], facts: Mapping[str, Mapping[str, str]]) -> Iterator[_Point]:
    """The programs of the arms, and the points that these report."""
    told = {arm.name: {**_programs(arm), **facts.get(arm.name, {})} for arm in arms}
    for point in dict.fromkeys(point for points in told.values() for point in points):
        values = {arm.name: told[arm.name].get(point, _unsaid(point, arm)) for arm in arms}
        yield _Point(_words(point), values, frozenset(name for name, points in told.items() if point in points))


def _text(arms: Sequence[Arm], points: Sequence[_Point]) -> str:
    """A baseline, which is the first, against the arms that are compared with it."""
    names = " against ".join(f"{arm.name} ({_HTTP[arm.protocol]})" for arm in arms)
    known = [each for each in points if not each.told.isdisjoint(arm.name for arm in arms)]
    different = [each for each in known if each.differs(arms)]
    equal = [f"{each.name} {each.values[arms[0].name]}" for each in known if not (each.is_tcp or each in different)]
    text = f"{names}. "
    text += f"Equal: {', '.join(equal)}. " if equal else ""
    listed = "; ".join(f"{each.name} ({' / '.join(each.values[arm.name] for arm in arms)})" for each in different)
    return text + (f"They differ in {listed}." if different else "They differ in nothing that is known.")


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
    release = release_name(program.prefix)
    name = release.replace("@", " ") if release else name + (f" of {program.prefix}" if program.prefix else "")
    name += f" on {program.cpu} of a core (by {program.cpu_by})" if program.cpu else ""
    name += " in a user-mode emulator" if program.cpu_by == "emulator" else ""
    knobs = ", ".join(f"{_words(knob)} {_setting(getattr(program.knobs, knob))}" for knob in program.knobs.asked())
    return f"{name} with {knobs}" if knobs else name


def _tcp_points(arms: Sequence[Arm]) -> Iterator[_Point]:
    """Settings of TCP, beyond what the programs' facts name."""
    for field in dataclasses.fields(Tcp):
        if field.name.endswith("congestion_control") or field.name == "initial_window":
            continue
        unsaid = "where the path marks" if field.name == "ecn" else "none"
        values = {}
        for arm in arms:
            setting = getattr(arm.tcp, field.name)
            told = unsaid if setting is None else _setting(setting)
            values[arm.name] = told if arm.protocol != "h3" else _NO_TCP
        yield _Point(f"TCP {_words(field.name)}", values, frozenset(values), is_tcp=True)


def _setting(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _words(point: str) -> str:
    return point.replace("_", " ")
