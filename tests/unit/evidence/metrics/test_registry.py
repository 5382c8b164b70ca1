# SPDX-License-Identifier: Apache-2.0
"""What every declaration of a metric owes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from quiclab.evidence import metrics
from quiclab.evidence.metrics import METRICS, Metric, declared, title_of

_UNITS = {"_ms": "ms", "_us": "us", "_s": "s", "_bytes": "bytes", "_pct": "%", "_bit_per_s": "bit/s", "_per_mb": "MB"}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_says_what_it_is(metric: Metric) -> None:
    """A title for readers that is not its name, and a definition in sentences; a name that ends with its unit."""
    assert metric.title
    assert metric.title != metric.name
    assert metric.definition.endswith(".")
    ending = max((each for each in _UNITS if metric.name.endswith(each)), key=len, default=None)
    assert ending is None or metric.unit.endswith(_UNITS[ending])


def test_no_two_metrics_can_be_taken_for_each_other() -> None:
    """Names, titles and headings are each one metric's."""
    for texts in (
        [metric.name for metric in METRICS],
        [metric.title for metric in METRICS],
        [metric.heading for metric in METRICS if metric.heading],
    ):
        assert [text for text, count in Counter(texts).items() if count > 1] == []


def test_a_metric_is_found_by_its_name() -> None:
    """Another version's has its name for a title."""
    found = declared("ttlb_ms")
    assert found is not None
    assert (found.title, found.unit, found.comparable) == ("time to last byte", "ms", True)
    assert declared("gone_ms") is None
    assert title_of("gone_ms") == "gone_ms"


def test_no_family_of_metrics_is_forgotten() -> None:
    """Every tuple of metrics that a file of the folder declares is in `METRICS`, as a whole."""
    known = {id(metric) for metric in METRICS}
    left_out = []
    for file in Path(metrics.__file__).parent.glob("*.py"):
        module = (
            __import__(f"quiclab.evidence.metrics.{file.stem}", fromlist=["_"]) if file.stem != "__init__" else metrics
        )
        for name, value in vars(module).items():
            if isinstance(value, tuple) and value and isinstance(value[0], Metric):
                left_out += [f"{file.name}: {name}: {each.name}" for each in value if id(each) not in known]
    assert left_out == []
