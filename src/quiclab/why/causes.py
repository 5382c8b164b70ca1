# SPDX-License-Identifier: Apache-2.0
"""Verdicts on why two arms differ: which mechanisms take how much of the difference, and what no mechanism explains.

Each edge of an account has one mechanism or none, so that in each pair the parts add up to the difference of the whole.
A part that only one arm's evidence can tell from others is not compared: what these others take is one part, `several`.

Differences that are luck: chance let the path lose more packets of one arm than of the other.

Two things must hold. As many losses in both arms would leave less than half of the difference: the time that a loss
costs on average is taken off for each loss above what the arms' common rate lets expect of a trial's packets (a control
variate: Glasserman 2003, Monte Carlo Methods, 4.1). And the arms' losses must be those of one rate: a path that drops
only large packets, or a policer, takes more of one arm's by its own rule, and that is no luck.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.why.account import Why
from quiclab.why.account_shares import FloatArray
from quiclab.why.accounts import Step, family
from quiclab.why.cause_parts import FactOfArms, Follower, Known, Pair, Part, parts_of
from quiclab.why.confirm.records import Confirmation
from quiclab.why.divided import divided
from quiclab.why.fixed_counts import FixedCount, fixed_count
from quiclab.why.mechanisms import LOST_ON_THE_PATH, SENT, TRIAL, Mechanism
from quiclab.why.prediction.in_arm import PredictedEffect, predicted_in
from quiclab.why.upstream import followers, joined

_LEFT = 0.5
"""Share of a difference that must be left when both arms have as many losses, for it to be more than luck."""
_UNLIKE = 0.001
"""Level below which the arms' packets were lost at unlike rates, each loss by itself. Small: a difference that was
found because of its losses has unlike ones."""
_UNLIKE_OF_PAIRS = 0.01
"""Level of the differences within pairs, which hold where losses come in bursts, too."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Packets of each trial that the path lost, and that were sent: arrays (pairs, arms)."""

    lost: FloatArray
    sent: FloatArray


def losses_of(known: Known, pairs: Sequence[Pair], mechanism: Mechanism) -> Losses | None:
    """The losses behind a mechanism's time; None of a mechanism without such numbers.

    It shows them only in trials in which it has time. In others the number of the whole trial stands for it, and where
    there is none of these either, none was lost.
    """

    def number(trial: str, own: str, of_trial: str) -> float:
        for value in (
            known.fact(trial, mechanism, own),
            known.facts.get(trial, {}).get(TRIAL, {}).get((of_trial, "packets"), np.nan),
        ):
            if not np.isnan(value):
                return float(value)
        return float("nan")

    named = np.array([[known.fact(trial, mechanism, "lost_packets") for trial in pair] for pair in pairs])
    if np.isnan(named).all():
        return None
    lost = np.array([[number(trial, "lost_packets", LOST_ON_THE_PATH) for trial in pair] for pair in pairs])
    sent = np.array([[number(trial, "sent_packets", SENT) for trial in pair] for pair in pairs])
    for arm in (0, 1):
        told = sent[:, arm][~np.isnan(sent[:, arm])]
        whole = told if told.size else sent[~np.isnan(sent)]
        sent[np.isnan(sent[:, arm]), arm] = whole.mean() if whole.size else 0.0
    return Losses(np.nan_to_num(lost), sent)


def is_luck(ms: FloatArray, losses: Losses) -> bool:
    """True if a difference of a mechanism's time, an array (pairs, arms) in ms, is one of how many were lost."""
    lost, sent = losses.lost, losses.sent
    if not lost.sum() or not sent.sum() or not _share_one_rate(losses):
        return False
    adjusted = ms - (lost - sent * lost.sum() / sent.sum()) * ms.sum() / lost.sum()
    before, after = (float((each[:, 1] - each[:, 0]).mean()) for each in (ms, adjusted))
    return bool(after * np.sign(before) < _LEFT * abs(before))


def _share_one_rate(losses: Losses) -> bool:
    """True if both arms' losses may be those of one rate, each by itself or in bursts."""
    from scipy.special import bdtr, bdtrc  # imported late: they take longer than the rest of an analysis

    lost, sent = losses.lost, losses.sent
    of_all, mine, share = lost.sum(), lost[:, 1].sum(), sent[:, 1].sum() / sent.sum()
    no_less = 1.0 if mine < 1 else float(bdtrc(mine - 1, int(of_all), share))
    if 2 * min(no_less, float(bdtr(mine, int(of_all), share))) >= _UNLIKE:
        return True
    beyond = lost - sent * lost.sum() / sent.sum()
    mean = statistics.mean(beyond[:, 1] - beyond[:, 0], 1 - _UNLIKE_OF_PAIRS)
    return mean is None or mean.interval is None or mean.interval.low <= 0 <= mean.interval.high


