# SPDX-License-Identifier: Apache-2.0
"""Hellos that a peer could send and none of the captures has."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from quiclab.verify._cursor import MalformedError
from quiclab.verify._tls import handshake_messages, read_hellos
from quiclab.verify._tls_names import cipher_suite_name, group_name, version_name
from quiclab.verify._transport_parameters import parse_transport_parameters

EXTENSIONS = {
    "server_name": "0000 0010 000e 00 000b 7365727665722e74657374",
    "supported_groups": "000a 0006 0004 2a2a 001d",
    "alpn": "0010 0005 0003 02 6832",
    "key_share": "0033 0008 0006 2a2a 0002 0000",
}


def vector(text: str, length_bytes: int) -> bytes:
    """Hex digits behind their own length."""
    data = bytes.fromhex(text)
    return len(data).to_bytes(length_bytes) + data


def client_hello(*extensions: str) -> bytes:
    """A ClientHello message with these extensions."""
    body = b"\3\3" + bytes(32) + b"\0" + vector("1301", 2) + vector("00", 1) + vector("".join(extensions), 2)
    return b"\1" + len(body).to_bytes(3) + body


def server_hello(*extensions: str, cipher_suite: str = "1301") -> bytes:
    """A ServerHello message with these extensions."""
    body = b"\3\3" + bytes(32) + b"\0" + bytes.fromhex(cipher_suite) + b"\0" + vector("".join(extensions), 2)
    return b"\2" + len(body).to_bytes(3) + body


def test_reserved_values_have_one_name():
    """GREASE is drawn anew for each connection (RFC 8701), and must not make two equal clients differ."""
    hello = read_hellos(client_hello(*EXTENSIONS.values()), b"").client
    assert hello is not None
    assert hello.groups == ("GREASE", "x25519")
    assert hello.key_shares == ("GREASE",)
    assert (hello.server_name, hello.alpn) == ("server.test", ("h2",))


def test_unknown_numbers_are_hex():
    """A number without a name here stays recognisable."""
    assert (group_name(0x0A1A), cipher_suite_name(0xC0FF), version_name(0x0305)) == ("0x0a1a", "0xc0ff", "0x0305")


def test_a_pre_shared_key_alone_has_no_group():
    """Resumption without a key exchange (psk_ke): no key_share in the ServerHello."""
    hello = read_hellos(b"", server_hello("002b 0002 0304", "0029 0002 0000")).server
    assert hello is not None
    assert (hello.version, hello.group, hello.pre_shared_key) == ("TLS 1.3", None, True)


def test_a_hello_without_extensions():
    """Before TLS 1.3 the whole field may be missing."""
    body = b"\3\1" + bytes(32) + b"\0" + b"\xc0\x2f" + b"\0"
    hello = read_hellos(b"", b"\2" + len(body).to_bytes(3) + body).server
    assert hello is not None
    assert hello.version == "TLS 1.0"


@pytest.mark.parametrize("extension", ["0033 0008 0006 2a2a 00ff 0000", "0010 0005 0009 02 6832", "000a 0006"])
def test_lengths_that_lie_are_malformed(extension):
    """A length that points outside its field is refused, not read around."""
    with pytest.raises(MalformedError, match="ends inside a field"):
        read_hellos(client_hello(extension), b"")


def test_a_hello_over_several_records():
    """The message is put together from records of 16 bytes; a ChangeCipherSpec between them is passed over."""
    message = client_hello(*EXTENSIONS.values())
    pieces = [message[at : at + 16] for at in range(0, len(message), 16)]
    stream = b"\x14\3\3\0\1\1".join(b"\x16\3\1" + len(piece).to_bytes(2) + piece for piece in pieces)
    assert handshake_messages(stream) == (message, None)


def test_only_alerts_in_clear_are_told():
    """Two bytes are an alert; encrypted ones are longer and say nothing."""
    assert handshake_messages(b"\x15\3\3\0\2\2\x28") == (b"", "sent TLS alert 40")
    assert handshake_messages(b"\x15\3\3\0\x1a" + bytes(26)) == (b"", None)


def test_nothing_is_read_behind_application_data():
    """From there on everything is encrypted, and what looks like a handshake record is none."""
    hidden = b"\x17\3\3\0\1x" + b"\x16\3\3\0\1y"
    assert handshake_messages(b"\x16\3\3\0\1z" + hidden) == (b"z", None)


def test_random_bytes_are_malformed_or_read():
    """Nothing but MalformedError leaves the readers, whatever stands in the fields."""
    rng = random.Random(3)
    for _ in range(2000):
        hello = bytearray(client_hello(*EXTENSIONS.values()))
        for _ in range(rng.randint(1, 4)):
            hello[rng.randrange(38, len(hello))] = rng.randrange(256)
        with suppress(MalformedError):
            assert read_hellos(bytes(hello), bytes(hello)).server is None
        with suppress(MalformedError):
            assert isinstance(parse_transport_parameters(rng.randbytes(rng.randint(0, 30))), dict)


def test_transport_parameters_keep_what_has_no_name():
    """Flags are True, unknown parameters stay as hex under their number, reserved ones (31·N + 27) are left out."""
    data = bytes.fromhex("0c00 0104 80007530 6ab2 00 1b 01 ff 7127 01 2a")
    assert parse_transport_parameters(data) == {
        "disable_active_migration": True,
        "max_idle_timeout": 30000,
        "grease_quic_bit": True,
        "0x3127": "2a",
    }
