# SPDX-License-Identifier: Apache-2.0
"""The head of the page: when and where the study ran, over which networks, and what its arms are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import polars as pl

from quiclab.compare import path_asked
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.study import Study, read_json
from quiclab.model import number_text
from quiclab.model.resolved_record import ResolvedArm, ResolvedPath, ResolvedProgram
from quiclab.store.record_form import view_of
from quiclab.store.trial_views import TrialTime

_HTTP = {"h1": "HTTP/1.1 over TCP", "h2": "HTTP/2 over TCP", "h3": "HTTP/3 over QUIC"}


@dataclass(frozen=True)
class Network:
    """A path by its name in the study and by its numbers."""

    title: str
    """Empty where it says no more than the numbers."""
    numbers: str
    """`10 Mbit/s, 20 ms round trip, 1 % loss each way`; empty where the spec is missing."""


@dataclass(frozen=True)
class ArmLine:
    """An arm in one line: `libcurl 8.21.0 and Caddy 2.11.7, HTTP/2 over TCP, congestion control New Reno`."""

    arm: str
    text: str


@dataclass(frozen=True)
class Difference:
    """One point in which the arms differ besides the protocol."""

    point: str
    values: tuple[str, ...]
    """The value of each arm, in their order; one text for all where they cannot be told apart."""


@dataclass(frozen=True)
class Heading:
    """Heading above the answer."""

    when: str
    machine: str
    size: str
    networks: tuple[Network, ...]
    arms: tuple[ArmLine, ...]
    differences: tuple[Difference, ...]
    differ_in: str
    """Points in which the arms differ, as a list in a sentence; "" where none is known."""
    one_protocol: bool
    """True if all arms are known to speak one version of HTTP."""


def heading(study: Study, analysis: StudyAnalysis) -> Heading:
    """Return the head of a study's page; what its files do not tell is left empty."""
    host = read_json(study.directory / "host.json", [])
    names = _arms(study, analysis)
    differences = tuple(_difference(line, names) for line in analysis.arms_differences)
    points = list(dict.fromkeys(each.point for each in differences))
    return Heading(
        when=_when(study),
        machine=machine_text(host),
        size=_size(study, analysis),
        networks=tuple(_networks(study, analysis)),
        arms=tuple(ArmLine(name, _arm(name, study.arms.get(name), names, host, differences)) for name in names),
        differences=differences,
        differ_in=number_text.listed(points),
        one_protocol=len({arm.protocol if (arm := study.arms.get(name)) else name for name in names}) == 1,
    )


def path_numbers(path: ResolvedPath | None) -> str:
    """Return a resolved path in numbers: `10 Mbit/s, 20 ms round trip, 1 % loss each way`; empty where it is not
    told."""
    if path is None or not path.is_told:
        return ""
    asked = {name: _plain(text) for name, text in path_asked.asked(path).items()}
    down, up = _plain(path_asked.rate_text(path, "down")), _plain(path_asked.rate_text(path, "up"))
    rate = down if down == up else f"{down} down, {up} up"
    lost_down, lost_up = asked["path_loss_down_pct"], asked["path_loss_up_pct"]
    if lost_down != lost_up:
        loss = f"loss {lost_down} down, {lost_up} up"
    else:
        loss = "no loss" if lost_down == "0 %" else f"{lost_down} loss each way"
    return f"{rate}, {asked['path_rtt_min_ms']} round trip, {loss}"


def _plain(text: str) -> str:
    """Numbers as one says them: `20 ms` for `20.0 ms`."""
    return re.sub(r"(\d+)\.(\d*?)0+(?=\s)", lambda found: ".".join(filter(None, found.groups())), text)


def _networks(study: Study, analysis: StudyAnalysis) -> Iterator[Network]:
    for name in analysis.paths:
        title, numbers = analysis.path_titles[name], path_numbers(study.paths.get(name))
        said = bool(numbers) and all(part.replace(" round trip", "") in title for part in numbers.split(", ")[:2])
        yield Network("" if said else title, numbers)


def _arms(study: Study, analysis: StudyAnalysis) -> list[str]:
    return analysis.arms or list(study.arms)


