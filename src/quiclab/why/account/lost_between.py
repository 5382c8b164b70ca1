# SPDX-License-Identifier: Apache-2.0
"""Kinds of the losses between two captures: a policer, a full queue, or the path, where the packets can tell.

A token bucket of a rate and a size lets packets pass until it is empty; a queue in front of a service of that rate and
with room for that size fills up by the same arithmetic. So one search finds both, over all rates: the level after each
packet that came follows from the rate alone, and where a bucket lost the packets, those that were lost would have
raised it above what any that came has raised it to. What tells the two apart is the delay: behind a queue a packet
waits for as long as the level takes to drain, behind a policer it does not (Flach et al., An Internet-wide analysis of
traffic policing, SIGCOMM 2016, section 3: losses at an empty bucket, with round trips that are not inflated).

Other flows through the same bucket are not in the captures, nor is what an AQM goes by: where neither a bucket nor the
delay explains the losses, and they yet fall where packets wait for long, they stay without a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
import numpy.typing as npt

from quiclab.model.tables.drop_reasons import DropKind
from quiclab.why.account.arrivals import Arrivals, Floats, Int64s

FEWEST_LOSSES, FEWEST_RUNS = 8, 4
"""Losses, and runs of losses one after the other, below which nothing is said: chance alone makes a pattern of them."""
_RARE = 1e-3
"""Probability by chance, over all rates that are tried, below which a pattern is taken for one."""
_ELEVATED = 0.01
"""Value of p from which on losses do not fall where packets wait longer, or more was sent before."""
_EXPLAINED, _PURE = 0.6, 0.9
"""Least share of the losses that a bucket or a full queue explains, and of the packets above a bucket's size that were
lost."""
_WAITS, _WAITS_MOST, _NO_WAIT = 0.8, 1.25, 0.5
"""Shares of the time that the level takes to drain between which a packet waits as in a queue, and below which it waits
as behind a policer; the first is also the share of the longest delay from which on a queue counts as full."""
_LEAST_PACKETS = 3
"""Largest packets that a bucket must hold: the order of single packets is not that of the place where they are lost."""
_ROOM = 0.9
"""Share of a bucket's size up to which it surely had room for a packet."""
_LEAST_QUEUE_NS = 2_000_000
"""Delay below which none is taken for that of a full queue: programs and captures are late by as much."""
_LONGEST = 0.98
"""Quantile of the delays that counts as the longest."""
_RUNS_PAIRED = 24
"""Runs of losses between any two of which a rate is tried."""
_STEPS, _ROUNDS, _CLOSEST = 61, 3, 1e-4
"""Rates of a round, rounds that look more and more closely around the best one, and how closely at most."""
_AROUND_MEAN = (0.5, 4)
"""Shares of the mean rate between which rates are tried."""
_FEWEST_RATES, _MOST_LEVELS = 24, 4_000_000
"""Fewest rates that are tried, and most levels that are in memory at once otherwise."""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Crossing:
    """Packets of one transport from one end to the other, in the order of sending."""

    sent_ns: Int64s
    size_bytes: Int64s
    delay_ns: Floats
    """Time until the packet came, on two clocks that may differ by a constant; NaN of one that did not come."""

    @cached_property
    def lost(self) -> Flags:
        """True for each packet that did not come."""
        found: Flags = np.isnan(self.delay_ns)
        return found

    @cached_property
    def waited_ns(self) -> Floats:
        """Delay of each packet beyond the least; of a lost one that of the nearest in time that came."""
        came = np.flatnonzero(~self.lost)
        after = np.clip(np.searchsorted(came, np.arange(len(self.lost))), 0, len(came) - 1)
        before = np.clip(after - 1, 0, None)
        nearer = np.where(
            np.abs(self.sent_ns[came[before]] - self.sent_ns) <= np.abs(self.sent_ns[came[after]] - self.sent_ns),
            came[before],
            came[after],
        )
        delay: Floats = np.where(self.lost, self.delay_ns[nearer], self.delay_ns)
        return delay - np.nanmin(delay)

    @cached_property
    def longest_ns(self) -> float:
        """Longest wait of packets that came, but for a few."""
        return float(np.quantile(self.waited_ns[~self.lost], _LONGEST))

    def meets_longest(self, share: float) -> Flags:
        """True for each packet that waited for a share of the longest wait or more; of no packet where none waits."""
        found: Flags = (self.waited_ns >= share * self.longest_ns) & (self.longest_ns >= _LEAST_QUEUE_NS)
        return found


