# SPDX-License-Identifier: Apache-2.0
"""Programs for the two arms of a question: those that were named, or else the fittest that are here, in the newest
build of each; with CUBIC and equal initial windows on both sides as far as the programs allow it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from quiclab.lab.endpoints import ENDPOINTS, Available, Endpoint, Uploads, find, objections
from quiclab.lab.endpoints._presence import installed_releases
from quiclab.lab.endpoints._versions import numbers
from quiclab.lab.endpoints.equal_facts import POINTS, same_fact
from quiclab.lab.endpoints.senders import declared_packets
from quiclab.lab.testbed.host import bounded_run
from quiclab.model.errors import HostError, SpecError
from quiclab.model.study import Arm, Knobs, Program, Protocol, Role, Tcp, Workload
from quiclab.project import MORE_PROGRAMS
from quiclab.spec.kinds import INSTALLED
from quiclab.study.specs import UPLOAD, arm_facts

CUBIC = "cubic"
USUAL_PACKETS = 10
"""Initial window where nothing says another: of Linux, of RFC 6928 and of RFC 9002."""
LINUX_CUBIC = "Linux cubic"
"""Congestion control of TCP in every question."""
_OWN = "command"
_NOT_KNOWN = "not known"
_PROTOCOLS: tuple[Protocol, Protocol] = ("h2", "h3")


@dataclass(frozen=True)
class Build:
    """A program as it is here."""

    role: Role
    name: str
    prefix: str | None
    """Prefix as a spec has it; None where the program is found without one."""
    version: str


@dataclass(frozen=True)
class ProgramChoice:
    """Programs that a question names for one arm; None leaves the choice."""

    client: str | None = None
    server: str | None = None


@dataclass(frozen=True)
class Contender:
    """One arm."""

    protocol: Protocol
    client: Build
    server: Build
    knobs: Mapping[Role, Knobs] = field(default_factory=dict)
    initial_window: int = USUAL_PACKETS
    """Initial window of TCP, in packets."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts that the sender of the bodies and their receiver declare, by point."""

    @property
    def arm(self) -> Arm:
        """The arm as a study has it, with the versions that are here."""
        client, server = (
            Program(each.name, prefix=each.prefix, version=each.version, knobs=self.knobs.get(each.role, Knobs()))
            for each in (self.client, self.server)
        )
        tcp = Tcp(congestion_control=CUBIC, initial_window=self.initial_window)
        return Arm(self.protocol, self.protocol, client, server, tcp=tcp)

    @property
    def sender_text(self) -> str:
        """Congestion control and initial window of the sender, for readers."""
        if self.protocol == "h2":
            return f"{LINUX_CUBIC}, initial window {self.initial_window} packets"
        control = self.facts.get("congestion_control") or "congestion control not known"
        return f"{control}, initial window {self.facts.get('initial_window') or 'not known'}"

    @property
    def has_cubic(self) -> bool:
        """True if the sender declares CUBIC."""
        return CUBIC in self.facts.get("congestion_control", "").lower()


@dataclass(frozen=True)
class Contenders:
    """Both arms."""

    h2: Contender
    h3: Contender

    @property
    def unequal(self) -> tuple[str, ...]:
        """Points that are not equal although they should be, with what each arm has; none where all are."""
        told = []
        for point in POINTS:
            h2, h3 = (arm.facts.get(point, "") for arm in (self.h2, self.h3))
            if not same_fact(point, h2, h3):
                told.append(f"{point.replace('_', ' ')}: h2 {h2 or _NOT_KNOWN}; h3 {h3 or _NOT_KNOWN}")
        return tuple(told)


def declared(found: Contender, workload: Workload) -> Contender:
    """The arm with the facts that its ends declare of such a workload."""
    facts = {point.removeprefix(UPLOAD): fact for point, fact in arm_facts(found.arm, [workload]).items()}
    return dataclasses.replace(found, facts=facts)


def contenders(workload: Workload, h2: ProgramChoice, h3: ProgramChoice) -> Contenders:
    """Choose both arms for a workload. Raises SpecError for programs that are not known or cannot do it, HostError
    where they are not here."""
    upload = workload.upload
    over_quic = equalised(_chosen("h3", h3, workload), upload)
    packets = declared_packets(over_quic.facts.get("initial_window", "")) or USUAL_PACKETS
    over_tcp = dataclasses.replace(_chosen("h2", h2, workload), initial_window=packets)
    return Contenders(declared(over_tcp, workload), declared(over_quic, workload))


def fittest(protocol: Protocol, named: ProgramChoice, workload: Workload) -> Contender:
    """The first programs that go together over a protocol, each with the values that it has by itself; those that are
    `named` are taken. Raises SpecError and HostError as `contenders` does."""
    return _chosen(protocol, named, workload)


