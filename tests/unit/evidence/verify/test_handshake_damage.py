# SPDX-License-Identifier: Apache-2.0
"""Handshakes whose packets come damaged, late, twice or cut: an account, or the reason for none."""

from __future__ import annotations

import random
from itertools import groupby
from pathlib import Path

import pytest
from by_night import by_night
from decoders import writers
from unit.evidence.verify.capture_files import (
    ALL_CAPTURES,
    CAPTURES,
    cut_tcp,
    from_client,
    handshake_of,
    leave_checksum,
    packets_of,
    write_capture,
)
from unit.evidence.verify.recordings import judged, proof_of, trial

_BY_DAY = ("h2-caddy-libcurl", "h3-retry", "h3-version-negotiation", "tls-alert")
"""TCP, and QUIC with packets that only a handshake has."""


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_order_and_repetition_do_not_matter(name: str, tmp_path: Path) -> None:
    """Each packet twice, and what one end sends in a row in reverse: a link that duplicates and reorders."""
    first, *rest = packets_of(name)
    flights = [list(flight) for _, flight in groupby(rest, key=from_client)]
    shaken = [first, first, *(packet for flight in flights for packet in reversed(flight) for _ in range(2))]
    capture = write_capture(tmp_path / "x.pcapng", shaken)
    assert handshake_of(capture) == handshake_of(CAPTURES / f"{name}.pcapng")


def test_reassembles_tcp_segments_that_split_a_hello(tmp_path: Path) -> None:
    """A ClientHello in pieces of 50 bytes, the last piece first, gives the same account."""
    packets = packets_of("h2-caddy-libcurl")
    hello = max((packet for packet in packets if from_client(packet)), key=len)
    pieces = [cut_tcp(hello, start, start + 50) for start in range(0, len(hello) - 52, 50)]
    at = packets.index(hello)
    capture = write_capture(tmp_path / "x.pcapng", packets[:at] + pieces[::-1] + packets[at + 1 :])
    assert handshake_of(capture) == handshake_of(CAPTURES / "h2-caddy-libcurl.pcapng")


def by_link(path: Path, packets: list[bytes]) -> Path:
    """Write a capture as the link does at the client's end: it delivers damaged packets as well."""
    capture = writers.Capture("client")
    for time_ns, packet in enumerate(packets):
        capture.add("up" if from_client(packet) else "down", time_ns, packet)
    path.write_bytes(capture.bytes())
    return path


def test_skips_a_damaged_segment_in_favour_of_its_retransmission(tmp_path: Path) -> None:
    """A segment with a wrong checksum never reached the receiver's TCP, so its bytes do not count."""
    packets = packets_of("h2-caddy-libcurl")
    at = next(i for i, packet in enumerate(packets) if not from_client(packet) and len(packet) > 100)
    damaged = bytearray(packets[at])
    damaged[52 + 5 + 6 : 52 + 5 + 40] = bytes(34)
    capture = by_link(tmp_path / "x.pcapng", [*packets[:at], bytes(damaged), *packets[at:]])
    assert handshake_of(capture).cipher_suite == "TLS_AES_128_GCM_SHA256"
    without = by_link(tmp_path / "y.pcapng", [*packets[:at], bytes(damaged)])
    assert handshake_of(without).cipher_suite is None


def test_says_that_a_damaged_initial_did_not_open(tmp_path: Path) -> None:
    """A corrupted QUIC packet is named, and its retransmission is read."""
    first, answer, *_ = packets_of("h3-caddy-libcurl")
    damaged = answer[:-1] + bytes([answer[-1] ^ 1])
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", [first, damaged, answer]))
    assert handshake.group == "x25519"
    damaged = first[:-1] + bytes([first[-1] ^ 1])
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", [damaged, first, answer]))
    assert handshake.problems == ("an Initial packet of the client did not open",)
    assert handshake.group == "x25519"


