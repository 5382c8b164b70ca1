# SPDX-License-Identifier: Apache-2.0
"""Handshakes whose packets come damaged, late, twice or cut: an account, or the reason for none."""

from __future__ import annotations

import dataclasses
import random

import pytest
from unit.verify.capture_files import (
    ALL_CAPTURES,
    CAPTURES,
    PORT,
    cut_tcp,
    from_client,
    leave_checksum,
    packets_of,
    write_capture,
)

from quiclab.verify.handshake import Handshake, read_handshake


def facts(handshake: Handshake) -> dict[str, object]:
    """What was negotiated, without what depends on how many packets were read."""
    counts = {"tcp_payload_bytes": 0, "udp_payload_bytes": 0, "packets_examined": 0}
    return dataclasses.asdict(handshake) | counts | {"problems": [p for p in handshake.problems if " packets" not in p]}


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_order_and_repetition_do_not_matter(name, tmp_path):
    """Each packet twice, and the server's in reverse behind its first: a link that duplicates and reorders."""
    packets = packets_of(name)
    client = [packet for packet in packets if from_client(packet)]
    server = [packet for packet in packets if not from_client(packet)]
    shaken = write_capture(tmp_path / "x.pcapng", [*(client * 2), server[0], *reversed(server * 2)])
    assert facts(read_handshake(shaken, PORT)) == facts(read_handshake(CAPTURES / f"{name}.pcapng", PORT))


def test_reassembles_tcp_segments_that_split_a_hello(tmp_path):
    """A ClientHello in pieces of 50 bytes, the last piece first, gives the same account."""
    packets = packets_of("h2-caddy-libcurl")
    hello = max((packet for packet in packets if from_client(packet)), key=len)
    pieces = [cut_tcp(hello, start, start + 50) for start in range(0, len(hello) - 52, 50)]
    at = packets.index(hello)
    capture = write_capture(tmp_path / "x.pcapng", packets[:at] + pieces[::-1] + packets[at + 1 :])
    assert facts(read_handshake(capture, PORT)) == facts(read_handshake(CAPTURES / "h2-caddy-libcurl.pcapng", PORT))


def test_skips_a_damaged_segment_in_favour_of_its_retransmission(tmp_path):
    """A segment with a wrong checksum never reached the receiver's TCP, so its bytes do not count."""
    packets = packets_of("h2-caddy-libcurl")
    at = next(i for i, packet in enumerate(packets) if not from_client(packet) and len(packet) > 100)
    damaged = bytearray(packets[at])
    damaged[52 + 5 + 6 : 52 + 5 + 40] = bytes(34)
    capture = write_capture(tmp_path / "x.pcapng", [*packets[:at], bytes(damaged), *packets[at:]])
    assert read_handshake(capture, PORT).cipher_suite == "TLS_AES_128_GCM_SHA256"
    without = write_capture(tmp_path / "y.pcapng", [*packets[:at], bytes(damaged)])
    assert read_handshake(without, PORT).cipher_suite is None


def test_says_that_a_damaged_initial_did_not_open(tmp_path):
    """A corrupted QUIC packet is named, and its retransmission is read."""
    first, answer, *_ = packets_of("h3-caddy-libcurl")
    damaged = first[:-1] + bytes([first[-1] ^ 1])
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", [damaged, first, answer]), PORT)
    assert handshake.problems == ("an Initial packet of the client did not open",)
    assert handshake.group == "x25519"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        (b"nonsense and more of it", "does not begin with a section header"),
        (b"\n\r\r\n\x1c\0\0\0abcd", "no byte-order magic"),
        (b"", "no TCP or UDP payload"),
    ],
)
def test_a_file_that_is_no_capture_is_a_problem_and_not_an_exception(content, problem, tmp_path):
    """A missing, foreign or empty file gives an empty account that says why."""
    path = tmp_path / "x.pcapng"
    if content is not None:
        path.write_bytes(content)
    handshake = read_handshake(path, PORT)
    assert handshake.transport == "none"
    assert problem in handshake.problems[0]


def test_another_link_type_is_a_problem(tmp_path):
    """Ethernet frames are not taken for IP packets."""
    path = write_capture(tmp_path / "x.pcapng", packets_of("h3-ipv6"), link_type=1)
    assert "link type 1 instead of 101" in read_handshake(path, PORT).problems[0]


def test_each_section_describes_its_own_interfaces(tmp_path):
    """A second section of another link type is not read as the first was."""
    first = write_capture(tmp_path / "x.pcapng", packets_of("h3-caddy-libcurl")[:1])
    second = write_capture(tmp_path / "y.pcapng", packets_of("h3-caddy-libcurl"), link_type=1)
    first.write_bytes(first.read_bytes() + second.read_bytes())
    assert "link type 1 instead of 101" in read_handshake(first, PORT).problems[0]


def test_cut_packets_are_a_problem(tmp_path):
    """A capture with a snap length would hide payload."""
    packet = packets_of("h3-caddy-libcurl")[0]
    path, length = write_capture(tmp_path / "x.pcapng", [packet]), len(packet).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(length * 2, length + (9000).to_bytes(4, "little")))
    assert read_handshake(path, PORT).problems[0] == f"a packet of 9000 bytes was cut to {len(packet)}"


@pytest.mark.parametrize("name", ["h2-caddy-libcurl", "h3-retry", "tls-1.2"])
def test_never_raises_on_a_truncated_file(name, tmp_path):
    """A capture cut anywhere gives an account, which is whole or says what is missing."""
    content, path = (CAPTURES / f"{name}.pcapng").read_bytes(), tmp_path / "x.pcapng"
    for length in range(0, len(content) - 1, 7):
        path.write_bytes(content[:length])
        handshake = read_handshake(path, PORT)
        assert handshake.tls_version or handshake.problems


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_never_raises_on_damaged_bytes(name, tmp_path):
    """Random damage inside packets gives an account of the right shape; checksums are made right again."""
    rng = random.Random(name)
    packets = packets_of(name)
    for _ in range(60):
        damaged = [damage(packet, rng) for packet in packets]
        handshake = read_handshake(write_capture(tmp_path / "x.pcapng", damaged), PORT)
        assert handshake.packets_examined > 0


def damage(packet: bytes, rng: random.Random) -> bytes:
    """Change up to three bytes behind the ports, with the checksum field as if left to the network card."""
    changed = bytearray(packet)
    for _ in range(rng.randint(0, 3)):
        changed[rng.randrange(24, len(changed))] = rng.randrange(256)
    return leave_checksum(bytes(changed))
