# SPDX-License-Identifier: Apache-2.0
"""Studies of one spec, run in parts on one machine or on several, joined into one: in any order, and again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from quiclab.model.errors import DecodeError, SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Study
from quiclab.plan.make import grow_plan
from quiclab.spec.defaults import with_defaults
from quiclab.store.disk import copy_in, disk_errors, need_readable, read_object, write_atomically
from quiclab.store.growth import read_growth
from quiclab.store.identity import conflicts
from quiclab.store.layout import BESIDE, SUFFIXES, Attempt, StudyDir, damage, judged_document
from quiclab.store.ledger import Ledger, borrowed_ledger, open_ledger
from quiclab.store.look_records import keep_look, read_looks
from quiclab.store.no_study import need_ledger, no_study
from quiclab.study.limits import EARLIER, changed_limits, earlier_limits
from quiclab.study.sequential_run import planned_arms, planned_blocks
from quiclab.study.specs import ARMS, form_errors, held, load_study

_SAME = ("quiclab", "link_backend", "programs")
"""Facts of host.json that all parts of a study must share. Machine and kernel may differ: each is an occasion of its
own."""


@dataclass(frozen=True)
class Merged:
    """Gain of a study from a merge."""

    study: Study
    brought: int
    """Trials that were not there before, or were void there."""
    known: int
    """Trials that were there already, the same attempts."""
    mended: int
    """Trials that were damaged there, and are whole again."""
    damaged: Mapping[str, str]
    """Trials that are damaged still, each with what it lacks."""
    left_out: int
    """Trials of blocks that a part has begun and not ended, which were not brought."""
    caveats: tuple[str, ...]
    """Sentences about parts that ran by other limits, or by `--until`."""


@dataclass(frozen=True)
class _Part:
    directory: StudyDir
    rows: Sequence[PlanRow]
    attempts: dict[str, list[Attempt]]
    """Attempts at the trials of blocks that are over: another one may run again as a whole."""
    left_out: int
    """Trials of blocks that were begun and are not over."""


def merge(study_dir: StudyDir, parts: Sequence[StudyDir]) -> Merged:
    """Bring every trial of some studies into `study_dir`, which is made where it is not there; they stay as they are.

    Raises SpecError where two do not fit together, or have run the same trial; DecodeError for what is no study,
    BusyError where one is at work. Nothing is brought in before all have been looked at.
    """
    for each in parts:
        if each.root == study_dir.root:
            raise SpecError(f"{each.root} is to be merged into itself", "name another directory first")
        need_ledger(each, hint := "give the folders that `quiclab run` made")
        if not each.spec.is_file():
            raise no_study(each, "spec.toml", hint)
    first = parts[0]
    study = load_study(first.spec)
    with ExitStack() as held_all:
        for each in dict.fromkeys(parts):
            held_all.enter_context(each.undisturbed())
        _refuse_others(study_dir, parts, first)
        planned = {row.trial_id: row for row in grow_plan(study, {})}
        _refuse_grown(list(dict.fromkeys(parts)), study, planned)
        read = [_read(each, planned, first) for each in dict.fromkeys(parts)]
        _sources(study_dir, {}, read)
        caveats = tuple(
            told for each in dict.fromkeys(parts) for told in (*_other_limits(each, first, study), *_other_end(each))
        )
        held_all.enter_context(held(study_dir, first.spec, study, "name another directory first"))
        with open_ledger(study_dir) as ledger:
            ledger.adopt()
            before = ledger.attempts()
            sources = _sources(study_dir, before, read)
            known = {trial_id for part in read for trial_id in part.attempts} - sources.keys()
            for part in read:
                ledger.plan(part.rows)
            for source, tries in sources.values():
                _bring(study_dir, source, ledger, tries)
            damaged = ledger.damaged()
        _keep_what_belongs_to_all(study_dir, parts)
    mended = sum(tries[0] in before.get(trial_id, ()) for trial_id, (_, tries) in sources.items())
    return Merged(
        study, len(sources) - mended, len(known), mended, damaged, sum(part.left_out for part in read), caveats
    )


def merge_block(study_dir: StudyDir, ledger: Ledger, part: StudyDir, rows: Sequence[PlanRow]) -> None:
    """Bring one block, which ran alone in `part`, into a study that is held and whose ledger is open; again where that
    was interrupted.

    Raises SpecError for a part of another study, or run with other programs; DecodeError for one that is no study or
    lacks trials of the block.
    """
    with part.undisturbed():
        _refuse_others(study_dir, [part], study_dir)
        attempts = _read(part, {row.trial_id: row for row in rows}, study_dir).attempts
        if lacking := [row.trial_id for row in rows if row.trial_id not in attempts]:
            raise DecodeError(f"{part.root} lacks {len(lacking)} of the block's {len(rows)} trials", "run it again")
        known = {trial_id: ledger.attempts().get(trial_id, []) for trial_id in attempts}
        if twice := [each for each, before in known.items() if attempts[each][: len(before)] != before]:
            raise SpecError(f"{study_dir.root} and {part.root} have both run the trial {twice[0]}")
        for trial_id, tries in attempts.items():
            if new := tries[len(known[trial_id]) :]:
                _bring(study_dir, part, ledger, new)
        _keep_what_belongs_to_all(study_dir, [part])


def differences(facts: Mapping[str, object], others: Mapping[str, object]) -> tuple[str, ...]:
    """Differences of two machines in what they must have in common, by the facts of their host.json, a sentence
    each."""
    return tuple(
        f"{key} is {_fact_text(facts.get(key))}, elsewhere {_fact_text(others.get(key))}"
        for key in _SAME
        if facts.get(key) != others.get(key)
    )


def _refuse_others(study_dir: StudyDir, parts: Sequence[StudyDir], first: StudyDir) -> None:
    """Raise SpecError for a part with another spec than `first`, or with other programs."""
    with form_errors(first.resolved):
        resolved = with_defaults(read_object(first.resolved))
    host = read_object(study_dir.host if study_dir.host.exists() else parts[0].host)
    problems = []
    for each in parts:
        with form_errors(each.resolved):
            problems += [
                f"{each.root}: {told}" for told in conflicts(with_defaults(read_object(each.resolved)), resolved)
            ]
        problems += [f"{each.root}: {told}" for told in differences(read_object(each.host), host)]
    if problems:
        hint = "run all parts of a study with one spec, one quiclab and the same programs"
        raise SpecError("these studies are not parts of one", hint, tuple(problems))


def _refuse_grown(parts: Sequence[StudyDir], study: Study, planned: Collection[str]) -> None:
    """Raise SpecError for a part that has grown beyond the spec's blocks (`--until`): what decided that it goes on were
    its own results, and so its pairs are no part of a greater number."""
    held_trials = {}
    for each in parts:
        with borrowed_ledger(each) as ledger:
            held_trials[each] = {row["trial_id"] for row in ledger.rows()}
    for each in parts:
        grown = {row.trial_id for row in grow_plan(study, planned_blocks(each), planned_arms(each))} - {*planned}
        if not grown & held_trials[each]:
            continue
        again = f"`quiclab run {each.root}` goes on with it"
        twins = [other for other in parts if other != each and held_trials[other] == held_trials[each]]
        if twins:
            told = f"{each.root} and {twins[0].root} hold the same trials, more than their spec plans (--until)"
            raise SpecError(told, f"one of them is the whole study: {again}")
        told = (
            f"{each.root} has grown by --until beyond the blocks of its spec, and such a study is merged with no other"
        )
        raise SpecError(told, f"leave it out; {again}")


def _other_end(part: StudyDir) -> list[str]:
    """A sentence about a part that was to go on until it is decided: the whole has the blocks of the spec."""
    if read_growth(part.root) is None:
        return []
    return [
        f"{part.root} ran with --until. The whole has the blocks of the spec and keeps its interim looks; to go on "
        "until it is decided, run it with --until."
    ]


def _other_limits(part: StudyDir, first: StudyDir, study: Study) -> list[str]:
    """A sentence about a part that ran by other limits than those of the spec that all parts are to have."""
    before = read_object(part.resolved)
    changes = changed_limits(before, study) if before.get("limits") else ()
    if not changes:
        return []
    named = "; ".join(change for change, _ in changes)
    return [
        f"{part.root} ran by other limits than {first.spec} has ({named}): its trials count as they were judged there, "
        "until `quiclab run` goes on with the whole."
    ]


def _fact_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _read(part: StudyDir, planned: Mapping[str, PlanRow], first: StudyDir) -> _Part:
    """Read a part. `planned` is trial → row of the spec that all parts are to have. Raises SpecError for a trial
    that it does not plan, or that was run without its block, and DecodeError for one that is said to be of another arm
    or cell."""
    with borrowed_ledger(part) as ledger:
        rows, attempts = ledger.rows(), ledger.attempts()
    for row in rows:
        if row["trial_id"] not in planned:
            what = f"{row['trial_id']} of {row['cell_id']}"
            told = f"{part.root} has a trial that the spec of {first.root} does not plan: {what}"
            raise SpecError(told, "name the part first whose spec has most blocks, workloads and paths")
        if wrong := [name for name, value in _fixed(planned[row["trial_id"]]).items() if row.get(name) != value]:
            told = f"{part.ledger} says of the trial {row['trial_id']} that its {wrong[0]} is {row.get(wrong[0])!r}"
            raise DecodeError(f"{told}, which its spec does not", "leave this part out, or copy it again")
    blocks_of = {trial_id: row.block_id for trial_id, row in planned.items()}
    known = {row["trial_id"] for row in rows}
    cut = {row["block_id"] for row in rows if row["trial_id"] not in attempts}
    blocks = {blocks_of[trial_id] for trial_id in known}
    if lacking := {trial_id for trial_id, block in blocks_of.items() if block in blocks} - known:
        told = f"{part.root} has trials of blocks without the other {len(lacking)} of these blocks"
        raise SpecError(told, "leave it out: what `quiclab trial` ran by itself counts in no study")
    if unknown := attempts.keys() - known:
        told = f"{part.ledger} lacks {len(unknown)} of the trials whose folders are there: it is damaged"
        raise DecodeError(told, f"copy the part again, or run it again: quiclab run {part.root}")
    whole = [PlanRow(**{name: row[name] for name in PlanRow.__dataclass_fields__}) for row in rows]
    over = {
        trial_id: tries for trial_id, tries in attempts.items() if trial_id in known and blocks_of[trial_id] not in cut
    }
    return _Part(part, whole, over, len(attempts) - len(over))


def _fixed(row: PlanRow) -> dict[str, object]:
    """The members of a row that its spec decides: all but its place in its block, which is kept as it was drawn."""
    return {name: value for name, value in asdict(row).items() if name != "position"}


def _sources(
    study_dir: StudyDir, known: Mapping[str, list[Attempt]], parts: Sequence[_Part]
) -> dict[str, tuple[StudyDir, Sequence[Attempt]]]:
    """Trial → the part that has most attempts at it, and those to be brought from there: the ones that the study lacks,
    or all where its last one is damaged and the part's is whole. Raises SpecError for one that was run twice."""
    there = {trial_id: (study_dir, tries) for trial_id, tries in known.items()}
    found: dict[str, tuple[StudyDir, Sequence[Attempt]]] = {}
    for part in parts:
        for trial_id, tries in part.attempts.items():
            mine, other = (part.directory, tries), there.get(trial_id)
            new: Sequence[Attempt] = tries[len(known.get(trial_id, ())) :]
            if other is not None:
                if not _same(other, mine):
                    told = f"{other[0].root} and {part.directory.root} have both run the trial {trial_id}"
                    raise SpecError(told, "merge each shard once; of two runs of one shard leave one out")
                if len(tries) == len(other[1]) and _is_whole(*mine) and not _is_whole(*other):
                    new = tries
                elif len(tries) <= len(other[1]):
                    continue
            there[trial_id], found[trial_id] = mine, (part.directory, new)
    return found


