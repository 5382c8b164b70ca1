# SPDX-License-Identifier: Apache-2.0
"""What recordings prove, held against tshark, which shares no line with the decoders."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from by_night import by_night
from proof_by_tshark import hellos_by_tshark, of_first_connection, packets_by_tshark, wire_by_tshark
from unit.evidence.verify.capture_files import ALL_CAPTURES, CAPTURES, PORT, handshake_of, rows_of
from unit.evidence.verify.recordings import RECORDINGS, judged, proof_of, trial

from quiclab.evidence.verify.wire import read_wire

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

ALL_RECORDINGS = sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir())
_CHOICES = [name for name in ALL_CAPTURES if name != "tls-alert"]
OF_HANDSHAKE = {"tls_cipher": "cipher_suite", "tls_group": "group"}
"""Facts by their name in the proof, where a handshake has another."""


def same_keys(facts: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Those facts that the other side told as well, also within the transport parameters."""
    told = {name: facts[name] for name in expected}
    if "quic_parameters_client" in expected:
        parameters = facts["quic_parameters_client"]
        told["quic_parameters_client"] = {name: parameters[name] for name in expected["quic_parameters_client"]}
    return told


@pytest.mark.parametrize("name", [*ALL_RECORDINGS[::2], *by_night(*ALL_RECORDINGS[1::2])])
def test_whole_connections_prove_what_tshark_shows(name: str, tmp_path: Path) -> None:
    """Versions, suite, group, resumption, ALPN, 0-RTT, Retry, transport parameters, sockets, payload and ECN."""
    judged(trial(tmp_path / "t", name))
    proof = proof_of(tmp_path / "t")
    packets = packets_by_tshark(RECORDINGS / name / "client.pcapng", RECORDINGS / name / "keys.log", 443)
    expected = hellos_by_tshark(of_first_connection(packets))
    assert same_keys(proof, expected) == expected
    wire = wire_by_tshark(packets, 443)
    assert {side: proof[side] for side in ("ecn_client", "ecn_server")} == {
        side: wire[side] for side in ("ecn_client", "ecn_server")
    }
    assert proof["client_sockets"] == list(wire["sockets"])
    carried = proof["client_addresses"]["10.77.0.1"]
    assert carried == {side: sum(each[side] for each in wire["sockets"].values()) for side in ("client", "server")}


@pytest.mark.parametrize("name", [*_CHOICES[::2], *by_night(*_CHOICES[1::2])])
def test_first_packets_prove_what_tshark_shows(name: str) -> None:
    """The same without any key; in `tls-alert` there is no choice to compare."""
    capture = CAPTURES / f"{name}.pcapng"
    packets = packets_by_tshark(capture, None, PORT)
    expected = hellos_by_tshark(packets)
    handshake = handshake_of(capture)
    told = {each: getattr(handshake, OF_HANDSHAKE.get(each, each)) for each in expected if each != "alpn"}
    told["alpn_offered"] = list(told["alpn_offered"])
    expected.pop("alpn", None)
    assert same_keys(told, expected) == expected
    sockets = {socket.name: socket.payload_bytes for socket in read_wire(rows_of(capture)["ip_packets"], PORT).sockets}
    assert sockets == wire_by_tshark(packets, PORT)["sockets"]
