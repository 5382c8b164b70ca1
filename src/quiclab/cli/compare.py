# SPDX-License-Identifier: Apache-2.0
"""`quiclab compare`: did my change make it slower?"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.behind_bar import run_behind_bar
from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import ONE_JOB, add_backend, add_jobs, jobs_again
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import RAN, DecodeError, ExitCode, HostError, SpecError, nearest
from quiclab.processes import in_fresh_process
from quiclab.store.layout import StudyDir

if TYPE_CHECKING:
    from quiclab.compare.builds.gate import Judgement, Verdict
    from quiclab.compare.builds.setting import Difference
    from quiclab.compare.builds.two_studies import StudiesCompared
    from quiclab.compare.study import Study

_DESCRIPTION = """\
Compare two builds of a program: every arm in every cell, NEW against OLD.

With --interleave, OLD and NEW are two specs that differ in a program's build (prefix, argv, env). Both builds run as
arms of one study, in the same blocks, each as often first, and are compared: the same command goes on with a run that
was interrupted. This is the gate to use where both builds can run today.

Without it, OLD and NEW are two finished studies of one spec. Blocks pair up where they have the same seed. Studies that
were not run alike are refused, and every difference is named; only the build of one program is meant to change.
"""

_LISTED = 6
"""Most cells or arms of a study that an error lists."""
_EPILOG = """\
a bound: METRIC > +NUMBER or METRIC < -NUMBER, in % of OLD's median or with a unit (ms, us, s, B, KB, MB, bit/s, kbit/s,
Mbit/s; none for a count). A cell fails where its whole interval lies beyond the bound, at a level that holds for all
cells together. Then the exit code is 6; it is 8 where none fails, but not every cell could be judged, and 0 only where
every cell was judged and passed.

examples:
  quiclab compare --interleave old.toml new.toml --arm h3 --fail-if 'ttlb > +3%'
  quiclab compare studies/old studies/new
  quiclab compare OLD NEW --arm h3 --fail-if 'ttlb > +3%' --fail-if 'setup > +5ms'
  quiclab compare OLD NEW --fail-if 'goodput < -2%' --junit gate.xml --markdown gate.md
  quiclab compare OLD NEW --allow kernel,programs.nginx
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "compare",
        help="compare two builds of a program, as a gate for a change",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("old", type=Path, metavar="OLD", help="study of the build before the change, or its spec")
    parser.add_argument("new", type=Path, metavar="NEW", help="study of the build after it, or its spec")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="what is compared (default: as the report does)"
    )
    parser.add_argument("--arm", action="append", default=[], metavar="ARM", help="arm under test (default: all)")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="KEY,…",
        help="differences that you accept, as the refusal names them",
    )
    parser.add_argument("--fail-if", action="append", default=[], metavar="BOUND", help="fail beyond it: see below")
    add_options(parser)
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the gate's answer as JUnit XML")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a summary in Markdown")
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for a wrong bound, metric or arm and for studies not run alike, DecodeError for no study."""
    # Only light imports before the sandbox of --interleave: it must be entered before the process has threads.
    refuse_without(arguments)
    if arguments.junit and not arguments.fail_if:
        raise SpecError("--junit says what passed and what failed, and nothing can fail", "add --fail-if 'ttlb > +3%'")
    if not arguments.interleave:
        return _compare(arguments, *_studies(arguments.old, arguments.new))
    in_fresh_process(_check, (arguments.fail_if, arguments.metric))
    study_dir, code = run_interleaved(arguments)
    if code not in RAN:
        return code
    from quiclab.compare.builds.interleaved import two_builds
    from quiclab.compare.study import read_study
    from quiclab.spec.two_builds import NEW, OLD

    return _compare(arguments, *two_builds(read_study(study_dir.root), OLD, NEW))


def _check(asked: tuple[Sequence[str], Sequence[str]]) -> None:
    """Raises SpecError for a bound or a metric that no study could have, before one runs for hours."""
    from quiclab.compare.builds.gate import limit_of, parse_bound
    from quiclab.compare.model import Metric
    from quiclab.evidence.metrics import declared
    from quiclab.evidence.metrics.names import comparable_metric

    for name in asked[1]:
        comparable_metric(name)
    for text in asked[0]:
        bound = parse_bound(text)
        known = declared(comparable_metric(bound.metric))
        if known is not None:
            limit_of(bound, Metric(known.name, known.title, known.unit, known.better != "higher"))


def _compare(arguments: argparse.Namespace, old: Study, new: Study) -> int:
    """Compare and judge two studies, or the two builds of one; return the gate's exit code."""
    from quiclab.cli.console import VisibleConsole
    from quiclab.compare.analyse import usual_metric
    from quiclab.compare.builds.gate import Verdict, exit_verdict, judge, limit_of, parse_bound
    from quiclab.compare.builds.setting import differences, groups
    from quiclab.compare.builds.two_studies import compare_studies
    from quiclab.compare.interim_analyses import remember_look
    from quiclab.report.words.change_text import render_change
    from quiclab.report.words.gate_files import junit_xml, markdown
    from quiclab.spec.defaults import with_defaults
    from quiclab.store.disk import write_atomically

    bounds = [parse_bound(text) for text in arguments.fail_if]
    known = set(old.metrics["name"]) | set(new.metrics["name"])
    asked = [(bound, _metric(bound.metric, known)) for bound in bounds]
    named = [*(_metric(name, known) for name in arguments.metric), *(name for _, name in asked)]
    arms = _arms(old, new, arguments.arm)
    # A key that is new to one of them is no difference where its default is what the other one had without it.
    old_filled, new_filled = (replace(each, resolved=with_defaults(each.resolved)) for each in (old, new))
    found = differences(old_filled, new_filled, arms, keys := _allowed(arguments))
    if arguments.interleave:
        found = tuple(replace(each, expected=True) for each in found)
    else:
        _check_common_cells(old, new, arms)
        _refuse(found, groups(old, new), keys)
    metrics = list(dict.fromkeys(named)) or [usual_metric(old)]
    result = compare_studies(old, new, metrics, sorted(arms), found, interleaved=arguments.interleave)
    for bound, name in asked:
        limit_of(bound, next(metric for metric in result.metrics if metric.name == name))
    judgements = judge(asked, result.changes, result.alpha)
    for study in {study.directory: study for study in (old, new)}.values():
        with suppress(HostError):  # what lies where nothing can be written is compared all the same
            remember_look(study, list(dict.fromkeys([usual_metric(study), *metrics])))
    render_change(result, judgements, VisibleConsole())
    if arguments.junit:
        write_atomically(arguments.junit, junit_xml(result, judgements), option="--junit")
    if arguments.markdown:
        write_atomically(arguments.markdown, markdown(result, judgements), option="--markdown")
    codes = {Verdict.PASSED: ExitCode.OK, Verdict.FAILED: ExitCode.GATE, Verdict.NOT_JUDGED: ExitCode.NOT_JUDGED}
    verdict = exit_verdict(judgements) if bounds else None
    code = ExitCode.OK if verdict is None else codes[verdict]
    if arguments.json:
        print_document(_document(result, verdict, judgements, code))
    return code


