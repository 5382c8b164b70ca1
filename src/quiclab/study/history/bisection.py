# SPDX-License-Identifier: Apache-2.0
"""Search for the releases that changed a result: the ends first, then halves wherever a difference stands.

It is a function of `Measure`, which compares pairs of releases and says how each stands, however it does so. Of n
releases at most 2 n − 3 pairs are ever compared: the ends, their halves, and so on down to neighbours. Pairs are chosen
by which releases fail and by which pairs differ, and each is judged at a level that holds for all of them at any time:
so no choice makes a false step likelier than the level says.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType

Pair = tuple[str, str]
"""Names of two releases, the older one first."""


class Standing(enum.StrEnum):
    """State of knowledge of two releases beside the smallest difference that matters."""

    DIFFERENT = "different"
    """The whole interval of their difference is more than what matters."""
    SAME = "same"
    """The whole interval is less than what matters."""
    OPEN = "open"
    """The interval reaches from less than what matters to more, or is not known."""


@dataclass(frozen=True)
class Measured:
    """Answer to the question how some pairs stand."""

    standings: Mapping[Pair, Standing]
    """Standing of each pair that was asked for; of one without a result `OPEN`."""
    unusable: Mapping[str, str] = field(default_factory=dict)
    """Releases that cannot be measured, each with the reason."""


Measure = Callable[[Sequence[Pair]], Measured]


@dataclass(frozen=True)
class Bisection:
    """Result of a search."""

    every: tuple[str, ...]
    """All releases that it was about, the oldest first."""
    steps: tuple[Pair, ...]
    """Neighbours that differ: the newer one of each changed the result. Releases between them could not be measured."""
    spans: tuple[Pair, ...]
    """Releases further apart that differ, where no part of the way is shown to."""
    asked: Mapping[Pair, Standing]
    """Every pair that was compared, in the order of the search."""
    unusable: Mapping[str, str]
    """Releases that could not be measured, each with the reason."""

    @property
    def ends(self) -> Pair | None:
        """The oldest and the newest release that could be measured; None where there are fewer than two."""
        return (self.releases[0], self.releases[-1]) if len(self.releases) > 1 else None

    @property
    def releases(self) -> tuple[str, ...]:
        """Releases that could be measured, as far as is known, the oldest first."""
        return tuple(each for each in self.every if each not in self.unusable)

    def between(self, pair: Pair) -> tuple[str, ...]:
        """Releases between two that could not be measured, the oldest first."""
        older, newer = map(self.every.index, pair)
        return tuple(each for each in self.every[older + 1 : newer] if each in self.unusable)


def bisect(releases: Sequence[str], measure: Measure, unusable: Mapping[str, str] = MappingProxyType({})) -> Bisection:
    """Search for the steps among releases, the oldest first, without those that are known as `unusable`. What can be
    measured together is asked for at once: the halves of all pairs of one width."""
    search = _Search(tuple(releases), measure, unusable=dict(unusable))
    ends = search.ends()
    differing = [ends] if ends is not None and search.asked[ends] is Standing.DIFFERENT else []
    while differing:
        differing = search.halve(differing)
    return search.result()


def compare_neighbours(found: Bisection, measure: Measure) -> Bisection:
    """The search with every pair of neighbours compared too, as far as it was not: two steps that make up for one
    another leave the ends alike, and no search from there finds them."""
    search = _Search(found.every, measure, dict(found.asked), dict(found.unusable), list(found.spans))
    search.steps = list(found.steps)
    while True:
        usable = search.usable
        left = [pair for pair in pairwise(usable) if pair not in search.asked]
        if not left or search.ask(left):
            break
    usable = search.usable
    for pair in pairwise(usable):
        if search.asked.get(pair) is Standing.DIFFERENT and pair not in search.steps:
            search.steps.append(pair)
    search.spans = [span for span in search.spans if not any(search.is_within(step, span) for step in search.steps)]
    return search.result()


class _Search:
    """State of a search."""

    def __init__(
        self,
        releases: tuple[str, ...],
        measure: Measure,
        asked: dict[Pair, Standing] | None = None,
        unusable: dict[str, str] | None = None,
        spans: list[Pair] | None = None,
    ) -> None:
        self.releases = releases
        self.measure = measure
        self.asked = asked or {}
        self.unusable = unusable or {}
        self.steps: list[Pair] = []
        self.spans: list[Pair] = spans or []

    @property
    def usable(self) -> list[str]:
        return [each for each in self.releases if each not in self.unusable]

    def ask(self, pairs: Sequence[Pair]) -> bool:
        """Compare pairs. False: a release among them cannot be measured, which is known from now on."""
        found = self.measure(pairs)
        new = {each: why for each, why in found.unusable.items() if each not in self.unusable}
        self.unusable |= new
        for pair in pairs:
            if not self.unusable.keys() & {*pair}:
                self.asked[pair] = found.standings.get(pair, Standing.OPEN)
        return not any(new.keys() & {*pair} for pair in pairs)

    def ends(self) -> Pair | None:
        """The oldest and the newest release that can be measured, when they have been compared."""
        while len(self.usable) > 1:
            pair = self.usable[0], self.usable[-1]
            if self.ask([pair]):
                return pair
        return None

    def halve(self, differing: Sequence[Pair]) -> list[Pair]:
        """Compare the halves of pairs that differ; return those halves that differ too."""
        while True:
            middles = {span: self._middle(span) for span in differing}
            halves = {
                span: ((span[0], middle), (middle, span[1])) for span, middle in middles.items() if middle is not None
            }
            asked = [half for both in halves.values() for half in both]
            if not asked or self.ask(asked):
                break
        found: list[Pair] = []
        for span in differing:
            if span not in halves:
                self.steps.append(span)
                continue
            parts = [half for half in halves[span] if self.asked[half] is Standing.DIFFERENT]
            if not parts:
                self.spans.append(span)
            found += parts
        return found

    def _middle(self, span: Pair) -> str | None:
        """The release in the middle of those between two; None where none can be measured."""
        older, newer = (self.releases.index(each) for each in span)
        between = [each for each in self.releases[older + 1 : newer] if each not in self.unusable]
        return between[len(between) // 2] if between else None

    def is_within(self, inner: Pair, outer: Pair) -> bool:
        """True if one pair lies within the other."""
        place = self.releases.index
        return place(outer[0]) <= place(inner[0]) and place(inner[1]) <= place(outer[1])

    def result(self) -> Bisection:
        def in_order(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
            return tuple(sorted(pairs, key=lambda pair: self.releases.index(pair[0])))

        return Bisection(self.releases, in_order(self.steps), in_order(self.spans), self.asked, self.unusable)
