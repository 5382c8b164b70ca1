# SPDX-License-Identifier: Apache-2.0
"""Every path as it was asked for and as it was measured (Kakhki et al. 2017, Table 5)."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl

from quiclab.compare import path_asked
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.path_measured import MEASURED, path_data
from quiclab.compare.study import Study
from quiclab.model.number_text import quantity
from quiclab.model.resolved_record import ResolvedPath
from quiclab.report.figures import _table
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked

_NOTHING = "–"
_SCHEMA = dict.fromkeys(("network", "who", *MEASURED, "trials"), pl.String)


class Path(Figure):
    """A row for what the spec asks of each network, and one for what each arm met there."""

    name = "path"
    question = "Was the path that the packets met the one that was asked for?"
    where = Where.PAGE
    tables = ("resolved.json", "tables/trials.parquet", "metrics.parquet")
    columns: ClassVar = {
        "network": "the path",
        "who": "'as asked', or the arm whose trials measured it",
        "rtt_min": "smallest round-trip time",
        "rate": "rate towards the client while the bottleneck was busy",
        "throughput": "what arrived at the client, over the time of the transfer",
        "rtt": "round-trip time of the path, queue included: mean over packets",
        "rtt_sd": "its standard deviation",
        "reordered": "share of the packets towards the client that came after a later one",
        "lost_up": "share of the packets to the server that the path's loss took",
        "lost_down": "share of the packets towards the client that the path's loss took",
        "trials": "number of trials that the means are over",
    }

    headings: ClassVar = (
        "network", "", "RTT least", "rate down", "throughput down", "RTT mean", "RTT SD", "reordered down", "loss up",
        "loss down", "trials",
    )  # fmt: skip

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return what each network was asked to be, then what each arm met there."""
        return path_rows(asked.files, asked.analysis)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per row of the table."""
        return _table.draw(self.headings, data.select(*self.columns).rows(), words=2)


def path_rows(study: Study, analysis: StudyAnalysis) -> pl.DataFrame:
    """Return for each path what was asked, then the means of `path_data`, written with their units."""
    wanted = {name: _asked(path) for name, path in study.paths.items()}
    rows: list[dict[str, str]] = []
    blank = dict.fromkeys(_SCHEMA, _NOTHING)
    for (path,), arms in path_data(study).group_by("path", maintain_order=True):
        title = analysis.path_titles.get(str(path), str(path))
        rows.append(blank | wanted.get(str(path), {}) | {"network": title, "who": "as asked"})
        for row in arms.iter_rows(named=True):
            told = {column: _value_text(row[metric], unit) for column, (metric, unit) in MEASURED.items()}
            rows.append(told | {"network": "", "who": row["arm"], "trials": str(row["trials"])})
    return pl.DataFrame(rows, schema=_SCHEMA)


def _value_text(value: float | None, unit: str) -> str:
    return quantity(value / 1e6, "Mbit/s") if value is not None and unit == "bit/s" else quantity(value, unit)


def _asked(path: ResolvedPath) -> dict[str, str]:
    told = path_asked.asked(path)
    return {
        "rate": told["path_rate_down_bit_per_s"],
        "rtt_min": told["path_rtt_min_ms"],
        "rtt": told["path_rtt_min_ms"] + " + queue",
        "reordered": _reordering(path),
        "lost_up": told["path_loss_up_pct"],
        "lost_down": told["path_loss_down_pct"],
        "trials": "",
    }


def _reordering(path: ResolvedPath) -> str:
    """Reordering of the first link that was told to do any."""
    for direction in path.directions("down"):
        if direction.reorder:
            share = direction.reorder.probability_pct
            return "yes" if share is None else quantity(float(share), "%")
        if direction.jitter and direction.jitter.mode == "reorder":
            return "by jitter"
    return "0 %"
