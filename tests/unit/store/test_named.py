# SPDX-License-Identifier: Apache-2.0
"""Files that a spec names are read where they are files, and nothing is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from quiclab.model.errors import SpecError
from quiclab.spec.har import read_har
from quiclab.spec.traces import mean_rate
from quiclab.store.own_files import read_named


@pytest.mark.parametrize("place", ["fifo", "/dev/zero", "folder", "hole", "gone"])
def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path, place: str) -> None:
    """A spec may come with a study, from anywhere."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "hole").open("wb") as hole:
        hole.truncate(1 << 34)
    named = tmp_path / place
    with pytest.raises(OSError):
        read_named(named)
    with pytest.raises(SpecError, match="is no HAR"):
        read_har(named)
    with pytest.raises(ValueError, match="cannot be read as a Mahimahi trace"):
        mean_rate(named)


def test_a_link_to_a_file_is_a_file(tmp_path: Path) -> None:
    """It is the user who names it."""
    (tmp_path / "file").write_text("1\n2\n")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_named(tmp_path / "link") == b"1\n2\n"
    assert mean_rate(tmp_path / "link").bit_per_s > 0
