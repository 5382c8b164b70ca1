# SPDX-License-Identifier: Apache-2.0
"""What the first packets of real connections prove, whole and in order."""

from __future__ import annotations

import pytest
from unit.verify.capture_files import ALL_CAPTURES, CAPTURES, PORT, from_client, packets_of, write_capture

from quiclab.verify._tcp import TcpOptions
from quiclab.verify.handshake import MOST_PACKETS, read_handshake

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