def _arm(
    name: str,
    arm: ResolvedArm | None,
    names: list[str],
    host: Mapping[str, object],
    differences: tuple[Difference, ...],
) -> str:
    programs = host.get("programs")
    versions: Mapping[str, object] = programs if isinstance(programs, dict) else {}
    parts = [_program(role, program, versions) for role, program in (arm.programs if arm else ())]
    told = [number_text.listed(parts)] if parts else []
    told += [_HTTP[arm.protocol]] if arm and arm.protocol in _HTTP else []
    place = names.index(name)
    told += [
        f"{each.point} {each.values[place]}"
        for each in differences
        if each.point == "congestion control" and len(each.values) == len(names)
    ]
    return ", ".join(told)


def _program(role: str, program: ResolvedProgram, versions: Mapping[str, object]) -> str:
    """`curl-cffi 0.16.3 (libcurl 8.21.0)`: the program with its version and the library that it is."""
    version = str(versions.get(f"{role} {program.name}", ""))
    library = re.search(r"\((lib[a-z0-9]+)/([0-9.]+)", version)
    plain = version.partition(" (")[0]
    return f"{program.command} {plain}".rstrip() + (f" ({library[1]} {library[2]})" if library else "")


def _difference(line: str, arms: list[str]) -> Difference:
    """`congestion control: h2 cubic, h3 New Reno`, as the resolved spec has it, taken apart."""
    point, _, rest = line.partition(": ")
    found = re.fullmatch(", ".join(rf"{re.escape(arm)} (.*)" for arm in arms), rest) if arms else None
    return Difference(point, found.groups() if found else (rest,))


def _when(study: Study) -> str:
    """Say when the first trial began and the last one ended: all that the study has kept count, also failed ones."""
    begun: list[datetime] = []
    ended: list[datetime] = []
    for folder in ("trials", "failed"):
        for file in (study.directory / folder).rglob("trial.json"):
            told = view_of(read_json(file, []), TrialTime)
            if told is not None and told.span is not None:
                begun.append(told.span[0])
                ended.append(told.span[1])
    return _span(min(begun), max(ended)) if begun else ""


def _span(first: datetime, last: datetime) -> str:
    took = max(1, round((last - first).total_seconds() / 60))
    hours, minutes = divmod(took, 60)
    length = f"{minutes} min" if not hours else f"{hours} h {minutes} min" if minutes else f"{hours} h"
    zone = " UTC" if not first.utcoffset() else ""
    if first.date() == last.date():
        return f"{_day(first)}, {first:%H:%M} to {last:%H:%M}{zone} ({length})"
    return f"{_day(first)}, {first:%H:%M} to {_day(last)}, {last:%H:%M}{zone} ({length})"


def _day(instant: datetime) -> str:
    return f"{instant.day} {instant:%B %Y}"


def machine_text(host: Mapping[str, object]) -> str:
    """Return a machine in a line: `AMD EPYC, 2 processors, 23.5 GiB, Linux 6.18`; empty where nothing is known."""
    cpus, model, kernel = host.get("cpus"), host.get("cpu_model"), host.get("kernel")
    memory = host.get("memory_bytes")
    parts = [str(model)] if model else []
    if isinstance(cpus, int):
        parts.append(f"{cpus} processor" + ("s" if cpus != 1 else ""))
    if isinstance(memory, int):
        parts.append(f"{number_text.number(memory / 2**30)} GiB")
    return ", ".join([*parts, f"Linux {kernel}"] if kernel else parts)


def _size(study: Study, analysis: StudyAnalysis) -> str:
    """Count what was measured: `9 cells, 7 pairs each; 154 trials that count, …`."""
    cells = len(analysis.cells())
    pairs = [comparison.pairs for comparison in analysis.comparisons] or [0]
    least, most = min(pairs), max(pairs)
    each = number_text.counted(most, "pair") if least == most else f"{least} to {most} pairs"
    counting = study.trials.filter(pl.col("status").is_in(["verified", "failed"]))
    trials = counting["trial_id"].drop_nulls().n_unique()
    each += " each" if cells != 1 else ""
    counted = f"{number_text.counted(trials, 'trial')} that count"
    if analysis.controls:
        counted += ", controls (A/A) included"
    what = "of one arm" if analysis.alone else each
    return f"{number_text.counted(cells, 'cell')}{' ' if analysis.alone else ', '}{what}; {counted}"