def builds_here(role: Role, name: str) -> tuple[Build, ...]:
    """Return the builds of a program that are here, the newest first."""
    return _builds(role, name)[0]


@cache
def _builds(role: Role, name: str) -> tuple[tuple[Build, ...], str]:
    """The builds, the newest first, and why there is none, with what to do."""
    endpoint, found, why = find(role, name), [], ""
    places: list[tuple[str | None, Path | None]] = [(None, None)]
    places += [(f"{INSTALLED}{folder.name}", folder) for folder in installed_releases()]
    for prefix, folder in places:
        result = endpoint.probe(bounded_run, None if folder is None else str(folder))
        if isinstance(result, Available):
            found.append(Build(role, name, prefix, result.version))
        elif folder is None:
            why = f"{result.reason}; run: {result.install}"
    return tuple(sorted(found, key=lambda each: numbers(each.version), reverse=True)), why


def _chosen(protocol: Protocol, named: ProgramChoice, workload: Workload) -> Contender:
    """The first programs that go together, can do what is asked, and are here."""
    refused: dict[str, None] = {}
    unable: dict[str, None] = {}  # of programs that are here
    absent: dict[str, None] = {}
    for server, client in _pairs(protocol, named):
        arm = Arm(protocol, protocol, Program(client), Program(server), tcp=Tcp(congestion_control=CUBIC))
        here = [_builds(role, name) for role, name in (("client", client), ("server", server))]
        if why := objections(arm, [workload]):
            refused |= dict.fromkeys(why)
            unable |= dict.fromkeys(why if all(builds for builds, _ in here) else ())
            continue
        if all(builds for builds, _ in here):
            return Contender(protocol, here[0][0][0], here[1][0][0])
        for (builds, reason), role, name in zip(here, ("client", "server"), (client, server), strict=True):
            if not builds:
                absent[f"the {role} {name} is not here: {reason}"] = None
    if absent:
        told = f"no programs for {protocol} are here" + (" that can do what is asked" if unable else "")
        raise HostError(told, f"install them: {MORE_PROGRAMS}", (*unable, *absent))
    raise SpecError(f"{protocol} cannot run with these programs", "name others", tuple(refused))


def _pairs(protocol: Protocol, named: ProgramChoice) -> Iterator[tuple[str, str]]:
    servers, clients = _candidates("server", protocol, named.server), _candidates("client", protocol, named.client)
    return ((server, client) for server in servers for client in clients)


def _candidates(role: Role, protocol: Protocol, name: str | None) -> Sequence[str]:
    """Names of the programs that an arm may take, the fittest first: one for both protocols, since then less else
    differs; of these, servers with CUBIC. Raises SpecError for a name of none."""
    if name is not None:
        return [find(role, name).name]
    known = [each for each in ENDPOINTS if each.role == role and protocol in each.protocols and each.name != _OWN]
    return [each.name for each in sorted(known, key=_unfitness)]


def _unfitness(endpoint: Endpoint) -> tuple[bool, bool]:
    if not endpoint.protocols.issuperset(_PROTOCOLS):
        return True, True
    newest = next(iter(builds_here(endpoint.role, endpoint.name)), None)
    if endpoint.role != "server" or newest is None:
        return False, endpoint.role == "server"
    chosen = equalised(Contender("h3", newest, newest), upload=False)
    return False, not chosen.has_cubic


def equalised(found: Contender, upload: bool) -> Contender:
    """The HTTP/3 arm with CUBIC where its sender can be told to, and with an initial window that is known, if it can
    have one."""
    build = found.client if upload else found.server
    endpoint, knobs = find(build.role, build.name), Knobs()
    known = endpoint.knobs.get("h3", frozenset())
    facts = _sender_facts(endpoint, upload)

    def program(tried: Knobs) -> Program:
        return Program(build.name, prefix=build.prefix, version=build.version, knobs=tried)

    def asked(key: str, tried: Knobs) -> Knobs:
        return tried if key in known and endpoint.unsupported(program(tried), "h3") is None else knobs

    if CUBIC not in facts(program(knobs)).get("congestion_control", "").lower():
        knobs = asked("congestion_control", dataclasses.replace(knobs, congestion_control=CUBIC))
    if declared_packets(facts(program(knobs)).get("initial_window", "")) is None:
        knobs = asked("initial_window", dataclasses.replace(knobs, initial_window=USUAL_PACKETS))
    return dataclasses.replace(found, knobs={build.role: knobs}, facts=facts(program(knobs)))


def _sender_facts(endpoint: Endpoint, upload: bool) -> Callable[[Program], Mapping[str, str]]:
    """Return what tells the facts of a sender over QUIC."""
    tcp = Tcp(congestion_control=CUBIC)
    if upload and isinstance(endpoint, Uploads):
        return lambda program: endpoint.upload_facts(program, "h3", tcp)
    return lambda program: endpoint.traits(program, "h3", tcp)
