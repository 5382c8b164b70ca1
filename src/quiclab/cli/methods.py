# SPDX-License-Identifier: Apache-2.0
"""`quiclab methods`: a paragraph for a paper's methods section, and BibTeX of all programs."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from quiclab.cli.needed_tables import make_needed_tables
from quiclab.model.errors import ExitCode

_DESCRIPTION = """\
Say in one paragraph how a study was measured and tested: arms with their programs and versions, networks, workloads,
pairs, seed, test, invalid trials, machine. Every number comes from the study; what its files do not tell is left out.
Below it stands BibTeX of all programs and of quiclab. A study that is unfinished, sequential, merged or has one arm
says so.
"""

_EPILOG = """\
examples:
  quiclab methods STUDY
  quiclab methods STUDY --latex > methods.tex      the paragraph for LaTeX, BibTeX in comments
"""
_WIDTH = 100


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "methods",
        help="write the methods paragraph of a paper, with BibTeX of all programs",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("study", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("--latex", action="store_true", help="escape the paragraph for LaTeX, and comment BibTeX out")
    parser.add_argument("--metric", help="metric that is compared (default: the one that the report compares)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print both. Raises DecodeError for a folder that is no study, SpecError for a metric that is none."""
    from quiclab.compare.analyse import analyse
    from quiclab.compare.selectable_metrics import asked_metric, readable
    from quiclab.compare.study import read_study
    from quiclab.report.page.citations import bibtex
    from quiclab.report.page.methods_text import methods_text
    from quiclab.report.printing import escaped

    make_needed_tables(arguments.study)
    study = read_study(arguments.study)
    metric = asked_metric(readable(study.directory), arguments.metric)
    text, entries = methods_text(study, analyse(study, metric)), bibtex(study)
    if arguments.latex:
        text, entries = escaped(text), textwrap.indent(entries, "% ", lambda _: True)
    print(textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False))
    print(f"\n{entries}")
    return ExitCode.OK
