# SPDX-License-Identifier: Apache-2.0
"""Prediction of a run without one of a cell's mechanisms, from its stored trials, and how many blocks would tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from quiclab.compare import statistics
from quiclab.compare.statistics.confidence_sequence import needed_above
from quiclab.compare.study_tables import OpenedStudy
from quiclab.model.errors import SpecError, nearest
from quiclab.why.account_shares import FloatArray
from quiclab.why.accounts import family
from quiclab.why.cause_parts import known_of, parts_of
from quiclab.why.confirm.declaration import TOLERANCE, Predicted
from quiclab.why.confirm.times import effects_of_arm, mechanisms_in, pairs_in, times_of
from quiclab.why.divided import divided
from quiclab.why.prediction.in_arm import PredictedEffect, TrialEffect, Without, predicted_in
from quiclab.why.upstream import followers

LEAST_BLOCKS = 3
"""Fewest stored blocks from which anything is predicted."""
MOST_BLOCKS = 400
_USUAL_OVERHEAD_MS = 700.0
"""Time of a trial beside its transfer, where the stored trials do not tell."""


@dataclass(frozen=True)
class Suspect:
    """A mechanism in a cell, and the arm that has more of it."""

    cause: str
    arm: str
    other: str
    predicted: Predicted
    share: Predicted
    """Time of it in the account of `arm`."""
    more_ms: float
    """Median of its time in `arm`, less that in `other`."""
    present_in: int
    """Blocks of `arm` in which it has time at all."""
    replaced_ms: float = 0.0
    """Median of its time in whose place another limit is predicted to hold."""


@dataclass(frozen=True)
class CellTimes:
    """Medians of the whole times of a cell's two arms, and what a trial takes beside its transfer."""

    total_ms: dict[str, float]
    noise_ms: dict[str, float]
    """Standard deviation over the blocks, by the median of the deviations."""
    overhead_ms: float


def suspects(study: OpenedStudy, cell: str, arms: tuple[str, str], alpha: float) -> list[Suspect]:
    """Every mechanism of a cell with the arm that has more of it, the greatest difference first."""
    by_arm = [mechanisms_in(study, cell, arm) for arm in arms]
    effects = [effects_of_arm(study, cell, arm) for arm in arms]
    names = dict.fromkeys([*by_arm[0], *by_arm[1]])
    found = [_suspect(name, arms, [each.get(name) for each in by_arm], effects, alpha) for name in names]
    return sorted((each for each in found if each is not None), key=lambda each: -each.more_ms)


@dataclass(frozen=True)
class Following:
    """A mechanism that takes longer in an arm because another one does."""

    upstream: str
    """Name of the other one; "" where it is one of several."""
    longer_ms: float
    """Mean over the pairs."""


def following(study: OpenedStudy, cell: str, arms: tuple[str, str], alpha: float) -> dict[str, Following]:
    """Mechanisms of a cell that take longer for the sake of another one, which is put to the test first."""
    known = known_of(study, "ttlb_ms")
    pairs = [] if known is None else [pair for pair in pairs_in(study, cell, arms) if set(pair) <= known.ms.keys()]
    if known is None or not pairs:
        return {}
    known = divided(known, pairs)
    parts = parts_of(known, pairs)
    steps = family([known.times(part, pairs) for part in parts], alpha)
    found = followers(known, pairs, parts, {at: step for at, step in enumerate(steps) if step.differs(alpha)})
    return {
        mechanism.name: Following(
            above.name if (above := parts[upstream].mechanism) else "", abs(steps[at].difference_ms)
        )
        for at, upstream in found.items()
        if (mechanism := parts[at].mechanism) is not None
    }


def beyond_ms(
    suspect: Suspect, times: Mapping[str, FloatArray], takes: Collection[str], follow: Mapping[str, Following]
) -> float:
    """Time that may go with a mechanism's own: medians of the arm's others that the setting takes away as well (`times`
    has those of all, `takes` the names), and what the arm takes longer in those that follow from it."""
    also = [float(np.median(own)) for name, own in times.items() if name in takes and name != suspect.cause]
    behind = [each.longer_ms for name, each in follow.items() if each.upstream == suspect.cause and name not in takes]
    return sum(also) + sum(behind)


def suspect_named(found: Sequence[Suspect], cause: str, cell: str) -> Suspect:
    """The suspect of that name. Raises SpecError where the cell shows nothing of it."""
    for each in found:
        if each.cause == cause:
            return each
    shown = [each.cause for each in found]
    raise SpecError(f"no trial of {cell} shows {cause}", nearest(cause, shown, "they show"))


