# SPDX-License-Identifier: Apache-2.0
"""What whole connections prove once their packets are decrypted."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from unit.evidence.verify.capture_files import cut_payload, packets_in, write_capture
from unit.evidence.verify.recordings import RECORDINGS, judged, proof_of, trial

ORDINARY = {
    "connections": 1,
    "handshake_round_trips": 1,
    "hello_retry_request": False,
    "quic_retry": False,
    "resumed": False,
    "early_data": "not_offered",
    "early_data_packets": 0,
    "early_data_bytes": 0,
    "early_data_bytes_by": "packets",
    "alpn": "h3",
    "http_version_seen": "HTTP/3",
    "alt_svc": "none",
    "alt_svc_use": "forced",
    "migrated": False,
    "address_changed": False,
    "new_path": "none",
    "unproven_because": {},
}
H2 = ORDINARY | {
    "alpn": "h2",
    "http_version_seen": "HTTP/2",
    "handshake_round_trips": 2,
    "quic_retry": "unproven",
    "early_data_packets": "unproven",
    "quic_parameters_server": "unproven",
    "alt_svc": 'h3=":443"; ma=2592000',
    "alt_svc_use": "not_used",
}
MOVED = ORDINARY | {"address_changed": True, "migrated": True}
EXPECTED: dict[str, dict[str, Any]] = {
    "h1": H2 | {"alpn": "http/1.1", "http_version_seen": "HTTP/1.1", "http_settings_client": "unproven"},
    "h2": H2,
    "h2-tls-1.2": H2 | {"tls_version": "TLS 1.2", "tls_group": "x25519"},
    "h2-then-h3": H2 | {"connections": 2, "alt_svc_use": "used"},
    "h3": ORDINARY,
    "h3-caddy": ORDINARY,
    "h3-hello-retry": ORDINARY | {"hello_retry_request": True, "handshake_round_trips": 2, "tls_group": "secp384r1"},
    "h3-version-2": ORDINARY | {"quic_version": "v2"},
    "h3-retry": ORDINARY | {"quic_retry": True, "handshake_round_trips": 2},
    "h3-long-chain": ORDINARY | {"handshake_round_trips": 2},
    "h3-early-data": ORDINARY
    | {
        "handshake_round_trips": 0,
        "resumed": True,
        "early_data": "accepted",
        "early_data_packets": 1,
        "early_data_bytes": 59,
    },
    "h3-early-data-rejected": ORDINARY | {"early_data": "rejected", "early_data_packets": 1, "early_data_bytes": 59},
    "h3-early-data-closed": ORDINARY
    | {
        "handshake_round_trips": "unproven",
        "resumed": True,
        "early_data": "accepted",
        "early_data_packets": 1,
        "early_data_bytes": 45,
        "early_data_bytes_by": "client's qlog",
        "unproven_because": {
            "handshake_round_trips": "0-RTT packets stayed closed: the client logged no early traffic secret"
        },
    },
    "h3-migration": MOVED
    | {
        "path_challenges": {"client": 2, "server": 4},
        "path_responses": {"client": 2, "server": 2},
        "path_validated_by": ["client", "server"],
        "new_connection_id": True,
        "new_path": {
            "client_socket": "udp 10.77.0.1:57434",
            "first_packet": 16,
            "payload_bytes_client": 5856,
            "payload_bytes_server": 15869,
        },
    },
    "h3-rebinding": MOVED
    | {
        "path_challenges": {"client": 0, "server": 6},
        "path_responses": {"client": 4, "server": 0},
        "path_validated_by": ["server"],
        "new_connection_id": False,
        "new_path": {
            "client_socket": "udp 10.77.0.1:52655",
            "first_packet": 18,
            "payload_bytes_client": 5588,
            "payload_bytes_server": 36088,
        },
    },
    # The client's connection IDs have no length.
    "h3-rebinding-no-id": MOVED
    | {
        "path_challenges": {"client": 0, "server": 6},
        "path_validated_by": ["server"],
        "new_path": {
            "client_socket": "udp 10.77.0.1:49762",
            "first_packet": 34,
            "payload_bytes_client": 5631,
            "payload_bytes_server": 36609,
        },
    },
    # The packet with the server's SETTINGS and QPACK table came before its ServerHello.
    "h3-loss": ORDINARY
    | {
        "http_settings_server": {
            "max_field_section_size": (1 << 62) - 1,
            "qpack_max_table_capacity": 4096,
            "qpack_blocked_streams": 100,
        },
    },
}


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()))
def test_tells_what_happened(name: str, tmp_path: Path) -> None:
    """Every fact has the value that was set up, and was seen with tshark by eye."""
    judged(trial(tmp_path / "t", name))
    proof = proof_of(tmp_path / "t")
    for other in ("quic_congestion_control", "http_responses"):
        proof["unproven_because"].pop(other, None)
    assert {key: proof[key] for key in EXPECTED[name]} == EXPECTED[name]
    assert proof["decrypted_by"] == "quiclab's decoders"


def test_a_server_hello_that_comes_late_is_still_a_whole_handshake(tmp_path: Path) -> None:
    """The server's Handshake packets before it stay closed; the client's Finished shows that the connection began."""
    folder = trial(tmp_path / "t", "h3-long-chain")
    capture = folder / "raw" / "client.pcapng"
    packets = packets_in(capture)
    first = next(place for place, packet in enumerate(packets) if packet[20:22] == (443).to_bytes(2))  # from the server
    packets.insert(first + 3, packets.pop(first))
    write_capture(capture, packets)
    judged(folder)
    (answer,) = proof_of(folder)["answers"]
    assert (answer["resumed"], answer["early_data"]) == (False, "not_offered")


def test_settings_of_both_sides(tmp_path: Path) -> None:
    """HTTP/2 and HTTP/3, by the names of the registries; reserved ones are left out."""
    for name in ("h2", "h3-caddy"):
        judged(trial(tmp_path / name, name))
    h2, h3 = proof_of(tmp_path / "h2"), proof_of(tmp_path / "h3-caddy")
    assert h2["http_settings_client"]["initial_window_size"] == 1048576
    assert h2["http_settings_server"] == {
        "max_frame_size": 1048576,
        "max_concurrent_streams": 250,
        "max_header_list_size": 16704,
        "header_table_size": 4096,
        "initial_window_size": 1048576,
        "no_rfc7540_priorities": 1,
    }
    unlimited = (1 << 62) - 1
    assert h3["http_settings_client"] == {
        "max_field_section_size": unlimited,
        "qpack_max_table_capacity": 0,
        "qpack_blocked_streams": 0,
    }
    assert h3["http_settings_server"] == {"max_field_section_size": 16384, "enable_connect_protocol": 1}


def test_transport_parameters_of_the_server(tmp_path: Path) -> None:
    """They stand in EncryptedExtensions; units are those of RFC 9000."""
    judged(trial(tmp_path / "t", "h3-retry"))
    parameters = proof_of(tmp_path / "t")["quic_parameters_server"]
    assert parameters["initial_max_data"] == 1 << 20
    assert parameters["max_idle_timeout"] == 30000
    assert len(bytes.fromhex(parameters["retry_source_connection_id"])) == 18


def test_settings_in_early_data_are_read(tmp_path: Path) -> None:
    """The client's SETTINGS went in 0-RTT, before ALPN was agreed."""
    judged(trial(tmp_path / "t", "h3-early-data"))
    assert proof_of(tmp_path / "t")["http_settings_client"]["qpack_blocked_streams"] == 100


