# SPDX-License-Identifier: Apache-2.0
"""Initial keys and packet protection against the examples printed in RFC 9001 and RFC 9369."""

from __future__ import annotations

import pytest

from quiclab.verify._quic_initial import VERSIONS, InitialKeys, _full_number

DESTINATION_ID = bytes.fromhex("8394c8f03e515708")
V1, V2 = VERSIONS[1], VERSIONS[0x6B3343CF]
# The server's Initial of RFC 9001 appendix A.3 and of RFC 9369 appendix A.3; the packet number begins at byte 18.
SERVER_INITIAL_V1 = bytes.fromhex(
    "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb38cc5a99f5ede4cf7"
    "3c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f"
    "58891850abbdca3d20398c276456cbc42158407dd074ee"
)
SERVER_INITIAL_V2 = bytes.fromhex(
    "dc6b3343cf0008f067a5502a4262b5004075d92faaf16f05d8a4398c47089698baeea26b91eb761d9b89237bbf8726301791535823003"
    "5f7fd3945d88965cf17f9af6e16886c61bfc703106fbaf3cb4cfa52382dd16a393e42757507698075b2c984c707f0a0812d8cd5a6881ea"
    "f21ceda98f4bd23f6fe1a3e2c43edd9ce7ca84bed8521e2e140"
)
PAYLOAD = bytes.fromhex(
    "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5430b9a045a1200130100002e00330024"
    "001d00209d3c940d89690b84d08a60993c144eca684d1081287c834d5311bcf32bb9da1a002b00020304"
)


@pytest.mark.parametrize(
    ("sender", "key", "iv", "header_key"),
    [
        ("client", "1f369613dd76d5467730efcbe3b1a22d", "fa044b2f42a3fd3b46fb255c", "9f50449e04a0e810283a1e9933adedd2"),
        ("server", "cf3a5331653c364c88f0f379b6067e37", "0ac1493ca1905853b0bba03e", "c206b8d9b9f0f37644430b490eeaa314"),
    ],
)
def test_keys_are_those_of_rfc_9001_appendix_a_1(sender, key, iv, header_key):
    """The key derivation of version 1, label by label."""
    keys = InitialKeys(V1, DESTINATION_ID, sender)
    assert (keys.key.hex(), keys.iv.hex(), keys.header_key.hex()) == (key, iv, header_key)


@pytest.mark.parametrize(("version", "packet"), [(V1, SERVER_INITIAL_V1), (V2, SERVER_INITIAL_V2)])
def test_server_initial_of_appendix_a_3_opens(version, packet):
    """Packet number 1 and the printed payload come out of the printed packet."""
    assert InitialKeys(version, DESTINATION_ID, "server").open(packet, 18, 0) == (1, PAYLOAD)


def test_wrong_keys_and_damage_open_nothing():
    """The other sender's keys, the other version's keys, one flipped bit, and a packet too short for its sample."""
    server = InitialKeys(V1, DESTINATION_ID, "server")
    damaged = SERVER_INITIAL_V1[:-1] + bytes([SERVER_INITIAL_V1[-1] ^ 1])
    assert InitialKeys(V1, DESTINATION_ID, "client").open(SERVER_INITIAL_V1, 18, 0) is None
    assert server.open(SERVER_INITIAL_V2, 18, 0) is None
    assert server.open(damaged, 18, 0) is None
    assert server.open(SERVER_INITIAL_V1[:37], 18, 0) is None


def test_truncated_packet_numbers_are_completed_as_in_rfc_9000_appendix_a_3():
    """The example of the RFC, and a number on each side of a window's edge."""
    assert _full_number(0x9B32, 16, 0xA82F30EA + 1) == 0xA82F9B32
    assert _full_number(0x01, 8, 0xFF) == 0x101
    assert _full_number(0xFE, 8, 0x102) == 0xFE
