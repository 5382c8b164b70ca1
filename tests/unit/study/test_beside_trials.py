# SPDX-License-Identifier: Apache-2.0
"""What stands beside the trials of a study and cannot be read is told, as nothing else of a verification tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from quiclab.store.layout import StudyDir
from quiclab.store.remarks import FILE, say, write_remarks
from quiclab.study.beside_trials import doubts_by_remarks


def test_remarks_that_can_be_read_are_no_doubt(tmp_path: Path) -> None:
    """Nor is a study without any."""
    assert doubts_by_remarks(StudyDir(tmp_path)) == []
    write_remarks(tmp_path, say([], "t", "exclusion", "because"))
    assert doubts_by_remarks(StudyDir(tmp_path)) == []


@pytest.mark.parametrize("content", [b"", b"null", b"[1, 2]", b"[" * 5000, b"\xff", b'{"remarks": [1]}'])
def test_remarks_that_cannot_be_read_are_one(tmp_path: Path, content: bytes) -> None:
    """An exclusion may be among them."""
    (tmp_path / FILE).write_bytes(content)
    (told,) = doubts_by_remarks(StudyDir(tmp_path))
    assert FILE in told
