# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor`: what this machine can do and whether it keeps time, with the line that adds what is missing."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from quiclab.cli.own_name import as_typed
from quiclab.cli.voice import add_json, add_quiet, print_document
from quiclab.model.errors import DecodeError, ExitCode

if TYPE_CHECKING:
    from rich.text import Text

    from quiclab.lab.endpoints import Endpoint
    from quiclab.lab.testbed.host import Finding
    from quiclab.model.conformance_record import CaseResult

_EPILOG = """\
examples:
  quiclab doctor
  quiclab doctor --install                 all real clients, servers and proxies
  quiclab doctor --install nginx ngtcp2    only these
  quiclab doctor --json                    for programs
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "doctor",
        help="what this machine can do, and what is missing",
        description="This machine: namespaces, congestion controls, and whether it keeps time, for which a link is "
        "tried for 2 s. The programs: with versions, and the one line that adds what is missing. Exit code 0 when the "
        "demo can run here, 3 when it cannot.",
        epilog=_EPILOG,
    )
    add_json(parser)
    add_quiet(parser)
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--install",
        nargs="*",
        metavar="NAME",
        help="install real clients, servers and proxies (all, or those named) from Debian's archive and from our own "
        "sources into .stacks of the project (an installed quiclab: ~/.local/share/quiclab/stacks), or into "
        "$QUICLAB_STACKS: needs no root, replaces nothing on the machine, again changes nothing",
    )
    change.add_argument("--uninstall", action="store_true", help="remove all that --install put there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Probe, print, judge; or install."""
    if arguments.install is not None or arguments.uninstall:
        return _change(arguments)
    from quiclab.lab.testbed.machine import NEEDED, machine_findings

    machine = machine_findings()
    endpoints = _endpoints()
    if arguments.json:
        print_document(
            {
                "version": 1,
                "machine": [asdict(finding) for finding in machine],
                "endpoints": [asdict(each) for each in endpoints],
                "releases": [asdict(each) for each in _releases()],
            }
        )
    else:
        _print(machine, endpoints)
        _print_releases(_releases())
        _print_conformance()
    broken = any(finding.state == "missing" and finding.name in NEEDED for finding in machine)
    embedded = {("server", "caddy"), ("client", "curl-cffi")}
    broken |= any(each.status != "available" and (each.role, each.name) in embedded for each in endpoints)
    return ExitCode.HOST if broken else ExitCode.OK


def _change(arguments: argparse.Namespace) -> int:
    from quiclab.lab.stacks.install import install, uninstall
    from quiclab.project import stacks_folder

    def say(line: str) -> None:
        print(line, flush=True)

    # As Ctrl-C: the compiler or apt that is at work goes too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if arguments.uninstall:
        uninstall(stacks_folder(), say)
        return ExitCode.OK
    return ExitCode.OK if install(stacks_folder(), arguments.install, say) else ExitCode.HOST


@dataclass(frozen=True)
class EndpointEntry:
    """A client, a server or a proxy, as `documents.DoctorDocument` has it."""

    name: str
    role: str
    protocols: list[str]
    status: str
    """`available` or `unsupported`."""
    version: str | None
    reason: str
    """Reason for which it is not available."""
    install: str
    """Command that installs it."""


def _endpoints() -> list[EndpointEntry]:
    from quiclab.lab.endpoints import ENDPOINTS

    return [_probed(endpoint) for endpoint in ENDPOINTS]


def _probed(endpoint: Endpoint, prefix: str | None = None) -> EndpointEntry:
    from quiclab.lab.endpoints import Available
    from quiclab.lab.testbed.host import bounded_run

    result = endpoint.probe(bounded_run, prefix)
    here = isinstance(result, Available)
    return EndpointEntry(
        name=endpoint.name,
        role=endpoint.role,
        protocols=sorted(endpoint.protocols),
        status="available" if here else "unsupported",
        version=result.version if isinstance(result, Available) else None,
        reason="" if isinstance(result, Available) else result.reason,
        install="" if isinstance(result, Available) else result.install,
    )


def _releases() -> list[EndpointEntry]:
    """Releases that a spec can name by `version`, in each role that they can have."""
    from quiclab.lab.endpoints import ENDPOINTS
    from quiclab.project import INSTALL, release_folder, releases_of

    found = []
    for endpoint in ENDPOINTS:
        for version in releases_of(endpoint.name):
            entry = _probed(endpoint, str(release_folder(endpoint.name, version)))
            absent = entry.status != "available"
            install = f"{INSTALL} {endpoint.name}@{version}" if absent else ""
            found.append(replace(entry, version=entry.version or version, install=install))
    return found