@pytest.mark.parametrize("content", [None, b"nonsense and more of it", b"\n\r\r\n\x1c\0\0\0abcd", b""])
def test_a_file_that_is_no_capture_proves_nothing(content: bytes | None, tmp_path: Path) -> None:
    """A missing, foreign or empty file contradicts nothing: it is the laboratory's, not the client's."""
    folder = trial(tmp_path / "t", "h2")
    capture = folder / "raw" / "client.pcapng"
    capture.unlink()
    if content is not None:
        capture.write_bytes(content)
    assert judged(folder).status == "verified"
    proof = proof_of(folder)
    assert (proof["transport"], proof["tls_version"], proof["client_sockets"]) == ("unproven",) * 3
    assert proof["unproven_because"]["http_responses"] == "there is no capture of the client's packets"


def test_another_link_type_is_not_taken_for_ip(tmp_path: Path) -> None:
    """What is said to be Ethernet is not read as IP, also in a second section of a file that began otherwise."""
    first = write_capture(tmp_path / "x.pcapng", packets_of("h3-caddy-libcurl")[:1])
    second = write_capture(tmp_path / "y.pcapng", packets_of("h3-caddy-libcurl"), link_type=1)
    assert handshake_of(second).transport == "none"
    first.write_bytes(first.read_bytes() + second.read_bytes())
    assert handshake_of(first).problems == ("no complete ServerHello is among the packets",)


def test_cut_packets_tell_no_hello(tmp_path: Path) -> None:
    """A capture with a snap length hides payload; who talked over what is still in the headers."""
    packet = packets_of("h3-caddy-libcurl")[0]
    path, length = write_capture(tmp_path / "x.pcapng", [packet[:200]]), (200).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(length * 2, length + len(packet).to_bytes(4, "little")))
    handshake = handshake_of(path)
    assert (handshake.transport, handshake.alpn_offered) == ("quic", ())
    assert handshake.problems[0] == "an Initial packet of the client did not open"


@pytest.mark.parametrize("name", ["h2-caddy-libcurl", "h3-retry", "tls-1.2"])
def test_never_raises_on_a_truncated_file(name: str, tmp_path: Path) -> None:
    """A capture cut anywhere gives an account, which is whole or says what is missing."""
    content, path = (CAPTURES / f"{name}.pcapng").read_bytes(), tmp_path / "x.pcapng"
    for length in range(0, len(content) - 1, 101):
        path.write_bytes(content[:length])
        handshake = handshake_of(path)
        assert handshake.tls_version or handshake.problems


@pytest.mark.parametrize("name", [*_BY_DAY, *by_night(*(name for name in ALL_CAPTURES if name not in _BY_DAY))])
def test_never_raises_on_damaged_bytes(name: str, tmp_path: Path) -> None:
    """Random damage inside packets gives an account of the right shape; checksums are made right again."""
    rng = random.Random(name)
    packets = packets_of(name)
    for _ in range(12):
        handshake = handshake_of(write_capture(tmp_path / "x.pcapng", [damage(packet, rng) for packet in packets]))
        assert handshake.tls_version or handshake.problems


@pytest.mark.parametrize("name", ["h2", "h2-tls-1.2", "h3", "h3-migration"])
def test_a_whole_trial_with_damaged_packets_gets_its_verdict(name: str, tmp_path: Path) -> None:
    """Whatever stands in the capture, decoding and judging come to an end."""
    rng = random.Random(name)
    folder = trial(tmp_path / "t", name)
    capture = folder / "raw" / "client.pcapng"
    content = capture.read_bytes()
    for _ in range(10):
        changed = bytearray(content)
        for _ in range(rng.randint(1, 20)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        capture.write_bytes(changed)
        assert judged(folder).status in ("verified", "failed")
        assert proof_of(folder)["transport"] in ("tcp", "quic", "none", "unproven")


def damage(packet: bytes, rng: random.Random) -> bytes:
    """Change up to three bytes behind the ports, with the checksum field as if left to the network card."""
    changed = bytearray(packet)
    for _ in range(rng.randint(0, 3)):
        changed[rng.randrange(24, len(changed))] = rng.randrange(256)
    return leave_checksum(bytes(changed))
