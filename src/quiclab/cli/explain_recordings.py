# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain` of recordings from elsewhere: one alone, or two against each other, of any protocol."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.voice import print_document
from quiclab.model.errors import DecodeError, ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.why.account.chosen_request import Request, Wanted
    from quiclab.why.account.recorded import Tables, Transport
    from quiclab.why.recordings import Recording

_NAMED = 8
"""Most recordings whose names an error lists."""
_RECORDINGS = ("pcap", "pcapng", "qlog", "netlog")
_FILES = (".pcap", ".pcapng", ".cap", ".qlog", ".sqlog", ".json", ".netlog", ".gz", ".zst", ".xz")
"""Endings by which a file that is not there was meant as a recording."""
_BY_OPTION: dict[Transport, str] = {"tcp": "h2", "quic": "h3"}
_UNKNOWN: dict[Transport, str] = {"tcp": "TCP", "quic": "QUIC"}
_UNKNOWN_NAMES = frozenset(_UNKNOWN.values())
_OVER = {"h1": "TCP", "h2": "TCP", "h3": "QUIC"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give `explain` the options about recordings."""
    for name in ("h2", "h3"):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            type=Path,
            metavar="FILE",
            help=f"a recording of HTTP/{name[1]}, where a file holds both protocols or one is in several files",
        )
    parser.add_argument(
        "--page",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a page's load: the browser's log (NetLog, HAR or trace), and a capture of it if there is one",
    )
    parser.add_argument(
        "--lost",
        nargs=2,
        type=Path,
        metavar=("CLIENT", "SERVER"),
        help="what lost the packets between two captures of one transfer: a policer, a queue or the path",
    )
    parser.add_argument(
        "--url", metavar="URL", help="the request of a recording that holds several: its address, or the path of it"
    )
    parser.add_argument(
        "--stream", type=int, metavar="N", help="the stream of that request (default: the slowest request)"
    )
    parser.add_argument("--keys", action="append", default=[], type=Path, metavar="FILE", help="a TLS key log for both")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE.html", help="write a page about the recordings")


def are_asked(arguments: argparse.Namespace) -> bool:
    """True if the command line names recordings: by --h2 or --h3, or in place of a study. Raises SpecError for what
    does not go together."""
    asked = bool(arguments.h2 or arguments.h3 or arguments.page or arguments.lost)
    files = [Path(each) for each in (arguments.study, arguments.cell) if each is not None]
    named = bool(files) and _is_recording(files[0])
    if not asked and not named:
        for option, given in _only_of_recordings(arguments):
            if given:
                raise SpecError(f"{option} belongs to recordings", "leave it out, or name them: quiclab explain FILE")
        return False
    if asked and files:
        raise SpecError(
            f"explain takes {'recordings by options, or by themselves' if named else 'a study or recordings'}, "
            "not both",
            "leave one of them out; of several files of keys each needs a --keys of its own",
        )
    if arguments.metric is not None:
        told = "--metric belongs to a study: recordings tell the time to the last byte"
        raise SpecError(told, "leave it out")
    if arguments.baseline is not None:
        raise SpecError("--baseline is an arm of a study: recordings have none", "name the older recording first")
    return True


def _only_of_recordings(arguments: argparse.Namespace) -> list[tuple[str, object]]:
    stream = None if arguments.stream is None else str(arguments.stream)  # stream 0 is one
    return [("--keys", arguments.keys), ("-o", arguments.out), ("--url", arguments.url), ("--stream", stream)]


def _is_recording(path: Path) -> bool:
    of_a_study = path.suffix in (".html", ".toml")
    return not path.is_dir() and ((path.exists() and not of_a_study) or path.suffix.lower() in _FILES)


def explain_recordings(arguments: argparse.Namespace) -> int:
    """Print where the time of a recording went, or where those of two differ. Raises SpecError and DecodeError with
    what to do."""
    if arguments.page:
        from quiclab.cli.explain_page import explain_page

        return explain_page(arguments)
    if arguments.lost:
        from quiclab.cli.explain_losses import explain_losses

        return explain_losses(arguments)
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.report.words import recordings
    from quiclab.why.recordings import compare_recordings

    out: Path | None = arguments.out
    if out is not None and out.suffix != ".html":
        raise SpecError(f"{out} is no name of a page", "give it the ending .html")
    shown = _recordings(arguments)
    found = compare_recordings(*shown) if len(shown) > 1 else None
    if out is not None:
        from quiclab.report.page.recordings_page import recordings_page
        from quiclab.store.disk import write_atomically

        page = recordings_page(shown, found).encode(errors="xmlcharrefreplace")
        write_atomically(out, page, kept="the recordings are untouched", option="-o")
    if arguments.json:
        from quiclab.cli.explain_documents import recording_document, recordings_document

        print_document(recordings_document(shown, found) if found else recording_document(shown[0]))
        return ExitCode.OK
    console = VisibleConsole(highlight=False)
    first = shown[0]
    told = recordings.difference_told(found) if found else recordings.one_told(first.name, first.account)
    console.print(Text(told, style="bold"))
    for each in filter(None, map(recordings.ending_told, shown)):
        console.print(Text(each, style="yellow"))
    console.print(
        recordings.parts_table(found, console.width) if found else recordings.one_table(first.name, first.account)
    )
    for recording in shown:
        console.print(Text(recordings.evidence(recording.name, recording.account)))
    console.print(Text(recordings.limits([each.account for each in shown]), style="dim"))
    if out is not None:
        console.print(Text(f"page: {out}"))
    return ExitCode.OK


def _recordings(arguments: argparse.Namespace) -> list[Recording]:
    """One or two recordings, in the order in which they are compared."""
    if arguments.study is None:
        by_option: tuple[tuple[Transport, list[Path] | None], ...] = (("tcp", arguments.h2), ("quic", arguments.h3))
        asked = [(files, transport) for transport, files in by_option if files]
        return _alike(arguments, asked)
    files = [Path(each) for each in (arguments.study, arguments.cell) if each is not None]
    shown = _alike(arguments, [([file], None) for file in files])
    protocols = [each.name for each in shown]
    if not _UNKNOWN_NAMES.isdisjoint(protocols):  # one that does not tell its version may have that of the other
        protocols = [_OVER.get(each, each) for each in protocols]
    if len({*protocols}) == len(shown):
        return shown
    names = [_stem(file) for file in files]
    if len({*names}) < len(names):
        names = ["first", "second"]
    return [replace(each, name=name) for each, name in zip(shown, names, strict=True)]


def _alike(arguments: argparse.Namespace, asked: Sequence[tuple[Sequence[Path], Transport | None]]) -> list[Recording]:
    """The recordings; of several requests in the second one that of the first's address, as streams of two connections
    have numbers of their own."""
    from quiclab.why.account.chosen_request import Wanted, path_of

    wanted = Wanted(arguments.url, arguments.stream)
    shown: list[Recording] = []
    for files, transport in asked:
        shown.append(_recording(files, arguments.keys, transport, wanted))
        request = shown[0].account.seen.request
        if request is not None and request.url is not None:
            wanted = Wanted(path_of(request.url))
    return shown


def _stem(file: Path) -> str:
    """Name of a recording without the endings of its form."""
    name = file.name
    while (cut := Path(name)).suffix.lower() in _FILES:
        name = cut.stem
    return name


def _recording(files: Sequence[Path], keys: Sequence[Path], transport: Transport | None, wanted: Wanted) -> Recording:
    """One recording with its account; without a transport that of the only one in it, or of the request asked for."""
    from quiclab.cli.decode import find_logs
    from quiclab.evidence.metrics import Unknown
    from quiclab.why.account.chosen_request import Wanted
    from quiclab.why.account.header_captures import CUT
    from quiclab.why.account.levels import Level
    from quiclab.why.account.one_recording import account_of_tables, tables_of
    from quiclab.why.account.recorded import is_cut_short, transports
    from quiclab.why.recordings import Recording

    found = find_logs([*files], [], [], [*keys])
    logs = [log for log in found.logs if log.decoder.format in _RECORDINGS]
    if len(logs) != 1 or len(found.logs) != 1:
        names = tuple(log.name for log in found.logs[:_NAMED])
        if len(found.logs) > _NAMED:
            names = (*names, f"and {len(found.logs) - _NAMED:,} more")
        if any(file.is_dir() and (file / "spec.toml").exists() for file in files):
            raise SpecError("a study is no recording", "name a capture in it: STUDY/trials/ID/raw/client.pcapng")
        known = "a capture (pcap, pcapng), a qlog or a NetLog"
        raise SpecError(f"an account is made of one recording for each transfer: {known}", "name one", names)
    if found.refused:
        raise DecodeError(f"{found.refused[0]} is neither a recording nor a key log", "leave it out", found.refused)
    file = str(files[0]) if len(files) == 1 else logs[0].name
    tables = tables_of(found)
    errors = tables["decode_stats"].filter(severity="error")
    if errors.height:
        raise DecodeError(f"{file} cannot be read to its end: {errors['advice'][0]}", "record it again, or mend it")
    otherwise = _UNKNOWN if transport is None else _BY_OPTION
    if transport is None and wanted != Wanted():
        request = _request(file, tables, wanted, None)
        transport = request.transport if request else None
    if transport is None:
        there = transports(tables)
        if len(there) > 1:
            told = f"{file} holds transfers over both TCP and QUIC"
            raise SpecError(told, f"say which one: --h2 {files[0]} or --h3 {files[0]}, or name a request by --url")
        if not there and tables["packets"].is_empty():
            raise DecodeError(f"{file}: no packet of TCP or QUIC in it can be read", "record a whole transfer")
        transport = there[0] if there else "quic"
    request = _request(file, tables, wanted, transport)
    try:
        account = account_of_tables(tables, transport, request)
    except Unknown as unknown:
        raise DecodeError(f"{_name_and_state(file, tables)}: {unknown}") from unknown
    if is_cut_short(tables) and not account.end_is_shown:
        told = f"{file} is cut short, and without keys nothing shows if the answer had ended before"
        raise DecodeError(told, "give the keys, or record it again")
    cut = tables["decode_stats"]["name"].is_in(CUT).any()
    if found.key_logs and account.level is Level.E2 and not cut:
        raise DecodeError(f"{file}: no key that was given fits it", "give the keys of this connection, or none")
    return Recording(_protocol(tables, transport) or otherwise[transport], logs[0].name, tables, account)


def _request(file: str, tables: Tables, wanted: Wanted, transport: Transport | None) -> Request | None:
    from quiclab.evidence.metrics import Unknown
    from quiclab.why.account.chosen_request import chosen_request

    try:
        return chosen_request(tables, wanted, transport)
    except Unknown as unknown:
        raise DecodeError(f"{_name_and_state(file, tables)}: {unknown}") from unknown


def _name_and_state(file: str, tables: Tables) -> str:
    """Name of a recording in front of the reason why it carries no account."""
    from quiclab.why.account.recorded import is_cut_short

    return f"{file}, which is cut short" if is_cut_short(tables) else file


def _protocol(tables: Tables, transport: Transport) -> str | None:
    """The protocol whose requests a recording shows, as arms name it; None for one that shows none, or several."""
    from quiclab.evidence.verify.delivered import HTTP_VERSIONS

    requests = tables["http_requests"].filter(transport=transport)
    shown = {name for name, version in HTTP_VERSIONS.items() if version in requests["http_version"]}
    return shown.pop() if len(shown) == 1 else None
