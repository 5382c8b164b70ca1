# SPDX-License-Identifier: Apache-2.0
"""Captures of a trial that is over take half the room: that of a link's one end is kept as what it differs by from the
other's.

Packets are encrypted and cannot be compressed, but nearly all of them are in the captures of both ends. So
`server.pcapng` becomes `server.pcapng.zst`, a Zstandard frame (RFC 8878) that continues `client.pcapng`, which stays as
it is, for whatever opens captures. `zstd -d --long=31 --patch-from=client.pcapng server.pcapng.zst` unpacks it.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

SUFFIX = ".zst"
_ONE_END, _OTHER_END = "server.pcapng", "client.pcapng"
_WORTH_IT_BYTES, _MOST_BYTES = 1 << 14, 1 << 27
"""Sizes between which a capture is packed: it takes as much memory as both of them."""
_LEAST_GAIN = 2
"""A capture that does not become so many times smaller has other packets, and stays."""
_LEAST_WINDOW, _LARGEST_WINDOW = 10, 31
"""Logarithms of the sizes that Zstandard allows."""


class CaptureError(OSError):
    """A packed capture that cannot be unpacked."""


def pack_captures(raw: Path) -> None:
    """Pack the captures in a folder, each against that of its link's other end; the same captures make the same
    bytes."""
    for file in sorted(raw.glob(f"*{_ONE_END}")):
        packed, base = file.with_name(file.name + SUFFIX), base_of(file)
        if any(each.is_symlink() or not each.is_file() for each in (file, base)) or os.path.lexists(packed):
            continue
        sizes = file.stat().st_size, base.stat().st_size
        if min(sizes) < _WORTH_IT_BYTES or max(sizes) > _MOST_BYTES:
            continue
        content = packed_against(base.read_bytes(), file.read_bytes())
        if len(content) * _LEAST_GAIN > sizes[0]:
            continue
        with packed.open("xb") as target:
            os.fchmod(target.fileno(), file.stat().st_mode & 0o777)
            target.write(content)
        file.unlink()


def packed_against(base: bytes, content: bytes) -> bytes:
    """The content as `pack_captures` writes it beside a capture `base`."""
    window = max((len(base) + len(content)).bit_length(), _LEAST_WINDOW)
    options: dict[int, int] = {
        zstd.CompressionParameter.compression_level: 1,  # packets are found whole at any level
        zstd.CompressionParameter.window_log: min(window, _LARGEST_WINDOW),
        zstd.CompressionParameter.enable_long_distance_matching: 1,
        zstd.CompressionParameter.checksum_flag: 1,
    }
    compressor = zstd.ZstdCompressor(options=options, zstd_dict=zstd.ZstdDict(base, is_raw=True).as_prefix)
    compressor.set_pledged_input_size(len(content))
    return compressor.compress(content, compressor.FLUSH_FRAME)


def is_packed_capture(file: Path) -> bool:
    """True if a file is a capture that was packed: by its name, the one beside it, and their sizes."""
    if not file.name.endswith(_ONE_END + SUFFIX):
        return False
    base = base_of(file)
    return base.is_file() and max(base.stat().st_size, file.stat().st_size) <= _MOST_BYTES


def lacks_base(file: Path) -> bool:
    """True if a file is a packed capture, and the one that it continues is not beside it."""
    if not file.name.endswith(_ONE_END + SUFFIX) or base_of(file).is_file() or file.stat().st_size > _MOST_BYTES:
        return False
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    alone = zstd.ZstdDecompressor(options=options)
    try:
        alone.decompress(file.read_bytes(), _MOST_BYTES)
    except zstd.ZstdError:
        return True
    return False  # compressed by somebody else, and whole


def read_capture(file: Path) -> bytes:
    """The content of a capture that was packed. Raises CaptureError if it is damaged, or longer than what is packed."""
    base = base_of(file)
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    try:
        prefix = zstd.ZstdDict(base.read_bytes(), is_raw=True).as_prefix
        unpacking = zstd.ZstdDecompressor(prefix, options=options)
        content = unpacking.decompress(file.read_bytes(), _MOST_BYTES)
    except (zstd.ZstdError, ValueError) as error:  # ValueError: the other one is all but empty
        told = f"{file.name} does not continue {base.name}: one of them was changed, or is of another trial"
        raise CaptureError(told) from error
    if not unpacking.eof:
        raise CaptureError(f"{file.name} is cut, or longer than what is packed")
    return content


class Unpacked:
    """Plain copies of packed captures, in a folder of their own that goes with this object."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="quiclab-captures-"))
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._count = 0

    def plain(self, file: Path) -> Path:
        """A plain copy. Raises CaptureError as `read_capture` does, and OSError where the disk is full."""
        self._count += 1
        copy = self._folder / f"{self._count}.pcapng"
        copy.write_bytes(read_capture(file))
        return copy


def plain_name(name: str) -> str:
    """Name of a capture as the link gave it."""
    return name.removesuffix(SUFFIX) if name.endswith(_ONE_END + SUFFIX) else name


def base_of(file: Path) -> Path:
    """The capture that a capture of the link's other end continues, packed or not."""
    return file.with_name(plain_name(file.name).removesuffix(_ONE_END) + _OTHER_END)