def _metric(name: str, measured: Collection[str]) -> str:
    """The metric that `name` means, out of what was measured; out of all where no trial counts, so that cells are told
    as not judged. Raises SpecError for another one."""
    from quiclab.evidence.metrics.names import comparable_metric, find_metric

    return find_metric(name, measured, "no study measured a metric") if measured else comparable_metric(name)


def _document(
    result: StudiesCompared, verdict: Verdict | None, judgements: Sequence[Judgement], code: ExitCode
) -> dict[str, object]:
    from quiclab.cli.as_json import as_json
    from quiclab.cli.documents import CompareDocument, Judged
    from quiclab.cli.status_document import VERSION

    judged = tuple(
        Judged(
            each.bound.text,
            each.change.metric.name,
            each.change.workload,
            each.change.path,
            each.change.arm,
            each.verdict,
            each.reason,
            each.open_ended,
        )
        for each in judgements
    )
    document: dict[str, object] = as_json(CompareDocument(VERSION, code, result, verdict, judged))
    return document


def _allowed(arguments: argparse.Namespace) -> list[str]:
    return [key.strip() for keys in arguments.allow for key in keys.split(",") if key.strip()]


def _studies(old: Path, new: Path) -> tuple[Study, Study]:
    from quiclab.compare.builds.copies import shared_trials
    from quiclab.compare.selectable_metrics import readable
    from quiclab.model.number_text import counted

    if old.resolve() == new.resolve():
        raise SpecError(f"{old} and {new} are the same study", "give the study of the build before and the one after")
    for directory in (old, new):
        make_needed_tables(directory)
    studies = readable(old), readable(new)
    for study in studies:
        if not study.trials.height:
            raise DecodeError(
                f"{study.directory} has no table of trials", "`quiclab report STUDY` makes the tables of a study"
            )
    if shared := shared_trials(*studies):
        raise SpecError(
            f"{old} and {new} share {counted(shared, 'trial')}: one is a copy of the other, or was continued from one",
            "run NEW into a folder of its own: quiclab run SPEC --out NEW",
        )
    return studies


def _arms(old: Study, new: Study, asked: Sequence[str]) -> set[str]:
    """The arms under test. Raises SpecError for one that a study has not."""
    there = [{str(arm) for arm in study.trials["arm"] if "#" not in str(arm)} for study in (old, new)]
    for arm in asked:
        for label, arms in zip(("OLD", "NEW"), there, strict=True):
            if arm not in arms:
                raise SpecError(f"{label} has no trial of an arm {arm!r}", nearest(arm, sorted(arms), "it has"))
    return set(asked) or there[0] | there[1]


