# SPDX-License-Identifier: Apache-2.0
"""Differences that are luck: chance let the path lose more packets of one arm than of the other.

Two things must hold. As many losses in both arms would leave less than half of the difference: the time that a loss
costs on average is taken off for each loss above what the arms' common rate lets expect of a trial's packets (a control
variate: Glasserman 2003, Monte Carlo Methods, 4.1). And the arms' losses must be those of one rate: a path that drops
only large packets, or a policer, takes more of one arm's by its own rule, and that is no luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quiclab.compare import statistics
from quiclab.why.account_shares import FloatArray
from quiclab.why.cause_parts import Known, Pair
from quiclab.why.mechanisms import LOST_ON_THE_PATH, SENT, TRIAL, Mechanism

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
