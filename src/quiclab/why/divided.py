# SPDX-License-Identifier: Apache-2.0
"""Parts of mechanisms' time that are a mechanism of their own where two arms differ in it.

A sender that halves its window at a loss waits longer after it than one that keeps 70 %. Between arms that both halve
it this is no difference: the losses are. Between one that does and one that does not it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot

import numpy as np

from quiclab.why.account_shares import FloatArray
from quiclab.why.cause_parts import Known, Member, Pair
from quiclab.why.mechanisms import MECHANISMS, PART_OF, TRIAL, Mechanism
from quiclab.why.upstream import MOVED, SURE


def divided(known: Known, pairs: Sequence[Pair]) -> Known:
    """Sums and numbers of some pairs, the time of mechanisms that the arms differ in taken from those they divide."""
    dividing = [each for each in MECHANISMS if each.divides is not None and _differ(known, pairs, each)]
    if not dividing:
        return known
    ms = dict(known.ms)
    evidence = dict(known.evidence)
    for trial in {trial for pair in pairs for trial in pair} & known.ms.keys():
        for mechanism in dividing:
            ms[trial], parts = _taken(ms[trial], known.facts.get(trial, {}).get(mechanism.name, {}), mechanism)
            of_trial = evidence.get(trial, {})
            own: dict[Member, frozenset[str]] = {
                (why, mechanism.name): of_trial.get((why, name), frozenset()) for why, name in parts
            }
            evidence[trial] = {**of_trial, **own}
    return replace(known, ms=ms, evidence=evidence)


def _taken(
    ms: Mapping[Member, float], facts: Mapping[tuple[str, str], float], mechanism: Mechanism
) -> tuple[Mapping[Member, float], list[Member]]:
    """A trial's times with the mechanism's own, and the members that had them."""
    if mechanism.divides is None:
        return ms, []
    found = dict(ms)
    takers: list[Member] = []
    for name in mechanism.divides.mechanisms:
        part = facts.get((PART_OF + name, "ms"), 0.0)
        for why in mechanism.reasons:
            own = min(part, found.get((why, name), 0.0))
            if own > 0:
                takers.append((why, name))
                found[why, name] -= own
                found[why, mechanism.name] = found.get((why, mechanism.name), 0.0) + own
                part -= own
    return found, takers


def _differ(known: Known, pairs: Sequence[Pair], mechanism: Mechanism) -> bool:
    """True if the number of the arm that has more of a mechanism is smaller than the other's by more than chance."""
    if mechanism.divides is None:
        return False
    times = [[known.facts.get(pair[arm], {}).get(mechanism.name, {}) for pair in pairs] for arm in (0, 1)]
    has = [float(np.sum([each.get(("time", "ms"), 0.0) for each in arm])) for arm in times]
    if not any(has):
        return False
    more = int(has[1] > has[0])
    own, other = (_numbers(known, pairs, arm, mechanism.divides.by) for arm in (more, 1 - more))
    if not own.size or not other.size:
        return False
    apart = float(other.mean() - own.mean())
    error = hypot(*(float(each.std(ddof=1)) / len(each) ** 0.5 if len(each) > 1 else 0.0 for each in (own, other)))
    return apart > MOVED * float(other.mean()) and apart > SURE * error


def _numbers(known: Known, pairs: Sequence[Pair], arm: int, name: str) -> FloatArray:
    of_trials = [known.facts.get(pair[arm], {}).get(TRIAL, {}) for pair in pairs]
    return np.array([value for facts in of_trials for (told, _), value in facts.items() if told == name])
