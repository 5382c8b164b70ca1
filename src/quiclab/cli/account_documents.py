# SPDX-License-Identifier: Apache-2.0
"""The documents of `quiclab explain --json` and of `--confirm --json`, as dataclasses: accounts, verdicts, tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.compare.model import Conclusion
from quiclab.compare.statistics import Interval


@dataclass(frozen=True)
class StepEntry:
    """One category of the time in both arms, or the whole time: means over the pairs."""

    label: str | None
    """Name of the category, as in the tables; null of the whole time."""
    baseline_ms: float
    """Mean of the baseline."""
    other_ms: float
    """Mean of the other arm."""
    difference_ms: float
    """Mean of other − baseline."""
    interval_ms: Interval | None
    """Interval of the difference, which allows for the choice of the categories that are told."""
    p: float | None
    """Value of p: the larger of the exact signed-rank test's of the pairs' differences, and of their mean's."""
    adjusted_p: float | None
    """Value of p, adjusted for the number of categories that are tested (Benjamini and Hochberg); null of one with less
    than 1 % of what moves within pairs, which is not."""
    sums_up: tuple[str, ...]
    """Finer categories that this one sums up, where an arm's evidence cannot tell them apart."""
    baseline_decided_by: tuple[str, ...]
    """Tables that decided the category in the baseline."""
    other_decided_by: tuple[str, ...]
    """Tables that decided it in the other arm."""


@dataclass(frozen=True)
class FactEntry:
    """A number that a mechanism shows, as a mean over the trials of each arm."""

    name: str
    """Identifier within the mechanism."""
    unit: str
    """Unit of both values; empty of counts."""
    baseline_in_unit: float | None
    """Mean of the baseline's trials; null where none shows it."""
    other_in_unit: float | None
    """Mean of the other arm's trials; null where none shows it."""


@dataclass(frozen=True)
class FollowerEntry:
    """A mechanism that takes longer for another one's sake, and is itself as much in both arms."""

    name: str
    """The mechanism."""
    difference_ms: float
    """Mean of other − baseline: a part of the other one's difference."""
    facts: tuple[FactEntry, ...]
    """Numbers of the trials that would differ where it differed by itself."""


@dataclass(frozen=True)
class CauseEntry:
    """The verdict on one part of a cell's difference."""

    name: str
    """The mechanism (docs/reference/causes.md), or `several:REASON`, `unknown:REASON`."""
    status: str
    """`confirmed`, `rejected`, `indicated`, `shown by the records`, `luck`, `several, not separable`, `unknown cause`,
    `undecided` or `in both arms`."""
    baseline_ms: float
    """Mean time of it in the baseline."""
    other_ms: float
    """Mean time of it in the other arm."""
    difference_ms: float
    """Mean of other − baseline."""
    interval_ms: Interval | None
    """Interval of the difference; null for fewer than three pairs."""
    p: float | None
    """Value of p: the larger of the exact signed-rank test's of the pairs' differences, and of their mean's."""
    adjusted_p: float | None
    """Adjusted p: after Benjamini–Hochberg over the parts."""
    pairs_needed: int | None
    """Pairs like these that would show the difference in four studies of five; null where it is shown, where these tell
    too little of others, and where 400 are not enough."""
    rivals: tuple[str, ...]
    """Mechanisms that cannot be told apart here."""
    evidence: tuple[str, ...]
    """Tables that decided."""
    facts: tuple[FactEntry, ...]
    """Numbers behind it."""
    against: tuple[str, ...]
    """Evidence against it."""
    followers: tuple[FollowerEntry, ...]
    """Mechanisms that follow from it: their differences are parts of `difference_ms`."""


@dataclass(frozen=True)
class ConfirmationEntry:
    """A run that put a cause to the test."""

    cause: str
    """The mechanism."""
    arm: str
    """Arm that has it, or more of it."""
    other: str
    """Arm that it is compared with."""
    directory: str
    """Directory of the confirming study."""
    sound: bool
    """True if declaration and spec are as they were before the run. Otherwise it counts for nothing."""
    verdict: Mapping[str, object] | None
    """Verdict (`confirmed`, `condition`, `rejected` or `undecided`), checks and effects, as `verdict.json` there keeps
    them; null where it has not been judged."""


@dataclass(frozen=True)
class AccountEntry:
    """The account of one cell: where the time went in both arms."""

    cell_id: str
    """The cell: `WORKLOAD/PATH`."""
    baseline: str
    """Name of the baseline arm."""
    other: str
    """Name of the other arm."""
    conclusion: Conclusion
    """Conclusion of the cell's comparison; if it is `not judged`, its account is not tested."""
    conclusion_why: str
    """A sentence where the comparison is undecided, not judged or not measured."""
    headline: str
    """The sentence that explain, report and terminal print of the cell: of `causes`, with the same numbers."""
    of: str
    """Scope of the accounts: `ttlb`, `start_up` of videos, or `stall` of videos, all stalls of a trial together."""
    pairs: int
    """Pairs in which both trials have an account."""
    pairs_without_account: int
    """Further pairs of verified trials, in which one or both have none."""
    baseline_served_bytes: float
    """Mean bytes that the bottleneck served towards the baseline's client."""
    other_served_bytes: float
    """Mean bytes that it served towards the other arm's client."""
    why: tuple[StepEntry, ...]
    """One for each reason for which the sender had not sent earlier; they add up to the whole time."""
    what: tuple[StepEntry, ...]
    """One for each thing that passes the time; they add up to the whole time, too."""
    roles: tuple[StepEntry, ...]
    """One for each stage of the transfer: set-up, request, each tenth of the bytes, an upload's answer."""
    total: StepEntry | None
    """The whole time; null without a pair."""
    causes: tuple[CauseEntry, ...]
    """Verdicts on the parts of the difference, the largest first; empty where tables name no mechanisms."""
    rest_ms: float | None
    """Difference of the parts that are too small to be told: with those of `causes` it adds up to that of `total`; null
    where there are none."""
    confirmations: tuple[ConfirmationEntry, ...]
    """Runs of `--confirm` in this cell, those without a decision too."""


@dataclass(frozen=True)
class ExplainDocument:
    """Time of a transfer in each arm, by reason and cause."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    accounts: tuple[AccountEntry, ...]
    """One for each comparison that was asked for."""


@dataclass(frozen=True)
class ConfirmDocument:
    """A cause that is put to the test: what was declared before the run, and what the run showed."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the confirming study."""
    sha256: str
    """Hash of the declaration."""
    declared: Mapping[str, object]
    """The declaration, as `declared.json` in that directory keeps it: times are in ms."""
    verdict: Mapping[str, object] | None
    """Verdict, checks and effects, as `verdict.json` there keeps them; null with --dry-run."""
