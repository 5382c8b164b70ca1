# SPDX-License-Identifier: Apache-2.0
"""Frames and packets that a well-behaved peer would not send, sealed so that they open."""

from __future__ import annotations

import random

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from unit.verify.capture_files import CAPTURES

from quiclab.verify._ip import IpPacket, parse_ip, udp_payload
from quiclab.verify._pcapng import read_packets
from quiclab.verify._quic import QuicConnection
from quiclab.verify._quic_initial import VERSIONS, InitialKeys

DESTINATION_ID = bytes.fromhex("8394c8f03e515708")


def datagram(payload: bytes) -> IpPacket:
    """An IP packet with one UDP datagram."""
    return IpPacket(17, bytes(4), bytes(4), bytes(4) + (8 + len(payload)).to_bytes(2) + bytes(2) + payload)


def initial(frames: bytes, number: int = 0) -> bytes:
    """A client's Initial packet of version 1 with these frames, protected as RFC 9001 section 5 says.

    Of its number, 16 bits are sent.
    """
    keys = InitialKeys(VERSIONS[1], DESTINATION_ID, "client")
    frames = frames.ljust(20, b"\0")
    length = (0x4000 | len(frames) + 2 + 16).to_bytes(2)
    header = b"\xc1\0\0\0\1\x08" + DESTINATION_ID + b"\0\0" + length + (number & 0xFFFF).to_bytes(2)
    nonce = (int.from_bytes(keys.iv) ^ number).to_bytes(12)
    sealed = AESGCM(keys.key).encrypt(nonce, frames, header)
    mask = Cipher(algorithms.AES(keys.header_key), modes.ECB()).encryptor().update(sealed[2:18])
    first = bytes([header[0] ^ mask[0] & 0x0F])
    return first + header[1:-2] + bytes(a ^ b for a, b in zip(header[-2:], mask[1:3], strict=True)) + sealed


def crypto_frame(offset: int, data: bytes) -> bytes:
    """RFC 9000 section 19.6, with lengths of two bytes."""
    return b"\x06" + (0x4000 | offset).to_bytes(2) + (0x4000 | len(data)).to_bytes(2) + data


@pytest.fixture(scope="module")
def client_hello() -> bytes:
    """The CRYPTO data of a real client."""
    with (CAPTURES / "h3-caddy-libcurl.pcapng").open("rb") as file:
        packet = parse_ip(next(read_packets(file)))
    assert packet is not None
    connection = QuicConnection()
    connection.add(packet, "client")
    assert udp_payload(packet)[0] & 0x80
    return bytes(connection._attempts[0].streams["client"].front)


def test_crypto_frames_in_any_order_over_coalesced_packets(client_hello):
    """Pieces of 30 bytes, shuffled, half in each of two packets of one datagram, with PING and PADDING between them."""
    pieces = [crypto_frame(at, client_hello[at : at + 30]) for at in range(0, len(client_hello), 30)]
    random.Random(1).shuffle(pieces)
    half = len(pieces) // 2
    connection = QuicConnection()
    packets = initial(b"\x01".join(pieces[:half])) + initial(bytes(9).join(pieces[half:]), 1)
    connection.add(datagram(packets), "client")
    hello = connection.hellos().client
    assert hello is not None
    assert (hello.server_name, hello.alpn, connection.problems) == ("server.test", ("h3",), [])


def test_ack_frames_are_passed_over(client_hello):
    """An ACK with one more range, and one with ECN counts, stand before the CRYPTO frame."""
    acks = bytes.fromhex("02 05 00 01 00 00 01") + bytes.fromhex("03 05 00 00 01 01 02 03")
    connection = QuicConnection()
    connection.add(datagram(initial(acks + crypto_frame(0, client_hello))), "client")
    assert connection.hellos().client is not None


def test_packet_numbers_go_on_behind_their_truncation():
    """The 16 bits of a number are read near the numbers seen before (RFC 9000 section 17.1)."""
    connection = QuicConnection()
    for number in (0x7FF0, 0xFFF0, 0x10005):
        connection.add(datagram(initial(b"\x01", number)), "client")
    assert connection.problems == []


def test_a_close_is_a_problem_with_its_error():
    """CONNECTION_CLOSE in an Initial packet says why there is no handshake (0x128: TLS alert 40)."""
    connection = QuicConnection()
    connection.add(datagram(initial(bytes.fromhex("1c 4128 06 00"))), "client")
    assert connection.problems == ["the client closed the QUIC connection with error 0x128"]


def test_a_forbidden_frame_is_a_problem():
    """STREAM frames must not be in Initial packets (RFC 9000 section 12.4)."""
    connection = QuicConnection()
    connection.add(datagram(initial(b"\x08\x00")), "client")
    assert connection.problems == ["an Initial packet has a frame of type 0x8"]


def test_an_unknown_version_is_a_problem():
    """Draft 29 has other keys; its number is told all the same."""
    connection = QuicConnection()
    connection.add(datagram(b"\xc0\xff\0\0\x1d\0\0" + bytes(40)), "client")
    assert connection.version == "0xff00001d"
    assert "0xff00001d is not known" in connection.problems[0]


def test_random_frames_are_at_most_a_problem():
    """Whatever an authentic packet says, reading it ends and raises nothing."""
    rng = random.Random(7)
    kinds = b"\x00\x01\x02\x03\x06\x1c"
    for _ in range(500):
        connection = QuicConnection()
        frames = bytes([rng.choice(kinds)]) + rng.randbytes(rng.randint(0, 60))
        connection.add(datagram(initial(frames)), "client")
        assert len(connection._attempts) == 1
