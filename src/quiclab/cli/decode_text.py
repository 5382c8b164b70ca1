# SPDX-License-Identifier: Apache-2.0
"""Output of `quiclab decode`: the files with their clocks, the tables, and what is missing in them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from quiclab.logs.decoders import Account, Found, Source

_SEVERITIES = {"error": "bold red", "data_loss": "red", "notice": "yellow"}
"""Worst first; plain facts stay in the table decode_stats."""


def summarise(account: Account, rows: Mapping[str, int], found: Found, console: Console) -> None:
    """Print it."""
    files = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("file", "format", "end", "clock"):
        files.add_column(heading, overflow="fold")
    for source in account.sources:
        name = source.name if source.connection is None else f"{source.name} ({source.connection})"
        kind = f"{source.format} {source.dialect}".strip()
        files.add_row(escape(name), escape(kind), source.vantage or "unknown", _clock(source))
    console.print(files)
    _unread(found, console)
    console.print()
    tables = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    tables.add_column("table")
    tables.add_column("rows", justify="right")
    for name, count in rows.items():
        tables.add_row(name, f"{count:,}")
    console.print(tables)
    _findings(account, console)
    _absent(account, console)


def _unread(found: Found, console: Console) -> None:
    """Files that are no logs: an error where the user named them, not where a folder holds them beside its logs."""
    if named := [name for name in found.unknown if name in found.named]:
        console.print(f"[{_SEVERITIES['error']}]error[/] no logs of a known format: {escape(', '.join(named))}")
    if beside := [name for name in found.unknown if name not in found.named]:
        console.print(f"no logs of a known format, left alone: {escape(', '.join(beside))}")


def _clock(source: Source) -> str:
    if source.placement is None:
        return f"{source.clock.replace('_', ' ')}, not placed: no packet in common with another log"
    exact = f"± {_length(source.placement.uncertainty_ns)}"
    if source.placed_by == "joined_packets":
        return f"placed by {source.placement.joined_packets} packets, {exact}"
    return {
        "same_clock": f"the study's, {exact}",
        "realtime_offset": f"placed by the offset of CLOCK_REALTIME, {exact}",
        "shared_realtime": f"placed by CLOCK_REALTIME, {exact}",
        "reference": f"stands for the study's, {exact}",
    }[source.placed_by or "reference"]


def _length(ns: int) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns} ns"


def _findings(account: Account, console: Console) -> None:
    met: defaultdict[tuple[str, str, str], list[tuple[str, int]]] = defaultdict(list)
    for file, finding in account.findings:
        met[finding.severity, finding.name, finding.advice].append((file, finding.count))
    worth = [(key, files) for key, files in met.items() if key[0] in _SEVERITIES]
    if not worth:
        return
    console.print("\n[bold]what was met[/bold] (all of it: decode_stats)")
    order = list(_SEVERITIES)
    for (severity, name, advice), files in sorted(worth, key=lambda item: (order.index(item[0][0]), item[0])):
        count = sum(count for _, count in files)
        where = files[0][0] if len(files) == 1 else f"{len(files)} files"
        style = _SEVERITIES[severity]
        console.print(f"  [{style}]{severity}[/] {escape(name)}, {count} times in {escape(where)}: {escape(advice)}")


def _absent(account: Account, console: Console) -> None:
    lacking: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for file, each in account.absent:
        what = each.table if each.column is None else f"{each.table}.{each.column}"
        lacking[each.reason, what].append(file)
    if not lacking:
        return
    console.print("\n[bold]what these logs cannot tell[/bold] (all of it: absent)")
    for (reason, what), files in lacking.items():
        where = files[0] if len(files) == 1 else f"{len(files)} files"
        console.print(f"  {what} in {escape(where)}: {escape(reason)}")
