# SPDX-License-Identifier: Apache-2.0
"""Headline results of the papers, and what came of the cells that they are held against."""

from __future__ import annotations

import enum
import itertools
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from headlines_measured import Changed, changed

from quiclab.evidence.metrics import METRICS
from quiclab.spec.paper import read_paper
from quiclab.spec.paper_json import paper_json
from quiclab.spec.read import read_study

ROOT = Path(__file__).resolve().parent.parent
CELLS = ROOT / "experiments" / "headlines"
BETTER = {metric.name: metric.better for metric in METRICS}
"""Metric → which is better, `lower` or `higher`."""
_NUMBERS = ("ours", "low", "high", "p", "adjusted_p", "n")


class Verdict(enum.StrEnum):
    """Outcome of a headline."""

    REPRODUCED = "reproduced"
    PLANTED = "mechanism shown with a planted fault"
    IN_PART = "reproduced in part"
    STANDS_IN = "depends on the server that stands in"
    CAUSE_TAKEN = "differs, with its cause taken away"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    PARTLY_RUN = "partly run"
    NOT_RUN = "not run yet"
    NOT_TESTABLE = "not testable here"


@dataclass(frozen=True)
class Counterfactual:
    """A cell in which what is said to be the cause is not there: in another arm of it, or in all of it."""

    cell: str
    what: str
    """Substitute for the cause."""
    without: str = ""
    """The arm as the paper has it."""
    with_: str = ""
    """The arm of the same blocks in which the cause is taken away."""
    claim: str = ""
    """Claim that is held against the cell again, where the substitute is no other arm."""
    cause_of: str = ""
    """Claim of the headline, as CELL:ID, whose difference is gone with the cause if the claim agrees here."""


@dataclass(frozen=True)
class StandIn:
    """A server in the place of the paper's, which is not to be had, with the claims that rest on it."""

    server: str
    claims: tuple[tuple[str, str], ...]
    """(Cell, id of the claim)."""


@dataclass(frozen=True)
class Headline:
    """One result that a paper is known for."""

    id: str
    where: str
    text: str
    claims: tuple[tuple[str, str], ...] = ()
    """(Cell, id of the claim)."""
    not_testable: str = ""
    not_run: str = ""
    """Reason why it has not been run yet, where that is known."""
    note: str = ""
    but: str = ""
    """Reason why it is not reproduced wholly although its claims agree."""
    planted: bool = False
    """True if the fault that it is about was put into the program that stands for the paper's."""
    read_again: str = ""
    """First result, of a claim that was read again, or of a cell that was set up again, after a first run."""
    stands_in: tuple[StandIn, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()


@dataclass(frozen=True)
class Paper:
    """A paper, with the conditions of its measurements."""

    key: str
    """Letter with which the ids of its headlines begin."""
    name: str
    title: str
    conditions: str
    remark: str = ""
    """Remark that is about several of its headlines."""


@dataclass(frozen=True)
class Headlines:
    """All of headlines.toml."""

    papers: tuple[Paper, ...]
    headlines: tuple[Headline, ...]

    def for_paper(self, paper: Paper) -> list[Headline]:
        """Headlines of one paper, in order."""
        return [each for each in self.headlines if each.id.startswith(paper.key)]


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


def read_headlines(file: Path = CELLS / "headlines.toml") -> Headlines:
    """Read headlines.toml."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    return Headlines(tuple(Paper(**each) for each in found["paper"]), tuple(map(_headline, found["headline"])))


def _headline(found: dict[str, Any]) -> Headline:
    claims = _claims(found.pop("claims", ()))
    stands_in = tuple(StandIn(each["server"], _claims(each["claims"])) for each in found.pop("stands_in", ()))
    counterfactuals = tuple(
        Counterfactual(**{f"{key}_" if key == "with" else key: each[key] for key in each})
        for each in found.pop("counterfactual", ())
    )
    return Headline(**found, claims=claims, stands_in=stands_in, counterfactuals=counterfactuals)


def _claims(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(Cell, id) of claims that are named CELL:ID."""
    return tuple((cell, claim) for cell, _, claim in (each.partition(":") for each in names))


def read_results(cell: str, folder: Path = CELLS) -> CellResults:
    """Read what is kept of a cell."""
    results = folder / cell / "results"
    if not (results / "claims.csv").exists():
        return CellResults()
    declared = paper_json(read_paper(folder / cell / "paper.toml"), {})["claims"]
    known = {each["id"]: each["why"] for each in declared}
    claims: dict[str, list[dict[str, Any]]] = {}
    rows = pl.read_csv(results / "claims.csv", infer_schema=False).with_columns(pl.col(_NUMBERS).cast(pl.Float64))
    since = changed(results / "spec.toml", folder / cell / "spec.toml")
    for row in rows.iter_rows(named=True):
        arms = [arm for name in ("first_arm", "second_arm") for arm in (row[name] or "").split(" / ")]
        claims.setdefault(row["claim"], []).append(
            row
            | {"changed": since.since(row["workload"] or "", row["path"] or "", arms)}
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
    asked = {each["id"]: set(itertools.product(each["workloads"], each["paths"])) for each in declared}
    return CellResults(
        claims, **tables, host=host, expected=expected, matters=matters, changed=since,
        lacking=frozenset(name for name, cells in asked.items() if cells - measured.get(name, set())),
        has_trials=(results / "trials.csv").exists(),
    )  # fmt: skip


def rows_of(
    headline: Headline | StandIn, results: Mapping[str, CellResults], *, before: bool = True
) -> list[tuple[str, dict[str, Any]]]:
    """(Cell, row of claims.csv) for all claims of a headline or of a server, in order; those that were measured before
    their spec changed only if `before` is true."""
    return [(cell, row) for cell, claim in headline.claims for row in results[cell].rows(claim, before=before)]