@dataclass(frozen=True)
class Bucket:
    """A rate and a size that explain losses: of a policer, or of a queue and its service."""

    kind: DropKind | None
    """Kind of it; None where packets wait longer than behind a policer, and less than in a queue."""
    rate_bit_per_s: float
    rates_bit_per_s: tuple[float, float]
    """Ends between which the rate lies: all rates between them that were tried explain as much."""
    size_bytes: float
    explained: int
    """Losses that it explains."""
    contrary: int
    """Packets that came although it would have lost them."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of a crossing, each with its kind where the captures tell."""

    at: Int64s
    """Positions of the lost packets."""
    kinds: tuple[DropKind | None, ...]
    bucket: Bucket | None
    """Bucket that explains them; None where none does."""
    unknown_why: str = ""
    """Reason why some have no kind, as a clause; "" where all have one."""

    def number(self, kind: DropKind | None) -> int:
        """Number of losses of one kind, or without one."""
        return self.kinds.count(kind)


def kinds_of_losses(crossing: Crossing) -> Losses:
    """Judge each loss of a crossing."""
    at = np.flatnonzero(crossing.lost)
    runs = at[np.diff(at, prepend=-2) > 1]
    none = (None,) * len(at)
    if not len(at):
        return Losses(at, none, None)
    if len(at) < FEWEST_LOSSES:
        return Losses(at, none, None, f"fewer than {FEWEST_LOSSES} losses show no pattern")
    if len(runs) < FEWEST_RUNS:
        told = f"they come in {len(runs)} runs one after the other, and fewer than {FEWEST_RUNS} show no pattern"
        return Losses(at, none, None, told)
    fit = _fit(crossing, runs)
    if fit is not None:
        return _by_bucket(crossing, at, fit)
    came, high = ~crossing.lost, crossing.meets_longest(_WAITS)
    chance = _by_chance(int(high[runs].sum()), len(runs), int(high[came].sum()), int(came.sum()))
    if chance < _RARE and high[at].mean() >= _EXPLAINED:
        return _judged(at, [DropKind.QUEUE if each else None for each in high[at]])
    waited, level = crossing.waited_ns, _level_at_mean_rate(crossing, runs)
    if crossing.longest_ns >= _LEAST_QUEUE_NS and _higher_than_others(waited[runs], waited[came]):
        return Losses(at, none, None, "they fall where packets wait for long, but no full queue explains them")
    if _higher_than_others(level[runs], level[came]):
        return Losses(at, none, None, "they fall where much was sent before, but no bucket explains them")
    return _judged(at, [None if each else DropKind.LOSS for each in high[at]])


def _by_bucket(crossing: Crossing, at: Int64s, fit: _Fit) -> Losses:
    """Losses that a bucket explains, and the rest: of the path where the bucket and any queue had room."""
    size, waited, came = fit.bucket.size_bytes, crossing.waited_ns, ~crossing.lost
    rest = fit.level[at] <= size
    room = (fit.level[at] <= size * _ROOM) & ~crossing.meets_longest(_NO_WAIT)[at]
    if rest.any() and crossing.longest_ns >= _LEAST_QUEUE_NS:
        room &= not _higher_than_others(waited[at[rest]], waited[came & (fit.level <= size)])
    kinds = [
        fit.bucket.kind if not left else DropKind.LOSS if free else None for left, free in zip(rest, room, strict=True)
    ]
    told = "packets wait for longer than behind a policer, and for less than in a queue"
    return _judged(at, kinds, fit.bucket, "" if fit.bucket.kind else told)