def test_keys_that_do_not_fit(tmp_path: Path) -> None:
    """The key log of another connection, an empty one and none at all: each is said."""
    folder = trial(tmp_path / "t", "h3")
    keys = folder / "raw" / "keys.log"
    reasons = []
    for prepare in (
        lambda: shutil.copy(RECORDINGS / "h3-retry" / "keys.log", keys),
        lambda: keys.write_bytes(b""),
        keys.unlink,
    ):
        prepare()
        judged(folder)
        proof = proof_of(folder)
        assert (proof["decrypted_by"], proof["alpn"]) == ("unproven", "unproven")
        reasons.append(proof["unproven_because"]["decrypted_by"])
    none = "the client left no TLS keys (raw/keys.log)"
    assert reasons == [
        "the client left no TLS keys that open all of its packets",
        none,
        none,
    ]


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ('"packet_type":"0RTT"', '"packet_type":"1RTT"'),  # another number of packets than were captured
        ('"length":37', '"length":"long"'),  # sizes that cannot be read
        ('"stream_id":0', '"stream":0'),
    ],
)
def test_a_log_that_does_not_fit_the_capture_proves_nothing(tmp_path: Path, written: str, instead: str) -> None:
    """What was in 0-RTT packets stays unproven, with its reason."""
    folder = trial(tmp_path / "t", "h3-early-data-closed")
    log = folder / "raw" / "client-qlog" / "client.sqlog"
    assert written in log.read_text()
    log.write_text(log.read_text().replace(written, instead))
    judged(folder)
    proof = proof_of(folder)
    assert (proof["early_data_bytes"], proof["early_data_bytes_by"]) == ("unproven", "unproven")
    assert "no early traffic secret" in proof["unproven_because"]["early_data_bytes"]


