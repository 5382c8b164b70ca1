# SPDX-License-Identifier: Apache-2.0
"""A trial's account with the mechanism of each edge, and the table `mechanism_facts` of the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

import polars as pl

from quiclab.evidence.metrics import Evidence
from quiclab.model.tables import TABLES
from quiclab.why.mechanisms._api import Mechanism
from quiclab.why.mechanisms._measures import TRIAL, measures
from quiclab.why.mechanisms._registry import MECHANISMS
from quiclab.why.mechanisms._trial import Trial

PART_OF = "part_of_"
"""Begin of the name of a number: the time that a mechanism has of the one whose name follows."""


def with_mechanisms(
    evidence: Evidence, account: pl.DataFrame, mechanisms: Sequence[Mechanism] = MECHANISMS
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The account with its column `mechanism` filled, and the table `mechanism_facts`.

    `mechanisms` are those that are looked for, in the order of their claims. One that claims nothing has no facts,
    except where it says what was looked for in vain.
    """
    trial = Trial(evidence, account)
    of_edge: list[str | None] = [None] * account.height
    facts: list[tuple[str, str, float | None, str, str]] = []
    if account.is_empty():
        return account, TABLES["mechanism_facts"].empty()
    for mechanism in (each for each in mechanisms if each.divides is None):
        claim = mechanism.claim(trial)
        free = [mine and taken is None for mine, taken in zip(claim.edges, of_edge, strict=True)]
        of_edge = [mechanism.name if mine else taken for mine, taken in zip(free, of_edge, strict=True)]
        if claim.against:
            facts.append((mechanism.name, "against", None, "", claim.against))
        if any(free):
            edges = pl.Series(free, dtype=pl.Boolean)
            facts.append((mechanism.name, "time", trial.ms(edges), "ms", ""))
            facts.append((mechanism.name, "waits", trial.waits(edges), "", ""))
            facts += [(mechanism.name, fact.name, fact.value, fact.unit, "") for fact in claim.facts]
    for mechanism in mechanisms:
        facts += [(mechanism.name, *each) for each in _part_facts(trial, mechanism, of_edge)]
    facts += [(TRIAL, fact.name, fact.value, fact.unit, "") for fact in measures(trial)]
    named = account.with_columns(pl.Series("mechanism", of_edge, dtype=pl.String))
    return named, pl.DataFrame(facts, schema=TABLES["mechanism_facts"].schema(), orient="row")


def _part_facts(
    trial: Trial, mechanism: Mechanism, of_edge: Sequence[str | None]
) -> Iterator[tuple[str, float, str, str]]:
    """Numbers of a mechanism that is a part of others' time: its own, and of each of them."""
    if mechanism.divides is None:
        return
    claim = mechanism.claim(trial)
    owner = pl.Series(of_edge, dtype=pl.String)
    parts = {name: claim.edges & (owner == name).fill_null(value=False) for name in mechanism.divides.mechanisms}
    edges = reduce(or_, parts.values(), trial.none())
    if not edges.any():
        return
    yield ("time", trial.ms(edges), "ms", "")
    yield ("waits", trial.waits(edges), "", "")
    yield from ((PART_OF + name, trial.ms(part), "ms", "") for name, part in parts.items() if part.any())
    yield from ((fact.name, fact.value, fact.unit, "") for fact in claim.facts)
