# SPDX-License-Identifier: Apache-2.0
"""The captures of a link's two ends: of one is kept what it differs by from the other."""

from __future__ import annotations

import gc
import os
import random
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import pytest

from quiclab.store.packed_captures import (
    CaptureError,
    Unpacked,
    is_packed_capture,
    lacks_base,
    pack_captures,
    packed_against,
    plain_name,
    read_capture,
)


def _capture(packets: list[bytes], stamp: int) -> bytes:
    """Enhanced packet blocks, as far as it matters here: each packet with a time of its own."""
    blocks = []
    for number, packet in enumerate(packets):
        head = struct.pack("<IIIQII", 6, len(packet) + 32, 0, stamp + 1000 * number, len(packet), len(packet))
        blocks.append(head + packet + struct.pack("<I", len(packet) + 32))
    return b"".join(blocks)


def _packets(count: int, seed: int = 1) -> list[bytes]:
    draw = random.Random(seed)
    return [draw.randbytes(1452) for _ in range(count)]


def _raw(folder: Path, files: dict[str, bytes]) -> Path:
    raw = folder / "raw"
    raw.mkdir(parents=True)
    for name, content in files.items():
        (raw / name).write_bytes(content)
    return raw


_PACKETS = _packets(200)
_CLIENT, _SERVER = _capture(_PACKETS[3:], 0), _capture(_PACKETS[:150] + _packets(5, 2) + _PACKETS[150:], 77)


def test_a_capture_becomes_what_it_differs_by(tmp_path: Path) -> None:
    """Of each link; the other end's stays as it is. A file that only its owner may read stays so, and the same captures
    make the same bytes."""
    files = {"client.pcapng": _CLIENT, "server.pcapng": _SERVER}
    files |= {f"link-2-{name}": content for name, content in files.items()}
    raw, again = _raw(tmp_path / "a", files), _raw(tmp_path / "b", files)
    (raw / "server.pcapng").chmod(0o600)
    for each in (raw, again, raw):
        pack_captures(each)
    packed = raw / "server.pcapng.zst"
    assert {file.name for file in raw.iterdir()} == {
        *("client.pcapng", "server.pcapng.zst", "link-2-client.pcapng", "link-2-server.pcapng.zst")
    }
    assert (raw / "client.pcapng").read_bytes() == _CLIENT
    assert packed.stat().st_size < len(_SERVER) / 10
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600
    assert packed.read_bytes() == (again / "server.pcapng.zst").read_bytes()
    assert is_packed_capture(packed)
    assert read_capture(packed) == read_capture(raw / "link-2-server.pcapng.zst") == _SERVER
    assert plain_name(packed.name) == "server.pcapng"


@pytest.mark.skipif(shutil.which("zstd") is None, reason="the program zstd is not here")
def test_the_usual_program_unpacks_it(tmp_path: Path) -> None:
    raw = _raw(tmp_path, {"client.pcapng": _CLIENT, "server.pcapng": _SERVER})
    pack_captures(raw)
    command = "zstd -d --long=31 --patch-from=client.pcapng server.pcapng.zst"
    subprocess.run(command.split(), cwd=raw, check=True, capture_output=True)
    assert (raw / "server.pcapng").read_bytes() == _SERVER


@pytest.mark.parametrize(
    "files",
    [
        {"client.pcapng": _CLIENT, "server.pcapng": _capture(_packets(200, 9), 0)},
        {"server.pcapng": _SERVER},
        {"client.pcapng": _CLIENT, "server.pcapng": _SERVER[:9000]},
        {"client.pcapng": b"", "server.pcapng": _SERVER},
        {"client.pcapng": _CLIENT, "server.pcapng": _SERVER, "server.pcapng.zst": b"something else"},
    ],
)
def test_what_gains_little_stays(files: dict[str, bytes], tmp_path: Path) -> None:
    """Other packets, no other end, a small or an empty one; and nothing is overwritten."""
    raw = _raw(tmp_path, files)
    pack_captures(raw)
    assert {file.name: file.read_bytes() for file in raw.iterdir()} == files


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(_SERVER)
    raw = _raw(tmp_path, {"client.pcapng": _CLIENT})
    (raw / "server.pcapng").symlink_to(tmp_path / "outside")
    pack_captures(raw)
    assert (raw / "server.pcapng").is_symlink()


def test_what_was_changed_is_told(tmp_path: Path) -> None:
    """Cut, damaged, beside another capture, or larger than anything that is packed."""
    raw = _raw(tmp_path, {"client.pcapng": _CLIENT, "server.pcapng": _SERVER})
    pack_captures(raw)
    packed = raw / "server.pcapng.zst"
    whole = packed.read_bytes()
    packed.write_bytes(whole[:-9])
    with pytest.raises(CaptureError, match="is cut"):
        read_capture(packed)
    packed.write_bytes(whole[:400] + bytes([whole[400] ^ 255]) + whole[401:])
    with pytest.raises(CaptureError, match=r"does not continue client\.pcapng"):
        read_capture(packed)
    packed.write_bytes(whole)
    (raw / "client.pcapng").write_bytes(_capture(_packets(197, 5), 0))
    with pytest.raises(CaptureError, match="one of them was changed"):
        read_capture(packed)
    (raw / "client.pcapng").write_bytes(b"")
    with pytest.raises(CaptureError, match="one of them was changed"):
        read_capture(packed)
    os.truncate(raw / "client.pcapng", (1 << 27) + 1)
    assert not is_packed_capture(packed)


def test_a_packed_capture_alone_is_told_from_one_that_somebody_compressed(tmp_path: Path) -> None:
    """By its content: the names are alike, and the first bytes are a capture's."""
    raw = _raw(tmp_path, {"client.pcapng": _CLIENT, "server.pcapng": _SERVER})
    pack_captures(raw)
    packed = raw / "server.pcapng.zst"
    assert not lacks_base(packed)
    (raw / "client.pcapng").unlink()
    assert lacks_base(packed)
    packed.write_bytes(packed_against(bytes(8), _SERVER))
    assert not lacks_base(packed)


def test_plain_copies_go_with_what_holds_them(tmp_path: Path) -> None:
    raw = _raw(tmp_path, {"client.pcapng": _CLIENT, "server.pcapng": _SERVER})
    pack_captures(raw)
    unpacked = Unpacked()
    copy = unpacked.plain(raw / "server.pcapng.zst")
    assert copy.read_bytes() == _SERVER
    del unpacked
    gc.collect()
    assert not copy.parent.exists()