def test_0_rtt_that_stays_closed_is_not_counted(tmp_path: Path) -> None:
    """Without the early traffic secret the packets are seen, and what they carried is not."""
    folder = trial(tmp_path / "t", "h3-early-data")
    keys = folder / "raw" / "keys.log"
    lines = keys.read_text().splitlines(keepends=True)
    keys.write_text("".join(line for line in lines if not line.startswith("CLIENT_EARLY_TRAFFIC_SECRET")))
    judged(folder)
    proof = proof_of(folder)
    assert (proof["early_data"], proof["early_data_packets"], proof["early_data_bytes"]) == ("accepted", 1, "unproven")
    assert "no early traffic secret" in proof["unproven_because"]["early_data_bytes"]
    assert "no early traffic secret" in proof["unproven_because"]["handshake_round_trips"]


def test_no_data_after_validation_is_no_migration(tmp_path: Path) -> None:
    """The capture ends with the first PATH_RESPONSE: the path is validated, but the connection did not go on there."""
    folder = trial(tmp_path / "t", "h3-migration")
    capture = folder / "raw" / "client.pcapng"
    packets = packets_in(capture)
    verdicts: list[tuple[list[str], bool]] = []
    while not verdicts or not verdicts[-1][0]:
        write_capture(capture, packets[: 16 + len(verdicts)])
        judged(folder)
        proof = proof_of(folder)
        assert proof["address_changed"] is True
        verdicts.append((proof["path_validated_by"], proof["migrated"]))
    assert verdicts[-1] == (["server"], False)
    assert len(verdicts) > 1


def test_0_rtt_is_not_called_rejected_where_the_answer_is_missing(tmp_path: Path) -> None:
    """The server's first datagram, with its EncryptedExtensions, stays closed."""
    folder = trial(tmp_path / "t", "h3-early-data", asked={"session": "early_data"})
    keys = folder / "raw" / "keys.log"
    lines = keys.read_text().splitlines(keepends=True)
    keys.write_text("".join(line for line in lines if not line.startswith("SERVER_HANDSHAKE_TRAFFIC_SECRET")))
    assert judged(folder).status == "verified"
    proof = proof_of(folder)
    closed = "the server's EncryptedExtensions stayed closed"
    assert {name: proof[name] for name in ("early_data", "alpn")} == {"early_data": "unproven", "alpn": "unproven"}
    assert (proof["unproven_because"]["early_data"], proof["unproven_because"]["alpn"]) == (closed, closed)


def test_a_move_behind_the_whole_packets_is_not_denied(tmp_path: Path) -> None:
    """A capture that keeps only headers from some packet on: the handshake is proven, the migration is not."""
    folder = trial(tmp_path / "t", "h3-migration", asked={"migration": "active"})
    cut_payload(RECORDINGS / "h3-migration" / "client.pcapng", folder / "raw" / "client.pcapng", kept=200, whole=15)
    assert judged(folder).status == "verified"
    proof = proof_of(folder)
    assert (proof["alpn"], proof["migrated"]) == ("h3", "unproven")
    assert proof["unproven_because"]["migrated"] == (
        "packets on the new path stayed closed: the capture keeps only the headers of packets"
    )


@pytest.mark.parametrize("end", [0, 100, 1000, 4000])
def test_a_capture_that_breaks_off(end: int, tmp_path: Path) -> None:
    """Less is proven, nothing is raised."""
    folder = trial(tmp_path / "t", "h3")
    capture = folder / "raw" / "client.pcapng"
    capture.write_bytes(capture.read_bytes()[:end])
    judged(folder)
    assert proof_of(folder)["http_version_seen"] == "unproven"


def test_judging_again_gives_the_same(tmp_path: Path) -> None:
    """Nothing is kept from the first time but the result."""
    folder = trial(tmp_path / "t", "h3-migration")
    judged(folder)
    first = json.loads((folder / "trial.json").read_text())
    judged(folder)
    assert json.loads((folder / "trial.json").read_text()) == first
