# SPDX-License-Identifier: Apache-2.0
"""The spec of a study: read for the programs that quiclab has, and kept in the study's directory."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from quiclab.lab.endpoints import Uploads, find, label_of, names_by_role
from quiclab.lab.testbed.cpu_limit import remove_leftover_cgroups
from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.study import Arm, LossTrace, Program, Role, Study, Workload
from quiclab.plan.arms import ArmsSummary, arms_summary
from quiclab.processes import in_fresh_process
from quiclab.project import studies
from quiclab.spec.defaults import with_defaults
from quiclab.spec.read import gives_control, read_study
from quiclab.spec.resolved import resolved_json
from quiclab.store.disk import disk_errors, read_object, write_atomically
from quiclab.store.identity import conflicts
from quiclab.store.layout import OUT_ELSEWHERE, SEQUENTIAL, StudyDir
from quiclab.store.look_records import read_looks
from quiclab.store.study_folder import begin_in
from quiclab.study.limits import EARLIER, earlier_limits, told_changes

ARMS = "arms_summary"
"""Member of resolved.json with what the arms are and where they differ."""
UPLOAD = "upload_"
"""Beginning of a point that an arm's programs declare of an upload."""


def spec_file_of(place: Path) -> Path:
    """Return the spec file that a path stands for: the file itself, the one in a study directory, or, where there is no
    such path, that of the study with this name that comes with quiclab. Raises SpecError for a name of none."""
    if place.is_dir():
        return place / "spec.toml"
    known = studies()
    if place.exists() or place.suffix == ".toml" or len(place.parts) > 1:
        return place
    if place.name not in known:
        near = difflib.get_close_matches(place.name, known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise SpecError(
            f"there is no file {place}, and no study of that name comes with quiclab",
            f"{hint}`quiclab studies` lists those that do",
        )
    return known[place.name]


def load_study(spec: Path) -> Study:
    """Read a spec and check its programs and its metric against those that quiclab has. Raises SpecError.

    One that lies in a study's directory has the A/A control of that study, as `as_begun` says.
    """
    study = as_begun(read_study(spec, names_by_role()), spec, StudyDir(spec.parent))
    if study.metric is None:
        return study
    try:
        # Metrics load polars, whose threads must not be in a process that enters the sandbox.
        metric, kind = in_fresh_process(_comparable, study.metric)
        if kind is not None and all(workload.kind != kind for workload in study.measured_workloads):
            raise SpecError(
                f"{metric} is of a {kind}, and no workload is one", f'name another, or write kind = "{kind}"'
            )
        if metric.endswith("_system_calls") and isinstance(study.count_system_calls, bool):
            raise SpecError(
                f"{metric} is counted in no block", 'write count_system_calls = "every block", or a number of blocks'
            )
        return dataclasses.replace(study, metric=metric)
    except SpecError as error:
        raise SpecError(f"{spec}, study.metric: {error}", error.hint) from error


def as_begun(study: Study, spec: Path, study_dir: StudyDir) -> Study:
    """Return the study with the A/A control that it began with in `study_dir`, where that has more blocks than a spec
    that names no number has now. Raises DecodeError for a resolved spec that cannot be read, HostError where the
    directory cannot be looked at."""
    with disk_errors(study_dir.root):
        has_control = study_dir.has_begun and study_dir.resolved.exists()
    if not has_control or gives_control(spec):
        return study
    with form_errors(study_dir.resolved):
        blocks = read_object(study_dir.resolved).get("aa", {}).get("blocks", 0)
        control = dataclasses.replace(study.aa, blocks=max(blocks, study.aa.blocks))
    return dataclasses.replace(study, aa=control)


def _comparable(name: str) -> tuple[str, str | None]:
    """Return the metric that `name` means, and the one kind of workload that has it; None where any may."""
    from quiclab.evidence.metrics.names import comparable_metric, kind_of

    metric = comparable_metric(name)
    return metric, kind_of(metric)


def describe_arms(study: Study, versions: Mapping[str, str] = MappingProxyType({})) -> ArmsSummary:
    """Describe the arms and where they differ, from the facts that their endpoints declare of these `versions`, by
    role, name and prefix of the program; of one that is not among them, of the version that the spec asks for."""
    of_arms = {arm.name: arm_facts(in_versions(arm, versions), study.measured_workloads) for arm in study.measured_arms}
    return arms_summary(study, of_arms)


def in_versions(arm: Arm, versions: Mapping[str, str]) -> Arm:
    """Return the arm with the versions that its programs really have, where these are known."""

    def found(role: Role, program: Program) -> Program:
        return dataclasses.replace(program, version=versions.get(label_of(role, program), program.version))

    proxy = None if arm.proxy is None else found("proxy", arm.proxy)
    return dataclasses.replace(arm, client=found("client", arm.client), server=found("server", arm.server), proxy=proxy)


def with_versions(study: Study, versions: Mapping[str, str]) -> Study:
    """Return the study with the versions that the programs of its arms really have, where these are known."""
    return dataclasses.replace(study, arms=tuple(in_versions(arm, versions) for arm in study.arms))


def keep_versions(
    study_dir: StudyDir, study: Study, versions: Mapping[str, str], contradicted: Sequence[str] = ()
) -> None:
    """Keep what the arms are with the versions of their programs that really run, and, behind it, sentences about facts
    that their logs contradict."""
    if study_dir.resolved.exists():
        arms = describe_arms(study, versions)
        if contradicted:
            arms["text"] += f" But logs contradict this. {' '.join(contradicted)}"
        resolved = read_object(study_dir.resolved) | {ARMS: arms}
        write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))


