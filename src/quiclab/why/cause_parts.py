# SPDX-License-Identifier: Apache-2.0
"""Parts of a cell's time that both arms' evidence can tell: a mechanism each, or a reason that none explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.metric_scope import rows_for
from quiclab.why.account import UNIONS, Why
from quiclab.why.account_shares import WHYS, FloatArray, categories
from quiclab.why.mechanisms import BY_NAME, MECHANISMS, PART_OF, TRIAL, Mechanism
from quiclab.why.prediction.in_arm import TrialEffect, Without, effects_in

Pair = tuple[str, str]
"""Trials of one block: baseline, other."""
Member = tuple[Why, str | None]
"""A reason, and the mechanism whose time it is; None of time without one."""


@dataclass(frozen=True)
class FactOfArms:
    """A number that a mechanism or a whole trial shows, as a mean over the trials of each arm that have it."""

    name: str
    """Identifier within the mechanism."""
    unit: str
    """Unit of both values; empty of counts."""
    baseline: float | None
    """Mean of the baseline's trials; None where none shows it."""
    other: float | None
    """Mean of the other arm's trials; None where none shows it."""


@dataclass(frozen=True)
class Follower:
    """A mechanism that takes longer for another one's sake."""

    mechanism: Mechanism
    difference_ms: float
    """Mean of its difference over the pairs."""
    facts: tuple[FactOfArms, ...]
    """Numbers that would differ where it differed by itself."""


@dataclass(frozen=True)
class Part:
    """Part that is compared: a mechanism's time, a reason's without a mechanism, or what several may have taken."""

    mechanism: Mechanism | None
    category: Why | None
    """The reason, of time without one mechanism."""
    members: tuple[Member, ...]
    """Members that it sums up."""
    rivals: tuple[Mechanism, ...] = ()
    """Mechanisms that either arm's records show in it, where one arm's do not tell them apart."""
    followers: tuple[Follower, ...] = ()
    """Mechanisms that follow from it: their time is among its own."""


@dataclass(frozen=True)
class Known:
    """Sums of every account by reason and mechanism, and the numbers behind the mechanisms."""

    ms: Mapping[str, Mapping[Member, float]]
    evidence: Mapping[str, Mapping[Member, frozenset[str]]]
    facts: Mapping[str, Mapping[str, Mapping[tuple[str, str], float]]]
    """Trial → mechanism → (fact, unit) → value."""
    against: Mapping[str, Mapping[str, str]]
    """Trial → mechanism → what speaks against it."""
    predicted: Mapping[str, Mapping[Without, TrialEffect]] = field(default_factory=dict)
    """Trial → predicted effects; none where the tables have none."""

    def times(self, part: Part, pairs: Sequence[Pair]) -> FloatArray:
        """Time of a part in ms: an array (pairs, arms)."""
        return np.array(
            [[sum(self.ms[trial].get(member, 0.0) for member in part.members) for trial in pair] for pair in pairs]
        )

    def fact(self, trial: str, mechanism: Mechanism, name: str) -> float:
        """A count that a mechanism shows in a trial; NaN where it shows none."""
        return self.facts.get(trial, {}).get(mechanism.name, {}).get((name, ""), np.nan)

    def facts_of(self, pairs: Sequence[Pair], name: str) -> tuple[FactOfArms, ...]:
        """Every number of a mechanism, or of the whole trials."""
        arms = [[self.facts.get(pair[arm], {}).get(name, {}) for pair in pairs] for arm in (0, 1)]
        told = dict.fromkeys(fact for arm in arms for trial in arm for fact in trial if _is_shown(fact[0]))
        return tuple(FactOfArms(*fact, _mean(arms[0], fact), _mean(arms[1], fact)) for fact in told)


