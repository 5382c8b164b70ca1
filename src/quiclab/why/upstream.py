# SPDX-License-Identifier: Apache-2.0
"""Parts of a difference that follow from another one: a mechanism takes longer, and is itself as much in both arms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from quiclab.why.accounts import Step
from quiclab.why.cause_parts import Follower, Known, Pair, Part
from quiclab.why.mechanisms import AT_LEAST, SENT_BY, TRIAL, Follows

MOVED = 0.1
"""Share of a number's mean in both arms from which on it differs."""
SURE = 2.0
"""Standard errors of a difference between pairs from which on it is more than chance."""


def followers(known: Known, pairs: Sequence[Pair], parts: Sequence[Part], steps: Mapping[int, Step]) -> dict[int, int]:
    """Part → the part upstream that it follows from, by their places; `steps` has those whose difference is shown.

    Where the arms have different senders only those do that depend on none. A part follows where its mechanism
    declares numbers of a trial that differ where it itself does, none of these differs that way between the arms, and a
    mechanism upstream of it takes longer in the same arm.
    """
    found: dict[int, int] = {}
    one_sender = _one_sender(known, pairs)
    for at, step in steps.items():
        mechanism = parts[at].mechanism
        follows = mechanism.follows if mechanism is not None else None
        if follows is None or not (one_sender or follows.any_sender):
            continue
        if _moved(known, pairs, follows, step.difference_ms):
            continue
        above = [
            other
            for other, its in steps.items()
            if other != at and its.difference_ms * step.difference_ms > 0 and _is_one_of(parts[other], follows.upstream)
        ]
        if above:
            found[at] = max(above, key=lambda other: abs(steps[other].difference_ms))
    return {at: _end(found, at) for at in found}


def _end(found: Mapping[int, int], at: int) -> int:
    """The last part of a chain. What is declared has no ring."""
    while at in found:
        at = found[at]
    return at


def _is_one_of(part: Part, names: Sequence[str]) -> bool:
    if part.mechanism is not None:
        return part.mechanism.name in names
    return any(rival.name in names for rival in part.rivals)


def joined(
    known: Known, pairs: Sequence[Pair], parts: Sequence[Part], steps: Sequence[Step], follow: Mapping[int, int]
) -> list[Part]:
    """The parts, those that follow in the ones that they follow from."""
    found = []
    for at, part in enumerate(parts):
        if at in follow:
            continue
        behind = [other for other, above in follow.items() if above == at]
        told = tuple(_follower(known, pairs, parts[other], steps[other]) for other in behind)
        members = [member for other in (at, *behind) for member in parts[other].members]
        found.append(replace(part, members=tuple(members), followers=told))
    return found


def _follower(known: Known, pairs: Sequence[Pair], part: Part, step: Step) -> Follower:
    if part.mechanism is None or part.mechanism.follows is None:
        raise ValueError(f"{part.category} follows from nothing")
    numbers = {*part.mechanism.follows.more, *part.mechanism.follows.less}
    shown = tuple(each for each in known.facts_of(pairs, TRIAL) if each.name in numbers)
    return Follower(part.mechanism, step.difference_ms, shown)


def _one_sender(known: Known, pairs: Sequence[Pair]) -> bool:
    """True if both arms have one sender, TCP or a program's QUIC, with one congestion control.

    Reno halves its window where BBR keeps it, and TCP's timers are longer than QUIC's: what these differ by is theirs.
    """
    senders = [
        {
            told
            for pair in pairs
            for told, _ in known.facts.get(pair[arm], {}).get(TRIAL, {})
            if told.startswith(SENT_BY)
        }
        for arm in (0, 1)
    ]
    return senders[0] == senders[1]


def _moved(known: Known, pairs: Sequence[Pair], follows: Follows, difference_ms: float) -> bool:
    """True if a number differs between the arms, that way in which the mechanism would take longer."""
    signed = [(name, np.sign(difference_ms)) for name in follows.more]
    signed += [(name, -np.sign(difference_ms)) for name in follows.less]
    return any(_differs(known, pairs, name, sign) for name, sign in signed)


def _differs(known: Known, pairs: Sequence[Pair], name: str, sign: float) -> bool:
    # Of the arm that would have more of it the least is enough.
    names = [{name, f"{name}{AT_LEAST}"} if arm == (sign > 0) else {name} for arm in (0, 1)]
    each = np.array([[_number(known, pair[arm], names[arm]) for arm in (0, 1)] for pair in pairs])
    both = each[~np.isnan(each).any(axis=1)]
    if not len(both):
        return False
    more = sign * (both[:, 1] - both[:, 0])
    mean = float(more.mean())
    error = float(more.std(ddof=1) / len(more) ** 0.5) if len(more) > 1 else 0.0
    return mean > MOVED * float(both.mean()) and mean > SURE * error


def _number(known: Known, trial: str, names: set[str]) -> float:
    of_trial = known.facts.get(trial, {}).get(TRIAL, {})
    return next((value for (told, _), value in of_trial.items() if told in names), np.nan)
