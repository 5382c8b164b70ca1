# SPDX-License-Identifier: Apache-2.0
"""The full account of each trial of a study against the accounts that lower levels of evidence give alone.

`tools/coarsening.py STUDY` prints a row for each part of each level, with its mean difference and its worst trial. Ends
with 1 where a difference is more than the level states.

Summed up to the parts of a level, the full account must equal what is made from that level's files, within the
uncertainty that this states. Where it does not, one of the two is wrong.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import polars as pl
from middle_capture import went_on

from quiclab.evidence.metrics import Evidence, Unknown, evidence_of
from quiclab.logs.decoders import decode_trial, find
from quiclab.model.cause import Why
from quiclab.store.record_form import as_trial
from quiclab.why.account.account_tables import account_table
from quiclab.why.account.levels import Level, Part, members
from quiclab.why.account.one_end import Span
from quiclab.why.account.one_recording import account_of_tables, tables_of

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
    full = full_ms(table)
    jitter_ms, slower_ms = _changes_ms(evidence)
    transport: Literal["tcp", "quic"] = "quic" if evidence.quic else "tcp"
    found: list[Compared | Refused] = []
    one_link = evidence.one_link
    for level, files in _files(trial_dir / "raw", one_link=one_link):
        try:
            alone = account_of_tables(_tables(level, files, trial_dir / "raw" / "client.pcapng"), transport)
        except Unknown as unknown:
            found.append(Refused(level, str(unknown)))
            continue
        if level is Level.E5 and alone.level is not level:  # too near the client to be told from its own
            found.append(Refused(level, "it counts as the client's own: a program answers as late as from there"))
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
            for part, span in alone.undivided.items()
        ]
    return found


def full_ms(table: pl.DataFrame) -> dict[Why, float]:
    """Cause → ms of a full account, as one end sees it.

    After early data the amplification limit holds back an answer, which is a wait. What held up the request itself,
    such as its loss, is part of the time until the answer. That a packet left the link late no end can see: it is time
    of what waited for it. Behind the last flight that is the client, for which it is a wait.
    """
    seen = pl.when(pl.col("why") != str(Why.LABORATORY)).then("why")
    table = table.with_columns(why=seen.backward_fill().fill_null(str(Why.AWAITING_ACKS)))
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
    trial, expected = evidence.trial, evidence.trial.expected
    several = len(expected.listed) > 1 or expected.page or expected.video
    others = (trial.competition, trial.address_change, trial.second_link, trial.proxy)
    return not (evidence.upload or several or any(others))


def _files(raw: Path, *, one_link: bool) -> Iterator[tuple[Level, list[Path]]]:
    """The files of each lower level that a trial left. Of a trial with links in a row each capture is a level."""
    for capture in sorted(raw.glob("*.pcapng*")):
        if not capture.name.startswith("client"):
            yield Level.E5, [capture]
    if not one_link:  # recordings of one end take the path for one link
        return
    capture, keys = raw / "client.pcapng", raw / "keys.log"
    if capture.exists():
        if keys.exists():
            yield Level.E1, [capture, keys]
        yield Level.E2, [capture]
    for level, folder in ((Level.E3, "client-qlog"), (Level.E4, "server-qlog")):
        logs = sorted(each for each in (raw / folder).glob("*") if each.is_file())
        if len(logs) == 1:
            yield level, logs


def _tables(level: Level, files: list[Path], client: Path) -> dict[str, pl.DataFrame]:
    """Tables of a level's files; a capture between the ends goes on after the client's end, as the trial does not."""
    if level is not Level.E5:
        return tables_of(find((path, path.name) for path in files))
    with TemporaryDirectory() as folder:
        capture = Path(folder, "capture.pcapng")
        capture.write_bytes(went_on(files[0], client))
        return tables_of(find([(capture, capture.name)]))


def _late_ms(evidence: Evidence, level: Level) -> float:
    """Longest time between a packet in a log and in the captures: a program reads late, or sends later than it says."""
    # A client that reads late acknowledges late, which a server's log shows as the way.
    ends = {Level.E3: ["client"], Level.E4: ["client", "server"]}.get(level, [])
    rows = evidence.table("packets").filter(
        pl.col("vantage").is_in(ends), pl.col("event").is_in(["sent", "received"]), pl.col("ip_packet").is_null()
    )
    late_ns = rows.select((pl.col("time_ns") - pl.col("captured_ns")).abs().max()).item() or 0
    if level in (Level.E4, Level.E5):  # their instants have the way up in them, which the link may have lengthened
        up = evidence.table("link_packets").filter(pl.col("direction") == "up")
        late_ns += up.select(pl.col("lateness_ns").max()).item() or 0
    return float(late_ns / 1e6)


def _changes_ms(evidence: Evidence) -> tuple[float, float]:
    """Spread of a path's delay, and service beyond that at its highest rate: one end takes both for constant. Links
    in a row add up."""
    links = evidence.table("link_packets").partition_by("source")
    found = [_changes_of_link_ms(each) for each in links]
    return sum(each[0] for each in found), sum(each[1] for each in found)


def _changes_of_link_ms(link: pl.DataFrame) -> tuple[float, float]:
    """Both of one link."""
    rows = link.filter(pl.col("direction") == "down", pl.col("action") == "delivered", pl.col("service_ns") > 0)
    delay_ns = pl.col("due_ns") - pl.col("left_ns")
    fastest = (pl.col("size_bytes") / pl.col("service_ns")).quantile(0.95)
    slower_ns = pl.col("service_ns").sum() - pl.col("size_bytes").sum() / fastest
    jitter, slower = rows.select(delay_ns.max() - delay_ns.min(), slower_ns.alias("slower")).row(0)
    return max(0.0, (jitter or 0) / 1e6), max(0.0, (slower or 0) / 1e6)


def levels_of_study(study: Path) -> dict[str, list[Compared | Refused]]:
    """Trial → what was compared; trials without a full account have nothing."""
    found = {}
    for folder in sorted((study / "trials").iterdir()):
        trial = json.loads((folder / "trial.json").read_text())
        found[folder.name] = coarsening(folder, evidence_of(decode_trial(folder).tables, as_trial(trial)))
    return found


def in_lines(found: dict[str, list[Compared | Refused]]) -> tuple[list[str], int]:
    """Lines that say how far the levels agree, and how many parts of trials do not."""
    rows: defaultdict[tuple[str, str], list[tuple[str, Compared]]] = defaultdict(list)
    refused: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for trial, each in found.items():
        for one in each:
            if isinstance(one, Refused):
                refused[one.level, one.reason].append(trial)
            else:
                rows[one.level, one.part or "whole time"].append((trial, one))
    lines = [f"{'level':6}{'part':18}{'trials':>7}{'mean |diff|':>13}{'worst diff':>12}{'beyond':>8}  worst trial"]
    for (level, part), several in sorted(rows.items()):
        differences = [abs(one.alone.ms - one.full_ms) for _, one in several]
        trial, worst = max(several, key=lambda one: (one[1].beyond_ms, abs(one[1].alone.ms - one[1].full_ms)))
        beyond = sum(one.beyond_ms > 0 for _, one in several)
        lines.append(
            f"{level:6}{part:18}{len(several):7}{sum(differences) / len(differences):10.2f} ms"
            f"{worst.alone.ms - worst.full_ms:+9.2f} ms{beyond:8}  {trial}"
        )
    if not_of_it := sum(1 for each in found.values() if not each):
        lines.append(
            f"{not_of_it} of {len(found)} trials are not compared: they have no account, or not of one download by "
            "itself over one link (a page, a video, an upload, several objects, a proxy, another address, other flows)"
        )
    lines += [f"{level}: {len(trials)} refused ({trials[0]}): {reason}" for (level, reason), trials in refused.items()]
    return lines, sum(one.beyond_ms > 0 for several in rows.values() for _, one in several)


if __name__ == "__main__":
    lines, beyond = in_lines(levels_of_study(Path(sys.argv[1])))
    print("\n".join(lines))
    sys.exit(1 if beyond else 0)
