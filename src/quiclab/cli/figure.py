# SPDX-License-Identifier: Apache-2.0
"""`quiclab figure`: one figure of a study, by itself."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.needed_tables import make_needed_tables
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import DecodeError, ExitCode, SpecError, nearest
from quiclab.model.units import Duration, Length
from quiclab.store.disk import write_atomically

if TYPE_CHECKING:
    from quiclab.report.figures import Figure

_DESCRIPTION = """\
Draw one figure of a study. The ending of the output's name says as what: .html (to explore; loads nothing), .pdf or
.svg (for a paper, with letters that can be searched), .png, .tex (a LaTeX table, of a map or a table). Its data is
written beside it as CSV; with .csv the data alone. A picture has the size that --width and --font ask for: 8.4cm is a
column of ACM's and USENIX's two-column pages, 8.8cm of IEEE's, and 17.7cm are both columns.
"""

_EPILOG = """\
examples:
  quiclab figure --list                    add --json for programs
  quiclab figure differences STUDY -o figure-4.pdf
  quiclab figure cumulative STUDY -o figure-5.pdf --width 8.4cm --font 8pt
  quiclab figure differences STUDY -o table-1.tex
  quiclab figure window STUDY --cell 1MB/loss --block 3
  quiclab figure bytes_acknowledged STUDY --block 0 --block 1 --block 2
  quiclab figure factor STUDY --factor size --metric setup_ms
  quiclab figure sequence STUDY --from 100ms --until 400ms --packets 60
  quiclab figure distributions STUDY --metric ttfb_ms --shape violin
  quiclab figure queue STUDY --cell 1MB/loss --block 3 -o queue.csv
