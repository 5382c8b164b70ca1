# SPDX-License-Identifier: Apache-2.0
"""A study that grew is tested by its looks: a file of them that is damaged is not taken for none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.model.bounds import MOST_BLOCKS
from quiclab.model.errors import DecodeError
from quiclab.store.growth import read_growth
from quiclab.store.layout import SEQUENTIAL

_RULE = {"version": 1, "effect_pct": 5, "at_most": 40, "looks": [{}], "blocks": {"o/p": 10}}


def test_reads_what_a_run_keeps(tmp_path: Path) -> None:
    """With all looks."""
    (tmp_path / SEQUENTIAL).write_text(json.dumps(_RULE))
    found = read_growth(tmp_path)
    assert found is not None
    assert (found.blocks, len(found.looks)) == ({"o/p": 10}, 1)


def test_a_study_without_the_file_has_a_fixed_number_of_blocks(tmp_path: Path) -> None:
    """Most studies."""
    assert read_growth(tmp_path) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"null", b"[]", b"{}", b"1e308", b"[" * 5000 + b"]" * 5000, b"1" * 5000, b'{"a": "\xff"}',
     *(json.dumps({**_RULE, name: value}).encode() for name, value in
       (("looks", None), ("looks", {}), ("blocks", []), ("blocks", {"o/p": MOST_BLOCKS + 1}), ("effect_pct", "5"),
        ("effect_pct", float("nan")), ("at_most", 2**64)))],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, content: bytes) -> None:
    """And not a study at which nobody looked."""
    (tmp_path / SEQUENTIAL).write_bytes(content)
    with pytest.raises(DecodeError, match=SEQUENTIAL):
        read_growth(tmp_path)


def test_so_is_what_is_no_file(tmp_path: Path) -> None:
    """A symbolic link that leads nowhere is no missing file."""
    (tmp_path / SEQUENTIAL).symlink_to(tmp_path / "gone")
    with pytest.raises(DecodeError, match=SEQUENTIAL):
        read_growth(tmp_path)