def arm_facts(arm: Arm, workloads: Sequence[Workload]) -> dict[str, str]:
    """Facts about an arm from its two ends: for a download, the server's or proxy's as the sender and the client's as
    the receiver; for an upload, each end's for the opposite part, with `UPLOAD` before the point."""
    front, client = find("proxy" if arm.proxy else "server", arm.front.name), find("client", arm.client.name)
    role: Role = "proxy" if arm.proxy else "server"
    tcp_of = {
        each: dataclasses.replace(arm.tcp, congestion_control=arm.tcp.congestion_control_of(each))
        for each in (role, "client")
    }
    told: dict[str, str] = {}
    for endpoint, program, tcp in ((front, arm.front, tcp_of[role]), (client, arm.client, tcp_of["client"])):
        if not all(workload.upload for workload in workloads):
            told |= endpoint.traits(program, arm.protocol, tcp)
        if any(workload.upload for workload in workloads) and isinstance(endpoint, Uploads):
            upload = endpoint.upload_facts(program, arm.protocol, tcp)
            told |= {f"{UPLOAD}{point}": value for point, value in upload.items()}
    return told


def refuse_another_spec(study_dir: StudyDir, study: Study) -> None:
    """Raise SpecError where the spec in a study directory is not the one that its trials were run with."""
    if not study_dir.resolved.exists():
        return
    with form_errors(study_dir.resolved):
        found = conflicts(with_defaults(read_object(study_dir.resolved)), resolved_json(study))
    if found:
        hint = "put the spec back that they were run with"
        raise SpecError(f"{study_dir.spec} differs from the spec that the trials of the study had", hint, found)


@contextmanager
def form_errors(resolved: Path) -> Iterator[None]:
    """Turn what a resolved spec of another form brings about into a DecodeError."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else "a member is not of the type that it must be"
        told = f"{resolved} is not a resolved spec: {what}"
        raise DecodeError(told, "put it back from a copy of the study") from error


@contextmanager
def held(
    study_dir: StudyDir, spec_file: Path, study: Study, elsewhere: str = OUT_ELSEWHERE
) -> Iterator[tuple[str, ...]]:
    """Make the directory and hold it, with the spec in it and without what a killed run left. `elsewhere` is advice for
    a caller who may not write there.

    Yields what `keep_spec` returns. Raises SpecError where what has run would change, and for a directory with files of
    the user's; BusyError where another run holds it.
    """
    folder = spec_file.resolve().parent
    begin_in(study_dir, _named_by(spec_file, study) if folder == study_dir.root.resolve() else ())
    with study_dir.locked(elsewhere):
        remove_leftover_cgroups()
        study_dir.remove_unfinished()
        yield keep_spec(study_dir, spec_file, study)


def keep_spec(study_dir: StudyDir, spec_file: Path, study: Study) -> tuple[str, ...]:
    """Keep the spec and traces beside it with the study. Returns what changed limits do to the trials that are there,
    and what more blocks do to the answer, a sentence each; raises SpecError where what has run would change."""
    if any(each in str(study_dir.root) for each in "{}"):
        hint = "choose another directory with --out"
        raise SpecError(f"{study_dir.root}: servers take {{ and }} in file names for placeholders", hint)
    resolved: dict[str, object] = resolved_json(study) | {ARMS: describe_arms(study)}
    changes: tuple[str, ...] = ()
    if study_dir.has_begun:
        before = read_object(study_dir.resolved)
        with form_errors(study_dir.resolved):
            found = conflicts(with_defaults(before), resolved)
            changes = told_changes(before, study) if before.get("limits") else ()
            resolved[EARLIER] = earlier_limits(before, resolved)
        if found:
            hint = "a study may grow, but not change: choose another directory with --out"
            raise SpecError(f"the spec differs from the one that {study_dir.root} was run with", hint, found)
    folder = spec_file.resolve().parent
    if folder != study_dir.root:
        for trace in traces_of(study):
            if trace.is_relative_to(folder):
                write_atomically(study_dir.root / trace.relative_to(folder), trace.read_bytes())
        write_atomically(study_dir.spec, spec_file.read_bytes())
    write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))
    return (*changes, *_told_growth(study_dir, study))


def _told_growth(study_dir: StudyDir, study: Study) -> tuple[str, ...]:
    """Say what it does to the answer that blocks are added after a result was seen, before they run for hours."""
    looks = read_looks(study_dir.root)
    if not looks or study.blocks <= looks[0].planned or study.only_blocks or (study_dir.root / SEQUENTIAL).exists():
        return ()
    return (
        f"{looks[0].planned} blocks were planned when a result of this study was first seen, and now {study.blocks} "
        "are: it will be decided by the sequential test, which needs more pairs. A new study with another seed has "
        "the usual test (docs/how-to/write-a-study.md)",
    )


def _named_by(spec_file: Path, study: Study) -> set[str]:
    """Names in the folder of a spec that are the spec's own: it, what it follows, and the files that it names."""
    folder = spec_file.resolve().parent
    pages = {Path(each.page.har) for each in study.workloads if each.page is not None and each.page.har is not None}
    files = {each.resolve() for each in (*traces_of(study), *pages)}
    below = {each.relative_to(folder).parts[0] for each in files if each.is_relative_to(folder)}
    return {spec_file.name, "spec.toml", "paper.toml", *below}


def traces_of(study: Study) -> set[Path]:
    """Recorded rates, delays and losses that the study's paths name, as files."""
    directions = [direction for path in study.paths for link in path.links for direction in (link.up, link.down)]
    named = [each for direction in directions for each in (direction.trace, direction.delay_trace)]
    losses = [loss for each in directions for loss in (each.loss, *(change.loss for change in each.schedule))]
    named += [loss.trace for loss in losses if isinstance(loss, LossTrace)]
    return {Path(each) for each in named if each is not None}
