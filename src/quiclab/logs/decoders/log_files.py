# SPDX-License-Identifier: Apache-2.0
"""Find the logs among files, with their format and the end they are from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Decoder, End
from quiclab.logs.decoders._registry import DECODERS
from quiclab.store.packed_captures import CaptureError, Unpacked, base_of, is_packed_capture, lacks_base
from quiclab.store.packed_logs import plain_copies

_HEAD_BYTES = 4096
_UNREAD_COMPRESSIONS = (
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\3\4", "zip"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x04\x22\x4d\x18", "lz4"),
)
"""Magic numbers of compressions that are not read; gzip and Zstandard are unpacked while they are read."""
UNPACK_FIRST = "gzip and Zstandard are read as they are: unpack other archives first"
_JSON_STARTS = (b"{", b"[", b"\x1e")
"""First characters of JSON documents and of sequences of them (RFC 7464)."""
_MEMBER = re.compile(r'"([^"]+)":')
_MOST_MEMBERS = 6
_MOST_OF_LINE = 40
_FIRST_PRINTABLE = 9
"""Lowest byte that occurs in text: a tab."""
_KEY_LOG_LABELS = (b"CLIENT_", b"SERVER_", b"EXPORTER_", b"EARLY_EXPORTER_", b"RSA ", b"QUIC_")


@dataclass(frozen=True)
class LogFile:
    """One file that a decoder recognises."""

    path: Path
    name: str
    """Name of the file, as in the column `source`."""
    decoder: Decoder
    vantage: End | None
    vantage_given: bool = False
    """True if the user named the end, rather than the file's name."""


@dataclass(frozen=True)
class Found:
    """Files of some folders, by what they are."""

    logs: tuple[LogFile, ...]
    key_logs: tuple[Path, ...]
    unknown: tuple[str, ...]
    """Names of files that are not logs of a known format."""
    packed: tuple[tuple[str, str], ...] = ()
    """Names of files with a compression that is not read, and its name."""
    damaged: tuple[tuple[str, str], ...] = ()
    """Names of captures that cannot be unpacked, and why."""
    unpacked: Unpacked | None = None
    """Holder of plain copies of packed captures, which go with it."""
    named: frozenset[str] = frozenset()
    """Names of the files that the user named one by one, not by their folder."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Files that the user named as logs and that no decoder can read."""
        unread = (*self.unknown, *(name for name, _ in (*self.packed, *self.damaged)))
        return tuple(name for name in unread if name in self.named)


def find(paths: Iterable[tuple[Path, str]], vantages: dict[str, End] | None = None) -> Found:
    """Look into every file; each is given with the name that it is to have.

    The end is that of `vantages`, or else the one that the name suggests. Raises OSError if a file cannot be read.
    """
    logs: list[LogFile] = []
    key_logs: list[Path] = []
    unknown: list[str] = []
    packed: list[tuple[str, str]] = []
    damaged: list[tuple[str, str]] = []
    paths = list(paths)
    unpacked, plain = _plain_captures(paths, damaged)
    copies = plain_copies(file for file, _ in paths)
    spoiled = {name for name, _ in damaged}
    for file, name in paths:
        if file in copies or name in spoiled:
            continue
        path = plain.get(file, file)
        head = head_of(path)
        decoder = decoder_for(head) or _by_members(path, head)
        if decoder is not None:
            given = (vantages or {}).get(name)
            logs.append(LogFile(path, name, decoder, given or end_of(Path(name)), given is not None))
        elif is_key_log(head):
            key_logs.append(path)
        elif compression := unread_compression(head):
            packed.append((name, compression))
        elif file in plain:
            damaged.append((name, "what is packed in it is no capture"))
        else:
            unknown.append(name)
    return Found(tuple(logs), tuple(key_logs), tuple(unknown), tuple(packed), tuple(damaged), unpacked)


def _plain_captures(
    paths: Iterable[tuple[Path, str]], damaged: list[tuple[str, str]]
) -> tuple[Unpacked | None, dict[Path, Path]]:
    """Plain copies of the packed captures among some files, by file, with what holds them; those that cannot be
    unpacked are added to `damaged`."""
    unpacked = None
    plain: dict[Path, Path] = {}
    for file, name in paths:
        if lacks_base(file):
            damaged.append((name, f"{base_of(file).name}, which it continues, is not beside it"))
        elif is_packed_capture(file):
            unpacked = unpacked or Unpacked()
            try:
                plain[file] = unpacked.plain(file)
            except CaptureError as error:
                damaged.append((name, str(error)))
    return unpacked, plain


def head_of(path: Path) -> bytes:
    """The first bytes of a log, decompressed."""
    return _core.head(path, _HEAD_BYTES)


def decoder_for(head: bytes) -> Decoder | None:
    """The decoder that recognises the head of a file; None if none does."""
    return next((decoder for decoder in DECODERS if decoder.sniff(head)), None)


def decoder_of(path: Path) -> Decoder | None:
    """The decoder that recognises a file; None if none does."""
    head = head_of(path)
    return decoder_for(head) or _by_members(path, head)


def _by_members(path: Path, head: bytes) -> Decoder | None:
    """The decoder that recognises a JSON document by its members, whose order means nothing (RFC 8259 section 4).

    The member that tells may stand behind all others.
    """
    if head.lstrip()[:1] not in _JSON_STARTS:
        return None
    return decoder_for(_core.outline(path))


def why_unread(path: Path) -> str:
    """The reason why no decoder reads a file, in a few words about its content. Raises DecodeError."""
    head = head_of(path)
    if not head:
        return "empty"
    if head.lstrip()[:1] in _JSON_STARTS:
        if members := _MEMBER.findall(_core.outline(path).decode(errors="replace")):
            names = ", ".join(dict.fromkeys(members[:_MOST_MEMBERS]))
            return f"JSON of an unknown kind: it has {names}"
        return "JSON that is cut off or damaged: no member can be read"
    if b"\0" in head or sum(byte < _FIRST_PRINTABLE for byte in head) > len(head) // 8:
        return f"a binary file of an unknown format: it starts with {head[:8].hex(' ')}"
    line = head.lstrip().splitlines()[0].decode(errors="replace") if head.strip() else ""
    return f"text of an unknown kind: it starts with {line[:_MOST_OF_LINE]!r}"


def unread_compression(head: bytes) -> str | None:
    """Compression of a file that must be unpacked first; None if it is not compressed, or by gzip or Zstandard."""
    return next((name for magic, name in _UNREAD_COMPRESSIONS if head.startswith(magic)), None)


def is_key_log(head: bytes) -> bool:
    """True if a file looks like a TLS key log (the NSS format), comments and empty lines before the first secret."""
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    return first.startswith(_KEY_LOG_LABELS) and len(first.split()) in (3, 2)


def end_of(path: Path) -> End | None:
    """End that a file is from, by the first part of its path that says so (`client.pcapng`, `server-qlog/…`)."""
    for part in path.parts:
        for end in ("client", "server"):
            if part.startswith(end):
                return end
    return None
