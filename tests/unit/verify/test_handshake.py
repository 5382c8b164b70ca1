# SPDX-License-Identifier: Apache-2.0
"""What the first packets of real connections prove, also when they come damaged, late, twice or not at all."""

from __future__ import annotations

import dataclasses
import random

import pytest
from unit.verify.capture_files import CAPTURES, write_capture

from quiclab.verify._ip import parse_ip
from quiclab.verify._pcapng import read_packets
from quiclab.verify._tcp import TcpOptions
from quiclab.verify.handshake import MOST_PACKETS, Handshake, read_handshake

PORT = 8443
ALL_CAPTURES = sorted(path.stem for path in CAPTURES.glob("*.pcapng"))

LIBCURL_H3 = {
    "transport": "quic",
    "tcp_payload_bytes": 0,
    "tls_version": "TLS 1.3",
    "cipher_suite": "TLS_AES_128_GCM_SHA256",
    "group": "x25519",
    "hello_retry_request": False,
    "server_name": "server.test",
    "alpn_offered": ("h3",),
    "groups_offered": ("x25519", "secp256r1", "secp384r1"),
    "key_shares_offered": ("x25519",),
    "psk_offered": False,
    "resumed": False,
    "early_data_offered": False,
    "quic_version": "v1",
    "quic_retry": False,
    "quic_version_negotiation": False,
    "tcp_options_client": None,
    "problems": (),
}
AIOQUIC_H3 = LIBCURL_H3 | {
    "cipher_suite": "TLS_AES_256_GCM_SHA384",
    "group": "secp256r1",
    "groups_offered": ("secp256r1", "secp384r1", "x25519", "x448"),
    "key_shares_offered": ("secp256r1", "secp384r1", "x25519", "x448"),
}
LIBCURL_H2 = LIBCURL_H3 | {
    "transport": "tcp",
    "tcp_payload_bytes": 1485,
    "udp_payload_bytes": 0,
    "alpn_offered": ("h2", "http/1.1"),
    "quic_version": None,
    "quic_retry": None,
    "quic_version_negotiation": None,
    "quic_parameters_client": {},
    "tcp_options_client": TcpOptions(1460, 10, True, True, False, 64240),
    "tcp_options_server": TcpOptions(1460, 10, True, True, False, 65160),
}
OPENSSL = {"transport": "tcp", "cipher_suite": "TLS_AES_256_GCM_SHA384", "server_name": "server.test", "problems": ()}
EXPECTED = {
    "h2-caddy-libcurl": LIBCURL_H2,
    "h3-caddy-libcurl": LIBCURL_H3,
    "h3-ipv6": LIBCURL_H3,
    "h3-mlkem": LIBCURL_H3
    | {
        "group": "X25519MLKEM768",
        "groups_offered": ("X25519MLKEM768", "x25519"),
        "key_shares_offered": ("X25519MLKEM768", "x25519"),
    },
    "h3-hello-retry": LIBCURL_H3
    | {"group": "secp384r1", "hello_retry_request": True, "groups_offered": ("x25519", "secp384r1")},
    "h3-aioquic": AIOQUIC_H3,
    "h3-retry": AIOQUIC_H3 | {"quic_retry": True},
    "h3-version-2": AIOQUIC_H3 | {"quic_version": "v2"},
    "h3-compatible-version-2": AIOQUIC_H3 | {"quic_version": "v2"},
    "h3-version-negotiation": AIOQUIC_H3 | {"quic_version_negotiation": True},
    "h3-early-data": AIOQUIC_H3 | {"psk_offered": True, "resumed": True, "early_data_offered": True},
    "tls-hello-retry": OPENSSL
    | {
        "group": "secp384r1",
        "hello_retry_request": True,
        "alpn_offered": ("h2", "http/1.1"),
        "groups_offered": ("x25519", "secp384r1"),
        "key_shares_offered": ("x25519",),
    },
    "tls-resumed": OPENSSL
    | {"group": "x25519", "psk_offered": True, "resumed": True, "alpn_offered": (), "early_data_offered": False},
    "tls-1.2": OPENSSL
    | {
        "tls_version": "TLS 1.2",
        "cipher_suite": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "group": None,
        "resumed": None,
        "problems": ("key-exchange group and resumption are told for TLS 1.3, not for TLS 1.2",),
    },
    "tls-alert": OPENSSL
    | {
        "tls_version": None,
        "cipher_suite": None,
        "hello_retry_request": None,
        "resumed": None,
        "groups_offered": ("x25519",),
        "problems": ("the server sent TLS alert 40", "no complete ServerHello in the first 10 packets"),
    },
}


