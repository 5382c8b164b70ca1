# SPDX-License-Identifier: Apache-2.0
"""Logs on the disk are compressed, and keep their names in the tables."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest

from quiclab.store.packed_logs import is_packed, pack_logs, packed, plain_names, read_plain

_LOG = b'{"name": "recovery:metrics_updated"}\n' * 1000


def _trial(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        file = folder / "raw" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder


def test_large_logs_are_compressed_and_captures_and_small_ones_are_not(tmp_path: Path) -> None:
    """A file that only its owner may read stays so; the same logs make the same bytes."""
    files = {"server-qlog/a.sqlog": _LOG, "client.pcapng": _LOG, "client.json": b"{}", "b.log": _LOG}
    trial = _trial(tmp_path / "a", files)
    (trial / "raw" / "b.log").chmod(0o600)
    pack_logs(trial)
    found = {str(file.relative_to(trial / "raw")): file for file in (trial / "raw").rglob("*") if file.is_file()}
    assert set(found) == {"server-qlog/a.sqlog.gz", "client.pcapng", "client.json", "b.log.gz"}
    assert gzip.decompress(found["server-qlog/a.sqlog.gz"].read_bytes()) == _LOG
    assert stat.S_IMODE(found["b.log.gz"].stat().st_mode) == 0o600
    pack_logs(trial)
    again = _trial(tmp_path / "b", files)
    pack_logs(again)
    name = "server-qlog/a.sqlog.gz"
    assert (again / "raw" / name).read_bytes() == found[name].read_bytes()


def test_what_a_program_named_like_a_compressed_log_stays(tmp_path: Path) -> None:
    """Nothing is overwritten, and each has a name of its own."""
    trial = _trial(tmp_path, {"a.sqlog": _LOG, "a.sqlog.gz": b"something else"})
    pack_logs(trial)
    assert (trial / "raw" / "a.sqlog").read_bytes() == _LOG
    assert (trial / "raw" / "a.sqlog.gz").read_bytes() == b"something else"
    assert plain_names(["raw/a.sqlog", "raw/a.sqlog.gz", "raw/b.qplog.gz"]) == {
        "raw/a.sqlog": "raw/a.sqlog",
        "raw/a.sqlog.gz": "raw/a.sqlog.gz",
        "raw/b.qplog.gz": "raw/b.qplog",
    }


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A link among the logs, however large what it leads to, is left alone."""
    (tmp_path / "outside").write_bytes(_LOG)
    trial = _trial(tmp_path / "trial", {"a.json": b"{}"})
    (trial / "raw" / "b.log").symlink_to(tmp_path / "outside")
    pack_logs(trial)
    assert (trial / "raw" / "b.log").is_symlink()
    assert (tmp_path / "outside").read_bytes() == _LOG


def test_what_was_packed_is_unpacked_up_to_a_size(tmp_path: Path) -> None:
    """A file that grows without end when it is unpacked is an error, as is a damaged one."""
    assert is_packed(packed(_LOG))
    assert not is_packed(_LOG)
    file = tmp_path / "log"
    for content in (_LOG, packed(_LOG)):
        file.write_bytes(content)
        assert read_plain(file, len(_LOG)) == _LOG
        with pytest.raises(OSError, match="more than"):
            read_plain(file, len(_LOG) - 1)
    file.write_bytes(packed(_LOG)[:-9])
    with pytest.raises(OSError):
        read_plain(file)
