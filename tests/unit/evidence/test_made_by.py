# SPDX-License-Identifier: Apache-2.0
"""The version that made tables is told by all that it declares."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.evidence import made_by
from quiclab.evidence.metrics import METRICS


def test_the_file_of_metrics_has_all_in_their_order() -> None:
    """`tools/generate_reference.py` writes it; the registry itself is not read by what only reads tables."""
    declared = json.loads(made_by.DECLARED_METRICS.read_text(encoding="utf-8"))
    assert list(declared.items()) == [(metric.name, metric.unit) for metric in METRICS]


def test_another_metric_makes_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that lack it are made anew."""
    before = made_by.made_by()
    more = json.loads(made_by.DECLARED_METRICS.read_text(encoding="utf-8")) | {"another_ms": "ms"}
    (tmp_path / "more.json").write_text(json.dumps(more))
    monkeypatch.setattr(made_by, "DECLARED_METRICS", tmp_path / "more.json")
    assert made_by.made_by.__wrapped__() != before
