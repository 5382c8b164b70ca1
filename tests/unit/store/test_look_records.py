# SPDX-License-Identifier: Apache-2.0
"""Looks at a study are kept one line each, whatever ended the run before."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from quiclab.model.errors import HostError
from quiclab.store.look_records import FILE, InterimLook, keep_look, read_looks

SEVEN = InterimLook("2026-03-01T10:00:00+00:00", 7, {"1MB/loss": 7, "1MB/plain": 7}, 0.05, ("ttlb_ms",), 2.0)
TEN = dataclasses.replace(SEVEN, planned=10, blocks={"1MB/loss": 10, "1MB/plain": 10}, when_utc="2026-03-02")


def test_looks_come_back_in_their_order(tmp_path: Path) -> None:
    """A study without any has none."""
    assert read_looks(tmp_path) == []
    for look in (SEVEN, TEN):
        keep_look(tmp_path, look)
    assert read_looks(tmp_path) == [SEVEN, TEN]


def test_looking_again_at_the_same_is_no_new_look(tmp_path: Path) -> None:
    """A report that is written again adds nothing, so that the study stays as it is; another level does."""
    keep_look(tmp_path, SEVEN)
    before = (tmp_path / FILE).read_bytes()
    keep_look(tmp_path, dataclasses.replace(SEVEN, when_utc="later"))
    assert (tmp_path / FILE).read_bytes() == before
    keep_look(tmp_path, dataclasses.replace(SEVEN, alpha=0.1))
    assert [look.alpha for look in read_looks(tmp_path)] == [0.05, 0.1]


def test_a_line_that_was_cut_off_costs_nothing_but_itself(tmp_path: Path) -> None:
    """At each length that kill -9 could leave of the last line."""
    keep_look(tmp_path, SEVEN)
    whole = (tmp_path / FILE).read_bytes()
    for length in range(len(whole)):
        (tmp_path / FILE).write_bytes(whole + whole[:length])
        keep_look(tmp_path, TEN)
        assert read_looks(tmp_path)[0] == SEVEN
        assert read_looks(tmp_path)[-1] == TEN
        assert len(read_looks(tmp_path)) == 2 + (length == len(whole) - 1)


@pytest.mark.parametrize(
    "line",
    ["7", "[]", '{"planned": 7}', '{"when_utc": 7}', "[" * 100_000, "\x00\xff", json.dumps({"blocks": {"x": "y"}})],
)
def test_a_line_that_no_look_wrote_is_passed_over(tmp_path: Path, line: str) -> None:
    """A stranger's study may hold anything."""
    (tmp_path / FILE).write_text(line, encoding="latin-1")
    keep_look(tmp_path, SEVEN)
    assert read_looks(tmp_path) == [SEVEN]


def test_no_link_is_followed(tmp_path: Path) -> None:
    """Neither to read nor to write."""
    outside = tmp_path / "outside"
    outside.write_text("mine\n")
    study = tmp_path / "study"
    study.mkdir()
    (study / FILE).symlink_to(outside)
    assert read_looks(study) == []
    with pytest.raises((HostError, OSError)):
        keep_look(study, SEVEN)
    assert outside.read_text() == "mine\n"
