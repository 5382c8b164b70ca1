# SPDX-License-Identifier: Apache-2.0
"""Trials that may run beside others."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import write_spec

from quiclab.plan.make import make_plan
from quiclab.spec.read import read_study
from quiclab.study.side_by_side import weight_of


@pytest.mark.parametrize(
    ("rate", "client", "weight"),
    [
        ("20 Mbit/s", '"curl-cffi"', 1),
        ("21 Mbit/s", '"curl-cffi"', 2),
        ("100 Mbit/s", '"curl-cffi"', 5),
        ("101 Mbit/s", '"curl-cffi"', None),
        ("20 Mbit/s", '{ name = "curl-cffi", cpu = "50 %", cpu_by = "competitor" }', None),
    ],
)
def test_by_rate_and_programs(tmp_path: Path, rate: str, client: str, weight: int | None) -> None:
    """Each 20 Mbit/s count once; faster paths and slow processors have the machine to themselves."""
    spec = write_spec(tmp_path, client=client)
    spec.write_text(spec.read_text().replace('"20 Mbit/s"', f'"{rate}"'))
    study = read_study(spec)
    (row,) = (row for row in make_plan(study) if row.kind == "main" and row.arm == "h2")
    assert weight_of(study, row) == weight


def test_a_path_without_a_rate(tmp_path: Path) -> None:
    """It is as fast as the machine."""
    spec = write_spec(tmp_path)
    spec.write_text(spec.read_text().replace('rate = "20 Mbit/s"\n', ""))
    study = read_study(spec)
    assert {weight_of(study, row) for row in make_plan(study)} == {None}
