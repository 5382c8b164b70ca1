# SPDX-License-Identifier: Apache-2.0
"""Opens QUIC Initial packets, whose keys anybody can derive (RFC 9001 section 5, RFC 9369 section 3 for version 2)."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from quiclab.verify._ip import Sender


@dataclass(frozen=True)
class QuicVersion:
    """What of Initial packets differs between versions of QUIC."""

    name: str
    salt: bytes
    label_prefix: str
    initial_type: int
    """The two type bits of the long header."""
    early_data_type: int
    """Of 0-RTT packets."""
    retry_type: int


VERSIONS = {
    0x00000001: QuicVersion("v1", bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"), "quic", 0b00, 0b01, 0b11),
    0x6B3343CF: QuicVersion(
        "v2", bytes.fromhex("0dede3def700a6db819381be6e269dcbf9bd2ed9"), "quicv2", 0b01, 0b10, 0b00
    ),
}


class InitialKeys:
    """The keys of one sender's Initial packets (AES-128-GCM)."""

    def __init__(self, version: QuicVersion, destination_id: bytes, sender: Sender) -> None:
        """`destination_id`: Destination Connection ID of the client's first Initial, or of its first after a Retry."""
        initial_secret = hmac.digest(version.salt, destination_id, hashlib.sha256)
        secret = _expand_label(initial_secret, f"{sender} in", 32)
        self.key = _expand_label(secret, f"{version.label_prefix} key", 16)
        self.iv = _expand_label(secret, f"{version.label_prefix} iv", 12)
        self.header_key = _expand_label(secret, f"{version.label_prefix} hp", 16)
        self._aead = AESGCM(self.key)
        # Only single blocks are encrypted, as RFC 9001 section 5.4.3 wants it.
        self._header_cipher = Cipher(algorithms.AES(self.header_key), modes.ECB()).encryptor()  # noqa: S305

    def open(self, packet: bytes, number_at: int, expected: int) -> tuple[int, bytes] | None:
        """Packet number and payload; None where these keys do not fit.

        `packet` reaches from the first byte of the header to the end of the authentication tag, `number_at` says where
        its packet number begins, and `expected` is one more than the highest number opened so far.
        """
        sample = packet[number_at + 4 : number_at + 20]
        if len(sample) < 16:
            return None
        mask = self._header_cipher.update(sample)
        first = packet[0] ^ mask[0] & 0x0F
        number_end = number_at + (first & 3) + 1
        number_bytes = bytes(a ^ b for a, b in zip(packet[number_at:number_end], mask[1:], strict=False))
        number = _full_number(int.from_bytes(number_bytes), 8 * len(number_bytes), expected)
        header = bytes([first]) + packet[1:number_at] + number_bytes
        nonce = (int.from_bytes(self.iv) ^ number).to_bytes(12)
        try:
            return number, self._aead.decrypt(nonce, packet[number_end:], header)
        except InvalidTag:
            return None


def _full_number(truncated: int, bits: int, expected: int) -> int:
    """RFC 9000 appendix A.3."""
    window = 1 << bits
    candidate = expected & ~(window - 1) | truncated
    if candidate <= expected - window // 2 and candidate < (1 << 62) - window:
        return candidate + window
    if candidate > expected + window // 2 and candidate >= window:
        return candidate - window
    return candidate


def _expand_label(secret: bytes, label: str, length: int) -> bytes:
    """HKDF-Expand-Label with SHA-256 and no context (RFC 8446 section 7.1); at most 32 bytes."""
    full = b"tls13 " + label.encode()
    info = length.to_bytes(2) + bytes([len(full)]) + full + b"\0"
    return hmac.digest(secret, info + b"\x01", hashlib.sha256)[:length]