def _check_common_cells(old: Study, new: Study, arms: Collection[str]) -> None:
    """Raises SpecError where no arm under test was run in one cell in both studies."""
    import polars as pl

    before, after = (
        dict.fromkeys(study.trials.select("workload", "path", "arm").filter(pl.col("arm").is_in([*arms])).iter_rows())
        for study in (old, new)
    )
    if before.keys() & after.keys():
        return
    cells = {place[:2] for place in before} & {place[:2] for place in after}
    named = [
        _in_short(dict.fromkeys(arm if cells else f"{workload}/{path}" for workload, path, arm in each))
        for each in (before, after)
    ]
    raise SpecError(
        f"OLD and NEW have no {'arm' if cells else 'cell'} in common: nothing can be compared",
        "give two studies of one spec: workloads, paths and arms are paired by their names",
        tuple(f"{label} has {names}" for label, names in zip(("OLD", "NEW"), named, strict=True)),
    )


def _in_short(names: Collection[str]) -> str:
    more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join([*names][:_LISTED])}{more}"


def _refuse(found: Collection[Difference], known: Collection[str], allowed: Collection[str]) -> None:
    """Raises SpecError with every difference that was neither meant nor accepted."""
    for key in allowed:
        if key.partition(".")[0] not in known:
            hint = nearest(key, sorted(known), "there are")
            raise SpecError(f"--allow {key}: there is no such difference", hint)
    refused = [each for each in found if not each.expected and not each.is_of(allowed)]
    if refused:
        keys = list(dict.fromkeys(each.key for each in refused))
        short = keys if len(keys) <= 4 else list(dict.fromkeys(key.partition(".")[0] for key in keys))
        raise SpecError(
            "OLD and NEW were not run alike: a difference between them could be any of these",
            f"run both alike, or accept what cannot matter: --allow {','.join(short)}",
            tuple(map(str, refused)),
        )


# `quiclab compare --interleave`: run two builds as arms of one study, in the same blocks.
def add_options(parser: argparse.ArgumentParser) -> None:
    """Teach `quiclab compare` what running both builds takes."""
    options = parser.add_argument_group("--interleave")
    options.add_argument(
        "--interleave", action="store_true", help="OLD and NEW are specs: run both builds in the same blocks of a study"
    )
    options.add_argument("--blocks", type=int, metavar="N", help="blocks of each cell (default: as OLD has)")
    options.add_argument("--out", type=Path, metavar="STUDY", help="its directory (default: studies/NAME-interleaved)")
    add_backend(options)
    add_wait(options)
    add_jobs(options)


def refuse_without(arguments: argparse.Namespace) -> None:
    """Raise SpecError for an option that does nothing with or without --interleave."""
    given = [name for name in ("blocks", "out", "backend", "wait") if getattr(arguments, name) is not None]
    given += ["jobs"] * (arguments.jobs != ONE_JOB)
    if given and not arguments.interleave:
        raise SpecError(f"--{given[0]} is for a study to be run", "add --interleave, with two specs as OLD and NEW")
    if arguments.allow and arguments.interleave:
        raise SpecError("--allow: in one study nothing but the arms can differ", "leave it out")
    if arguments.blocks is not None and arguments.blocks < 1:
        raise SpecError(f"--blocks {arguments.blocks}: a study has at least one block", "give 1 or more")


def run_interleaved(arguments: argparse.Namespace) -> tuple[StudyDir, int]:
    """Run what is not done yet of the study of both builds. Returns its directory, and how running it ended."""
    # Only light imports before the sandbox: it must be entered before the process has threads.
    from quiclab.spec.two_builds import Build, interleave
    from quiclab.study.run import in_sandbox_of
    from quiclab.study.specs import held, load_study, spec_file_of

    old, new = (
        Build(file, load_study(file)) for file in (spec_file_of(place) for place in (arguments.old, arguments.new))
    )
    with tempfile.TemporaryDirectory() as folder:
        spec_file = Path(folder, "spec.toml")
        spec_file.write_text(interleave(old, new, arguments.arm, arguments.blocks), encoding="utf-8")
        study = load_study(spec_file)
        study_dir = StudyDir((arguments.out or Path("studies", study.name)).resolve())
        with held(study_dir, spec_file, study):

            def trials() -> int:
                again = shlex.join(["quiclab", "run", str(study_dir.root), *jobs_again(arguments.jobs)])
                return run_behind_bar(
                    study,
                    study_dir,
                    backend=arguments.backend,
                    jobs=arguments.jobs,
                    interrupted=f"interrupted: finished trials are kept; the same command continues, as does {again}",
                )

            with measuring(arguments):
                code = in_sandbox_of(study_dir, trials)
            if code in RAN:
                from quiclab.cli.analyse import make_tables_visibly
                from quiclab.cli.console import VisibleConsole

                make_tables_visibly(study_dir, VisibleConsole())
    return study_dir, code