def packets_of(name: str) -> list[bytes]:
    """All packets of a capture."""
    with (CAPTURES / f"{name}.pcapng").open("rb") as file:
        return list(read_packets(file))


def from_client(packet: bytes) -> bool:
    """Whether it goes to the server."""
    parsed = parse_ip(packet)
    assert parsed is not None
    return parsed.destination_port == PORT


def facts(handshake: Handshake) -> dict[str, object]:
    """What was negotiated, without what depends on how many packets were read."""
    counts = {"tcp_payload_bytes": 0, "udp_payload_bytes": 0, "packets_examined": 0}
    return dataclasses.asdict(handshake) | counts | {"problems": [p for p in handshake.problems if " packets" not in p]}


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_tells_what_was_negotiated(name):
    """Every field that is told apart by the captures has the value that was set up."""
    handshake = read_handshake(CAPTURES / f"{name}.pcapng", PORT)
    assert {key: getattr(handshake, key) for key in EXPECTED[name]} == EXPECTED[name]


def test_reads_what_the_link_writes():
    """The captures of the project's own link, with their block options, tell the same."""
    h2 = read_handshake(CAPTURES / "link" / "h2.pcapng", 443)
    h3 = read_handshake(CAPTURES / "link" / "h3.pcapng", 443)
    options = {"tcp_options_client": TcpOptions(1460, 7, True, True, False, 64240), "tcp_payload_bytes": 1866}
    options["tcp_options_server"] = TcpOptions(1460, 7, True, True, False, 65160)
    assert {key: getattr(h2, key) for key in LIBCURL_H2} == LIBCURL_H2 | options
    assert {key: getattr(h3, key) for key in LIBCURL_H3} == LIBCURL_H3


def test_reads_the_clients_transport_parameters():
    """They stand in the ClientHello, so the Initial keys are enough; units are those of RFC 9000."""
    parameters = read_handshake(CAPTURES / "h3-aioquic.pcapng", PORT).quic_parameters_client
    assert parameters == {
        "max_idle_timeout": 60000,
        "initial_max_data": 1 << 20,
        "initial_max_stream_data_bidi_local": 1 << 20,
        "initial_max_stream_data_bidi_remote": 1 << 20,
        "initial_max_stream_data_uni": 1 << 20,
        "initial_max_streams_bidi": 128,
        "initial_max_streams_uni": 128,
        "ack_delay_exponent": 3,
        "max_ack_delay": 25,
        "active_connection_id_limit": 8,
        "initial_source_connection_id": "1f00dfa633009103",
        "version_information": "0000000100000001",
    }


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


def test_a_race_is_seen(tmp_path):
    """Unanswered QUIC before TCP: the account is TCP's, and the bytes of both are counted."""
    unanswered = [packet for packet in packets_of("h3-caddy-libcurl") if from_client(packet)]
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", unanswered + packets_of("h2-caddy-libcurl")), PORT)
    assert handshake.transport == "tcp"
    assert handshake.alpn_offered == ("h2", "http/1.1")
    assert (handshake.udp_payload_bytes, handshake.tcp_payload_bytes) == (1200, 1485)


def test_a_refusal_before_success_is_seen(tmp_path):
    """TCP that ended in an alert before QUIC: the account is QUIC's, and the alert is a problem."""
    packets = packets_of("tls-alert") + packets_of("h3-caddy-libcurl")
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets), PORT)
    assert (handshake.transport, handshake.alpn_offered) == ("quic", ("h3",))
    assert handshake.tcp_payload_bytes > 0
    assert handshake.problems == ("the server sent TLS alert 40",)


@pytest.mark.parametrize(("name", "count"), [("h3-hello-retry", 2), ("tls-hello-retry", 6)])
def test_a_hello_retry_request_alone_is_no_choice(name, count, tmp_path):
    """It names a group and a cipher suite, but nothing is agreed before the ServerHello."""
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets_of(name)[:count]), PORT)
    assert handshake.hello_retry_request is True
    assert (handshake.group, handshake.cipher_suite, handshake.resumed) == (None, None, None)


def test_a_client_without_an_answer(tmp_path):
    """What the client offered is told; what the server would choose is not."""
    packets = [packet for packet in packets_of("h3-mlkem") if from_client(packet)][:2]
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets), PORT)
    assert handshake.transport == "quic"
    assert handshake.key_shares_offered == ("X25519MLKEM768", "x25519")
    assert (handshake.group, handshake.hello_retry_request, handshake.resumed) == (None, None, None)
    assert handshake.problems == ("no complete ServerHello in the first 2 packets",)


