# SPDX-License-Identifier: Apache-2.0
"""Bytes that the arm's transport did not carry were not moved over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from trial_records import record
from unit.evidence.verify.recordings import judged, proof_of, trial

from quiclab.evidence.verify.proof import UNPROVEN
from quiclab.evidence.verify.trial import carried_problem, split_problem, twice_problem

BYTES = {"tcp": {"client": 900, "server": 5000}, "udp": {"client": 700, "server": 90_000}}
OBJECT = {"name": "object", "body_bytes": 9000, "sha256": "abc", "direction": "download"}


def _document(**changes: Any) -> dict[str, Any]:
    """A download of 9000 random bytes over HTTP/2 of which TCP carried 5000."""
    return {"protocol": "h2", "content": "random", "expected": OBJECT, "proof": {"payload_bytes": BYTES}, **changes}


def test_a_body_over_the_other_transport_is_told_with_both_counts() -> None:
    """Down for a download, up for an upload."""
    assert carried_problem(record(_document())) == (
        "asked for 9000 bytes over TCP, but it carried only 5000 bytes to the client, and QUIC carried 90000"
    )
    upload = OBJECT | {"direction": "upload"}
    assert carried_problem(record(_document(protocol="h3", expected=upload))) == (
        "asked for 9000 bytes over QUIC, but it carried only 700 bytes from the client, and TCP carried 900"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": "h3"},
        {"expected": OBJECT | {"body_bytes": 5000}},
        {"expected": {"objects": [{"body_bytes": 2000}, {"body_bytes": 3000}], "direction": "download"}},
        {"content": "text"},
        {"expected": {"page": {"resources": []}, "body_bytes": 9000}},
        {"expected": {"video": {}, "body_bytes": 9000}},
        {"expected": OBJECT | {"body_bytes": None}},
        {"competition": {"lasts_ns": 1}, "client_exit_code": None},
        {"proof": {"payload_bytes": UNPROVEN}},
    ],
    ids=["h3", "enough", "several", "text", "page", "video", "probe", "clock", "no capture"],
)
def test_nothing_is_held_against(changes: dict[str, Any]) -> None:
    """What was carried suffices, or nobody can tell how much there should be."""
    assert carried_problem(record(_document(**changes))) is None


@pytest.mark.parametrize(("name", "own", "other"), [("h2", "tcp", "udp"), ("h3", "udp", "tcp")])
def test_payload_of_a_recording(name: str, own: str, other: str, tmp_path: Path) -> None:
    """The thousand bytes are among those of its transport; a longer body cannot have come, whatever is said of it."""
    folder = trial(tmp_path / "t", name, content="random", client=None)
    assert judged(folder).status == "verified"
    carried = proof_of(folder)["payload_bytes"]
    assert carried[other] == {"client": 0, "server": 0}
    assert carried[own]["server"] > 1000
    document = json.loads((folder / "trial.json").read_text())
    document["expected"]["body_bytes"] = 10_000
    (folder / "raw" / "keys.log").unlink()
    (folder / "trial.json").write_text(json.dumps(document))
    assert "10000 bytes over" in judged(folder).reason


SPLIT: dict[str, Any] = {
    "payload_bytes": BYTES,
    "payload_bytes_of_one_socket": {"tcp": {"client": 500, "server": 3000}, "udp": {"client": 700, "server": 45_000}},
    "connections": UNPROVEN,
}


def test_a_body_that_no_connection_carried_is_told_without_keys() -> None:
    """TCP carried all of 5000 bytes, each socket of the client a part."""
    document = _document(expected=OBJECT | {"body_bytes": 5000}, proof=SPLIT)
    assert carried_problem(record(document)) is None
    told = "asked for 5000 bytes on one connection, but none carried more than 3000 to the client"
    assert split_problem(record(document)) == told
    assert split_problem(record(document | {"proof": SPLIT | {"connections": 2}})) == told
    upload = document | {"expected": OBJECT | {"body_bytes": 600, "direction": "upload"}}
    assert (
        split_problem(record(upload))
        == "asked for 600 bytes on one connection, but none carried more than 500 from the client"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"expected": OBJECT | {"body_bytes": 3000}},
        {"proof": SPLIT | {"connections": 1}},
        {"proof": SPLIT | {"payload_bytes_of_one_socket": UNPROVEN}},
        {"asked": {"migration": "rebinding"}},
        {"address_change": {"new_address": "10.77.0.3"}},
        {"content": "text"},
    ],
    ids=["one had all", "opened: one connection", "no capture", "migration", "change of address", "text"],
)
def test_several_sockets_that_are_held_against_nobody(changes: dict[str, Any]) -> None:
    """They are paths of one connection, or were asked for, or one of them suffices."""
    document = _document(expected=OBJECT | {"body_bytes": 5000}, proof=SPLIT)
    assert split_problem(record(document | changes)) is None


def _beside(tcp: int, udp: int) -> dict[str, Any]:
    """A download over HTTP/2 whose connection had 110 kB; other connections had so many bytes more."""
    carried = {"tcp": {"client": 900, "server": 110_000 + tcp}, "udp": {"client": 700, "server": udp}}
    most = {"tcp": {"client": 900, "server": 110_000}, "udp": {"client": 700, "server": udp}}
    proof = {"payload_bytes": carried, "payload_bytes_of_one_socket": most, "connections": UNPROVEN}
    return _document(expected=OBJECT | {"body_bytes": 100_000}, proof=proof)


@pytest.mark.parametrize(("tcp", "udp"), [(0, 0), (12_000, 5000)])
def test_handshakes_that_were_not_needed_are_no_second_fetch(tcp: int, udp: int) -> None:
    """A browser opens more connections than it uses."""
    assert twice_problem(record(_beside(tcp, udp))) is None


@pytest.mark.parametrize(
    ("tcp", "udp", "told"),
    [
        (104_000, 0, "104000 bytes went over other TCP"),
        (70_000, 0, "70000"),
        (0, 90_000, "90000 bytes went over other QUIC"),
    ],
)
def test_a_fetch_beside_the_measured_one_is_told_without_keys(tcp: int, udp: int, told: str) -> None:
    """It warms the server up, or is the fastest of several."""
    assert told in str(twice_problem(record(_beside(tcp, udp))))


def test_a_fetch_of_a_small_object_is_told_where_it_is_more_than_a_handshake() -> None:
    """The handshake of the other connection brought as many bytes as a small object has."""
    document = _beside(20_000, 0)
    assert twice_problem(record(document)) is None
    document["expected"] = OBJECT | {"body_bytes": 1000}
    assert "20000 bytes" in str(twice_problem(record(document)))


@pytest.mark.parametrize("changes", [{"asked": {"migration": "rebinding"}}, {"content": "text"}, {"probe": {}}])
def test_other_connections_that_are_held_against_nobody(changes: dict[str, Any]) -> None:
    """They were asked for, or their bytes tell nothing."""
    changes = changes | ({"probe": {"url": "x"}} if "probe" in changes else {})
    assert twice_problem(record(_beside(104_000, 0) | changes)) is None
