# SPDX-License-Identifier: Apache-2.0
"""A history before it runs: its releases in their order, the program at the other end, and the spec of its study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from quiclab.lab.endpoints import ENDPOINTS, find
from quiclab.lab.endpoints._versions import numbers
from quiclab.lab.stacks.release_dates import release_dates
from quiclab.model.errors import HostError, SpecError, nearest
from quiclab.model.history_record import HistoryRecord, HistoryRelease
from quiclab.model.program import is_version
from quiclab.model.study import Protocol, Role
from quiclab.project import releases_of
from quiclab.spec.toml_text import Toml, toml_text
from quiclab.study.contenders import Build, ProgramChoice, builds_here, fittest
from quiclab.study.question import Question, usable_name

LATEST = "latest"
"""Word for the newest build of a program that is here."""
FIRST_BLOCKS = 2
"""Blocks that the spec plans, of all releases: a history plans whatever follows by what it finds."""
MOST_RELEASES = 200
_SEED = 1
_HEADER = "# Written by `quiclab history`. docs/reference/spec.md describes every key.\n"
_CONTROL = "cubic"


@dataclass(frozen=True)
class Release:
    """One release, or commit, as an arm."""

    name: str
    """Name of its arm: its version, or the beginning of a commit's name."""
    program: Toml
    """Program of its arm, as a spec has it."""
    date: str | None = None
    subject: str | None = None
    is_current: bool = False
    """True of the program as it is here, which is not installed by its version."""


