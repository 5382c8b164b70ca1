# SPDX-License-Identifier: Apache-2.0
"""Keys are found by what files hold."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import struct
import tarfile
from pathlib import Path

import pytest

from quiclab.model.errors import DecodeError
from quiclab.store.archive import pack
from quiclab.store.packed_captures import packed_against
from quiclab.store.packed_logs import packed, read_plain
from quiclab.store.secrets import keep_safe, secrets_in, take_keys_out, without_decryption_secrets

SECRET = bytes(range(32))
LINE = f"SERVER_TRAFFIC_SECRET_0 {'ab' * 32} {SECRET.hex()}\n"


def _block(order: str, kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack(f"{order}II", kind, length) + body + struct.pack(f"{order}I", length)


@pytest.mark.parametrize("order", ["<", ">"])
def test_secrets_leave_a_capture_and_packets_stay(order: str) -> None:
    """In both byte orders, in every section."""
    header = _block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    packet, secret = _block(order, 6, b"packet__"), _block(order, 10, SECRET)
    assert without_decryption_secrets((header + secret + packet + secret) * 2) == (header + packet) * 2


def test_a_damaged_capture_is_refused() -> None:
    """What cannot be told apart is not packed as if it held no key."""
    with pytest.raises(DecodeError):
        without_decryption_secrets(_block("<", 6, b"packet__")[:-2])
    with pytest.raises(DecodeError):
        without_decryption_secrets(struct.pack("<III", 6, 0, 0))


def _trial(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        file = folder / "raw" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    artefacts = [{"path": f"raw/{name}", "bytes": len(content)} for name, content in files.items()]
    (folder / "trial.json").write_text(json.dumps({"status": "verified", "artefacts": artefacts}))
    return folder


def test_keys_leave_whatever_file_they_are_in(tmp_path: Path) -> None:
    """A key log by any name, a copy of a secret in another file, keys in PEM, tickets, keys of qlog's events."""
    event = json.dumps({"name": "security:key_updated", "data": {"key_type": "server_1rtt_secret", "new": "cd" * 16}})
    files = {
        "keys.log": LINE.encode(),
        "client.out": b"debug\n" + LINE.encode(),
        "dump.bin": b"x" + SECRET,
        "note.json": json.dumps({"secret": base64.b64encode(SECRET).decode()}).encode(),
        "tls.txt": b"-----BEGIN EC PRIVATE KEY-----",
        "home.ticket": b"opaque",
        "qlog/a.sqlog": event.encode(),
        "server.out": b"listening",
    }
    trial = _trial(tmp_path / "a", files)
    told = take_keys_out([trial])
    assert {str(file.relative_to(trial / "raw")) for file in (trial / "raw").rglob("*") if file.is_file()} == {
        "qlog/a.sqlog",
        "server.out",
    }
    assert json.loads((trial / "raw" / "qlog" / "a.sqlog").read_text())["data"]["new"] == ""
    document = json.loads((trial / "trial.json").read_text())
    assert {item["path"] for item in document["artefacts"]} == {"raw/qlog/a.sqlog", "raw/server.out"}
    assert document["artefacts"][0]["bytes"] == (trial / "raw" / "qlog" / "a.sqlog").stat().st_size
    assert len(told) == len(document["keys_left_out"]) == 7


def test_a_key_of_one_trial_is_looked_for_in_the_other(tmp_path: Path) -> None:
    """The trials of a block go into one archive."""
    first = _trial(tmp_path / "a", {"keys.log": LINE.encode()})
    second = _trial(tmp_path / "b", {"dump.txt": SECRET.hex().upper().encode()})
    take_keys_out([first, second])
    assert not list((second / "raw").iterdir())


def test_a_damaged_record_of_a_trial_is_named(tmp_path: Path) -> None:
    """As a study has many of them."""
    trial = _trial(tmp_path / "a", {"keys.log": LINE.encode()})
    document = json.loads((trial / "trial.json").read_text())
    (trial / "trial.json").write_text(json.dumps(document | {"failure": 1}))
    with pytest.raises(DecodeError, match=rf"{trial.name}/trial\.json is not of its form: failure is no text"):
        take_keys_out([trial])


def test_client_random_is_no_secret(tmp_path: Path) -> None:
    """It crosses the wire in the clear: a capture that holds it stays."""
    assert secrets_in(LINE.encode()) == {SECRET}
    trial = _trial(tmp_path / "a", {"keys.log": LINE.encode(), "hello.txt": b"ab" * 32})
    take_keys_out([trial])
    assert [file.name for file in (trial / "raw").iterdir()] == ["hello.txt"]


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    """By what files hold and by their names; what is neither file nor folder goes."""
    raw = tmp_path / "raw"
    raw.mkdir(parents=True)
    line = f"CLIENT_RANDOM {'0' * 64} {'1' * 96}\n"
    holding = {"keys.log": "", "other.txt": line, "a.pem": "-----BEGIN PRIVATE KEY-----\n", "session": "x"}
    for name, content in {**holding, "client.out": "hello"}.items():
        (raw / name).write_text(content)
        (raw / name).chmod(0o644)
    (raw / "link").symlink_to("/etc/passwd")
    (raw / "folder").symlink_to("/etc")
    os.mkfifo(raw / "pipe")
    tmp_path.chmod(0o700)
    keep_safe(tmp_path)
    modes = {file.name: file.lstat().st_mode & 0o777 for file in raw.iterdir()}
    assert modes == {**dict.fromkeys(holding, 0o600), "client.out": 0o644}
    with tarfile.open(fileobj=io.BytesIO(pack(tmp_path, "x"))) as archive:
        packed = {entry.name.rpartition("/")[2]: entry.mode for entry in archive}
    assert packed == modes


def test_keys_leave_compressed_logs(tmp_path: Path) -> None:
    """They are searched as what they hold, and compressed again; one that cannot be unpacked is not packed as if it
    held no key."""
    event = json.dumps({"name": "security:key_updated", "data": {"key_type": "server_1rtt_secret", "new": "cd" * 16}})
    trial = _trial(tmp_path / "a", {"a.sqlog.gz": packed(event.encode()), "b.out.gz": packed(LINE.encode())})
    assert len(take_keys_out([trial])) == 2
    (left,) = (trial / "raw").iterdir()
    assert json.loads(gzip.decompress(left.read_bytes()))["data"]["new"] == ""
    damaged = _trial(tmp_path / "b", {"a.sqlog.gz": packed(event.encode())[:-6]})
    with pytest.raises(DecodeError, match="cannot be searched"):
        take_keys_out([damaged])


def test_keys_leave_captures_of_both_ends(tmp_path: Path) -> None:
    """One that is kept as what it differs by from the other stays so, unless keys leave the other."""
    header = _block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    packets = b"".join(_block("<", 6, os.urandom(1400)) for _ in range(40))
    dirty, clean = header + _block("<", 10, LINE.encode().ljust(200)) + packets, header + packets
    for base, end, names in (
        (clean, dirty, {"client.pcapng", "server.pcapng.zst"}),
        (dirty, clean, {"client.pcapng", "server.pcapng"}),
    ):
        files = {"client.pcapng": base, "server.pcapng.zst": packed_against(base, end)}
        trial = _trial(tmp_path / str(len(names & {"server.pcapng"})), files)
        take_keys_out([trial])
        assert {file.name for file in (trial / "raw").iterdir()} == names
        assert {read_plain(file) for file in (trial / "raw").iterdir()} == {clean}
        for item in json.loads((trial / "trial.json").read_text())["artefacts"]:
            assert (trial / item["path"]).stat().st_size == item["bytes"]
