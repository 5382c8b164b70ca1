# SPDX-License-Identifier: Apache-2.0
"""`quiclab report`: tables, metrics, result table and report once more from the files of a study."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.errors import DecodeError, ExitCode
from quiclab.store.layout import StudyDir


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "report",
        help="decode a study again and write its report again",
        description="Decode the logs of a study, compute metrics, test the differences, print the result table and "
        "write STUDY/report.html. Runs no trial and needs no namespaces.",
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="compare by this metric: write STUDY/report-NAME.html with its answer, map, tests and figures beside "
        "STUDY/report.html; from then on both are written",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises DecodeError for a folder that holds no study, SpecError for a metric that cannot be compared."""
    study_dir = StudyDir(arguments.study.resolve())
    if not study_dir.ledger.exists():
        raise DecodeError(
            f"{arguments.study} is no study directory: it has no ledger.sqlite",
            "give the folder that `quiclab run` made; where its ledger was lost, `quiclab run` makes it anew",
        )
    from quiclab.cli.analyse import analyse
    from quiclab.metrics.names import comparable_metric

    metric = None if arguments.metric is None else comparable_metric(arguments.metric)
    with study_dir.locked():
        analyse(study_dir, again=True, metric=metric)
    return ExitCode.OK
