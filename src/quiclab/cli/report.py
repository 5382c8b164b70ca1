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
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises DecodeError for a folder that holds no study."""
    study_dir = StudyDir(arguments.study.resolve())
    if not study_dir.ledger.exists():
        raise DecodeError(
            f"{arguments.study} is no study directory: it has no ledger.sqlite",
            "give the folder that `quiclab run` made",
        )
    from quiclab.cli.analyse import analyse

    with study_dir.locked():
        analyse(study_dir, again=True)
    return ExitCode.OK
