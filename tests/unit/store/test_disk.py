# SPDX-License-Identifier: Apache-2.0
"""Files appear whole or not at all."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quiclab.model.errors import HostError
from quiclab.store.disk import disk_errors, write_atomically
from quiclab.store.parquet import write_parquet


def test_write_atomically(tmp_path: Path) -> None:
    """Nothing but the file is left."""
    write_atomically(tmp_path / "a" / "x.json", "1")
    write_atomically(tmp_path / "a" / "x.json", "2")
    assert (tmp_path / "a" / "x.json").read_text() == "2"
    assert len(list((tmp_path / "a").iterdir())) == 1


def test_a_file_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    """The old file stays, and half a new one does not, whoever writes it."""
    (tmp_path / "x.json").write_text("old")
    frame = pl.DataFrame({"x": np.random.default_rng(1).random(20_000)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # Python ignores SIGXFSZ
    try:
        with pytest.raises(HostError, match="File too large") as told:
            write_atomically(tmp_path / "x.json", "y" * 5000, kept="the study is untouched")
        with pytest.raises(HostError, match="File too large"):
            write_parquet(frame, tmp_path / "x.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the study is untouched" in told.value.hint
    assert "files may have 1,000 bytes at most here" in told.value.hint
    with pytest.raises(HostError) as told, disk_errors(tmp_path):
        raise OSError(27, "File too large", str(tmp_path))
    assert "ulimit" not in told.value.hint
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("x.json", "old")]


def test_disk_errors_say_what_to_do(tmp_path: Path) -> None:
    """The file system's refusal becomes a sentence; what is no refusal stays a bug."""
    with pytest.raises(HostError, match="cannot write") as caught, disk_errors(tmp_path):
        raise OSError(28, "No space left on device", str(tmp_path))
    assert "finished trials are kept" in caught.value.hint
    with pytest.raises(HostError, match="cannot write /study/tables: No space") as caught, disk_errors(tmp_path):
        raise OSError(28, "No space left on device", "/proc/9/root/study/tables")
    with pytest.raises(FileNotFoundError), disk_errors(tmp_path):
        (tmp_path / "nowhere").read_text()


@pytest.mark.parametrize("place", ["/proc/x.html", "/proc/folder/x.html"])
def test_a_place_where_nothing_can_be_made_is_named_as_it_was_given(place: str) -> None:
    """The kernel says that it is not there; the name of the file that was tried beside it helps nobody."""
    with pytest.raises(HostError) as caught:
        write_atomically(Path(place), "text", option="-o")
    assert caught.value.message == f"cannot write {place}: No such file or directory"
    assert caught.value.hint == "no file can be made there: choose another place with -o"
