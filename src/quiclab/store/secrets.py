# SPDX-License-Identifier: Apache-2.0
"""Keys in a trial's files: found by what the files hold, not by their names, and taken out.

Anyone who has the keys of a capture can read it: TLS key logs (NSS key log format), private keys and sessions in PEM,
decryption secrets inside pcapng (draft-ietf-opsawg-pcapng section 4.7), keys in qlog's security events.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
import struct
from collections.abc import Mapping
from pathlib import Path

from quiclab.model.errors import DecodeError
from quiclab.store.disk import read_object, write_atomically
from quiclab.store.packed_captures import base_of, is_packed_capture, packed_against, plain_name
from quiclab.store.packed_logs import is_packed, packed, read_plain

_KEY_LOG = re.compile(
    rb"(?m)^(?:CLIENT_RANDOM|EARLY_EXPORTER_(?:MASTER_)?SECRET|EXPORTER_SECRET|"
    rb"(?:CLIENT|SERVER|QUIC_CLIENT|QUIC_SERVER)_\w*SECRET\w*|ECH_\w+) ([0-9a-fA-F]{64}) ([0-9a-fA-F]{32,})\b"
)
_PEM = re.compile(rb"-----BEGIN (?:[A-Z ]*PRIVATE KEY|SSL SESSION PARAMETERS)-----")
_SESSION_FILE = re.compile(r"\.(?:session|ticket|psk)$|^(?:session|ticket)s?$")
_QLOG_KEY = re.compile(rb'("(?:new|old|key|secret)"\s*:\s*")[0-9a-fA-F]{32,}(")')
_QLOG_EVENTS = (b"key_updated", b"key_retired", b"key_discarded")

_FIRST_BYTES = 1 << 14
_MOST_BYTES = 1 << 31
"""Most that a compressed log may hold to be searched for keys."""

_SECTION_HEADER, _DECRYPTION_SECRETS = 0x0A0D0D0A, 0x0000000A
_BIG_ENDIAN = b"\x1a\x2b\x3c\x4d"


def take_keys_out(trials: list[Path]) -> tuple[str, ...]:
    """Take the keys out of the folders of trials that belong together; return one sentence for each file that changed.

    Afterwards each trial.json registers the files that are still there, and lists under `keys_left_out` those that lost
    keys or are gone. Raises DecodeError where a capture or a compressed log cannot be searched.
    """
    secrets = {found for trial in trials for file in _files(trial) for found in secrets_in(_plain(file))}
    done: list[str] = []
    for trial in trials:
        left_out = []
        renamed = _unpack_what_continues_keys(trial, secrets)
        for file in _files(trial):
            before = _plain(file)
            after = _without_keys(file, before, secrets)
            if after == before:
                continue
            name = str(file.relative_to(trial))
            left_out.append(name)
            if after is None:
                file.unlink()
                done.append(f"{trial.name}/{name}: left out, because it holds keys")
            else:
                file.write_bytes(_as_packed(file, after))
                done.append(f"{trial.name}/{name}: its keys are left out")
        _register(trial, left_out, renamed)
    return tuple(done)


def keep_safe(trial: Path) -> None:
    """Make a trial's folder safe once its programs have ended: anything that is neither file nor folder is removed,
    because it may lead anywhere, and files with keys are readable by their owner alone."""
    for folder, folders, files in os.walk(trial):
        for name in (*folders, *files):
            path = Path(folder, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                if _looks_like_keys(path):
                    path.chmod(0o600)
            elif not stat.S_ISDIR(mode):
                path.unlink()
    trial.chmod(0o755)  # it was closed while it ran


def _looks_like_keys(file: Path) -> bool:
    with file.open("rb") as opened:
        begin = opened.read(_FIRST_BYTES)
    return bool(
        file.name == "keys.log" or _SESSION_FILE.search(file.name) or _KEY_LOG.search(begin) or _PEM.search(begin)
    )


def secrets_in(content: bytes) -> set[bytes]:
    """Secrets of a key log, also of one inside a capture, or of its lines in another file."""
    return {bytes.fromhex(found[2].decode()) for found in _KEY_LOG.finditer(content) if len(found[2]) % 2 == 0}


def _files(trial: Path) -> list[Path]:
    return sorted(file for file in (trial / "raw").rglob("*") if file.is_file())


def _plain(file: Path) -> bytes:
    """The content of a file, unpacked. Raises DecodeError for one that cannot be."""
    try:
        return read_plain(file, max(_MOST_BYTES, file.stat().st_size))
    except OSError as error:
        raise DecodeError(f"{file} cannot be searched for keys: {error}", "--with-keys packs it as it is") from error


def _unpack_what_continues_keys(trial: Path, secrets: set[bytes]) -> dict[str, str]:
    """Unpack captures that continue one with keys, which is about to change. Returns their names of before → now."""
    names = {}
    for file in filter(is_packed_capture, _files(trial)):
        base = base_of(file)
        before = base.read_bytes()
        if _without_keys(base, before, secrets) != before:
            plain = file.with_name(plain_name(file.name))
            plain.write_bytes(_plain(file))
            file.unlink()
            names[str(file.relative_to(trial))] = str(plain.relative_to(trial))
    return names


def _as_packed(file: Path, content: bytes) -> bytes:
    """The content as the file has it: compressed where that is."""
    if is_packed_capture(file):
        return packed_against(base_of(file).read_bytes(), content)
    return packed(content) if is_packed(file.read_bytes()) else content


def _without_keys(file: Path, content: bytes, secrets: set[bytes]) -> bytes | None:
    """The file's content without keys; None if the file consists of keys, or holds them in an unknown way."""
    if _SESSION_FILE.search(file.name) or _PEM.search(content):
        return None
    if content[:4] == struct.pack("<I", _SECTION_HEADER):
        content = without_decryption_secrets(content, str(file))
    if any(event in content for event in _QLOG_EVENTS):
        content = _QLOG_KEY.sub(rb"\1\2", content)
    if _KEY_LOG.search(content) or any(form in content for secret in secrets for form in written(secret)):
        return None
    return content


