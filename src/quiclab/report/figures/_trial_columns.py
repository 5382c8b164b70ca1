# SPDX-License-Identifier: Apache-2.0
"""Columns of the figures that show every trial of one cell."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TRIAL_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "cell_title": "network and size, the same in every row",
        "arm": "rows of the figure; the first that occurs is the baseline",
        "block": "block number: trials of one block met the same conditions",
        "trial_id": "the trial",
        "status": "'verified' or 'failed'",
        "value": "the metric; null where it failed or is unknown",
        "metric_title": "what the metric is called",
        "unit": "its unit",
        "reason": "why it failed",
    }
)
