# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --h2 … --h3 …`: the account of two recordings from elsewhere, without a study or a testbed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from quiclab.cli.voice import print_document
from quiclab.model.errors import DecodeError, ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.why.account.one_end import OneEnd

_NAMED = 8
"""Most recordings whose names an error lists."""
_RECORDINGS = ("pcap", "pcapng", "qlog", "netlog")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give `explain` the options about recordings."""
    for name in ("h2", "h3"):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            type=Path,
            metavar="FILE",
            help=f"a recording of HTTP/{name[1]} from elsewhere: a capture with its keys if any, a qlog, a NetLog",
        )
    parser.add_argument("--keys", action="append", default=[], type=Path, metavar="FILE", help="a TLS key log for both")


def explain_recordings(arguments: argparse.Namespace) -> int:
    """Print where the times of two recordings differ. Raises SpecError and DecodeError with what to do."""
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.report.words import recordings
    from quiclab.why.recordings import compare_recordings

    if not (arguments.h2 and arguments.h3):
        raise SpecError("explain compares two recordings", "name both: --h2 FILE --h3 FILE")
    first, h2 = _account(arguments.h2, arguments.keys, "tcp")
    second, h3 = _account(arguments.h3, arguments.keys, "quic")
    found = compare_recordings(("h2", "h3"), first, second)
    if arguments.json:
        from quiclab.cli.as_json import as_json
        from quiclab.cli.recordings_document import recordings_document
        from quiclab.cli.status_document import VERSION

        print_document(as_json(recordings_document(VERSION, (h2, h3), found)))
        return ExitCode.OK
    console = VisibleConsole(highlight=False)
    console.print(Text(recordings.difference_told(found), style="bold"))
    console.print(recordings.parts_table(found))
    for name, account in zip(found.names, (first, second), strict=True):
        console.print(Text(recordings.evidence(name, account)))
    console.print(Text(recordings.limits(found), style="dim"))
    return ExitCode.OK


def _account(files: list[Path], keys: list[Path], transport: Literal["tcp", "quic"]) -> tuple[OneEnd, str]:
    """The account of one recording, and its name."""
    from quiclab.cli.decode import find_logs
    from quiclab.evidence.metrics import Unknown
    from quiclab.why.account.header_captures import CUT
    from quiclab.why.account.levels import Level
    from quiclab.why.account.one_recording import account_of_tables, tables_of

    found = find_logs(files, [], [], keys)
    logs = [log for log in found.logs if log.decoder.format in _RECORDINGS]
    if len(logs) != 1 or len(found.logs) != 1:
        names = tuple(log.name for log in found.logs[:_NAMED])
        if len(found.logs) > _NAMED:
            names = (*names, f"and {len(found.logs) - _NAMED:,} more")
        known = "a capture (pcap, pcapng), a qlog or a NetLog"
        raise SpecError(f"an account is made of one recording for each protocol: {known}", "name one", names)
    if found.refused:
        raise DecodeError(f"{found.refused[0]} is neither a recording nor a key log", "leave it out", found.refused)
    name = logs[0].name
    tables = tables_of(found)
    errors = tables["decode_stats"].filter(severity="error")
    if errors.height:
        raise DecodeError(f"{name} cannot be read to its end: {errors['advice'][0]}", "record it again, or mend it")
    try:
        account = account_of_tables(tables, transport)
    except Unknown as unknown:
        raise DecodeError(f"{name}: {unknown}") from unknown
    cut = tables["decode_stats"]["name"].is_in(CUT).any()
    if found.key_logs and account.level is Level.E2 and not cut:
        raise DecodeError(f"{name}: no key that was given fits it", "give the keys of this connection, or none")
    return account, name
