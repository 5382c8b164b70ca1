# SPDX-License-Identifier: Apache-2.0
"""Workloads of one object and of several, as specs say them."""

from __future__ import annotations

import pathlib

import pytest
from specs import changed, only_problem, problems_of, study_of

from quiclab.model.study import Workload
from quiclab.model.units import ByteCount
from quiclab.spec.resolved import resolved_json
from quiclab.store.identity import conflicts

SIZE = 'size = "100 KB"'


def _workload(folder: pathlib.Path, lines: str) -> Workload:
    return study_of(folder, changed((SIZE, lines))).workloads[0]


def test_one_object_is_called_as_its_workload(tmp_path: pathlib.Path) -> None:
    """Whether it is counted or not."""
    for lines in (SIZE, SIZE + "\ncount = 1", 'sizes = ["100 KB"]'):
        workload = _workload(tmp_path, lines)
        assert workload.object_names == ("100KB",)
        assert workload.object_sizes == (ByteCount(100_000),)
        assert workload.at_once == 1


def test_several_of_one_size(tmp_path: pathlib.Path) -> None:
    """Their names sort as they are asked for, and no other workload can have them: `~` is in no name of a spec."""
    workload = _workload(tmp_path, SIZE + "\ncount = 12")
    assert workload.object_names[0] == "100KB~01"
    assert workload.object_names == tuple(sorted(workload.object_names))
    assert workload.total == ByteCount(1_200_000)
    assert workload.at_once == 12


def test_mixed_sizes_keep_their_order(tmp_path: pathlib.Path) -> None:
    """And some of them at once."""
    workload = _workload(tmp_path, 'sizes = ["1 MB", "0 B", "10 KB"]\nconcurrency = 2')
    assert [size.bytes for size in workload.object_sizes] == [1_000_000, 0, 10_000]
    assert (workload.object_names, workload.at_once) == (("100KB~1", "100KB~2", "100KB~3"), 2)


def test_the_smallest_by_all_its_bytes_is_the_control(tmp_path: pathlib.Path) -> None:
    """Twenty small objects are more than one that is larger than each."""
    more = SIZE + '\n\n[[workload]]\nname = "many"\nsize = "50 KB"\ncount = 20\n'
    assert study_of(tmp_path, changed((SIZE, more))).aa.workload == "100KB"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (SIZE + "\ncount = 0", ["workload[100KB].count", "0 is out of range", "from 1 to 200"]),
        (SIZE + "\ncount = 201", ["201 is out of range", "from 1 to 200"]),
        (SIZE + '\ncount = "2"', ['"2" is a string', "a whole number"]),
        ("count = 2", ["workload[100KB]", '"size" is missing', '"sizes"']),
        ("sizes = []", ["workload[100KB].sizes", "0 elements", "1 to 200 sizes"]),
        ('sizes = "1 MB"', ["workload[100KB].sizes", "is a string", '["10 KB", "1 MB"]']),
        ('sizes = ["1 MB", "1 Mb"]', ["workload[100KB].sizes[#2]", "'1 Mb' is not a size"]),
        (SIZE + '\nsizes = ["1 MB"]', ["workload[100KB].size", 'cannot stand beside "sizes"']),
        ('count = 2\nsizes = ["1 MB"]', ["workload[100KB].count", 'cannot stand beside "sizes"']),
        (SIZE + "\ncount = 3\nconcurrency = 4", ["workload[100KB].concurrency", "4 at once", "3 objects", "at most 3"]),
        (SIZE + "\nconcurrency = 2", ["workload[100KB].concurrency", "1 object here", "at most 1"]),
        (SIZE + "\ncount = 3\nconcurrency = 0", ["0 is out of range"]),
        (SIZE + '\ndirection = "up"', ["workload[100KB].direction", "upload"]),
        (
            SIZE + '\ndirection = "upload"\naddress_change = {after = "1 KB"}',
            ["workload[100KB].direction", "downloads only", '"address_change"'],
        ),
    ],
)
def test_offenders(tmp_path: pathlib.Path, lines: str, words: list[str]) -> None:
    """Each is named with its key and with what may stand there."""
    problem = only_problem(tmp_path, changed((SIZE, lines)))
    for word in words:
        assert word in problem


def test_all_offenders_of_a_workload_are_told_at_once(tmp_path: pathlib.Path) -> None:
    """Not one after another."""
    lines = SIZE + '\ncount = 2\nsizes = ["1 MB", "2 MB"]\nconcurrency = 5'
    assert len(problems_of(tmp_path, changed((SIZE, lines)))) == 3


def test_a_study_from_before_there_were_counts_goes_on(tmp_path: pathlib.Path) -> None:
    """The keys are new, and a single object is what it was."""
    new = resolved_json(study_of(tmp_path))
    old = resolved_json(study_of(tmp_path))
    for key in ("count", "sizes", "concurrency", "direction"):
        del old["workloads"][0][key]
    assert conflicts(old, new) == ()
    old["workloads"][0]["count"] = 2
    assert conflicts(old, new) == ("workload '100KB': count was 2, is None",)
