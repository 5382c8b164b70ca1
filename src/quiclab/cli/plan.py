# SPDX-License-Identifier: Apache-2.0
"""`quiclab plan`: what a spec would run, in which order, for how long, and whether it can decide anything."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count, groupby, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from quiclab.cli.console import VisibleConsole
from quiclab.cli.own_programs import own_programs, programs_here
from quiclab.cli.plan_text import order_lines, order_table, print_plan
from quiclab.cli.streams import is_read
from quiclab.cli.trouble import tell
from quiclab.cli.voice import add_json, documents
from quiclab.lab.endpoints import Presence, objections_to
from quiclab.lab.endpoints.senders import senders_of
from quiclab.model.errors import ExitCode, HostError, QuiclabError, SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import Path as NetworkPath
from quiclab.model.study import Study
from quiclab.model.terminal_escape import visible
from quiclab.plan.duration import Senders, expected_duration
from quiclab.plan.make import grow_plan, planned_rows
from quiclab.plan.order import FIRST_ATTEMPT, as_kept, order_block
from quiclab.plan.power import attainable
from quiclab.plan.size import PlanSize, plan_size
from quiclab.spec.editor_schema import schema_line
from quiclab.spec.link import link_config
from quiclab.spec.resolved import resolved_json
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import kept_positions
from quiclab.study.claims import read_claims
from quiclab.study.preflight import foreseen
from quiclab.study.sequential_run import planned_arms, planned_blocks
from quiclab.study.specs import describe_arms, load_study, spec_file_of, with_versions

if TYPE_CHECKING:
    from quiclab.compare.power import Power

SHOWN_TRIALS = 20

_EPILOG = """\
examples:
  quiclab plan spec.toml
  quiclab plan spec.toml --all       every trial, not only the first 20
  quiclab plan studies/demo --json   of a study that has begun, for programs
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "plan",
        help="say what a spec would run, and run nothing",
        description="Read a spec and print what it would run: what the arms are and where they differ, the paths with "
        "every default, the number of trials, the expected time, whether so many blocks can decide anything, and the "
        "order of the trials. Runs nothing and writes nothing. Exit code 2 or 3, with which `quiclab run` would refuse "
        "the study, where an arm cannot run.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "spec", type=Path, metavar="SPEC", help="spec.toml, a study directory, or a name of `quiclab studies`"
    )
    parser.add_argument("--all", action="store_true", help=f"list every trial, not only the first {SHOWN_TRIALS}")
    parser.add_argument(
        "--schema",
        action=_PrintSchema,
        nargs=0,
        help="only print the line by which editors find the schema of a spec, to complete and check its keys",
    )
    add_json(parser)
    parser.set_defaults(run=run)


class _PrintSchema(argparse.Action):
    """Prints the line and ends, as `--version` does: no spec is needed."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        print(schema_line())
        parser.exit()


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; raises SpecError where the spec is wrong."""
    spec_file = spec_file_of(arguments.spec)
    study = load_study(spec_file)
    read_claims(spec_file, resolved_json(study))  # one that is wrong is told here, as `run` would
    study_dir = StudyDir(arguments.spec) if arguments.spec.is_dir() else None
    begun, grown = ({}, {}) if study_dir is None else (kept_positions(study_dir), planned_blocks(study_dir))
    arms = {} if study_dir is None else planned_arms(study_dir)
    size = plan_size(study, grown, arms)
    matters = power_of(study, size, arguments.spec if begun else None)
    here = programs_here(study)
    senders = senders_of(with_versions(study, here.versions))
    rows = _in_order(study, begun, grown, arms)
    if arguments.json:
        _print_json(plan_json(study, size, matters, here, senders), rows, study, senders)
    else:
        console = VisibleConsole(highlight=False, soft_wrap=False)
        told = warnings(study, size, here, senders)
        print_plan(console, study, size, describe_arms(study, here.versions), told, matters.sentence, senders)
        _print_order(console, study, rows, size, senders, whole=arguments.all)
    if (refused := refusal(study, here)) is None:
        return ExitCode.OK
    sys.stdout.flush()  # the plan stands before what is wrong with it
    tell(refused)
    return refused.exit_code


def _print_order(
    console: VisibleConsole, study: Study, rows: Iterator[PlanRow], size: PlanSize, senders: Senders, *, whole: bool
) -> None:
    if whole:
        for line in takewhile(lambda _: is_read(sys.stdout), order_lines(study, rows, size, senders)):
            print(visible(line))
        return
    console.print(order_table(study, islice(rows, SHOWN_TRIALS), senders, console))
    if size.trials > SHOWN_TRIALS:
        console.print(f"… and {size.trials - SHOWN_TRIALS} more (--all lists them)", highlight=False)


