# SPDX-License-Identifier: Apache-2.0
"""How a queue is managed, as the spec writes it."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, study_of, with_path

from quiclab.model.study import Aqm, CoDel, FqCoDel, Step
from quiclab.model.units import ByteCount, Duration
from quiclab.spec.resolved import resolved_json

MS = 1_000_000


@pytest.mark.parametrize(
    ("text", "aqm"),
    [
        ('"codel"', CoDel(Duration(5 * MS), Duration(100 * MS), ecn=False)),
        (
            '{model = "codel", target = "20 ms", interval = "300 ms", ecn = true}',
            CoDel(Duration(20 * MS), Duration(300 * MS), ecn=True),
        ),
        ('"fq_codel"', FqCoDel(quantum=ByteCount(1514), flows=1024)),
        (
            '{model = "fq_codel", quantum = "300 B", flows = 8, ecn = true}',
            FqCoDel(ecn=True, quantum=ByteCount(300), flows=8),
        ),
        ('"step"', Step(Duration(MS))),
        ('{model = "step", threshold = "500 us"}', Step(Duration(MS // 2))),
    ],
)
def test_a_queue_may_be_managed(tmp_path: pathlib.Path, text: str, aqm: Aqm) -> None:
    """By its name with the defaults of the RFCs, or with settings."""
    path = study_of(tmp_path, with_path(f"aqm = {text}")).paths[0]
    assert path.down.aqm == path.up.aqm == aqm
    assert study_of(tmp_path).paths[0].down.aqm is None


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('aqm = "coddle"', 'did you mean "codel"?'),
        ('aqm = "red"', "valid models: codel, fq_codel, pie, dualpi2, step"),
        ("aqm = 5", "whole number"),
        ("aqm = {ecn = true}", 'the table needs a "model"'),
        ('aqm = {model = "codel", ecn = 1}', "aqm.ecn: 1 is a whole number; write true or false"),
        ('aqm = {model = "codel", quantum = "1514 B"}', "aqm.quantum: there is no such key here"),
        ('aqm = {model = "codel", target = "100 ms"}', "a target of 100 ms is not below the interval of 100 ms"),
        ('aqm = {model = "fq_codel", flows = 0}', "whole number from 1 to 65536"),
        ('aqm = {model = "fq_codel", quantum = "10 B"}', "a quantum is from 64 B to 1 MB"),
        ('aqm = {model = "step", threshold = "0 ms"}', "out of range"),
        ('aqm = "codel"\nqueue = "20 ms"', 'a queue that "aqm" manages has no bound in time'),
        ('aqm = "codel"\nschedule = [{at = "1 s", queue = "20 ms"}]', "has no bound in time"),
    ],
)
def test_a_management_that_is_none_is_refused(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """The problem says what may stand there instead."""
    assert words in only_problem(tmp_path, with_path(lines))


def test_what_is_not_queued_is_not_managed(tmp_path: pathlib.Path) -> None:
    """Without a rate no packet waits."""
    text = changed(('rate = "10 Mbit/s"\n', 'aqm = "codel"\n'))
    assert '"aqm" manages a queue, which needs a "rate"' in only_problem(tmp_path, text)


def test_the_resolved_study_names_the_model(tmp_path: pathlib.Path) -> None:
    """With every default in it."""
    resolved = resolved_json(study_of(tmp_path, with_path('aqm = "fq_codel"')))
    assert resolved["paths"][0]["down"]["aqm"] == {
        "model": "fq_codel",
        "target_ns": 5 * MS,
        "interval_ns": 100 * MS,
        "ecn": False,
        "quantum_bytes": 1514,
        "flows": 1024,
    }
