# SPDX-License-Identifier: Apache-2.0
"""`quiclab report`: result table and report once more from a study's tables, which are made where they are missing."""

from __future__ import annotations

import argparse
from pathlib import Path

from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import ExitCode, SpecError
from quiclab.store.layout import StudyDir
from quiclab.store.no_study import need_ledger

_EPILOG = """\
examples:
  quiclab report studies/demo
  quiclab report studies/demo --metric setup    a page about the handshake beside it
  quiclab report studies/demo --again           decode all logs once more
  quiclab report studies/demo --json            the numbers, for programs
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "report",
        help="write a study's report again",
        description="Test the differences of a study, print the result table and write STUDY/report.html. Trials whose "
        "tables are missing, or were made by another version of quiclab, are decoded first. Runs no trial and needs no "
        "namespaces.",
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="compare by this metric: write STUDY/report-NAME.html with its answer, map, tests and figures beside "
        "STUDY/report.html; from then on both are written",
    )
    parser.add_argument(
        "--single-file",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE",
        help="pack the report, the pages of its pairs and their figures into one HTML file, to mail (default: the "
        "study's name with .html, here)",
    )
    parser.add_argument("--again", action="store_true", help="decode the logs of all trials again")
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises DecodeError for a folder that holds no study, SpecError for a metric that cannot be compared."""
    study_dir = StudyDir(arguments.study.resolve())
    need_ledger(study_dir)
    from quiclab.cli.analyse import analyse
    from quiclab.evidence.metrics.names import comparable_metric

    metric = None if arguments.metric is None else comparable_metric(arguments.metric)
    with study_dir.locked():
        document = analyse(study_dir, again=arguments.again, metric=metric)
        if arguments.single_file is not None:
            _pack(Path(document.report), arguments.single_file)
    if arguments.json:
        from quiclab.cli.as_json import as_json

        print_document(as_json(document))
    return ExitCode.OK


def _pack(page: Path, out: Path) -> None:
    """Write the single file; without a name it has the study's. Raises SpecError where it would replace the page."""
    from quiclab.model import number_text
    from quiclab.report.page.single_file import is_single_file, write_single_file

    out = out if out.name else Path(f"{page.parent.name}{page.stem.removeprefix('report')}.html")
    if out.resolve() == page:
        raise SpecError(f"{out} is the report itself", "give the single file another name")
    if out.exists() and not is_single_file(out):
        raise SpecError(f"{out} exists, and is no report in one file", "give the single file another name")
    packed = write_single_file(page, out)
    told = f"{number_text.size(packed.size_bytes)}, with {number_text.counted(packed.pairs, 'page')} of pairs"
    print(f"single file: {out}, {told}; left out: {packed.left_out}")
