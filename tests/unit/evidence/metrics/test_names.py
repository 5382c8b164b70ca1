# SPDX-License-Identifier: Apache-2.0
"""Names of metrics as people write them."""

from __future__ import annotations

import pytest

from quiclab.evidence.metrics.names import comparable_metric, find_metric
from quiclab.model.errors import SpecError


def test_metrics_may_leave_out_their_unit() -> None:
    """And a typo names the closest."""
    known = {"ttlb_ms", "goodput_bit_per_s", "stalls"}
    assert [find_metric(name, known, "no") for name in ("ttlb", "goodput", "stalls", "ttlb_ms")] == [
        "ttlb_ms", "goodput_bit_per_s", "stalls", "ttlb_ms",
    ]  # fmt: skip
    with pytest.raises(SpecError, match="neither study has 'tlb'") as error:
        find_metric("tlb", known, "neither study has")
    assert error.value.hint == "did you mean ttlb?"


def test_a_metric_to_compare_by_has_a_better_side() -> None:
    """Whatever only describes is refused by its name, without or with its unit."""
    assert comparable_metric("setup") == "setup_ms"
    assert comparable_metric("jain_index") == "jain_index"
    with pytest.raises(SpecError, match="path_rtt_min_ms only describes"):
        comparable_metric("path_rtt_min_ms")
    with pytest.raises(SpecError, match="there is no metric 'path_rtt_min'"):
        comparable_metric("path_rtt_min")
