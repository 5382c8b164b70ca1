# SPDX-License-Identifier: Apache-2.0
"""`quiclab decode`: anyone's logs as one set of tables, without a testbed."""

from __future__ import annotations

import argparse
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.voice import add_quiet
from quiclab.model.errors import DecodeError, ExitCode, SpecError
from quiclab.store.disk import disk_errors, shown_names
from quiclab.store.layout import logs_left_out

if TYPE_CHECKING:
    from rich.console import Console

    from quiclab.logs.decoders import Account, End, Found

_DESCRIPTION = """\
Turn logs into tables, one Parquet file each: qlog of any version, Chrome NetLog, pcap and pcapng (decrypted where a key
log fits), TCP_INFO and ss samples, HAR, browser traces, the link's packet log. Formats are recognised by content; a
folder stands for everything in it. QUIC and TCP share tables; all times are put on one clock, each with its
uncertainty; what could not be read is counted in decode_stats, what a log cannot tell stands in absent.

The first file name or folder that begins with "client" or "server" says whose log it is, else --client and --server.
"""

_EPILOG = """\
examples:
  quiclab decode client.pcapng keys.log server.sqlog -o tables
  quiclab decode --server capture.pcap --keys sslkeys.txt -o tables
  python -c "import polars as pl; print(pl.read_parquet('tables/packets.parquet'))"
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "decode",
        help="turn logs from any source into tables",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="logs, key logs and folders of them")
    parser.add_argument(
        "--client", action="append", default=[], type=Path, metavar="FILE", help="a log from the client"
    )
    parser.add_argument(
        "--server", action="append", default=[], type=Path, metavar="FILE", help="a log from the server"
    )
    parser.add_argument("--keys", action="append", default=[], type=Path, metavar="FILE", help="a TLS key log")
    parser.add_argument("-o", "--out", required=True, type=Path, metavar="DIR", help="folder for the tables")
    parser.add_argument("--force", action="store_true", help="replace the tables of an earlier decoding in DIR")
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Raises SpecError for files that are not there, DecodeError where nothing can be read, HostError for the disk."""
    found = find_logs(arguments.files, arguments.client, arguments.server, arguments.keys)
    out: Path = arguments.out
    check_out(out)
    _check_free(out, force=arguments.force)
    work = out.with_name(f".{out.name}.partial")
    with disk_errors(out, "nothing was replaced", "-o"):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        try:
            code = _decode(found, work)
            if out.exists():
                shutil.rmtree(out)
            work.rename(out)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print(f"tables: {out}")
    tell_what_was_not_kept(arguments.files)
    return code


def tell_what_was_not_kept(folders: Iterable[Path]) -> None:
    """Say of each trial whose logs were not kept that what comes of it is little, and where its tables are."""
    for folder in folders:
        if rule := logs_left_out(folder):
            told = f"{as_text(folder)}: its logs were not kept (--keep-raw {rule}), so this is what trial.json tells"
            print(f"{told}; the tables of its logs are in the study's tables/")


def find_logs(files: list[Path], client: list[Path], server: list[Path], keys: list[Path]) -> Found:
    """Recognises the files that the user named."""
    from quiclab.logs.decoders import find

    named = [*files, *client, *server]
    if not named:
        raise SpecError("no log is named", "quiclab decode FILE… -o DIR")
    missing = tuple(as_text(path) for path in [*named, *keys] if not path.exists())
    if missing:
        raise SpecError("these files are not there", "check the spelling", missing)
    no_file = tuple(as_text(path) for path in [*named, *keys] if not (path.is_file() or path.is_dir()))
    if no_file:
        raise SpecError("these are no files", "write what they give into a file, and name that", no_file)
    inside = {path: _files(path) for path in named}
    names = _names(inside)
    ends: tuple[tuple[list[Path], End], ...] = ((client, "client"), (server, "server"))
    vantages = {names[file]: end for paths, end in ends for path in paths for file in inside[path]}
    both = {file for path in client for file in inside[path]} & {file for path in server for file in inside[path]}
    if both:
        raise SpecError(
            "these files were given with --client and with --server",
            "a log is of one end: name it once",
            tuple(sorted(names[file] for file in both)),
        )
    try:
        found = find(((file, name) for file, name in names.items()), vantages)
    except OSError as error:
        raise DecodeError(
            f"cannot read {as_text(Path(str(error.filename)))}: {error.strerror}", "make it readable for you"
        ) from error
    if not found.logs:
        raise DecodeError("none of these files is a log that can be read", *_why_none(found, names))
    single = frozenset(names[path] for path in named if not path.is_dir())
    return replace(found, key_logs=(*found.key_logs, *keys), named=single)


