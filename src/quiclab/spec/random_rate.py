# SPDX-License-Identifier: Apache-2.0
"""`rate = {least = …, most = …, every = …}`: a rate drawn by chance, how it is read, and which rates a trial will
draw."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from quiclab.model.study import RandomRate
from quiclab.model.units import Bitrate
from quiclab.spec import json_form, kinds
from quiclab.spec.nodes import Kind, Node, WrongValueError, build, form_of

RANDOM_RATE_KEYS = kinds.keys_of(RandomRate)


def _read(node: Node) -> Bitrate | RandomRate:
    if not isinstance(node.value, dict):
        return kinds.RATE.read(node)
    rate = build(RandomRate, node, RANDOM_RATE_KEYS)
    if rate.most < rate.least:
        raise WrongValueError(f"the most, {rate.most}, is below the least, {rate.least}")
    return rate


RATE_OR_RANDOM: Kind[Bitrate | RandomRate] = Kind(
    f'{kinds.RATE.wanted}, or a table such as {{least = "50 Mbit/s", most = "150 Mbit/s", every = "1 s"}}',
    _read,
    json_form.either(kinds.RATE.form, form_of(RANDOM_RATE_KEYS, RandomRate)),
)


def drawn_rates(rate: RandomRate, seed: int, link: str, side: str) -> Iterator[Bitrate]:
    """The rates that the link draws for a direction, period after period, without end.

    The link's own generator: ChaCha8 under a key of seed and hashes of the names (docs/reference/link-config.md).
    """
    key = struct.pack("<4Q", seed, *(_fnv1a(name) for name in (link, side, "rate")))
    choices = rate.most.bit_per_s - rate.least.bit_per_s + 1
    block = 0
    while True:
        words = _chacha8(key, block)
        for low, high in zip(words[::2], words[1::2], strict=True):
            yield Bitrate(rate.least.bit_per_s + ((high << 32 | low) * choices >> 64))
        block += 1


def _chacha8(key: bytes, block: int) -> list[int]:
    """One block of 16 words: RFC 8439 section 2.3 with 8 rounds, a counter of 64 bits and a nonce of zeros."""
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key)]
    start += [block & 0xFFFFFFFF, block >> 32, 0, 0]
    words = list(start)
    for _ in range(4):
        for column in range(4):
            _quarter_round(words, column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            _quarter_round(words, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    return [(word + first) & 0xFFFFFFFF for word, first in zip(words, start, strict=True)]


def _quarter_round(words: list[int], a: int, b: int, c: int, d: int) -> None:
    for first, second, third, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        words[first] = (words[first] + words[second]) & 0xFFFFFFFF
        mixed = words[third] ^ words[first]
        words[third] = (mixed << bits | mixed >> 32 - bits) & 0xFFFFFFFF


def _fnv1a(text: str) -> int:
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x0100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value
