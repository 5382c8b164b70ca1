# SPDX-License-Identifier: Apache-2.0
"""Head of a study's page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.report.page.heading import heading

ONE = replace(Shape(), workloads=("1 MB",), paths=("loss",), aa_blocks=0, voids=frozenset())


@pytest.mark.parametrize(("protocols", "one"), [({}, False), ({"h2": "h3"}, True)])
def test_arms_of_one_protocol_do_not_differ_in_it(tmp_path: Path, protocols: dict[str, str], one: bool) -> None:
    """Two builds of one program, or two servers of HTTP/3, are of one protocol."""
    study = write_study(tmp_path / "study", ONE)
    resolved = json.loads((study / "resolved.json").read_text())
    for arm in resolved["arms"]:
        arm["protocol"] = protocols.get(arm["name"], arm["protocol"])
    (study / "resolved.json").write_text(json.dumps(resolved))
    assert heading(read_study(study), analyse_study(study)).one_protocol is one
