# SPDX-License-Identifier: Apache-2.0
"""The difference within each pair, by the block that it is of: what is asked of blocks in their course and order."""

from __future__ import annotations

from quiclab.compare.model import Comparison, Metric
from quiclab.compare.paired import within_pairs


def differences_by_block(comparison: Comparison, metric: Metric) -> dict[int, float]:
    """Block → 100 ln(other / baseline), below zero where the other arm has less; ±inf by failures.

    Blocks in which a value is unknown are left out. Where there is no ratio (`has_ratios`), differences in the metric's
    unit.
    """
    found = within_pairs(comparison.baseline, comparison.other, metric)
    scale = found.sign * (100.0 if found.has_ratios else 1.0)
    return {block: scale * float(each) for block, each in zip(found.blocks, found.values, strict=True)}


def has_ratios(comparison: Comparison, metric: Metric) -> bool:
    """True if every known value is above zero; that of a failed trial is infinite."""
    return within_pairs(comparison.baseline, comparison.other, metric).has_ratios
