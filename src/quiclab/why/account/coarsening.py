# SPDX-License-Identifier: Apache-2.0
"""The full account of a trial against the accounts that lower levels of evidence give alone.

Summed up to the parts of a level, the full account must equal what is made from that level's files, within the
uncertainty that this states. Where it does not, one of the two is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.cause import Why
from quiclab.why.account.account_tables import account_table
from quiclab.why.account.levels import Level, Part, members
from quiclab.why.account.one_end import Span
from quiclab.why.account.one_recording import account_of_tables, tables_of_files

_ROUNDING_MS = 0.1
"""Agreement of a capture's times with the link's log."""


@dataclass(frozen=True)
class Compared:
    """One part of the time by both ways, of one trial."""

    level: Level
    part: Part | None
    """The part; None of the whole time."""
    full_ms: float
    """Time by all evidence."""
    alone: Span
    """Time by the level's own files."""
    unlike_ms: float = 0.0
    """Time by which the two may differ for what the level takes for granted: a path with a constant rate and delay, and
    programs that read at once."""

    @property
    def beyond_ms(self) -> float:
        """Distance of the full account from what the level states: 0 where both agree."""
        below, above = self.alone.low_ms - self.full_ms, self.full_ms - self.alone.high_ms
        return max(0.0, max(below, above) - _ROUNDING_MS - self.unlike_ms)


@dataclass(frozen=True)
class Refused:
    """A level whose files carry no account of a trial that all evidence has one of."""

    level: Level
    reason: str


def coarsening(trial_dir: Path, evidence: Evidence) -> list[Compared | Refused]:
    """Each part of each level of a trial; nothing where the trial is of another kind."""
    # No recording from one end shows which program had a processor: that time stays with what it delayed.
    tables = {name: table for name, table in evidence.tables.items() if name != "run_delays"}
    table = account_table(Evidence(tables, evidence.trial))
    if table.is_empty() or not _covered(evidence):
        return []
    full = _full_ms(table)
    jitter_ms, slower_ms = _changes_ms(evidence)
    transport: Literal["tcp", "quic"] = "quic" if evidence.quic else "tcp"
    found: list[Compared | Refused] = []
    for level, files in _files(trial_dir / "raw"):
        try:
            alone = account_of_tables(tables_of_files(files), transport)
        except Unknown as unknown:
            found.append(Refused(level, str(unknown)))
            continue
        # A capture of headers is one without keys.
        late_ms = _late_ms(evidence, alone.level)
        changes_ms = slower_ms + jitter_ms * (1 + len(alone.waits.ms))  # each run of packets has its own delay
        found.append(Compared(alone.level, None, sum(full.values()), alone.total, late_ms))
        found += [
            Compared(
                alone.level,
                part,
                sum(full.get(why, 0.0) for why in members(alone.level, part)),
                span,
                late_ms if part is Part.SET_UP else 2 * late_ms + changes_ms,  # late at both of its ends
            )
            for part, span in alone.parts.items()
        ]
    return found


def _full_ms(table: pl.DataFrame) -> dict[Why, float]:
    """Cause → ms of a full account, as one end sees it.

    After early data the amplification limit holds back an answer, which is a wait. What held up the request itself,
    such as its loss, is part of the time until the answer. That a packet left the link late no end can see: it is time
    of what waited for it.
    """
    seen = pl.when(pl.col("why") != str(Why.LABORATORY)).then("why")
    table = table.with_columns(why=seen.backward_fill().forward_fill())
    begun_ns = table.filter(pl.col("why") == str(Why.LINK_BUSY))["from_ns"].min()
    waits = (pl.col("why") == str(Why.AMPLIFICATION_LIMIT)) & (pl.col("from_ns") > begun_ns)
    asks = ~pl.col("why").is_in([str(each) for each in (*members(Level.E1, Part.SET_UP), Why.REQUEST)])
    before = asks & (pl.col("until_ns") <= begun_ns)
    late = pl.when(before).then(pl.lit(str(Why.REQUEST))).otherwise("why")
    why = pl.when(waits).then(pl.lit(str(Why.AWAITING_ACKS))).otherwise(late).alias("why")
    length = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    return {Why(each): float(ms) for each, ms in table.with_columns(why).group_by("why").agg(length).iter_rows()}


def _covered(evidence: Evidence) -> bool:
    """True if a trial is one download over one link, of which alone one end's account is."""
    trial, expected = evidence.trial, evidence.trial.get("expected") or {}
    several = len(expected.get("objects") or ()) > 1 or expected.get("page") or expected.get("video")
    others = ("competition", "address_change", "second_link", "proxy")
    return not (evidence.upload or several or any(trial.get(name) for name in others)) and evidence.one_link


def _files(raw: Path) -> Iterator[tuple[Level, list[Path]]]:
    """The files of each lower level that a trial left."""
    capture, keys = raw / "client.pcapng", raw / "keys.log"
    if capture.exists():
        if keys.exists():
            yield Level.E1, [capture, keys]
        yield Level.E2, [capture]
    for level, folder in ((Level.E3, "client-qlog"), (Level.E4, "server-qlog")):
        logs = sorted(each for each in (raw / folder).glob("*") if each.is_file())
        if len(logs) == 1:
            yield level, logs


def _late_ms(evidence: Evidence, level: Level) -> float:
    """Longest time between a packet in a log and in the captures: a program reads late, or sends later than it says."""
    # A client that reads late acknowledges late, which a server's log shows as the way.
    ends = {Level.E3: ["client"], Level.E4: ["client", "server"]}.get(level, [])
    rows = evidence.table("packets").filter(
        pl.col("vantage").is_in(ends), pl.col("event").is_in(["sent", "received"]), pl.col("ip_packet").is_null()
    )
    late_ns = rows.select((pl.col("time_ns") - pl.col("captured_ns")).abs().max()).item() or 0
    if level is Level.E4:  # its instants have the way up in them, which the laboratory's link may have lengthened
        up = evidence.table("link_packets").filter(pl.col("direction") == "up")
        late_ns += up.select(pl.col("lateness_ns").max()).item() or 0
    return float(late_ns / 1e6)


def _changes_ms(evidence: Evidence) -> tuple[float, float]:
    """Spread of a path's delay, and service beyond that at its highest rate: one end takes both for constant."""
    rows = evidence.table("link_packets").filter(
        pl.col("direction") == "down", pl.col("action") == "delivered", pl.col("service_ns") > 0
    )
    delay_ns = pl.col("due_ns") - pl.col("left_ns")
    fastest = (pl.col("size_bytes") / pl.col("service_ns")).quantile(0.95)
    slower_ns = pl.col("service_ns").sum() - pl.col("size_bytes").sum() / fastest
    jitter, slower = rows.select(delay_ns.max() - delay_ns.min(), slower_ns.alias("slower")).row(0)
    return max(0.0, (jitter or 0) / 1e6), max(0.0, (slower or 0) / 1e6)
