# SPDX-License-Identifier: Apache-2.0
"""What IP and transport headers tell of a whole capture."""

from __future__ import annotations

from pathlib import Path

import pytest
from unit.verify.capture_files import CAPTURES, cut_payload, packets_of, write_capture
from unit.verify.recordings import RECORDINGS, judged, proof_of, trial

from quiclab.verify.wire import read_wire, socket_name


def test_ecn_is_counted_by_sender(tmp_path: Path) -> None:
    """As tshark counts `ip.dsfield.ecn` of UDP; what was never used is left out."""
    wire = read_wire(RECORDINGS / "h3-caddy" / "client.pcapng", 443)
    assert wire.ecn_seen("client") == {"not_ect": 8}
    assert wire.ecn_seen("server") == {"not_ect": 5, "ect0": 1}


def test_shares_of_the_codepoints() -> None:
    """Of all packets of the sender, also those that say nothing."""
    shares = read_wire(RECORDINGS / "h3-caddy" / "client.pcapng", 443).ecn_shares("server")
    assert shares == {"packets": 6, "ect0": 1, "ect0_pct": 16.667, "ect1": 0, "ect1_pct": 0, "ce": 0, "ce_pct": 0}


@pytest.mark.parametrize(("bits", "name"), [(1, "ect1"), (2, "ect0"), (3, "ce")])
@pytest.mark.parametrize("capture", ["h3-caddy-libcurl", "h3-ipv6"])
def test_every_codepoint_has_its_name(bits: int, name: str, capture: str, tmp_path: Path) -> None:
    """RFC 3168 section 5, in both versions of IP."""
    packet = bytearray(packets_of(capture)[0])
    packet[1] |= bits << (4 if packet[0] >> 4 == 6 else 0)
    assert read_wire(write_capture(tmp_path / "x.pcapng", [bytes(packet)]), 8443).ecn_seen("client") == {name: 1}


def test_sockets_stand_in_the_order_of_their_first_packets() -> None:
    """Both paths of a connection that moved, with what each carried."""
    wire = read_wire(RECORDINGS / "h3-migration" / "client.pcapng", 443)
    seen = [(socket_name(socket), known.first_packet) for socket, known in wire.sockets.items()]
    assert seen == [("udp 10.77.0.1:40316", 1), ("udp 10.77.0.1:57434", 16)]
    carried = sum(sum(known.payload_bytes.values()) for known in wire.sockets.values())
    assert carried == sum(packet.payload_bytes for packet in wire.packets if packet)


def test_ipv6_sockets_have_brackets() -> None:
    """RFC 3986 section 3.2.2."""
    wire = read_wire(CAPTURES / "h3-ipv6.pcapng", 8443)
    assert [socket_name(socket).partition("]")[0] for socket in wire.sockets] == ["udp [::1"]


def test_packets_that_were_cut_behind_their_headers_count_whole(tmp_path: Path) -> None:
    """Sizes are those of the headers, and the capture is known not to be whole."""
    capture = RECORDINGS / "h2" / "client.pcapng"
    whole, cut = read_wire(capture, 443), read_wire(cut_payload(capture, tmp_path / "x.pcapng", 100), 443)
    assert (whole.whole, cut.whole) == (True, False)
    assert (cut.packets, cut.sockets, cut.ecn) == (whole.packets, whole.sockets, whole.ecn)


def test_a_file_that_is_no_capture_is_said(tmp_path: Path) -> None:
    """Nothing is raised."""
    (tmp_path / "x.pcapng").write_bytes(b"GIF89a, and more of it")
    assert "not a pcapng file" in str(read_wire(tmp_path / "x.pcapng", 443).problem)
    assert "No such file" in str(read_wire(tmp_path / "none.pcapng", 443).problem)


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
