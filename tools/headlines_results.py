# SPDX-License-Identifier: Apache-2.0
"""Headline results of the papers, and what came of the cells that they are held against."""

from __future__ import annotations

import enum
import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from headlines_measured import Changed, changed

from quiclab.evidence.metrics import METRICS
from quiclab.spec.headlines import HEADLINES as CELLS
from quiclab.spec.headlines import Counterfactual, Headline, Headlines, Paper, StandIn, read_headlines
from quiclab.spec.paper import read_paper
from quiclab.spec.paper_json import paper_json
from quiclab.spec.read import read_study

__all__ = [
    "BETTER",
    "CELLS",
    "ROOT",
    "CellResults",
    "Counterfactual",
    "Headline",
    "Headlines",
    "Paper",
    "Place",
    "StandIn",
    "Verdict",
    "arms_in_name",
    "places",
    "read_headlines",
    "read_results",
    "rows_again",
    "rows_of",
]  # fmt: skip

ROOT = Path(__file__).resolve().parent.parent
BETTER = {metric.name: metric.better for metric in METRICS}
"""Metric → which is better, `lower` or `higher`."""
_EARLIER_WORDS = {"undecided here": "inconclusive"}
"""Verdict of runs before 0.2.0 → the same verdict now."""
_NOT_JUDGED = "not judged"
"""Conclusion on a pair of arms, and of the claim about it: of runs before 0.2.0 such a claim has another word."""
Place = tuple[str | None, str | None]
"""Workload and path."""
_BETWEEN_ARMS = re.compile(" / |, | and ")
_NUMBERS = ("ours", "low", "high", "p", "adjusted_p", "n")


class Verdict(enum.StrEnum):
    """Outcome of a headline."""

    REPRODUCED = "reproduced"
    PLANTED = "mechanism shown with a planted fault"
    IN_PART = "reproduced in part"
    STANDS_IN = "depends on the server that stands in"
    CAUSE_TAKEN = "differs, with its cause taken away"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"
    PARTLY_RUN = "partly run"
    NOT_RUN = "not run yet"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True)
class CellResults:
    """Results that are kept of one cell; empty where it has not been run."""

    claims: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Id of a claim → its rows of claims.csv, one for each workload and path."""
    differences: pl.DataFrame = field(default_factory=pl.DataFrame)
    causes: pl.DataFrame = field(default_factory=pl.DataFrame)
    accounts: pl.DataFrame = field(default_factory=pl.DataFrame)
    """Reasons of each arm's time: means over its trials, by cell, arm and reason."""
    host: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Id of a claim → what the paper found, as `quiclab.spec.paper_json` has it: a direction, or a number with all that
    are the paper's."""
    matters: float = 0.0
    """Smallest difference that matters to the cell's study, as a share."""
    lacking: frozenset[str] = frozenset()
    """Claims that lack a workload or path which paper.toml names: it has not been measured."""
    changed: Changed = field(default_factory=Changed)
    """Difference of the spec from the one that was measured."""
    has_trials: bool = False
    """True if the values of each trial are kept."""

    def rows(self, claim: str, *, before: bool) -> list[dict[str, Any]]:
        """Rows of a claim; those of arms, workloads and paths that have changed since only if `before` is true."""
        return [row for row in self.claims.get(claim, ()) if before or not row.get("changed")]


def read_results(cell: str, folder: Path = CELLS) -> CellResults:
    """Read what is kept of a cell."""
    results = folder / cell / "results"
    if not (results / "claims.csv").exists():
        return CellResults()
    declared = paper_json(read_paper(folder / cell / "paper.toml"), {})["claims"]
    known = {each["id"]: each["why"] for each in declared}
    cells_of = {each["id"]: list(itertools.product(each["workloads"], each["paths"])) for each in declared}
    claims: dict[str, list[dict[str, Any]]] = {}
    rows = pl.read_csv(results / "claims.csv", infer_schema=False).with_columns(pl.col(_NUMBERS).cast(pl.Float64))
    since = changed(results / "spec.toml", folder / cell / "spec.toml")
    for row in rows.iter_rows(named=True):
        arms = [arm for name in ("first_arm", "second_arm") for arm in arms_in_name(row[name] or "")]
        cells = [(row["workload"] or "", row["path"] or "")] if row["workload"] else cells_of.get(row["claim"], [])
        claims.setdefault(row["claim"], []).append(
            row
            | {"verdict": _NOT_JUDGED if row.get("conclusion") == _NOT_JUDGED else _word(row["verdict"])}
            | {"changed": "; ".join(dict.fromkeys(filter(None, (since.since(*cell, arms) for cell in cells))))}
            # What keeps a claim from being quite the paper's may have been put better since the run.
            | {"known_before": known.get(row["claim"], row["known_before"])}
        )
    tables = {
        name: pl.read_csv(results / f"{name}.csv") if (results / f"{name}.csv").exists() else pl.DataFrame()
        for name in ("differences", "causes", "accounts")
    }
    expected = {each["id"]: each["expected"] for each in declared if each["expected"]}
    host = json.loads((results / "host.json").read_text())
    matters = read_study(folder / cell / "spec.toml").matters.value
    measured = {name: {(row["workload"], row["path"]) for row in rows} for name, rows in claims.items()}
    asked = {each["id"]: places(each["kind"], each["workloads"], each["paths"]) for each in declared}
    return CellResults(
        claims, **tables, host=host, expected=expected, matters=matters, changed=since,
        lacking=frozenset(name for name, cells in asked.items() if cells - measured.get(name, set())),
        has_trials=(results / "trials.csv").exists(),
    )  # fmt: skip


def _word(verdict: str) -> str:
    """The verdict in today's word."""
    return _EARLIER_WORDS.get(verdict, verdict)


def places(kind: str, workloads: Iterable[str], paths: Iterable[str]) -> set[Place]:
    """Workload and path of each row that a claim of this kind has in claims.csv: a count has one without them."""
    return {(None, None)} if kind == "count" else set(itertools.product(workloads, paths))


def arms_in_name(name: str) -> list[str]:
    """Arms that the name of a side in claims.csv is of: one, a ratio of two, a mean over several, or all but the last
    of a count."""
    return _BETWEEN_ARMS.split(name.replace("mean of ", ""))


def rows_again(of: Counterfactual, results: Mapping[str, CellResults], *, before: bool = True) -> list[dict[str, Any]]:
    """Rows of the claim that a counterfactual holds again, over its paths alone; those that were measured before their
    spec changed only if `before` is true."""
    rows = results[of.cell].rows(of.claim, before=before) if of.claim else []
    return [row for row in rows if not of.paths or row["path"] in of.paths]


def rows_of(
    headline: Headline | StandIn, results: Mapping[str, CellResults], *, before: bool = True
) -> list[tuple[str, dict[str, Any]]]:
    """(Cell, row of claims.csv) for all claims of a headline or of a server, in order; those that were measured before
    their spec changed only if `before` is true."""
    return [(cell, row) for cell, claim in headline.claims for row in results[cell].rows(claim, before=before)]