def _why_none(found: Found, names: Mapping[Path, str]) -> tuple[str, tuple[str, ...]]:
    """A hint, and each file with the reason why it is not read."""
    from quiclab.logs.decoders import UNPACK_FIRST, why_unread

    paths = {name: path for path, name in names.items()}
    reasons = [(name, why_unread(paths[name])) for name in found.unknown]
    reasons += [*found.packed, *found.damaged]
    if found.packed:
        hint = UNPACK_FIRST
    elif found.key_logs:
        hint = "a key log opens a capture: name that, too"
    else:
        hint = "give a capture (pcap, pcapng), a qlog, a NetLog, a HAR or a Chrome trace"
    return hint, tuple(f"{name} ({why})" for name, why in reasons)


def _files(path: Path) -> list[Path]:
    """A file, or all files of a folder."""
    return sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]


def _names(inside: Mapping[Path, Sequence[Path]]) -> dict[Path, str]:
    """Every file's name, from the file or folder that was given on; in full where two would be called the same."""
    short = {
        file: as_text(file.absolute().relative_to(path.absolute().parent))
        for path, files in inside.items()
        for file in files
    }
    often = Counter(short.values())
    return {file: name if often[name] == 1 else as_text(file) for file, name in short.items()}


def as_text(path: Path) -> str:
    """A path as tables and terminals can hold it: bytes that are no UTF-8 as `\\xff`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def check_out(out: Path) -> None:
    """Raises SpecError for an output whose name nothing could be written to."""
    try:
        os.fspath(out.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        raise SpecError(
            f"the name of the output is not UTF-8: {as_text(out)}", "choose another place with -o"
        ) from None


def _check_free(out: Path, *, force: bool) -> None:
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    from quiclab.model.tables import TABLES

    tables = {f"{name}.parquet" for name in TABLES}
    foreign = sorted({each.name for each in out.iterdir()} - tables) if out.is_dir() else [out.name]
    if foreign or not (out / "sources.parquet").exists():
        told = f"{out} holds something other than tables, and all of it would be replaced"
        if not out.is_dir():
            told = f"{out} is a file, and tables go into a folder"
        elif not foreign:
            told = f"{out} has tables and no sources.parquet, so that no `quiclab decode` wrote them: not replaced"
            foreign = sorted(each.name for each in out.iterdir())
        raise SpecError(told, "choose another folder with -o", shown_names(foreign))
    if not force:
        raise SpecError(f"{out} holds the tables of an earlier decoding", "choose another folder, or add --force")


def _decode(found: Found, work: Path) -> ExitCode:
    """Write all tables that have rows; INPUT_LOST if a named file, or the rest of a log, could not be decoded."""
    from quiclab.cli.console import VisibleConsole
    from quiclab.cli.decode_text import summarise

    console = VisibleConsole()
    account, rows = write_tables(found, work, console)
    summarise(account, rows, found, console)
    unreadable = {log for log, finding in account.findings if finding.name == "unreadable"}
    if len(unreadable) == len(found.logs):
        return ExitCode.DECODE
    lost = any(finding.severity == "error" for _, finding in account.findings)
    return ExitCode.INPUT_LOST if lost or found.refused else ExitCode.OK


def write_tables(found: Found, folder: Path, console: Console) -> tuple[Account, dict[str, int]]:
    """Decode into a folder: what was learned, and how many rows each table has."""
    from quiclab.logs.decoders import ParquetParts, decode_files, finished
    from quiclab.model.tables import TABLES

    sink = ParquetParts(folder / ".parts")
    with console.status("decoding") as status:
        account = decode_files(found, sink, progress=lambda log: status.update(f"decoding {log.name}"))
        rows: dict[str, int] = {}
        for name, table in TABLES.items():
            if table.from_logs and sink.rows(name):
                status.update(f"writing {name}")
                finished(name, sink, account).sink_parquet(folder / f"{name}.parquet", metadata=table.metadata)
                rows[name] = sink.rows(name)
        for name, told in account.tables().items():
            told.write_parquet(folder / f"{name}.parquet", metadata=TABLES[name].metadata)
        shutil.rmtree(folder / ".parts", ignore_errors=True)
    return account, rows