def refusal(study: Study, here: Presence) -> QuiclabError | None:
    """Error with the code by which `quiclab run` would refuse this study, as an arm cannot run; None where all can.
    `here` has the programs that were found."""
    if unable := objections_to(study):
        hint = "give these arms other programs; `quiclab doctor` lists what each can"
        told = "error: an arm cannot run, as it asks for what its programs cannot do"
        return SpecError(told, hint, (*unable, *here.missing))
    if here.missing:
        hint = "mend that, or leave these arms out; `quiclab run --anyway` compares the others, if two are left"
        return HostError("error: an arm cannot run, as a program of it is not here", hint, here.missing)
    return None


def power_of(study: Study, size: PlanSize, directory: Path | None) -> Power:
    """Numbers of pairs to find a difference that matters, by the study's own pairs where it has some."""
    from quiclab.compare.power import power_to_see  # imported late: it loads NumPy

    has_run = directory is not None and (directory / "metrics.parquet").exists()
    power = attainable(study, _pairs(study, size))
    comparisons = power.comparisons
    place = directory if has_run and comparisons else None
    return power_to_see(study.matters.pct, power.blocks, study.alpha, max(1, comparisons), place)


def _pairs(study: Study, size: PlanSize) -> int:
    """Pairs that are planned of each cell; those of the spec where it names blocks."""
    return study.blocks if study.only_blocks else size.pairs


def _in_order(
    study: Study, begun: Mapping[str, int], grown: Mapping[str, int], arms: Mapping[str, Sequence[Collection[str]]]
) -> Iterator[PlanRow]:
    """Rows in the order in which they run: blocks as planned, the trials of each as a study that was begun has them."""
    position = count()
    rows = grow_plan(study, grown, arms) if grown else planned_rows(study)
    for _, block in groupby(rows, key=lambda row: row.block_id):
        for row in order_block(as_kept(block, begun), FIRST_ATTEMPT):
            yield dataclasses.replace(row, position=next(position))


def _print_json(document: dict[str, object], rows: Iterable[PlanRow], study: Study, senders: Senders) -> None:
    """Print a document whose last key is the order: row after row, as there may be millions."""
    stream = documents()
    stream.write(json.dumps(document, indent=1).removesuffix("\n}") + ',\n "order": [')
    for number, row in enumerate(takewhile(lambda _: is_read(stream), rows)):
        told = dataclasses.asdict(row) | {"expected_ns": expected_duration(row, study, senders).ns}
        stream.write((",\n  " if number else "\n  ") + json.dumps(told))
    stream.write("\n ]\n}\n")


def warnings(study: Study, size: PlanSize, here: Presence, senders: Senders) -> list[str]:
    """Sentences about what would disappoint in this plan; `here` has the programs that were found. Arms that cannot run
    are no warning but a `refusal`."""
    found = []
    power = attainable(study, _pairs(study, size))
    if power.comparisons and (power.together is None or power.together > max(1, power.comparisons // 2)):
        found.append(power.sentence)
    found += foreseen(with_versions(study, here.versions))
    if (own := own_programs(study)) is not None:
        found.append(own)
    limited = {row.cell_id for row in size.samples if expected_duration(row, study, senders) > study.limits.trial}
    if limited:
        found.append(
            f"Trials of {', '.join(sorted(limited))} are expected to reach limits.trial = {study.limits.trial}: they "
            "would fail."
        )
    return found


def _links(path: NetworkPath) -> dict[str, object]:
    """Configuration of a path's links, without the seed."""
    return {key: value for key, value in link_config(path, 0).items() if key in ("link", "up", "down", "more_links")}


def plan_json(study: Study, size: PlanSize, matters: Power, here: Presence, senders: Senders) -> dict[str, object]:
    """Everything that `quiclab plan` prints, for programs, but for the order."""
    power, refused = attainable(study, _pairs(study, size)), refusal(study, here)
    return {
        "version": 1,
        "study": resolved_json(study),
        "arms": describe_arms(study, here.versions),
        "links": {path.name: _links(path) for path in study.paths},
        "cells": len(size.cells),
        "blocks": size.blocks,
        "trials": size.trials,
        "expected_ns": size.expected(study, senders).ns,
        "power": {**dataclasses.asdict(power), "sentence": power.sentence},
        "matters": {**dataclasses.asdict(matters), "sentence": matters.sentence},
        "warnings": warnings(study, size, here, senders),
        "errors": [] if refused is None else refused.problems,
    }