SMALL_PCT = 3.0
"""Share of what moved in all, or of both arms' times, below which a part is not told."""


class Status(enum.StrEnum):
    """State of knowledge of one part of a difference."""

    CONFIRMED = "confirmed"
    """The same, and runs without the mechanism took as much less time as had been declared before them."""
    REJECTED = "rejected"
    """The pairs show the difference, and runs without the mechanism took as long: it is not the cause."""
    INDICATED = "indicated"
    """The pairs show the difference, and the records show the mechanism in it. No run without it has been made."""
    RECORDED = "shown by the records"
    """A count that protocols and settings fix differs by as much in every pair, and the time goes with it."""
    LUCK = "luck"
    """The difference is there, and would be less than half of it had both arms lost as many of their packets."""
    SEVERAL = "several, not separable"
    """The pairs show the difference; one arm's records do not tell which of several mechanisms it was."""
    UNKNOWN = "unknown cause"
    """The pairs show the difference; no mechanism fits what the records show."""
    UNDECIDED = "undecided"
    """The difference is large on average, and the pairs do not show it."""
    IN_BOTH = "in both arms"
    """The mechanism takes much time in both arms, and as much in one as in the other."""

    @property
    def found(self) -> bool:
        """True if the pairs, or the records by themselves, show a difference."""
        return self not in (Status.UNDECIDED, Status.IN_BOTH)

    @property
    def names_one(self) -> bool:
        """True if a difference is shown, and one mechanism in it: what a run without it can test."""
        return self in (Status.INDICATED, Status.RECORDED, Status.CONFIRMED, Status.REJECTED)


@dataclass(frozen=True)
class Verdict:
    """Verdict on one part of a cell's difference."""

    status: Status
    step: Step
    """Means of both arms, their difference with its interval, p."""
    mechanism: Mechanism | None
    """The mechanism; None where none explains the time, or where several may."""
    category: Why | None
    """Reason of that time; None of a mechanism's, which may have several."""
    most: Why
    """The reason that has most of its time."""
    rivals: tuple[Mechanism, ...]
    """Mechanisms of `several`: those that the arm with better records shows."""
    evidence: tuple[str, ...]
    """Tables that decided the reasons in question."""
    facts: tuple[FactOfArms, ...]
    against: tuple[str, ...]
    """Evidence against it in the records, or what was searched for in vain."""
    pairs_needed: int | None
    """Pairs like these that would show the difference in four studies of five; None where it is shown, where these
    tell too little of others, and where 400 are not enough."""
    followers: tuple[Follower, ...] = ()
    """Mechanisms that follow from it, and are among its time: they take longer, and are as much in both arms."""
    fixed: FixedCount | None = None
    """The count that shows it, where the records do so by themselves."""
    without: PredictedEffect | None = None
    """Time by which the arm that has more of it would be faster without it; None where no record lets it be told."""
    tested: Confirmation | None = None
    """The last run that was to confirm it; None where none was made."""

    @property
    def name(self) -> str:
        """Identifier: the mechanism's, or `several:REASON`, `unknown:REASON`."""
        if self.mechanism is not None:
            return self.mechanism.name
        return f"{'several' if self.rivals else 'unknown'}:{self.category}"

    @property
    def title(self) -> str:
        """Name for readers, as a noun phrase."""
        if self.mechanism is not None:
            return self.mechanism.title
        heading = self.category.heading if self.category else ""
        known = self.rivals or self.category is Why.LABORATORY
        return heading if known else f"{heading} (cause unknown)"


def verdicts_of(known: Known, of: Sequence[Pair], alpha: float, *, foretold: bool = False) -> tuple[Verdict, ...]:
    """The verdicts on the difference of some pairs of trials, as their records alone have it, the largest first.

    Where the first is undecided, so is the answer of the cell: what the pairs do show is a smaller part. What both arms
    have as much of comes last.
    """
    pairs = [pair for pair in of if set(pair) <= known.ms.keys()]
    if not pairs:
        return ()
    known = divided(known, pairs)
    parts = parts_of(known, pairs)
    steps = family([known.times(part, pairs) for part in parts], alpha)
    follow = followers(
        known, pairs, parts, {at: step for at, step in enumerate(steps) if _is_shown(step, steps, alpha)}
    )
    if follow:
        parts = joined(known, pairs, parts, steps, follow)
        steps = family([known.times(part, pairs) for part in parts], alpha)
    least_ms = _least_ms(steps)
    whole_ms = sum(known.times(part, pairs).mean(axis=0) for part in parts)
    shared_ms = float(np.min(whole_ms)) * SMALL_PCT / 100
    tested, told = sum(step.adjusted_p is not None for step in steps), sum(step.differs(alpha) for step in steps)
    next_level = alpha * min(told + 1, max(1, tested)) / max(1, tested)
    asked = sum(part.mechanism is not None and part.mechanism.counted is not None for part in parts)
    cell = _Cell(known, pairs, alpha, least_ms, next_level if foretold else None, shared_ms, asked)
    found = [verdict for part, step in zip(parts, steps, strict=True) if (verdict := cell.verdict(part, step))]
    return tuple(sorted(found, key=lambda each: (each.status is Status.IN_BOTH, -abs(each.step.difference_ms))))


