# SPDX-License-Identifier: Apache-2.0
"""Where a path marks, and what TCP does over it."""

from __future__ import annotations

import pathlib

import pytest
from specs import study_of, with_path

from quiclab.model.study import Tcp
from quiclab.spec.ecn import marking, tcp_on


@pytest.mark.parametrize(
    ("lines", "marks"),
    [
        ("", set()),
        ('aqm = "codel"', set()),
        ('aqm = {model = "codel", ecn = true}', {"ect"}),
        ('aqm = {model = "fq_codel", ecn = true}', {"ect"}),
        ('aqm = "step"', {"ect1"}),
        ('schedule = [{at = "1 s", aqm = {model = "codel", ecn = true}}]', {"ect"}),
        ('aqm = {model = "codel", ecn = true}\nschedule = [{at = "1 s", aqm = "step"}]', {"ect", "ect1"}),
    ],
)
def test_who_is_marked(tmp_path: pathlib.Path, lines: str, marks: set[str]) -> None:
    """At any time."""
    assert marking(study_of(tmp_path, with_path(lines)).paths[0].down) == marks


@pytest.mark.parametrize(("said", "plain", "marked"), [(None, False, True), (True, True, True), (False, False, False)])
def test_tcp_takes_part_where_the_path_marks_unless_the_spec_says(
    tmp_path: pathlib.Path, said: bool | None, plain: bool, marked: bool
) -> None:
    """One direction that marks is enough."""
    tcp = Tcp("reno", ecn=said)
    assert tcp_on(study_of(tmp_path).paths[0], tcp).ecn is plain
    marks = study_of(tmp_path, with_path('[path.up]\naqm = {model = "codel", ecn = true}')).paths[0]
    assert tcp_on(marks, tcp).ecn is marked