def _is_whole(where: StudyDir, tries: Sequence[Attempt]) -> bool:
    return damage(where.folder(tries[-1]), tries[-1].trial_id) is None


def _same(one: tuple[StudyDir, list[Attempt]], other: tuple[StudyDir, list[Attempt]]) -> bool:
    """True if the attempts that two studies both have at a trial are the same, and not only as many, as far as both can
    tell: where a trial.json is damaged, the other trials of its block do."""
    both = min(len(one[1]), len(other[1]))
    if one[1][:both] != other[1][:both]:
        return False
    folders = ((one[0].folder(each), other[0].folder(each)) for each in one[1][:both])
    readable = (pair for pair in folders if all(judged_document(folder) is not None for folder in pair))
    return all((a / "trial.json").read_bytes() == (b / "trial.json").read_bytes() for a, b in readable)


def _bring(study_dir: StudyDir, part: StudyDir, ledger: Ledger, tries: Sequence[Attempt]) -> None:
    """Folders first, then tables and system calls, then the ledger: what is in it is whole."""
    for each in tries:
        if (source := part.folder(each)).is_dir():
            need_readable(source)
            copy_in(source, study_dir.folder(each))
    trial_id = tries[-1].trial_id
    with disk_errors(study_dir.tables):
        for table in sorted(folder for folder in part.tables.glob("*") if folder.is_dir()):
            for file in (table / f"{trial_id}{suffix}" for suffix in SUFFIXES):
                if file.is_file():
                    (study_dir.tables / table.name).mkdir(exist_ok=True)
                    shutil.copyfile(file, study_dir.tables / table.name / file.name)
    if (counts := part.system_calls_beside(trial_id)).is_file():
        with disk_errors(kept := study_dir.system_calls_beside(trial_id)):
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(counts, kept)
    ledger.record(*tries)


