# SPDX-License-Identifier: Apache-2.0
"""`quiclab plan`: what a spec would run, in which order, for how long, and whether it can decide anything."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.cli.console import VisibleConsole
from quiclab.cli.own_programs import missing_programs, own_programs
from quiclab.cli.plan_text import print_plan
from quiclab.endpoints import objections
from quiclab.endpoints.ecn import ecn_warnings
from quiclab.errors import ExitCode
from quiclab.plan.blocked import block_warnings
from quiclab.plan.duration import expected_duration, expected_total
from quiclab.plan.make import make_plan
from quiclab.plan.order import FIRST_ATTEMPT, as_kept, order_block
from quiclab.plan.power import attainable
from quiclab.plan.rows import PlanRow
from quiclab.spec.link import link_config
from quiclab.spec.model import Path as NetworkPath
from quiclab.spec.model import Study
from quiclab.spec.resolved import resolved_json
from quiclab.store.layout import StudyDir
from quiclab.store.ledger import kept_positions
from quiclab.study.specs import describe_arms, load_study, spec_file_of

if TYPE_CHECKING:
    from quiclab.analysis.power import Power

SHOWN_TRIALS = 20


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "plan",
        help="say what a spec would run, and run nothing",
        description="Read a spec and print what it would run: what the arms are and where they differ, the paths with "
        "every default, the number of trials, the expected time, whether so many blocks can decide anything, and the "
        "order of the trials. Runs nothing and writes nothing.",
    )
    parser.add_argument("spec", type=Path, help="spec.toml, or a study directory")
    parser.add_argument("--all", action="store_true", help=f"list every trial, not only the first {SHOWN_TRIALS}")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the plan; raises SpecError where the spec is wrong."""
    study = load_study(spec_file_of(arguments.spec))
    begun = kept_positions(StudyDir(arguments.spec)) if arguments.spec.is_dir() else {}
    rows = _in_order(as_kept(make_plan(study), begun))
    matters = power_of(study, arguments.spec if begun else None)
    if arguments.json:
        print(json.dumps(plan_json(study, rows, matters), indent=1))
        return ExitCode.OK
    console = VisibleConsole(highlight=False, soft_wrap=False)
    print_plan(
        console,
        study,
        rows,
        describe_arms(study),
        warnings(study, rows),
        None if arguments.all else SHOWN_TRIALS,
        matters.sentence,
    )
    return ExitCode.OK


def power_of(study: Study, directory: Path | None) -> Power:
    """What it takes to find a difference that matters, by the study's own pairs where it has some."""
    from quiclab.analysis.power import power_to_see  # imported late: it loads the whole analysis

    has_run = directory is not None and (directory / "metrics.parquet").exists()
    comparisons = attainable(study).comparisons
    place = directory if has_run else None
    return power_to_see(study.matters.pct, study.blocks, study.alpha, comparisons, place)


def _in_order(rows: Sequence[PlanRow]) -> list[PlanRow]:
    """Rows in the order in which they run: their blocks as given, the trials of each by their positions."""
    blocks: dict[str, list[PlanRow]] = {}
    for row in rows:
        blocks.setdefault(row.block_id, []).append(row)
    ordered = [row for block in blocks.values() for row in order_block(block, FIRST_ATTEMPT)]
    return [dataclasses.replace(row, position=number) for number, row in enumerate(ordered)]


def warnings(study: Study, rows: Sequence[PlanRow]) -> list[str]:
    """Why this plan would disappoint, each as a sentence."""
    found = []
    power = attainable(study)
    if power.together is None or power.together > max(1, power.comparisons // 2):
        found.append(power.sentence)
    for arm, workloads in study.runs():
        found += [f"Arm {arm.name} cannot run: {reason}." for reason in objections(arm, workloads)]
    found += [f"Not on this machine: {reason}." for reason in missing_programs(study)]
    for path in study.paths:
        found += ecn_warnings(study.arms, path) + block_warnings(study.arms, path)
    if (own := own_programs(study)) is not None:
        found.append(own)
    limited = {row.cell_id for row in rows if expected_duration(row, study) > study.limits.trial}
    if limited:
        found.append(
            f"Trials of {', '.join(sorted(limited))} are expected to reach limits.trial = {study.limits.trial}: they "
            "would fail."
        )
    return found


def _links(path: NetworkPath) -> dict[str, Any]:
    """What the link is told of a path, without the seed."""
    return {key: value for key, value in link_config(path, 0).items() if key in ("link", "up", "down", "more_links")}


def plan_json(study: Study, rows: Sequence[PlanRow], matters: Power) -> dict[str, Any]:
    """Everything that `quiclab plan` prints, for programs."""
    power = attainable(study)
    return {
        "version": 1,
        "study": resolved_json(study),
        "arms": describe_arms(study),
        "links": {path.name: _links(path) for path in study.paths},
        "cells": len({row.cell_id for row in rows}),
        "blocks": len({row.block_id for row in rows}),
        "trials": len(rows),
        "expected_ns": expected_total(rows, study).ns,
        "power": {**dataclasses.asdict(power), "sentence": power.sentence},
        "matters": {**dataclasses.asdict(matters), "sentence": matters.sentence},
        "warnings": warnings(study, rows),
        "order": [{**dataclasses.asdict(row), "expected_ns": expected_duration(row, study).ns} for row in rows],
    }
