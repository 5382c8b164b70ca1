# SPDX-License-Identifier: Apache-2.0
"""What IP and transport headers tell of a whole capture."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.evidence.verify.capture_files import CAPTURES, cut_payload, packets_of, rows_of, write_capture
from unit.evidence.verify.recordings import RECORDINGS, judged, proof_of, trial

from quiclab.evidence.verify.wire import Wire, read_wire


def wire_of(capture: Path, port: int) -> Wire:
    """What the headers of such a capture tell."""
    return read_wire(rows_of(capture)["ip_packets"], port)


def test_ecn_is_counted_by_sender() -> None:
    """As tshark counts `ip.dsfield.ecn` of UDP; what was never used is left out."""
    wire = wire_of(RECORDINGS / "h3-caddy" / "client.pcapng", 443)
    assert wire.ecn_seen("client") == {"not_ect": 8}
    assert wire.ecn_seen("server") == {"not_ect": 5, "ect0": 1}


def test_shares_of_the_codepoints() -> None:
    """Of all packets of the sender, also those that say nothing."""
    shares = wire_of(RECORDINGS / "h3-caddy" / "client.pcapng", 443).ecn_shares("server")
    assert shares == {"packets": 6, "ect0": 1, "ect0_pct": 16.667, "ect1": 0, "ect1_pct": 0, "ce": 0, "ce_pct": 0}


@pytest.mark.parametrize(("bits", "name"), [(1, "ect1"), (2, "ect0"), (3, "ce")])
@pytest.mark.parametrize("capture", ["h3-caddy-libcurl", "h3-ipv6"])
def test_every_codepoint_has_its_name(bits: int, name: str, capture: str, tmp_path: Path) -> None:
    """RFC 3168 section 5, in both versions of IP."""
    packet = bytearray(packets_of(capture)[0])
    packet[1] |= bits << (4 if packet[0] >> 4 == 6 else 0)
    assert wire_of(write_capture(tmp_path / "x.pcapng", [bytes(packet)]), 8443).ecn_seen("client") == {name: 1}


def test_sockets_stand_in_the_order_of_their_first_packets() -> None:
    """Both paths of a connection that moved, with what each carried, which add up to what each address did."""
    wire = wire_of(RECORDINGS / "h3-migration" / "client.pcapng", 443)
    assert [socket.name for socket in wire.sockets] == ["udp 10.77.0.1:40316", "udp 10.77.0.1:57434"]
    assert wire.sockets[1].payload_bytes == {"client": 5856, "server": 15869}
    assert list(wire.payload_by_address()) == ["10.77.0.1"]
    both = [wire.payload_bytes("udp", "client"), wire.payload_bytes("udp", "server")]
    assert list(wire.payload_by_address()["10.77.0.1"].values()) == both
    assert wire.payload_bytes("tcp", "server") == 0


def test_ipv6_sockets_have_brackets() -> None:
    """RFC 3986 section 3.2.2."""
    wire = wire_of(CAPTURES / "h3-ipv6.pcapng", 8443)
    assert [socket.name.partition("]")[0] for socket in wire.sockets] == ["udp [::1"]
    assert wire.sockets[0].address == "::1"


def test_packets_that_were_cut_behind_their_headers_count_whole(tmp_path: Path) -> None:
    """Sizes are those of the headers."""
    capture = RECORDINGS / "h2" / "client.pcapng"
    cut = cut_payload(capture, tmp_path / "x.pcapng", 100)
    assert wire_of(cut, 443) == wire_of(capture, 443)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("h3", "forced"),
        ("h2", "not_used"),
        ("h2-then-h3", "used"),
    ],
)
def test_alt_svc_is_forced_where_the_client_begins_with_quic(name: str, use: str, tmp_path: Path) -> None:
    """It is used where QUIC follows a response over TCP that offered it, which only decrypting tells."""
    judged(trial(tmp_path / "t", name))
    assert proof_of(tmp_path / "t")["alt_svc_use"] == use