def excess(study: OpenedStudy, cell: str, suspect: Suspect, alpha: float) -> Predicted:
    """The time of a mechanism that one arm has more than the other: the median of the differences within pairs; where
    the other has none of it, all that is predicted of the arm."""
    places = {"own": (cell, suspect.arm), "other": (cell, suspect.other)}
    times = times_of(study, places, suspect.cause)
    if not np.nan_to_num(times["other"].cause).any():
        return suspect.predicted
    more = times["own"].cause - times["other"].cause
    return _predicted(more[~np.isnan(more)], alpha)


def _predicted(own: FloatArray, alpha: float) -> Predicted:
    interval = statistics.median_interval(own, 1 - alpha) if own.size else None
    low, high, confidence = (interval.low, interval.high, interval.confidence) if interval else (0.0, np.inf, 0.0)
    median = float(np.median(own)) if own.size else 0.0
    return Predicted(median, float(low), float(high), confidence, int(own.size))


def without(share: Predicted, effect: PredictedEffect | None) -> tuple[Predicted, float]:
    """Time that is predicted to go without a mechanism of this share, and time in whose place another limit is to hold,
    in ms; the share itself where no trial's graph tells."""
    if effect is None:
        return share, 0.0
    gone = effect.gone
    replaced_ms = max(0.0, share.ms - gone.middle_ms) if effect.next_why is not None else 0.0
    return Predicted(gone.middle_ms, gone.low_ms, gone.high_ms, gone.confidence, gone.trials), replaced_ms


def _suspect(
    name: str,
    arms: tuple[str, str],
    times: Sequence[np.ndarray | None],
    effects: Sequence[Sequence[Mapping[Without, TrialEffect]]],
    alpha: float,
) -> Suspect | None:
    medians = [0.0 if each is None or not each.size else float(np.median(each)) for each in times]
    has = int(medians[1] > medians[0])
    own = times[has] if times[has] is not None else times[1 - has]
    if own is None:
        return None
    share = _predicted(own, alpha)
    predicted, replaced_ms = without(share, predicted_in(effects[has], name, alpha))
    more_ms, present_in = medians[has] - medians[1 - has], int((own > 0).sum())
    return Suspect(name, arms[has], arms[1 - has], predicted, share, more_ms, present_in, replaced_ms)


def cell_times(study: OpenedStudy, cell: str, arms: tuple[str, str]) -> CellTimes:
    """Times of a cell's trials. Raises SpecError where an arm has none with an account."""
    found = times_of(study, {arm: (cell, arm) for arm in arms}, "")
    total, noise = {}, {}
    for arm, times in found.items():
        known = times.total[np.isfinite(times.total)]
        if not known.size:
            raise SpecError(
                f"no trial of {arm} in {cell} has an account of its time", "run the study, or choose a cell"
            )
        total[arm] = float(np.median(known))
        noise[arm] = 1.4826 * float(np.median(np.abs(known - total[arm])))
    return CellTimes(total, noise, _overhead_ms(study))


def _overhead_ms(study: OpenedStudy) -> float:
    """Time from the start of a trial to that of the next one, less its transfer: the median over the study."""
    if "began_utc" not in study.columns("trials"):
        return _USUAL_OVERHEAD_MS
    values = study.metrics.filter(pl.col("name") == "ttlb_ms").select("trial_id", "value")
    rows = study.trials.join(values, on="trial_id").drop_nulls("began_utc").sort("began_utc")
    began = rows["began_utc"].str.to_datetime(strict=False, time_zone="UTC")
    gaps = began.diff().shift(-1).dt.total_milliseconds()
    beside = (gaps - rows["value"]).drop_nulls()
    found = beside.filter(beside > 0).median()
    return float(found) if isinstance(found, int | float) else _USUAL_OVERHEAD_MS


def blocks_needed(noise_ms: float, tolerance_ms: float, alpha: float) -> int | None:
    """Blocks after which a sham without effect is expected to be told as such; None where not even many are enough.

    Of the two runs of a pair each has this noise. The confidence sequence ends at two of the ordered differences.
    """
    from scipy.special import ndtri  # imported late: it takes longer than the rest

    for blocks in range(1, MOST_BLOCKS + 1):
        needed = needed_above(blocks, alpha)
        if needed is not None and np.sqrt(2) * noise_ms * ndtri(needed / (blocks + 1)) <= tolerance_ms:
            return blocks
    return None


def least_blocks(alpha: float) -> int:
    """Fewest blocks that decide anything."""
    return next(blocks for blocks in range(1, MOST_BLOCKS) if needed_above(blocks, alpha) is not None)


def tolerance_of(predicted: Predicted) -> float:
    """Time within which two totals count as the same, in ms."""
    return TOLERANCE * predicted.ms
