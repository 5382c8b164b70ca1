# SPDX-License-Identifier: Apache-2.0
"""`quiclab doctor`: what this machine can do, as one table, with the one line that adds what is missing."""

from __future__ import annotations

import argparse
import json
import os
import signal
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from quiclab.errors import ExitCode, HostError

if TYPE_CHECKING:
    from quiclab.testbed.host import Finding


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "doctor",
        help="what this machine can do, and what is missing",
        description="One table: namespaces, link, congestion controls, programs with versions and abilities, and the "
        "one line that adds what is missing. Exit code 0 when the demo can run here, 3 when it cannot.",
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON (machine, endpoints)")
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--install",
        nargs="*",
        metavar="NAME",
        help="install real clients, servers and proxies (all, or those named) from Debian's archive and from our own "
        "sources into .stacks of the project, or into $QUICLAB_STACKS: needs no root, replaces nothing on the machine, "
        "again changes nothing",
    )
    change.add_argument("--uninstall", action="store_true", help="remove all that --install put there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Probe, print, judge; or install."""
    if arguments.install is not None or arguments.uninstall:
        return _change(arguments)
    machine = _machine()
    endpoints = _endpoints()
    if arguments.json:
        print(json.dumps({"machine": [asdict(finding) for finding in machine], "endpoints": endpoints}, indent=1))
    else:
        _print(machine, endpoints)
        _print_conformance()
    needed = {"namespaces", "link emulator"}
    broken = any(finding.state == "missing" and finding.name in needed for finding in machine)
    embedded = {("server", "caddy"), ("client", "curl-cffi")}
    broken |= any(row["status"] != "available" and (row["role"], row["name"]) in embedded for row in endpoints)
    return ExitCode.HOST if broken else ExitCode.OK


def _change(arguments: argparse.Namespace) -> int:
    from quiclab.endpoints._stacks import stacks_folder
    from quiclab.stacks.install import install, uninstall

    def say(line: str) -> None:
        print(line, flush=True)

    # As Ctrl-C: the compiler or apt that is at work goes too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if arguments.uninstall:
        uninstall(stacks_folder(), say)
        return ExitCode.OK
    return ExitCode.OK if install(stacks_folder(), arguments.install, say) else ExitCode.HOST


def _machine() -> list[Finding]:
    from quiclab.testbed.host import Finding, inside_findings, outside_findings
    from quiclab.testbed.sandbox import run_in_sandbox

    reader, writer = os.pipe()

    def inside() -> int:
        os.write(writer, json.dumps([asdict(finding) for finding in inside_findings()]).encode())
        return 0

    try:
        run_in_sandbox(inside)
    except HostError as error:
        os.close(writer)
        return [Finding("namespaces", "missing", error.message, error.hint), *outside_findings()]
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    inner = [Finding(**values) for values in json.loads(answer or "[]")]
    return [*inner, *outside_findings()]


def _endpoints() -> list[dict[str, Any]]:
    from quiclab.endpoints import ENDPOINTS, Available
    from quiclab.testbed.host import bounded_run

    rows = []
    for endpoint in ENDPOINTS:
        result = endpoint.probe(bounded_run)
        here = isinstance(result, Available)
        rows.append(
            {
                "name": endpoint.name,
                "role": endpoint.role,
                "protocols": sorted(endpoint.protocols),
                "status": "available" if here else "unsupported",
                "version": result.version if isinstance(result, Available) else None,
                "reason": "" if isinstance(result, Available) else result.reason,
                "install": "" if isinstance(result, Available) else result.install,
            }
        )
    return rows


def _print(machine: list[Finding], endpoints: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole

    console = VisibleConsole()
    colours = {"ok": "green", "limited": "yellow", "missing": "red", "available": "green", "unsupported": "red"}
    table = Table(box=box.SIMPLE_HEAD, title="this machine", title_justify="left")
    for title in ("what", "state", "detail and remedy"):
        table.add_column(title, overflow="fold")
    for finding in machine:
        remedy = f"\n→ {finding.remedy}" if finding.remedy else ""
        table.add_row(finding.name, Text(finding.state, colours[finding.state]), Text(finding.detail + remedy))
    console.print(table)
    table = Table(box=box.SIMPLE_HEAD, title="endpoints", title_justify="left")
    for title in ("name", "role", "speaks", "state", "version or reason"):
        table.add_column(title, overflow="fold")
    for row in endpoints:
        detail = row["version"] or f"{row['reason']}\n→ {row['install']}"
        state = Text(row["status"], colours[row["status"]])
        table.add_row(row["name"], row["role"], " ".join(row["protocols"]), state, Text(detail))
    console.print(table)


def _print_conformance() -> None:
    """Print which programs worked together when everything was last tried."""
    from rich import box
    from rich.table import Table

    from quiclab.cli.conformance import LAST_RESULT
    from quiclab.cli.console import VisibleConsole
    from quiclab.endpoints import stacks_folder

    try:
        document = json.loads((stacks_folder() / LAST_RESULT).read_text())
    except (OSError, json.JSONDecodeError):
        print("which programs work together: not tried here yet; run quiclab conformance")
        return
    title = f"clients that each program works with (tried {document['ended_utc']}; quiclab conformance)"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for column in ("name", "role", "h2", "h3"):
        table.add_column(column, overflow="fold")
    for front in document["fronts"]:
        own = [r for r in document["results"] if (r["role"], r["front"]) == (front["role"], front["name"])]
        table.add_row(front["name"], front["role"], *(_tally(own, protocol) for protocol in ("h2", "h3")))
    VisibleConsole().print(table)


def _tally(results: list[dict[str, Any]], protocol: str) -> str:
    """Say how many clients came through with one protocol, and which did not."""
    from quiclab.cli.conformance_page import worked

    clients = dict.fromkeys(result["client"] for result in results)
    well = {client: worked(r for r in results if r["client"] == client).get(protocol) for client in clients}
    tried = {client: came_through for client, came_through in well.items() if came_through is not None}
    lacking = ", ".join(client for client, came_through in tried.items() if not came_through)
    count = f"{sum(tried.values())} of {len(tried)}" if tried else ""
    return f"{count}, [red]not {lacking}[/red]" if lacking else count
