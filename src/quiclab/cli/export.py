# SPDX-License-Identifier: Apache-2.0
"""`quiclab export`: tables, or logs of any kind, in the formats of other tools."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.decode import as_text, check_out, find_logs, tell_what_was_not_kept, write_tables
from quiclab.cli.voice import add_quiet
from quiclab.model.errors import DecodeError, ExitCode, SpecError
from quiclab.store.disk import disk_errors, shown_names

if TYPE_CHECKING:
    from rich.console import Console

    from quiclab.logs.exports import Choice, Export, Tables, Written

_HEAD = 1 << 14
"""Bytes at the begin of a file by which it is known to be an export of quiclab's."""
_DESCRIPTION = """\
Write logs in a format that other tools open, whatever they were before:

  qlog   one file for each QUIC connection and end, in the current draft (JSON-SEQ): from a capture with its key log,
         from a Chrome NetLog, or from a qlog of an older version
  har    one HAR 1.2 file with the requests of HTTP/1.1, HTTP/2 and HTTP/3

SOURCE is a folder of tables that `quiclab decode` wrote, or logs and folders of them (a trial too), which are decoded
first. Whose log it is tells the first file name or folder that begins with "client" or "server"; to say it otherwise,
decode first. What a log does not tell is left out, never made up; estimates are marked with "estimate": true.
"""

_EPILOG = """\
examples:
  quiclab export qlog client.pcapng keys.log -o qlogs          in the current draft
  quiclab export qlog client.pcapng keys.log -o qlogs --qlog-version 0.3       then open qlogs/*.sqlog in qvis
  quiclab export qlog tables --vantage server -o qlogs         from what `quiclab decode … -o tables` wrote
  quiclab export qlog netlog.json --connection 8f3c0a1b2c3d4e5f -o qlogs
  quiclab export har study/trials/0f3a… --source client-netlog.json -o page.har

exit codes:
  2 no such source, connection or end; the output exists   3 the disk is full   4 nothing in it that could be written
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "export",
        help="write logs as qlog or HAR, for other tools",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("format", choices=("qlog", "har"), help="what to write")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE", help="folder of tables; or logs, key logs")
    parser.add_argument("--keys", action="append", default=[], type=Path, metavar="FILE", help="a TLS key log")
    parser.add_argument("--source", metavar="NAME", help="only from this log (the column `source` of the tables)")
    parser.add_argument("--connection", metavar="ID", help="only this connection (the column `connection`)")
    parser.add_argument("--vantage", choices=("client", "server"), help="only as this end saw it")
    parser.add_argument(
        "-o", "--out", required=True, type=Path, metavar="OUT", help="qlog: folder for the files; har: the file"
    )
    parser.add_argument(
        "--qlog-version", choices=("current", "0.3"), default="current", help="qlog: 0.3 for tools that know no other"
    )
    parser.add_argument("--force", action="store_true", help="replace what an earlier export wrote to OUT")
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for a choice that fits nothing, DecodeError for logs without it, HostError for the disk."""
    from quiclab.cli.console import VisibleConsole
    from quiclab.logs.exports import EXPORTS, Choice
    from quiclab.logs.exports.qlog import Qlog

    export = next(each for each in EXPORTS if each.format == arguments.format)
    if arguments.qlog_version == "0.3":
        if export.format != "qlog":
            raise SpecError("--qlog-version is for qlog", f"leave it out to write {export.format}")
        export = Qlog(old=True)
    choice = Choice(arguments.source, arguments.connection, arguments.vantage)
    out: Path = arguments.out
    check_out(out)
    _check_free(out, export, force=arguments.force)
    console = VisibleConsole()
    work = out.with_name(f".{out.name}.partial")
    with disk_errors(out, "nothing was replaced", "-o"):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            tables = _tables(arguments.sources, arguments.keys, work / "tables", console)
            written = _write(export, tables, choice, work / "out", out)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    _summarise(written, export, console)
    return ExitCode.OK


def _check_free(out: Path, export: Export, *, force: bool) -> None:
    if not out.exists():
        return
    if export.into_folder != out.is_dir():
        kind = "a folder" if export.into_folder else "a file"
        raise SpecError(f"{out} is not {kind}, which {export.format} is written to", "choose another place with -o")
    if not export.into_folder:
        if not force:
            raise SpecError(f"{out} exists", "choose another file with -o, or add --force")
        if not _is_ours(out):
            raise SpecError(f"{out} was not written by `quiclab export`", "choose another file with -o")
        return
    held = list(out.iterdir())
    if foreign := sorted(path.name for path in held if path.suffix != ".sqlog" or not _is_ours(path)):
        raise SpecError(
            f"{out} holds files that `quiclab export` did not write",
            "choose another folder with -o",
            shown_names(foreign),
        )
    if held and not force:
        raise SpecError(f"{out} holds qlogs already", "choose another folder with -o, or add --force")


def _is_ours(file: Path) -> bool:
    """True if a file says at its begin that quiclab wrote it: a qlog in its description, a HAR file as its creator."""
    try:
        with file.open("rb") as content:
            begin = content.read(_HEAD)
    except OSError:
        return False
    return b"written by quiclab" in begin or re.search(rb'"creator":\s*\{\s*"name":\s*"quiclab"', begin) is not None


def _tables(sources: Sequence[Path], keys: list[Path], folder: Path, console: Console) -> Tables:
    """Return the tables in the folder that is named, else decode the logs into tables."""
    from quiclab.logs.exports import open_tables

    decoded = [path for path in sources if (path / "sources.parquet").exists()]
    if decoded and (len(sources) > 1 or keys):
        raise SpecError(
            f"{as_text(decoded[0])} is a folder of tables", "name it alone: what it was decoded from is in it"
        )
    if decoded:
        return open_tables(decoded[0])
    found = find_logs(list(sources), [], [], keys)
    tell_what_was_not_kept(sources)
    folder.mkdir()
    account, _ = write_tables(found, folder, console)
    unreadable = [f"{name}: {each.advice}" for name, each in account.findings if each.name == "unreadable"]
    if len(unreadable) == len(found.logs):
        raise DecodeError("none of these logs can be read", "quiclab decode tells more", tuple(unreadable))
    for problem in unreadable:
        console.print(f"left out, it cannot be read: {problem}", markup=False, highlight=False)
    return open_tables(folder)


def _write(export: Export, tables: Tables, choice: Choice, work: Path, out: Path) -> Written:
    """Write beside, then rename; the names in what is returned are the final ones."""
    if export.into_folder:
        work.mkdir()
    written = export.write(tables, choice, work)
    if out.is_dir():
        shutil.rmtree(out)
    work.replace(out)
    written.files = {out / path.relative_to(work): count for path, count in written.files.items()}
    return written


def _summarise(written: Written, export: Export, console: Console) -> None:
    things = "events" if export.into_folder else "requests"
    for path, count in written.files.items():
        console.print(f"{path}: {count:,} {things}", markup=False, highlight=False, soft_wrap=True)
    if written.left_out:
        console.print(f"\n{export.format} has no place for:", highlight=False)
        for what, count in written.left_out.most_common():
            console.print(f"  {what} ({count:,})", markup=False, highlight=False)