def known_of(study: OpenedStudy, metric: str) -> Known | None:
    """Tables of a study about the time that a metric measures; None where they name no mechanisms.

    Raises DecodeError for a damaged table.
    """
    if not {"account_totals", "mechanism_facts"} <= set(study.tables):
        return None
    if "mechanism" not in study.columns("account_totals"):
        return None
    ms: dict[str, dict[Member, float]] = {}
    evidence: dict[str, dict[Member, frozenset[str]]] = {}
    sums = study.table("account_totals").filter(rows_for(metric)).group_by("trial_id", "why", "mechanism")
    rows = sums.agg(pl.col("total_ns").sum() / 1e6, pl.col("evidence").unique())
    for trial, why, mechanism, total, tables in rows.iter_rows():
        key = (Why(why), mechanism if mechanism in BY_NAME else None)
        of_trial = ms.setdefault(trial, {})
        of_trial[key] = of_trial.get(key, 0.0) + total
        evidence.setdefault(trial, {})[key] = frozenset(each for each in tables if each)
    facts: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    against: dict[str, dict[str, str]] = {}
    for trial, mechanism, fact, value, unit, told in study.table("mechanism_facts").iter_rows():
        if fact == "against":
            against.setdefault(trial, {})[mechanism] = told
        elif value is not None:
            facts.setdefault(trial, {}).setdefault(mechanism, {})[fact, unit] = value
    predicted = effects_in(study.table("predicted_effects"), metric) if "predicted_effects" in study.tables else {}
    return Known(ms, evidence, facts, against, predicted)


def parts_of(known: Known, pairs: Sequence[Pair]) -> list[Part]:
    """The parts that both arms' evidence supports, in the order of reasons.

    Where one arm's evidence leaves reasons undecided among several, these are one part, whatever the other arm tells.
    """
    why_ms = np.array([[[_why_ms(known.ms[trial], why) for why in WHYS] for trial in pair] for pair in pairs])
    into: dict[Why, Why] = {}
    for category, reasons in categories(why_ms):
        if category in UNIONS and category is not Why.SET_UP:
            into.update(dict.fromkeys(reasons, category))
    found = {member for pair in pairs for trial in pair for member in known.ms[trial]}
    groups: dict[tuple[str | None, Why | None], list[Member]] = {}
    for why, mechanism in sorted(found, key=lambda member: (WHYS.index(member[0]), member[1] or "")):
        key = (None, into[why]) if why in into else (mechanism, None if mechanism else why)
        groups.setdefault(key, []).append((why, mechanism))
    return [
        Part(
            BY_NAME[mechanism] if mechanism else None,
            category,
            tuple(members),
            () if mechanism else _rivals(category, members, known, pairs),
        )
        for (mechanism, category), members in groups.items()
    ]


def _rivals(
    category: Why | None, members: Sequence[Member], known: Known, pairs: Sequence[Pair]
) -> tuple[Mechanism, ...]:
    """The mechanisms that time without a single one may be of: those that either arm shows in it, else all that take
    time for the reasons which its category stands for, but those without what they need in every trial."""
    shown = [name for name in dict.fromkeys(each for _, each in members) if name]
    if shown:
        return tuple(BY_NAME[name] for name in shown)
    reasons = set(UNIONS.get(category, ())) if category else set()
    trials = [known.facts.get(trial, {}).get(TRIAL, {}) for pair in pairs for trial in pair]

    def excluded(mechanism: Mechanism) -> bool:
        if mechanism.divides is not None:
            return True
        return bool(mechanism.needs) and all(trial.get((mechanism.needs, "packets")) == 0 for trial in trials)

    return tuple(each for each in MECHANISMS if reasons.intersection(each.reasons) and not excluded(each))


def _is_shown(fact: str) -> bool:
    """True of a number beside the mechanism's time, which its verdict has."""
    return fact != "time" and not fact.startswith(PART_OF)


def _why_ms(of_trial: Mapping[Member, float], why: Why) -> float:
    return sum(ms for (reason, _), ms in of_trial.items() if reason is why)


def _mean(trials: Sequence[Mapping[tuple[str, str], float]], name: tuple[str, str]) -> float | None:
    values = [trial[name] for trial in trials if name in trial]
    return sum(values) / len(values) if values else None
