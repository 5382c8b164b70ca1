# SPDX-License-Identifier: Apache-2.0
"""Check that the planned number of blocks can reach significance at all, before anything has run."""

from __future__ import annotations

import math
from dataclasses import dataclass

from quiclab.model.study import Study

_LEAST_TOLD = 1e-9
"""A smaller p decides nothing that this one does not."""


@dataclass(frozen=True)
class Attainable:
    """The best case of the deciding test: every block differs in the same direction."""

    blocks: int
    comparisons: int
    """Number of comparisons that Benjamini–Hochberg corrects for: cells × arms that have a baseline (A/A cells are
    controls); none of a single arm."""
    alpha: float
    smallest_p: float
    """Smallest two-sided p of the exact Wilcoxon signed-rank test: 2 / 2^blocks (all signs equal, of 2^blocks)."""
    together: int | None
    """Number of comparisons that must differ at once before any is significant; None if not even all of them are
    enough."""
    blocks_alone: int
    """Number of blocks with which one comparison can be significant by itself, after the correction over all."""

    @property
    def sentence(self) -> str:
        """Sentence for people: what can be significant, and what it takes to do better."""
        if not self.comparisons:
            return (
                "One arm: nothing is compared here. `quiclab compare OLD NEW` sets two studies of it beside each other."
            )
        p = f"{self.smallest_p:.2g}" if self.smallest_p >= _LEAST_TOLD else f"less than {_LEAST_TOLD:g}"
        best = f"With {self.blocks} {'block' if self.blocks == 1 else 'blocks'} the smallest p is {p}"
        several = self.comparisons > 1
        over = f" after correction over {self.comparisons} comparisons" if several else ""
        test = f"at alpha {self.alpha:g}{over}"
        blocks = f"{self.blocks_alone} blocks would let"
        more = f"{blocks} one be significant by itself after that correction" if several else f"{blocks} it be"
        if self.together == 1:
            return f"{best}: {'a single' if several else 'the only'} comparison can be significant {test}."
        if self.together is None:
            return f"{best}: nothing can be significant {test}; {more}."
        return f"{best}: {self.together} comparisons must differ at once to be significant {test}; {more}."


def attainable(study: Study, blocks: int | None = None) -> Attainable:
    """The best that the study's deciding test can reach with so many blocks, or with those of its spec.

    Benjamini–Hochberg rejects k of m comparisons if their p are at most k × alpha / m (Benjamini and Hochberg, JRSS B
    57, 1995), so with the smallest p in each of them k must be at least m × p / alpha.
    """
    comparisons = len(study.measured_workloads) * len(study.paths) * len(study.compared_arms)
    blocks = study.blocks if blocks is None else blocks
    smallest_p = _smallest_p(blocks)
    together = max(1, math.ceil(comparisons * smallest_p / study.alpha))
    blocks_alone = next(n for n in range(1, 2000) if _smallest_p(n) <= study.alpha / max(1, comparisons))
    return Attainable(
        blocks=blocks,
        comparisons=comparisons,
        alpha=study.alpha,
        smallest_p=smallest_p,
        together=together if together <= comparisons else None,
        blocks_alone=blocks_alone,
    )


def _smallest_p(blocks: int) -> float:
    return 2.0 ** (1 - blocks)