def _print_releases(releases: Sequence[EndpointEntry]) -> None:
    """Print the releases that are here, and the line that adds others."""
    here = [each for each in releases if each.status == "available"]
    if here:
        rows = [(each.name, each.role, each.version or "") for each in here]
        _print_table("older releases that are here, for a spec's `version`", ("name", "role", "version"), rows)
    absent = {f"{each.name}@{each.version}": each.install for each in releases if each.install}
    if absent:
        print(f"  Older releases that are not here: {', '.join(absent)} (to add one: {next(iter(absent.values()))}).")


def _print(machine: list[Finding], endpoints: list[EndpointEntry]) -> None:
    from rich.text import Text

    colours = {"ok": "green", "limited": "yellow", "missing": "red", "available": "green", "unsupported": "red"}

    def row(name: str, state: str, detail: str, remedy: str, *more: str) -> tuple[str | Text, ...]:
        return (name, *more, Text(state, colours[state]), Text(f"{detail}\n→ {remedy}" if remedy else detail))

    for title, optional in (("this machine", False), ("this machine: for single verbs only, or not needed", True)):
        found = [each for each in machine if each.optional == optional]
        rows = [row(each.name, each.state, each.detail, each.remedy) for each in found]
        _print_table(title, ("what", "state", "detail and remedy"), rows)
    real = [each for each in endpoints if not _is_faulty(each.name)]
    for remedy in dict.fromkeys(each.install for each in sorted(real, key=lambda each: each.install)):
        rows = [
            (each.name, each.role, " ".join(each.protocols), Text(each.version or each.reason, colours[each.status]))
            for each in real
            if each.install == remedy
        ]
        title = f"endpoints that are not here (to add them: {remedy})" if remedy else "endpoints that are here"
        _print_table(title, ("name", "role", "speaks", "why not" if remedy else "version"), rows)
    if faulty := len(endpoints) - len(real):
        print(f"  Not listed: {faulty} servers that are wrong on purpose, for tests of quiclab (--json has them).")


def _is_faulty(name: str) -> bool:
    """True if a program is wrong on purpose, which its name says."""
    return "-faulty-" in name


def _print_table(title: str, headings: Sequence[str], rows: Sequence[tuple[str | Text, ...]]) -> None:
    """Print a table, whose last column alone may be broken into lines: at the terminal's width, and not at all where
    the reader is a file or another program."""
    from rich import box
    from rich.table import Table

    from quiclab.cli.console import VisibleConsole

    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for heading in headings[:-1]:
        table.add_column(heading, no_wrap=True)
    table.add_column(headings[-1], overflow="fold")
    for row in rows:
        table.add_row(*row)
    as_wide_as_it_is = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 1000
    VisibleConsole(width=as_wide_as_it_is).print(table)


def _print_conformance() -> None:
    """Print which programs worked together when everything was last tried."""
    from quiclab.cli.conformance import LAST_RESULT
    from quiclab.model.conformance_record import ConformanceResults
    from quiclab.project import stacks_folder
    from quiclab.store.record_form import as_record

    try:
        document = as_record(json.loads((stacks_folder() / LAST_RESULT).read_text()), ConformanceResults)
    except (OSError, json.JSONDecodeError, DecodeError):
        print(as_typed("which programs work together: not tried here yet; `quiclab conformance` tries it"))
        return
    title = f"clients that each program works with (tried {document.ended_utc}; quiclab conformance)"
    rows: list[tuple[str | Text, ...]] = []
    for front in (each for each in document.fronts if not _is_faulty(each.name)):
        own = document.results_with(front)
        rows.append((front.name, front.role, *(_tally(own, protocol) for protocol in ("h2", "h3"))))
    _print_table(title, ("name", "role", "h2", "h3"), rows)


def _tally(results: Sequence[CaseResult], protocol: str) -> str:
    """Say how many clients came through with one protocol, and which did not."""
    from quiclab.cli.conformance_page import worked

    clients = dict.fromkeys(result.client for result in results)
    well = {client: worked(r for r in results if r.client == client).get(protocol) for client in clients}
    tried = {client: came_through for client, came_through in well.items() if came_through is not None}
    lacking = ", ".join(client for client, came_through in tried.items() if not came_through)
    count = f"{sum(tried.values())} of {len(tried)}" if tried else ""
    return f"{count}, [red]not {lacking}[/red]" if lacking else count