"""

_ENDINGS = (".html", ".pdf", ".svg", ".png", ".tex", ".csv")


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "figure",
        help="draw one figure of a study, for a paper or to explore",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="which one: see --list")
    parser.add_argument("study", nargs="?", type=Path, metavar="STUDY", help="study directory")
    parser.add_argument("--list", action="store_true", help="every figure and the question that it answers")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="what to write (default: NAME.html)")
    parser.add_argument("--metric", help="metric that is compared (default: the one that the report compares)")
    parser.add_argument("--cell", metavar="CELL", help="WORKLOAD/PATH (default: where the arms differ most)")
    parser.add_argument(
        "--block",
        type=int,
        metavar="N",
        action="append",
        help="trials of this block (default: each arm's median trial; of `states` and `state_machine` all trials of "
        "the cell); again for more blocks over each other",
    )
    parser.add_argument("--other", metavar="ARM", help="arm that is compared with the baseline (default: the first)")
    parser.add_argument("--factor", metavar="FACTOR", help="x axis of `factor`: size, rate, rtt, loss, queue, ...")
    parser.add_argument("--packets", type=int, metavar="N", default=40, help="packets of `sequence` (default: 40)")
    parser.add_argument("--from", type=_ms, metavar="TIME", default=0.0, dest="from_ms", help="where `sequence` begins")
    parser.add_argument("--until", type=_ms, metavar="TIME", dest="until_ms", help="and where it ends, such as 400ms")
    parser.add_argument("--shape", choices=("box", "violin"), default="box", help="shape of `distributions`")
    parser.add_argument("--width", type=_length, metavar="LENGTH", help="width of a picture in cm, mm, in or pt, such "
                        "as 8.4cm (default: 20.1cm, or what its labels need)")  # fmt: skip
    parser.add_argument("--font", type=_length, metavar="SIZE", help="letters beside the axes of a picture, others in "
                        "proportion, such as 8pt (default: 8pt with --width, down to 6pt where that has no room, else "
                        "9pt)")  # fmt: skip
    add_json(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def _ms(text: str) -> float:
    """A time in milliseconds, which is written with its unit."""
    try:
        return Duration.parse(text).ms
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _length(text: str) -> Length:
    try:
        return Length.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for what the study or a picture lacks, DecodeError for a folder that is no study."""
    from quiclab.report.figures import FIGURES, Asked, Where, Window, gathered

    if arguments.json and not arguments.list:
        raise SpecError("--json tells which figures there are", "add --list; a figure's data is its CSV: -o NAME.csv")
    if arguments.list and arguments.json:
        print_document({"version": 1, "figures": [_entry(figure) for figure in FIGURES]})
        return ExitCode.OK
    if arguments.list:
        width = max(len(figure.name) for figure in FIGURES)
        for figure in FIGURES:
            print(f"{figure.name.ljust(width)}  {figure.question}")
        return ExitCode.OK
    names = {figure.name: figure for figure in FIGURES}
    if arguments.name not in names or arguments.study is None:
        if arguments.name in (None, *names):
            raise SpecError("name a figure and a study", "quiclab figure --list has the names")
        raise SpecError(f"there is no figure {arguments.name!r}", nearest(arguments.name, names, "there are"))
    out: Path = arguments.out or Path(f"{arguments.name}.html")
    if out.suffix not in _ENDINGS:
        raise SpecError(f"no figure can be written as {out}: its ending tells the format", f"use {', '.join(_ENDINGS)}")
    if out.suffix in (".html", ".tex", ".csv") and (arguments.width or arguments.font):
        raise SpecError(f"{out} has no size: --width and --font are of pictures", "name it .pdf, .svg or .png")
    is_there, data_file = out.exists(), out.with_suffix(".csv")  # raises in a folder that this account may not enter
    if out != data_file and data_file.exists() and not _is_data_of(names[arguments.name], data_file):
        told = f"{data_file} is not replaced, since it is no data of this figure, which is written beside the figure"
        raise SpecError(told, "choose another name with -o, or move that file away")
    if arguments.out is None and is_there and not data_file.exists():
        told = f"{out} is not replaced, since {data_file}, which a figure of quiclab has beside it, is not there"
        raise SpecError(told, f"choose another name with -o, or replace it with -o {out}")
    import polars as pl

    from quiclab.compare.analyse import analyse_study
    from quiclab.compare.factors import not_judged_words
    from quiclab.compare.interim_analyses import note_look
    from quiclab.compare.selectable_metrics import asked_metric, nothing_to_show, readable
    from quiclab.compare.study_tables import open_study
    from quiclab.report.page.standalone_figure import UNTOUCHED, write_figure
    from quiclab.report.printing import PrintSize

    size = PrintSize.asked(arguments.width, arguments.font)
    figure = names[arguments.name]
    make_needed_tables(arguments.study)
    study = open_study(arguments.study)
    files = readable(study.directory)
    metric = asked_metric(files, arguments.metric)
    for told in files.missing:
        print(f"quiclab: {told}", file=sys.stderr)
    block, *more = arguments.block or [None]
    if more and not figure.overlaid:
        able = ", ".join(sorted(each.name for each in FIGURES if each.overlaid))
        raise SpecError(f"{figure.name} shows one block at a time", f"several blocks go into {able}")
    window = Window(arguments.packets, arguments.from_ms, arguments.until_ms)
    analysis = analyse_study(study.directory, metric)
    asked = Asked(
        study, analysis, arguments.cell, block, arguments.other,
        arguments.factor, tuple(more), window, arguments.shape,
    )  # fmt: skip
    try:
        data = gathered(figure, asked)
    except pl.exceptions.PolarsError as error:
        told = f"a table is of another version, or damaged: {str(error).splitlines()[0]}"
        raise DecodeError(told, f"`quiclab report {arguments.study}` makes the tables anew") from error
    if not data.height:
        raise nothing_to_show(study.directory, figure.tables, figure.question, not_judged_words(analysis))
    if figure.where is not Where.PAIR:
        note_look(study.directory, metric)
    if out.suffix != ".csv":
        write_figure(figure, data, out, size)
    write_atomically(out.with_suffix(".csv"), data.write_csv(), kept=UNTOUCHED, option="-o")
    print(out if out.suffix == ".csv" else f"{out} and its data, {out.with_suffix('.csv')}")
    return ExitCode.OK


def _is_data_of(figure: Figure, file: Path) -> bool:
    """True if a file names the columns of a figure's data in its first line."""
    try:
        with file.open(encoding="utf-8") as text:
            names = text.readline().rstrip("\n").split(",")
    except (OSError, UnicodeDecodeError):
        return False
    return set(names) >= set(figure.columns)


def _entry(figure: Figure) -> dict[str, object]:
    """A figure as `documents.FigureEntry` has it."""
    return {
        "name": figure.name,
        "question": figure.question,
        "where": figure.where.value,
        "tables": list(figure.tables),
        "columns": dict(figure.columns),
    }