@dataclass(frozen=True)
class HistoryPlan:
    """A history before it runs."""

    program: str
    """Name of the program for readers."""
    role: Role
    protocol: Protocol
    question: Question
    releases: tuple[Release, ...]
    """The oldest first."""
    other: Toml | str
    """Program at the other end, as a spec has it."""
    other_text: str
    """Name of that program for readers, with its version."""
    of_commits: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the releases, the oldest first."""
        return tuple(each.name for each in self.releases)

    @property
    def cell(self) -> str:
        """Id of its only cell."""
        return f"{self.question.workload['name']}/{self.question.path['name']}"

    @property
    def sentence(self) -> str:
        """The question in a sentence."""
        kind = "commits" if self.of_commits else "releases"
        return (
            f"{self.question.workload_text} over {self.question.path['title']}: which {kind} of {self.program} changed "
            "the time?"
        )

    def record(self, unusable: Mapping[str, str]) -> HistoryRecord:
        """Record of it that its study keeps, with releases that could not be made ready."""
        told = tuple(HistoryRelease(each.name, each.date, each.subject) for each in self.releases)
        return HistoryRecord(self.program, self.role, told, self.of_commits, dict(unusable))

    def spec(self, name: str, disturbance: str, matters: str | None = None) -> str:
        """Text of the spec of its study: an arm for each release, all compared with the oldest."""
        study: Toml = {
            "name": name,
            "question": self.sentence,
            "seed": _SEED,
            "blocks": FIRST_BLOCKS,
            # Releases without a step between them are the control of one another.
            "aa": {"blocks": 0},
            "baseline": self.names[0],
        }
        document = {
            "study": study if matters is None else {**study, "matters": matters},
            "limits": {"disturbance": disturbance},
            "workload": [dict(self.question.workload)],
            "path": [dict(self.question.path)],
            "arm": [self._arm(each) for each in self.releases],
        }
        return f"{_HEADER}\n{toml_text(document)}"

    def _arm(self, release: Release) -> Toml:
        other = "client" if self.role == "server" else "server"
        arm: Toml = {
            "name": release.name,
            "protocol": self.protocol,
            self.role: release.program,
            other: self.other,
        }
        return arm if self.protocol == "h3" else {**arm, "tcp": {"congestion_control": _CONTROL}}


def study_name(program: str, question: Question) -> str:
    """Name of the study of a history: `history-quic-go-1MB-40ms`."""
    return usable_name(f"history-{program}-{question.workload['name']}-{question.path['name']}")


def plan_releases(
    question: Question,
    program: str,
    ends: tuple[str | None, str | None],
    *,
    role: Role | None = None,
    protocol: Protocol | None = None,
    other: str | None = None,
) -> HistoryPlan:
    """Plan the history of a program whose releases can be installed: from one version to another, both included.

    `other` names the program at the other end; None leaves the choice. Raises SpecError for a program without releases
    and for versions that it does not have, HostError where a program is not here.
    """
    role = role_of(program, role)
    protocol = protocol or ("h3" if "h3" in find(role, program).protocols else "h2")
    choice = ProgramChoice(other, program) if role == "server" else ProgramChoice(program, other)
    pair = fittest(protocol, choice, question.asked)
    current, beside = (pair.server, pair.client) if role == "server" else (pair.client, pair.server)
    releases = chosen_releases(program, current, ends)
    return HistoryPlan(program, role, protocol, question, releases, program_table(beside), text_of(beside))


def role_of(program: str, role: Role | None) -> Role:
    """The role in which a program with releases is measured: as a server where it is one, unless another is asked for.
    Raises SpecError for a program without releases, and for a role that it does not have."""
    with_releases = sorted({each.name for each in ENDPOINTS if releases_of(each.name)})
    if program not in with_releases:
        raise SpecError(
            f"no releases of {program!r} can be installed", nearest(program, with_releases, "name one of these:")
        )
    roles = [each.role for each in ENDPOINTS if each.name == program]
    if role is not None and role not in roles:
        raise SpecError(f"{program} is no {role}", f"leave --role out: it is a {roles[0]}")
    return role or ("server" if "server" in roles else "client")


def chosen_releases(program: str, current: Build, ends: tuple[str | None, str | None]) -> tuple[Release, ...]:
    """The releases of a program from one end to the other, the build that is here among them."""
    dates = {version: date.isoformat() for version, date in release_dates(program).items()}
    here = current.version.partition(" ")[0]
    built = [
        Release(version, {"name": program, "version": version}, dates.get(version))
        for version in releases_of(program)
        if version != here
    ]
    today = Release(here, {**_as_table(current), "version": here}, dates.get(here), is_current=True)
    every = sorted([*built, today], key=lambda each: numbers(each.name))
    names = [each.name for each in every]
    first, last = (0 if ends[0] is None else _position(ends[0], names, here)), _position(ends[1] or LATEST, names, here)
    if first >= last:
        raise SpecError(
            f"--from {names[first]} --to {names[last]}: these are not two releases, the older one first",
            f"{program} has {', '.join(names)}",
        )
    return tuple(every[first : last + 1])


def _position(asked: str, names: Sequence[str], latest: str) -> int:
    """Place of a version among the releases, which may be the beginning of one. Raises SpecError for none."""
    if asked == LATEST:
        return names.index(latest)
    fitting = [at for at, name in enumerate(names) if name == asked] or [
        at for at, name in enumerate(names) if is_version(name, asked)
    ]
    if not fitting:
        raise SpecError(f"there is no release {asked}", f"there are {', '.join(names)}")
    return fitting[-1]


def program_table(build: Build) -> Toml | str:
    """A program as a spec has it: its name alone where it is found without more."""
    table = _as_table(build)
    return table if len(table) > 1 else build.name


def _as_table(build: Build) -> Toml:
    return {"name": build.name, **({} if build.prefix is None else {"prefix": build.prefix})}


def text_of(build: Build) -> str:
    """A program for readers, with its version."""
    return f"{build.name} {build.version.partition(' ')[0]}"


def other_end(role: Role, protocol: Protocol, named: str | None) -> Build:
    """The program at the other end of one that is in `role`: the one that is `named`, else the first that speaks the
    protocol and is here. Raises SpecError for a name of none, HostError where none is here."""
    opposite: Role = "client" if role == "server" else "server"
    able = [each.name for each in ENDPOINTS if each.role == opposite and protocol in each.protocols]
    for name in [find(opposite, named).name] if named is not None else [each for each in able if each != "command"]:
        if builds := builds_here(opposite, name):
            return builds[0]
    raise HostError(f"no {opposite} that speaks {protocol} is here", "`quiclab doctor` says what is, and what to do")