def _least_ms(steps: Sequence[Step]) -> float:
    return max(1e-9, sum(abs(step.difference_ms) for step in steps) * SMALL_PCT / 100)


def _is_shown(step: Step, steps: Sequence[Step], alpha: float) -> bool:
    return step.differs(alpha) and abs(step.difference_ms) >= _least_ms(steps)


@dataclass(frozen=True)
class _Cell:
    known: Known
    pairs: Sequence[Pair]
    alpha: float
    least_ms: float
    """Difference below which a part is not told."""
    next_level: float | None
    """Level at which one more part would be told beside those that are (Benjamini–Hochberg); None where it is not
    asked how many pairs that takes."""
    shared_ms: float
    """Time in both arms from which on a mechanism is told as present in both."""
    asked: int
    """Parts whose mechanism has a count that protocols and settings fix."""

    def verdict(self, part: Part, step: Step) -> Verdict | None:
        """The verdict on one part; None where it is too small to be told."""
        fixed = fixed_count(self.known, self.pairs, part, self.alpha, self.asked)
        status = self._status(part, step, fixed)
        if status is None:
            return None
        trials = [trial for pair in self.pairs for trial in pair]
        decided = (self.known.evidence[trial].get(member, ()) for trial in trials for member in part.members)
        needed = self._needed(part) if status is Status.UNDECIDED else None
        return Verdict(
            status,
            step,
            part.mechanism,
            part.category,
            self._most(part),
            part.rivals,
            tuple(sorted({table for tables in decided for table in tables})),
            self._facts_of(part.mechanism),
            self._against(part.mechanism),
            needed,
            part.followers,
            fixed if status is Status.RECORDED else None,
            None if part.mechanism is None else self._without(part.mechanism, step),
        )

    def _without(self, mechanism: Mechanism, step: Step) -> PredictedEffect | None:
        """The predicted effect in the arm that has more of a mechanism."""
        arm = int(step.difference_ms > 0)
        trials = [self.known.predicted.get(pair[arm], {}) for pair in self.pairs]
        return predicted_in(trials, mechanism.name, self.alpha)

    def _most(self, part: Part) -> Why:
        def ms(why: Why) -> float:
            return sum(
                self.known.ms[trial].get(member, 0.0)
                for pair in self.pairs
                for trial in pair
                for member in part.members
                if member[0] is why
            )

        return max(dict.fromkeys(why for why, _ in part.members), key=ms)

    def _status(self, part: Part, step: Step, fixed: FixedCount | None) -> Status | None:
        large = abs(step.difference_ms) >= self.least_ms
        if large and fixed is not None:
            return Status.RECORDED
        if large and not step.differs(self.alpha):
            return Status.UNDECIDED
        if large:
            if part.mechanism is None:
                return Status.SEVERAL if part.rivals else Status.UNKNOWN
            return Status.LUCK if self._lucky(part, part.mechanism) else Status.INDICATED
        shared = min(step.baseline_ms, step.other_ms) >= self.shared_ms
        return Status.IN_BOTH if shared and part.mechanism is not None else None

    def _lucky(self, part: Part, mechanism: Mechanism) -> bool:
        """True if a difference is one of how many packets chance let the path lose, and not of what a loss costs."""
        losses = losses_of(self.known, self.pairs, mechanism)
        return losses is not None and is_luck(self.known.times(part, self.pairs), losses)

    def _facts_of(self, mechanism: Mechanism | None) -> tuple[FactOfArms, ...]:
        return () if mechanism is None else self.known.facts_of(self.pairs, mechanism.name)

    def _against(self, mechanism: Mechanism | None) -> tuple[str, ...]:
        if mechanism is None:
            return ()
        told = (self.known.against.get(trial, {}).get(mechanism.name) for pair in self.pairs for trial in pair)
        return tuple(dict.fromkeys(each for each in told if each))

    def _needed(self, part: Part) -> int | None:
        if self.next_level is None:
            return None
        ms = self.known.times(part, self.pairs)
        differences = ms[:, 1] - ms[:, 0]
        return statistics.pairs_by_resampling(differences, self.next_level)