def written(secret: bytes) -> tuple[bytes, ...]:
    """Forms in which programs write a secret into files."""
    hexadecimal = secret.hex().encode()
    return secret, hexadecimal, hexadecimal.upper(), base64.b64encode(secret).rstrip(b"=")


def without_decryption_secrets(capture: bytes, name: str = "the capture") -> bytes:
    """Remove the decryption secrets blocks from a pcapng. Raises DecodeError if its blocks cannot be told apart."""
    kept = []
    order, start = "<", 0
    while start < len(capture):
        header = capture[start : start + 12]
        if len(header) < 12:
            raise DecodeError(f"{name} ends inside a block", "its keys cannot be told from its packets: --with-keys")
        if header[:4] == struct.pack("<I", _SECTION_HEADER):
            order = ">" if header[8:12] == _BIG_ENDIAN else "<"
        kind, length = struct.unpack(f"{order}II", header[:8])
        if length < 12 or length % 4 or start + length > len(capture):
            raise DecodeError(f"{name} has a block of {length} bytes", "it is damaged: --with-keys packs it as it is")
        if kind != _DECRYPTION_SECRETS:
            kept.append(capture[start : start + length])
        start += length
    return b"".join(kept)


def _register(trial: Path, left_out: list[str], renamed: Mapping[str, str]) -> None:
    """Bring trial.json up to date with the files that are there now."""
    import msgspec

    from quiclab.store.record_form import as_json, as_trial

    document = read_object(trial / "trial.json")
    kept = []
    for item in as_trial(document, f"{trial.name}/trial.json").artefacts:
        path = renamed.get(item.path, item.path)
        if (trial / path).exists():
            changed = path in (*left_out, *renamed.values())
            size = (trial / path).stat().st_size if changed else item.bytes
            kept.append(as_json(msgspec.structs.replace(item, path=path, bytes=size)))
    document |= {"artefacts": kept, "keys_left_out": left_out}
    write_atomically(trial / "trial.json", json.dumps(document, indent=1))
