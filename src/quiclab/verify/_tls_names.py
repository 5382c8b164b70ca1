# SPDX-License-Identifier: Apache-2.0
"""Names of TLS numbers as in the IANA registry "Transport Layer Security (TLS) Parameters"."""

from __future__ import annotations

_VERSIONS = {0x0301: "TLS 1.0", 0x0302: "TLS 1.1", 0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}
_CIPHER_SUITES = {
    0x1301: "TLS_AES_128_GCM_SHA256",
    0x1302: "TLS_AES_256_GCM_SHA384",
    0x1303: "TLS_CHACHA20_POLY1305_SHA256",
    0x1304: "TLS_AES_128_CCM_SHA256",
    0x1305: "TLS_AES_128_CCM_8_SHA256",
    0xC02B: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    0xC02C: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    0xC02F: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    0xC030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    0xCCA8: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    0xCCA9: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
}
_GROUPS = {
    0x0017: "secp256r1",
    0x0018: "secp384r1",
    0x0019: "secp521r1",
    0x001D: "x25519",
    0x001E: "x448",
    0x001F: "brainpoolP256r1tls13",
    0x0020: "brainpoolP384r1tls13",
    0x0021: "brainpoolP512r1tls13",
    0x0100: "ffdhe2048",
    0x0101: "ffdhe3072",
    0x0102: "ffdhe4096",
    0x0103: "ffdhe6144",
    0x0104: "ffdhe8192",
    0x0200: "MLKEM512",
    0x0201: "MLKEM768",
    0x0202: "MLKEM1024",
    0x11EB: "SecP256r1MLKEM768",
    0x11EC: "X25519MLKEM768",
    0x11ED: "SecP384r1MLKEM1024",
    0x6399: "X25519Kyber768Draft00",
}


def version_name(number: int) -> str:
    """For example `TLS 1.3`."""
    return _VERSIONS.get(number) or _hex_or_grease(number)


def cipher_suite_name(number: int) -> str:
    """For example `TLS_AES_128_GCM_SHA256`."""
    return _CIPHER_SUITES.get(number) or _hex_or_grease(number)


def group_name(number: int) -> str:
    """For example `x25519`."""
    return _GROUPS.get(number) or _hex_or_grease(number)


def _hex_or_grease(number: int) -> str:
    """Reserved numbers are drawn anew for each connection (RFC 8701), so all have one name."""
    return "GREASE" if number & 0x0F0F == 0x0A0A and number >> 8 == number & 0xFF else f"0x{number:04x}"
