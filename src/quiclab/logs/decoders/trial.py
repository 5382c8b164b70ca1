# SPDX-License-Identifier: Apache-2.0
"""All logs of one trial, decoded together: one clock, one set of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from quiclab.logs.decoders._api import Context
from quiclab.logs.decoders.decode import decode_files, finished
from quiclab.logs.decoders.log_files import LogFile, find
from quiclab.logs.decoders.sinks import InMemory
from quiclab.logs.decoders.trial_document import TrialDocument
from quiclab.model.tables import TABLES
from quiclab.store.left_files import was_written_by_laboratory
from quiclab.store.packed_logs import plain_copies, plain_names
from quiclab.store.record_form import view_of
from quiclab.store.trial_views import TrialClock, TrialFiles

_REGISTER = "trial.json"
_NOT_MEASURED = "raw/first-visit"
"""Folder with what a client left of the visit before the measured one."""


@dataclass(frozen=True)
class Decoded:
    """Tables of one trial: all that decoders fill, some without rows."""

    tables: dict[str, pl.DataFrame]
    """Tables by name, including `sources` and `absent`."""
    stats: pl.DataFrame
    """The table `decode_stats`."""


def decode_trial(trial_dir: Path) -> Decoded:
    """Decode `trial.json` and every log under `trial_dir/raw`; a file that cannot be read is counted, not raised.

    The offset between the clocks comes from the packet log, else from `trial.json`. Files of no known format are left
    alone, as are packets that a program of the trial says it saw. For a path of several links, the packet logs of all
    of them and the captures at both ends of the client's leg are decoded: metrics are about that leg, and a packet is
    seen once at each of its ends.
    """
    document = _document(trial_dir)
    paths = [trial_dir / _REGISTER, *sorted((trial_dir / "raw").rglob("*"))]
    left_out, servers_end = _captures_of_links(document)
    there = [path for path in paths if path.is_file()]
    copies = plain_copies(there)
    files = {str(path.relative_to(trial_dir)): path for path in there if path not in copies}
    names = {files[name]: plain for name, plain in plain_names(files).items() if not plain.startswith(_NOT_MEASURED)}
    behind = _ORIGIN_LOGS if document.get("proxy") else ()
    found = find(
        ((path, name) for path, name in names.items() if name not in left_out and not name.startswith(behind)),
        dict.fromkeys(servers_end, "server"),
    )
    found = replace(found, logs=tuple(log for log in found.logs if _may_tell(log)))
    sink = InMemory()
    account = decode_files(found, sink, *_offset_of(document))
    tables = {name: finished(name, sink, account).collect() for name, table in TABLES.items() if table.from_logs}
    told = account.tables()
    return Decoded(tables | told, told["decode_stats"])


def with_verdict(tables: Mapping[str, pl.DataFrame], trial_dir: Path) -> dict[str, pl.DataFrame]:
    """Tables of a trial that was judged after it was decoded: the row of `trials` is told anew by its trial.json."""
    decoded = tables["trials"]
    if decoded.is_empty():
        return dict(tables)
    told = TrialDocument().decode(trial_dir / _REGISTER, Context()).tables["trials"]
    instants = TABLES["trials"].instants
    return {**tables, "trials": decoded.with_columns(told.select(pl.exclude(*instants)).get_columns())}


_OF_PROGRAMS = ("har", "netlog", "player", "qlog", "trace_events")
"""Formats that programs under test may write. What the laboratory alone observes, such as packets, none of theirs may
tell."""


def _may_tell(log: LogFile) -> bool:
    return log.decoder.format in _OF_PROGRAMS or was_written_by_laboratory(log.name)


_ORIGIN_LOGS = ("raw/server-qlog/",)
"""Logs of a server behind a proxy, whose connections are with the proxy, not with the client."""


def _document(trial_dir: Path) -> Mapping[str, object]:
    """Content of trial.json; nothing where it cannot be read."""
    try:
        document = json.loads((trial_dir / _REGISTER).read_text())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _captures_of_links(document: Mapping[str, object]) -> tuple[set[str], set[str]]:
    """Captures between the ends of the client's leg or behind it; and the capture at the front."""
    files = view_of(document, TrialFiles)
    links = files.links if files else ()
    of_client = [link for link in links if link.leg == "client"]
    if not of_client:
        return set(), set()
    front = f"raw/{of_client[-1].capture_server}"
    captures = {f"raw/{name}" for link in links for name in (link.capture_client, link.capture_server)}
    return captures - {f"raw/{of_client[0].capture_client}", front}, {front}


def _offset_of(document: Mapping[str, object]) -> tuple[int | None, int]:
    """CLOCK_REALTIME − CLOCK_MONOTONIC when the trial began, and by how much it changed until its end."""
    found = view_of(document, TrialClock)
    if found is None:
        return None, 0
    start_ns = found.clock.realtime_minus_monotonic_start_ns
    return start_ns, abs(found.clock.realtime_minus_monotonic_end_ns - start_ns)