def test_half_a_client_hello_tells_no_offer(tmp_path):
    """One of the two datagrams of a large ClientHello is not enough."""
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets_of("h3-mlkem")[:1]), PORT)
    assert handshake.psk_offered is None
    assert "no complete ClientHello in the first 1 packets" in handshake.problems


def test_other_ports_and_protocols_are_not_looked_at(tmp_path):
    """Another port, ICMPv6, a fragment and nonsense: no transport, and the reason."""
    fragment = bytearray(packets_of("h3-caddy-libcurl")[0])
    fragment[6:8] = b"\x20\x00"
    others = [b"", b"\x45", b"\x60" + bytes(5) + b"\x3a\xff" + bytes(40), bytes(fragment)]
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", others), PORT)
    assert handshake.transport == "none"
    assert handshake.problems == ("no TCP or UDP payload to or from port 8443 in the first 4 packets",)
    assert read_handshake(CAPTURES / "h3-caddy-libcurl.pcapng", 443).transport == "none"


def test_stops_as_soon_as_both_hellos_are_complete(tmp_path):
    """What follows is not read, be it broken."""
    capture = write_capture(tmp_path / "x.pcapng", packets_of("h3-caddy-libcurl"))
    capture.write_bytes(capture.read_bytes() + b"broken")
    handshake = read_handshake(capture, PORT)
    assert (handshake.packets_examined, handshake.problems) == (2, ())


def test_stops_after_the_most_packets(tmp_path):
    """A handshake that does not end does not make it read the whole capture."""
    first = packets_of("h3-caddy-libcurl")[0]
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", [first] * (MOST_PACKETS + 9)), PORT)
    assert handshake.packets_examined == MOST_PACKETS


def test_a_packet_that_was_dropped_was_sent_all_the_same(tmp_path):
    """A comment changes nothing, and neither does the byte order of the file."""
    packets = packets_of("h3-caddy-libcurl")
    expected = read_handshake(CAPTURES / "h3-caddy-libcurl.pcapng", PORT)
    commented = write_capture(tmp_path / "x.pcapng", packets, order=">", comment="dropped: queue full")
    assert read_handshake(commented, PORT) == expected


def test_ecn_setup_is_told_for_each_side(tmp_path):
    """ECE and CWR in the SYN ask, ECE alone in the SYN-ACK agrees (RFC 3168 section 6.1.1)."""
    packets = packets_of("tls-hello-retry")
    for index, flags in ((0, 0xC2), (1, 0x52)):
        packet = bytearray(packets[index])
        packet[20 + 13] = flags
        packets[index] = bytes(packet)
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets), PORT)
    assert handshake.tcp_options_client is not None
    assert handshake.tcp_options_server is not None
    assert (handshake.tcp_options_client.ecn, handshake.tcp_options_server.ecn) == (True, True)


def test_cleartext_over_tcp_is_no_handshake(tmp_path):
    """Bytes that are no TLS records are said to be none."""
    packets = packets_of("tls-hello-retry")[:4]
    packets[3] = packets[3][:52] + b"GET / HTTP/1.1\r\n".ljust(len(packets[3]) - 52)
    handshake = read_handshake(write_capture(tmp_path / "x.pcapng", packets), PORT)
    assert handshake.transport == "tcp"
    assert "the client sent something that is not TLS" in handshake.problems


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


def cut_tcp(packet: bytes, start: int, end: int) -> bytes:
    """The segment with only those bytes of its payload (52 bytes of headers: IPv4, TCP with timestamps)."""
    sequence = int.from_bytes(packet[24:28]) + start
    payload = packet[52:][start:end]
    headers = packet[:2] + (52 + len(payload)).to_bytes(2) + packet[4:24] + sequence.to_bytes(4) + packet[28:52]
    return leave_checksum(headers + payload)


def leave_checksum(packet: bytes) -> bytes:
    """An IPv4 TCP segment as it stands before the network card: the field is the sum of the pseudo-header."""
    if packet[0] != 0x45 or packet[9] != 6:
        return packet
    total = sum(int.from_bytes(packet[at : at + 2]) for at in range(12, 20, 2)) + 6 + len(packet) - 20
    total = (total & 0xFFFF) + (total >> 16)
    return packet[:36] + ((total & 0xFFFF) + (total >> 16)).to_bytes(2) + packet[38:]