def _judged(at: Int64s, kinds: list[DropKind | None], bucket: Bucket | None = None, told: str = "") -> Losses:
    if None in kinds and not told:
        told = "they fit nothing that explains the others"
    return Losses(at, tuple(kinds), bucket, told)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A bucket, and the level that each packet raises it to, or would have if it had not been lost."""

    bucket: Bucket
    level: Floats
    tried: int
    """Number of rates that were tried."""

    @property
    def score(self) -> int:
        """Losses that it explains, less the packets that came although it would have lost them."""
        return self.bucket.explained - self.bucket.contrary


def _fit(crossing: Crossing, runs: Int64s) -> _Fit | None:
    """The bucket that explains the losses; None where chance explains them as well."""
    fits = [_best(crossing, times, runs) for times in (crossing.sent_ns, _passed_ns(crossing))]
    fit = max(fits, key=lambda each: each.score)
    bucket, lost, above = fit.bucket, crossing.lost, fit.level > fit.bucket.size_bytes
    enough = bucket.explained >= max(FEWEST_LOSSES, _EXPLAINED * lost.sum()) and above[runs].sum() >= FEWEST_RUNS
    pure = bucket.explained >= _PURE * (bucket.explained + bucket.contrary)
    if not enough or not pure or bucket.size_bytes < _LEAST_PACKETS * crossing.size_bytes.max():
        return None
    chance = _by_chance(int(above[runs].sum()), len(runs), bucket.contrary, int((~lost).sum()))
    if chance * sum(each.tried for each in fits) >= _RARE:
        return None
    waited = crossing.waited_ns[lost & above]
    ratio = waited / (fit.level[lost & above] / (bucket.rate_bit_per_s / 8e9))
    kind = DropKind.POLICER if np.median(ratio) < _NO_WAIT else None
    queued = (ratio >= _WAITS) & (ratio <= _WAITS_MOST) & (waited >= _LEAST_QUEUE_NS)
    kind = DropKind.QUEUE if np.mean(queued) >= _EXPLAINED else kind
    return replace(fit, bucket=replace(bucket, kind=kind))


def _best(crossing: Crossing, times: Int64s, runs: Int64s) -> _Fit:
    """The bucket with the highest score among those of many rates, whose kind is not known yet."""
    order = np.argsort(times, kind="stable")
    times, sizes, lost = times[order], crossing.size_bytes[order], crossing.lost[order]
    rates, best, tried = _rates(crossing, times, order, runs), None, 0
    scores: dict[float, int] = {}
    for _ in range(_ROUNDS):
        rates = rates[np.unique(np.linspace(0, len(rates) - 1, _most_rates(crossing)).astype(int))]
        tried += len(rates)
        levels = _levels(times, sizes, lost, rates)
        found = [_split(level, lost) for level in levels]
        score = np.array([explained - contrary for _, explained, contrary in found])
        scores |= dict(zip(rates.tolist(), score.tolist(), strict=True))
        top = np.flatnonzero(score == score.max())
        chosen = int(top[len(top) // 2])
        level = np.empty(len(order))
        level[order] = levels[chosen]
        rate = float(rates[chosen] * 8e9)
        fit = _Fit(Bucket(None, rate, (rate, rate), *found[chosen]), level, tried)
        best = fit if best is None or fit.score > best.score else replace(best, tried=tried)
        near = np.sort(np.abs(rates - rates[chosen]))[min(2, len(rates) - 1)] or rates[chosen] * _CLOSEST
        rates = np.linspace(max(rates[chosen] - near, rates[chosen] / 2), rates[chosen] + near, _STEPS)
    if best is None:
        raise ValueError("no rate was tried")
    return replace(best, bucket=replace(best.bucket, rates_bit_per_s=_as_good(best, scores)))


def _as_good(best: _Fit, scores: Mapping[float, int]) -> tuple[float, float]:
    """Rates in bit/s on both sides of the best one between which none explains less."""
    rate = best.bucket.rate_bit_per_s
    worse = [8e9 * each for each, score in scores.items() if score < best.score]
    low = max((each for each in worse if each < rate), default=8e9 * min(scores))
    high = min((each for each in worse if each > rate), default=8e9 * max(scores))
    return low, high


def _most_rates(crossing: Crossing) -> int:
    """Number of rates that are tried at once: of long transfers fewer, whose losses are far apart and show the rate
    better."""
    return max(_FEWEST_RATES, _MOST_LEVELS // len(crossing.lost))


def _passed_ns(crossing: Crossing) -> Int64s:
    """Instants at which packets pass a place behind all queues: lost ones evenly between their neighbours."""
    came = np.flatnonzero(~crossing.lost)
    passed_ns = (crossing.sent_ns + crossing.delay_ns)[came] - np.nanmin(crossing.delay_ns)
    return np.interp(np.arange(len(crossing.lost)), came, passed_ns).astype(np.int64)


def _rates(crossing: Crossing, times: Int64s, order: Int64s, runs: Int64s) -> Floats:
    """Rates in bytes/ns to try: between two losses at an empty bucket as much has passed as was filled in, unless it
    was full meanwhile. That of the arrivals, and others around the mean, are tried as well."""
    lost, sizes = crossing.lost, crossing.size_bytes
    passed = np.cumsum(np.where(lost[order], 0, sizes[order]))
    places = np.flatnonzero(np.isin(order, runs))
    chosen = places[np.unique(np.linspace(0, len(places) - 1, _RUNS_PAIRED).astype(int))]
    pairs = np.array(list(combinations(chosen, 2)))
    took = times[pairs[:, 1]] - times[pairs[:, 0]]
    rates = (passed[pairs[:, 1]] - passed[pairs[:, 0]])[took > 0] / took[took > 0]
    came_ns = (crossing.sent_ns + crossing.delay_ns)[~lost].astype(np.int64)
    first = np.argsort(came_ns, kind="stable")
    served = Arrivals(came_ns[first], sizes[~lost][first]).rate(1) / 8e9
    whole = passed[-1] / max(1, times[-1] - times[0])
    return np.unique(np.concatenate([rates[rates > 0], [served], whole * np.geomspace(*_AROUND_MEAN, _STEPS)]))


def _levels(times: Int64s, sizes: Int64s, lost: Flags, rates: Floats) -> npt.NDArray[np.float64]:
    """Level that each packet would raise a bucket to which drains at each rate, of which lost packets keep out."""
    found = np.empty((len(times), len(rates)))
    level = np.zeros(len(rates))
    before = int(times[0])
    for at, (now, size, is_lost) in enumerate(zip(times.tolist(), sizes.tolist(), lost.tolist(), strict=True)):
        level = np.maximum(level - rates * (now - before), 0)
        before = now
        found[at] = level + size
        if not is_lost:
            level = found[at]
    return found.T


def _split(level: Floats, lost: Flags) -> tuple[float, int, int]:
    """The size that best parts losses from packets that came, with the numbers of both above it."""
    order = np.argsort(-level, kind="stable")
    sorted_level = level[order]
    gain = np.cumsum(np.where(lost[order], 1, -1))
    gain[:-1][sorted_level[1:] == sorted_level[:-1]] = 0  # no size is between equal levels
    at = int(np.argmax(gain))
    if gain[at] <= 0:
        return float(sorted_level[0]), 0, 0
    explained = int(lost[order][: at + 1].sum())
    below = float(sorted_level[at + 1]) if at + 1 < len(order) else 0.0
    return (float(sorted_level[at]) + below) / 2, explained, at + 1 - explained


def _by_chance(high_runs: int, runs: int, high_came: int, came: int) -> float:
    """Probability that as many runs of losses are among the high packets, were it all chance (hypergeometric)."""
    from scipy.stats import hypergeom  # imported late: it takes longer than the rest of an analysis

    return float(hypergeom.sf(high_runs - 1, runs + came, high_runs + high_came, runs))


def _higher_than_others(lost: Floats, came: Floats) -> bool:
    from scipy.stats import mannwhitneyu  # imported late: it takes longer than the rest of an analysis

    return bool(mannwhitneyu(lost, came, alternative="greater").pvalue < _ELEVATED)


def _level_at_mean_rate(crossing: Crossing, runs: Int64s) -> Floats:
    """Level of a bucket that drains as fast as packets came between the first loss and the last."""
    first, last = int(runs[0]), int(runs[-1])
    took_ns = max(1, int(crossing.sent_ns[last] - crossing.sent_ns[first]))
    rate = crossing.size_bytes[first:last][~crossing.lost[first:last]].sum() / took_ns
    level: Floats = _levels(crossing.sent_ns, crossing.size_bytes, crossing.lost, np.array([rate]))[0]
    return level
