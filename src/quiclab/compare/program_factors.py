# SPDX-License-Identifier: Apache-2.0
"""Programs as factors: arms that differ in their server, client or proxy alone, each compared with a baseline of the
same one."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model.resolved_record import ResolvedArm

TITLES: Mapping[str, str] = MappingProxyType({"client": "client", "proxy": "proxy", "server": "server"})
"""Role that is a factor → its title."""
_UNTOLD = ("name", "baseline")
"""Keys of an arm that say nothing of what it does."""


@dataclass(frozen=True)
class ProgramLine:
    """Arms that differ in the program of one role alone."""

    label: str
    """Common part of their names."""
    arms: Mapping[str, str]
    """Program → arm, in the order of the spec."""


def program_factors(study: Study, analysis: StudyAnalysis) -> dict[str, list[ProgramLine]]:
    """Each role whose program varies from comparison to comparison, and is the same on both sides of every one: its
    lines, those of baselines before those of the arms that are compared with them."""
    found = {role: list(_lines(study, analysis, role)) for role in TITLES}
    return {role: of for role, of in found.items() if of}


def pair_titles(study: Study, analysis: StudyAnalysis) -> dict[str, str]:
    """Title of each comparison, by its arm: both arms, and their programs of each role in which comparisons differ from
    each other: `h3-nginx against h2-nginx (server nginx)`; where the two of one differ, both programs."""
    pairs = analysis.baselines
    known = {name: study.arms[name] for pair in pairs.items() for name in pair if name in study.arms}
    varied = [role for role in TITLES if len({_program(each, role) for each in known.values()}) > 1]
    titles = {}
    for arm, baseline in pairs.items():
        both = [known[name] for name in (arm, baseline) if name in known]
        programs = (
            (TITLES[role], list(dict.fromkeys(_program(each, role) or "none" for each in both))) for role in varied
        )
        told = ", ".join(f"{title} {' against '.join(names)}" for title, names in programs if names)
        titles[arm] = f"{arm} against {baseline}" + (f" ({told})" if told else "")
    return titles


def _lines(study: Study, analysis: StudyAnalysis, role: str) -> Iterator[ProgramLine]:
    pairs = [(baseline, arm) for arm, baseline in analysis.baselines.items()]
    if not all(name in study.arms for pair in pairs for name in pair):
        return
    programs = [[_program(study.arms[name], role) for name in pair] for pair in pairs]
    if any(None in both or len(set(both)) > 1 for both in programs):
        return
    tables = {str(table["name"]): table for table in study.tables("arms")}
    groups: dict[str, dict[str, tuple[str, str]]] = {}
    for pair, (program, _) in zip(pairs, programs, strict=True):
        rest = [{key: value for key, value in tables[name].items() if key not in (*_UNTOLD, role)} for name in pair]
        key = json.dumps(rest, sort_keys=True)
        while program in groups.setdefault(key, {}):
            key += " "  # the same program with other settings
        groups[key][str(program)] = pair
    lines = [
        {program: pair[side] for program, pair in group.items()}
        for group in groups.values()
        if len(group) > 1
        for side in (0, 1)
    ]
    labels = [shared_name([*arms.values()]) or str(study.arms[next(iter(arms.values()))].protocol) for arms in lines]
    times = Counter(labels)
    for arms, label in zip(lines, labels, strict=True):
        yield ProgramLine(label if times[label] == 1 else f"{label} ({', '.join(arms.values())})", arms)


def _program(arm: ResolvedArm, role: str) -> str | None:
    """The program of an arm in a role; None where it has none."""
    found = {"client": arm.client, "proxy": arm.proxy, "server": arm.server}[role]
    return None if found is None else found.command


def shared_name(names: Sequence[str]) -> str:
    """The parts at both ends that all names share: `h3 curl` of `h3-nginx-curl` and `h3-caddy-curl`; "" of none."""
    head = _beginning(names)
    tail = _beginning([name[len(head) :][::-1] for name in names])[::-1]
    return f"{head.rstrip('-_. ')} {tail.lstrip('-_. ')}".strip()


def _beginning(names: Sequence[str]) -> str:
    """The letters with which all names begin."""
    return "".join(of[0] for of in itertools.takewhile(lambda of: len(set(of)) == 1, zip(*names, strict=False)))
