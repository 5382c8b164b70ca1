# SPDX-License-Identifier: Apache-2.0
"""What the first packets of real connections prove, whole and in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from unit.evidence.verify.capture_files import (
    ALL_CAPTURES,
    CAPTURES,
    PORT,
    from_client,
    handshake_of,
    packets_of,
    rows_of,
    write_capture,
)

from quiclab.evidence.verify.wire import read_wire

LIBCURL_H3: dict[str, Any] = {
    "transport": "quic",
    "tls_version": "TLS 1.3",
    "cipher_suite": "TLS_AES_128_GCM_SHA256",
    "group": "x25519",
    "hello_retry_request": False,
    "alpn_offered": ("h3",),
    "resumed": False,
    "early_data_offered": False,
    "address_token": False,
    "early_data_packets": 0,
    "quic_version": "v1",
    "quic_retry": False,
    "quic_version_negotiation": False,
    "problems": (),
}
AIOQUIC_H3 = LIBCURL_H3 | {"cipher_suite": "TLS_AES_256_GCM_SHA384", "group": "secp256r1"}
LIBCURL_H2 = LIBCURL_H3 | {
    "transport": "tcp",
    "alpn_offered": ("h2", "http/1.1"),
    "address_token": None,
    "early_data_packets": None,
    "quic_version": None,
    "quic_retry": None,
    "quic_version_negotiation": None,
    "quic_parameters_client": {},
}
OPENSSL = {"transport": "tcp", "cipher_suite": "TLS_AES_256_GCM_SHA384", "problems": ()}
EXPECTED = {
    "h2-caddy-libcurl": LIBCURL_H2,
    "h3-caddy-libcurl": LIBCURL_H3,
    "h3-ipv6": LIBCURL_H3,
    "h3-mlkem": LIBCURL_H3 | {"group": "X25519MLKEM768"},
    "h3-hello-retry": LIBCURL_H3 | {"group": "secp384r1", "hello_retry_request": True},
    "h3-aioquic": AIOQUIC_H3,
    "h3-retry": AIOQUIC_H3 | {"quic_retry": True, "address_token": None},
    "h3-version-2": AIOQUIC_H3 | {"quic_version": "v2"},
    "h3-compatible-version-2": AIOQUIC_H3 | {"quic_version": "v2"},
    "h3-version-negotiation": AIOQUIC_H3 | {"quic_version_negotiation": True},
    "h3-early-data": AIOQUIC_H3 | {"resumed": True, "early_data_offered": True},
    "tls-hello-retry": OPENSSL
    | {"group": "secp384r1", "hello_retry_request": True, "alpn_offered": ("h2", "http/1.1")},
    "tls-resumed": OPENSSL | {"group": "x25519", "resumed": True, "alpn_offered": (), "early_data_offered": False},
    "tls-1.2": OPENSSL
    | {
        "tls_version": "TLS 1.2",
        "cipher_suite": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        "group": "x25519",
        "resumed": False,
    },
    "tls-alert": OPENSSL
    | {
        "tls_version": None,
        "cipher_suite": None,
        "hello_retry_request": None,
        "resumed": None,
        "problems": ("the server sent TLS alert handshake_failure", "no complete ServerHello is among the packets"),
    },
}
OFFER = {"groups": ["x25519", "secp256r1", "secp384r1"], "key_shares": ["x25519"], "pre_shared_key": False}
FOUR = ["secp256r1", "secp384r1", "x25519", "x448"]
OF_AIOQUIC = OFFER | {"groups": FOUR, "key_shares": FOUR}
MLKEM = ["X25519MLKEM768", "x25519"]
OFFERED = {
    "h2-caddy-libcurl": OFFER,
    "h3-ipv6": OFFER,
    "h3-mlkem": OFFER | {"groups": MLKEM, "key_shares": MLKEM},
    "h3-hello-retry": OFFER | {"groups": ["x25519", "secp384r1"]},
    "h3-aioquic": OF_AIOQUIC,
    "h3-early-data": OF_AIOQUIC | {"pre_shared_key": True},
    "tls-hello-retry": OFFER | {"groups": ["x25519", "secp384r1"]},
    "tls-resumed": {"pre_shared_key": True},
    "tls-alert": OFFER | {"groups": ["x25519"]},
}


def details(capture: Path, step: str) -> list[dict[str, Any]]:
    """What the messages of that name say."""
    steps = rows_of(capture)["handshake"].filter(pl.col("step") == step)
    return [json.loads(detail) for detail in steps["detail"]]


@pytest.mark.parametrize("name", ALL_CAPTURES)
def test_tells_what_was_negotiated(name: str) -> None:
    """Every field that is told apart by the captures has the value that was set up."""
    handshake = handshake_of(CAPTURES / f"{name}.pcapng")
    assert {key: getattr(handshake, key) for key in EXPECTED[name]} == EXPECTED[name]


@pytest.mark.parametrize("name", OFFERED)
def test_tells_what_was_offered(name: str) -> None:
    """By the first ClientHello of each."""
    offer = details(CAPTURES / f"{name}.pcapng", "client_hello")[0]
    assert {key: offer[key] for key in OFFERED[name]} == OFFERED[name]
    assert offer["server_name"] == "server.test"


def test_reads_what_the_link_writes() -> None:
    """The captures of the project's own link, with their block options, tell the same."""
    h2, h3 = (handshake_of(CAPTURES / "link" / f"{name}.pcapng", 443) for name in ("h2", "h3"))
    assert {key: getattr(h2, key) for key in LIBCURL_H2} == LIBCURL_H2
    assert {key: getattr(h3, key) for key in LIBCURL_H3} == LIBCURL_H3


