# SPDX-License-Identifier: Apache-2.0
"""Captures of a trial that is over, for whatever reads plain ones."""

from __future__ import annotations

from pathlib import Path

from quiclab.store.packed_captures import SUFFIX, read_capture


def capture_at(raw: Path, end: str) -> Path:
    """A trial's capture at one end, unpacked in place where it is kept as what it differs by from the other."""
    plain = raw / f"{end}.pcapng"
    packed = plain.with_name(plain.name + SUFFIX)
    if packed.exists():
        plain.write_bytes(read_capture(packed))
        packed.unlink()
    return plain
