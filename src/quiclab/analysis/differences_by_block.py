# SPDX-License-Identifier: Apache-2.0
"""The difference within each pair, by the block that it is of: what is asked of blocks in their course and order."""

from __future__ import annotations

import numpy as np

from quiclab import statistics
from quiclab.analysis.compare import FloatArray, values_within_pairs
from quiclab.analysis.model import Comparison, Metric


def differences_by_block(comparison: Comparison, metric: Metric) -> dict[int, float]:
    """Block → 100 ln(baseline / other), positive where the other arm is better; ±inf by failures.

    Blocks in which a value is unknown are left out. Where there is no ratio (`has_ratios`), differences in the metric's
    unit.
    """
    values = values_within_pairs(comparison.baseline, comparison.other, metric)
    baseline, other = map(_logarithms, values) if has_ratios(comparison, metric) else values
    differences = (1.0 if metric.lower_is_better else -1.0) * statistics.differences_in_order(baseline, other)
    has_other = {trial.block for trial in comparison.other.trials}
    blocks = [trial.block for trial in comparison.baseline.trials if trial.block in has_other]
    return {block: float(each) for block, each in zip(blocks, differences, strict=True) if not np.isnan(each)}


def has_ratios(comparison: Comparison, metric: Metric) -> bool:
    """Whether every known value is above zero; that of a failed trial is infinite."""
    values = np.concatenate(values_within_pairs(comparison.baseline, comparison.other, metric))
    return not (values[np.isfinite(values)] <= 0).any()


def _logarithms(values: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(values), values, 100 * np.log(values))