def _is_of(host: Path, told: Mapping[str, object]) -> bool:
    """True for a kept host.json of the same machine and programs; those that measured beside do not count."""
    return {**read_object(host), BESIDE: None} == {**told, BESIDE: None}


def _with_neighbours_of(host: Path, told: Mapping[str, object]) -> dict[str, object]:
    """A part's host.json, with those who measured beside the parts before it, too."""
    before = str(read_object(host).get(BESIDE) or "") if host.exists() else ""
    neighbours = [each for each in (*before.split(", "), *str(told.get(BESIDE) or "").split(", ")) if each]
    return {**told, BESIDE: ", ".join(dict.fromkeys(neighbours))} if neighbours else dict(told)


def _keep_what_belongs_to_all(study_dir: StudyDir, parts: Sequence[StudyDir]) -> None:
    """Facts about each machine and about the arms with its programs, each look at the results, and what a paper
    claims."""
    seen = [look for each in parts for look in read_looks(each.root)]
    for look in sorted(seen, key=lambda each: each.when_utc):
        keep_look(study_dir.root, look)
    with disk_errors(study_dir.root):
        study_dir.hosts.mkdir(exist_ok=True)
        for each in parts:
            told, names = read_object(each.host), (f"{each.root.name}{end}.json" for end in ("", *range(2, 1000)))
            free = (study_dir.hosts / name for name in names)
            place = next(file for file in free if not file.exists() or _is_of(file, told))
            write_atomically(place, json.dumps(_with_neighbours_of(place, told), indent=1))
        for name in ("host", "paper"):
            source, target = getattr(parts[0], name), getattr(study_dir, name)
            if source.is_file() and not target.exists():
                write_atomically(target, source.read_bytes())
        resolved = read_object(study_dir.resolved)
        for each in parts:
            told = read_object(each.resolved)
            before = [*(resolved.get(EARLIER) or []), *(told.get(EARLIER) or [])]
            every = earlier_limits({**told, EARLIER: before}, resolved)
            resolved[EARLIER] = [limits for number, limits in enumerate(every) if limits not in every[:number]]
        if (arms := read_object(parts[0].resolved).get(ARMS)) is not None:
            resolved[ARMS] = arms
        write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))
