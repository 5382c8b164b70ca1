# SPDX-License-Identifier: Apache-2.0
"""An archive comes back as it was packed, and a stranger's writes nothing outside its folder."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from quiclab.model.errors import DecodeError
from quiclab.store.archive import pack, unpack

_PLENTY = 1 << 20


def _archive(*entries: tarfile.TarInfo, content: bytes = b"x") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for entry in entries:
            entry.size = len(content) if entry.isreg() else 0
            archive.addfile(entry, io.BytesIO(content) if entry.isreg() else None)
    return packed.getvalue()


def _entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, target, 0o777
    return made


def test_a_folder_comes_back(tmp_path: Path) -> None:
    """With contents, and with the mode of what is for its owner alone."""
    folder = tmp_path / "folder"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "log").write_bytes(b"log" * 1000)
    (folder / "key").write_bytes(b"key")
    (folder / "key").chmod(0o600)
    unpack(pack(folder, "part"), tmp_path / "back", _PLENTY)
    back = tmp_path / "back" / "part"
    assert (back / "a" / "log").read_bytes() == b"log" * 1000
    assert (back / "key").stat().st_mode & 0o777 == 0o600
    assert (back / "a" / "log").stat().st_mode & 0o111 == 0


@pytest.mark.parametrize(
    "entries",
    [
        [_entry("../outside")],
        [_entry("part/../../outside")],
        [_entry("/tmp/outside")],
        [_entry("part/link", tarfile.SYMTYPE, "/etc"), _entry("part/link/outside")],
        [_entry("part/link", tarfile.LNKTYPE, "/etc/passwd")],
        [_entry("part/fifo", tarfile.FIFOTYPE)],
        [_entry("part/device", tarfile.CHRTYPE)],
        [_entry("part/folder", tarfile.DIRTYPE)],
        [_entry("part/file"), _entry("part/file")],
        [_entry("part/file"), _entry("part/file/below")],
        [_entry("part/" + "n" * 300)],
        [_entry("part/zero\0byte")],
    ],
    ids=lambda entries: entries[-1].name.replace("\0", "-")[:30],
)
def test_what_is_no_file_of_its_own_folder_is_refused(tmp_path: Path, entries: list[tarfile.TarInfo]) -> None:
    """Nothing appears beside the folder, and no link in it."""
    if "\0" in entries[0].name:
        entries[0].name, entries[0].pax_headers = "part/x", {"path": "part/zero\0byte"}
    with pytest.raises(DecodeError):
        unpack(_archive(*entries), tmp_path / "back", _PLENTY)
    assert [each.name for each in tmp_path.iterdir()] == ["back"]
    assert not any(each.is_symlink() for each in tmp_path.rglob("*"))


@pytest.mark.parametrize("what", ["content", "name"])
def test_a_small_archive_of_something_huge_is_refused(tmp_path: Path, what: str) -> None:
    """Not only the files count, but all that the archive becomes."""
    huge = 2 * _PLENTY
    packed = _archive(_entry("part/" + "n" * huge)) if what == "name" else _archive(_entry("f"), content=bytes(huge))
    assert len(packed) < _PLENTY // 10
    with pytest.raises(DecodeError, match="more than"):
        unpack(packed, tmp_path / "back", _PLENTY)
    assert sum(each.stat().st_size for each in tmp_path.rglob("*") if each.is_file()) <= _PLENTY


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    """One that was cut off, and one that is none."""
    whole = _archive(_entry("part/file"), content=bytes(range(256)) * 100)
    for number, packed in enumerate(
        (whole[:-40], whole[: len(whole) // 2], b"", b"no archive", gzip.compress(b"none"))
    ):
        with pytest.raises(DecodeError, match="archive"):
            unpack(packed, tmp_path / str(number), _PLENTY)


def test_more_files_than_allowed(tmp_path: Path) -> None:
    """They are refused by number, however small they are."""
    packed = _archive(*(_entry(f"part/{number}") for number in range(4)))
    unpack(packed, tmp_path / "as-many", _PLENTY, most_files=4)
    with pytest.raises(DecodeError, match="more than 3 files"):
        unpack(packed, tmp_path / "too-many", _PLENTY, most_files=3)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK])
def test_a_header_that_takes_much_memory(tmp_path: Path, kind: bytes) -> None:
    """Headers of a file are bounded by themselves, at the first file as well as at a later one."""
    much = 1 << 19
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(_entry("part/first"))
        first = plain.tell()
        header = tarfile.TarInfo("part/x")
        header.type, header.size = kind, much
        plain.write(header.tobuf(format=tarfile.USTAR_FORMAT) + f"{much} path=".encode().ljust(much, b"a"))
        archive.offset = plain.tell()
        archive.addfile(_entry("part/second"))
    whole = plain.getvalue()
    for number, content in enumerate((whole, whole[first:])):
        with pytest.raises(DecodeError, match="for one file"):
            unpack(gzip.compress(content), tmp_path / str(number), 1 << 22)


def test_paths_may_be_as_long_as_a_file_system_allows(tmp_path: Path) -> None:
    """Each needs a header of its own, and none of them counts for the next."""
    folder = tmp_path / "folder"
    deep = folder.joinpath(*["d" * 200] * 10)
    deep.mkdir(parents=True)
    for number in range(60):
        (deep / f"{number}{'n' * 100}").write_bytes(b"x" * number)
    unpack(pack(folder, "part"), tmp_path / "back", _PLENTY)
    assert len(list((tmp_path / "back").rglob("*n"))) == 60
