# SPDX-License-Identifier: Apache-2.0
"""A study is held by one process at a time, and nobody but its owner can hold it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from quiclab.model.errors import BusyError
from quiclab.store.folder_lock import LOCK, holder_of, kept_free
from quiclab.store.layout import StudyDir
from quiclab.store.own_files import open_private


@pytest.mark.parametrize("before", [None, 0o644, 0o666])
def test_a_lock_is_its_owners(tmp_path: Path, before: int | None) -> None:
    """Also one that an earlier version made for all to read."""
    lock = tmp_path / LOCK
    if before is not None:
        lock.touch()
        lock.chmod(before)
    with StudyDir(tmp_path).locked():
        assert lock.stat().st_mode & 0o777 == 0o600
        assert holder_of(lock) == os.getpid()
        with pytest.raises(BusyError), StudyDir(tmp_path).locked():
            pass
        with pytest.raises(BusyError), StudyDir(tmp_path).undisturbed():
            pass
    with StudyDir(tmp_path).undisturbed(), pytest.raises(BusyError), StudyDir(tmp_path).locked():
        pass
    assert holder_of(lock) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_lock_that_may_not_be_opened_is_asked_for_its_holder() -> None:
    """Another user's study can be read, unless a run is at work in it."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        lock = Path(folder, LOCK)
        with open_private(lock) as held:
            assert _can_be_read_by_another_user(lock)
            fcntl.flock(held, fcntl.LOCK_EX)
            assert not _can_be_read_by_another_user(lock)


def _can_be_read_by_another_user(lock: Path) -> bool:
    child = os.fork()
    if child == 0:
        code = 2
        try:
            os.setuid(65534)
            with kept_free(lock):
                code = 0
        except BlockingIOError:
            code = 1
        finally:
            os._exit(code)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, 1)
    return ended == 0