@pytest.mark.parametrize(("name", "scale"), [("h2-caddy-libcurl", 10), ("link/h2", 7)])
def test_tells_the_options_of_both_syns(name: str, scale: int) -> None:
    """Maximum segment size, window scaling, SACK, timestamps, ECN, and the receive window, which a SYN never scales."""
    capture = CAPTURES / f"{name}.pcapng"
    same = {"mss": 1460, "window_scale": scale, "sack_permitted": True, "timestamps": True, "ecn": False}
    assert details(capture, "syn") == [same | {"window": 64240}]
    assert details(capture, "syn_ack") == [same | {"window": 65160}]


def test_reads_the_clients_transport_parameters() -> None:
    """They stand in the ClientHello, so the Initial keys are enough; units are those of RFC 9000."""
    parameters = handshake_of(CAPTURES / "h3-aioquic.pcapng").quic_parameters_client
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


def test_a_race_is_seen(tmp_path: Path) -> None:
    """Unanswered QUIC before TCP: the account is TCP's, and the bytes of both are counted."""
    unanswered = [packet for packet in packets_of("h3-caddy-libcurl") if from_client(packet)]
    capture = write_capture(tmp_path / "x.pcapng", unanswered + packets_of("h2-caddy-libcurl"))
    handshake, wire = handshake_of(capture), read_wire(rows_of(capture)["ip_packets"], PORT)
    assert handshake.transport == "tcp"
    assert handshake.alpn_offered == ("h2", "http/1.1")
    assert (wire.payload_bytes("udp", "client"), wire.payload_bytes("udp", "server")) == (1200, 0)
    assert wire.payload_bytes("tcp", "server") == 968


def test_a_refusal_before_success_is_seen(tmp_path: Path) -> None:
    """TCP that ended in an alert before QUIC: the account is QUIC's, and the alert is a problem."""
    packets = packets_of("tls-alert") + packets_of("h3-caddy-libcurl")
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", packets))
    assert (handshake.transport, handshake.alpn_offered) == ("quic", ("h3",))
    assert handshake.problems == ("the server sent TLS alert handshake_failure",)


@pytest.mark.parametrize(("name", "count"), [("h3-hello-retry", 2), ("tls-hello-retry", 6)])
def test_a_hello_retry_request_alone_is_no_choice(name: str, count: int, tmp_path: Path) -> None:
    """It names a group and a cipher suite, but nothing is agreed before the ServerHello."""
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", packets_of(name)[:count]))
    assert handshake.hello_retry_request is True
    assert (handshake.group, handshake.cipher_suite, handshake.resumed) == (None, None, None)


def test_a_client_without_an_answer(tmp_path: Path) -> None:
    """What the client offered is told; what the server would choose is not."""
    packets = [packet for packet in packets_of("h3-mlkem") if from_client(packet)][:2]
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", packets))
    assert (handshake.transport, handshake.quic_version) == ("quic", "v1")
    assert handshake.alpn_offered == ("h3",)
    assert (handshake.group, handshake.hello_retry_request, handshake.resumed) == (None, None, None)
    assert handshake.problems == ("no complete ServerHello is among the packets",)


def test_half_a_client_hello_tells_no_offer(tmp_path: Path) -> None:
    """One of the two datagrams of a large ClientHello is not enough."""
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", packets_of("h3-mlkem")[:1]))
    assert handshake.early_data_offered is None
    assert "no complete ClientHello is among the packets" in handshake.problems


def test_other_ports_and_protocols_are_not_looked_at(tmp_path: Path) -> None:
    """Another port, ICMPv6, a fragment and nonsense: no transport, and the reason."""
    fragment = bytearray(packets_of("h3-caddy-libcurl")[0])
    fragment[6:8] = b"\x20\x10"
    others = [b"", b"\x45", b"\x60" + bytes(5) + b"\x3a\xff" + bytes(40), bytes(fragment)]
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", others))
    assert handshake.transport == "none"
    assert handshake.problems == ("no TCP or UDP payload to or from the server's port",)
    assert handshake_of(CAPTURES / "h3-caddy-libcurl.pcapng", 443).transport == "none"


def test_what_follows_may_be_broken(tmp_path: Path) -> None:
    """A capture that breaks off behind the hellos tells them."""
    capture = write_capture(tmp_path / "x.pcapng", packets_of("h3-caddy-libcurl"))
    capture.write_bytes(capture.read_bytes() + b"broken")
    assert handshake_of(capture) == handshake_of(CAPTURES / "h3-caddy-libcurl.pcapng")


def test_a_packet_that_was_dropped_was_sent_all_the_same(tmp_path: Path) -> None:
    """A comment changes nothing, and neither does the byte order of the file."""
    packets = packets_of("h3-caddy-libcurl")
    commented = write_capture(tmp_path / "x.pcapng", packets, order=">", comment="dropped: queue full")
    assert handshake_of(commented) == handshake_of(CAPTURES / "h3-caddy-libcurl.pcapng")


def test_cleartext_over_tcp_is_no_handshake(tmp_path: Path) -> None:
    """Bytes that are no TLS records are none."""
    packets = packets_of("tls-hello-retry")[:4]
    packets[3] = packets[3][:52] + b"GET / HTTP/1.1\r\n".ljust(len(packets[3]) - 52)
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", packets))
    assert handshake.transport == "tcp"
    assert "no complete ClientHello is among the packets" in handshake.problems


def test_a_version_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    """By its number: its Initial packets have other keys."""
    packet = bytearray(packets_of("h3-caddy-libcurl")[0])
    packet[29:33] = b"\xff\0\0\x1b"
    handshake = handshake_of(write_capture(tmp_path / "x.pcapng", [bytes(packet)]))
    assert (handshake.transport, handshake.quic_version) == ("quic", "0xff00001b")
