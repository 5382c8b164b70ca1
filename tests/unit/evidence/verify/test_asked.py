# SPDX-License-Identifier: Apache-2.0
"""Trials that did not get what their spec asked of the handshake or the connection fail with that reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trial_records import record
from unit.evidence.verify.recordings import judged, proof_of, trial

from quiclab.evidence.verify.asked import shortfall

EARLY = {"session": "early_data"}
MET: list[tuple[str, dict[str, Any]]] = [
    ("h3", {"session": "fresh", "groups": ["x25519", "secp256r1"], "tls_version": "1.3"}),
    ("h3-early-data", {"session": "resumed"}),
    ("h3-early-data", EARLY),
    ("h3-early-data", EARLY | {"expect_early_data": "accepted"}),
    ("h3-early-data-rejected", EARLY | {"expect_early_data": "rejected"}),
    ("h3-migration", {"migration": "active"}),
    ("h3-rebinding", {"migration": "rebinding"}),
    ("h3-rebinding-no-id", {"migration": "rebinding"}),
    ("h2-tls-1.2", {"tls_version": "1.2", "session": "fresh", "groups": ["X25519"]}),
    ("h2", {"migration": "active"}),
]
MISSED: list[tuple[str, dict[str, Any], str]] = [
    ("h3-early-data", {"session": "fresh"}, "asked for a fresh session, but an old one was resumed"),
    ("h3", {"session": "resumed"}, "asked for a resumed session, but the handshake was a full one"),
    ("h2-tls-1.2", {"session": "resumed"}, "asked for a resumed session, but the handshake was a full one"),
    ("h3", EARLY, "asked for 0-RTT, but the client did not offer it"),
    ("h3-early-data-rejected", EARLY, "asked for 0-RTT that is accepted, but the server rejected it"),
    (
        "h3-early-data",
        EARLY | {"expect_early_data": "rejected"},
        "asked for 0-RTT that is rejected, but the server accepted it",
    ),
    ("h3", {"migration": "rebinding"}, "asked for a migration, but the client's address did not change"),
    (
        "h3-rebinding",
        {"migration": "active"},
        "asked for an active migration, but the client kept its connection ID, as behind a NAT",
    ),
    ("h3", {"groups": ["secp384r1"]}, "asked for key exchange by secp384r1, got x25519"),
    ("h2-tls-1.2", {"groups": ["secp384r1"]}, "asked for key exchange by secp384r1, got x25519"),
    ("h2", {"tls_version": "1.2"}, "asked for TLS 1.2, got TLS 1.3"),
]


@pytest.mark.parametrize(("name", "asked"), MET)
def test_what_was_asked_for_and_got_counts(name: str, asked: dict[str, Any], tmp_path: Path) -> None:
    """Nothing is held against the trial."""
    assert judged(trial(tmp_path / "t", name, asked=asked)).reason == ""


@pytest.mark.parametrize(("name", "asked", "reason"), MISSED)
def test_what_was_asked_for_and_missed_fails(name: str, asked: dict[str, Any], reason: str, tmp_path: Path) -> None:
    """The reason says what was asked for and what happened."""
    verdict = judged(trial(tmp_path / "t", name, asked=asked))
    assert (verdict.status, verdict.reason) == ("failed", reason)


def test_http_is_judged_by_its_frames(tmp_path: Path) -> None:
    """A client that calls HTTP/1.1 HTTP/2 is found out."""
    verdict = judged(trial(tmp_path / "t", "h1", protocol="h2"))
    assert verdict.reason == "asked for HTTP/2, got HTTP/1.1"


def test_without_keys_the_hellos_still_decide(tmp_path: Path) -> None:
    """What needs no key is judged, the rest is unproven with the reason."""
    offered = trial(tmp_path / "offered", "h3-early-data", asked=EARLY)
    missed = trial(tmp_path / "missed", "h3", asked=EARLY)
    for folder in (offered, missed):
        (folder / "raw" / "keys.log").unlink()
    assert judged(offered).status == "verified"
    assert judged(missed).reason == "asked for 0-RTT, but the client did not offer it"
    proof = proof_of(offered)
    assert (proof["early_data"], proof["early_data_packets"]) == ("unproven", 1)
    assert proof["unproven_because"]["decrypted_by"] == "the client left no TLS keys (raw/keys.log)"


UNPROVEN = dict.fromkeys(
    (
        "resumed",
        "early_data",
        "early_data_bytes",
        "early_data_packets",
        "early_data_offered",
        "address_token",
        "migrated",
        "address_changed",
        "path_challenges",
        "new_connection_id",
    ),
    "unproven",
)


@pytest.mark.parametrize(
    ("asked", "account", "reason"),
    [
        ({"session": "resumed"}, {"resumed": False}, "asked for a resumed session, but the handshake was a full one"),
        ({"session": "resumed"}, {"resumed": True}, None),
        (EARLY, {"early_data": "rejected"}, "asked for 0-RTT that is accepted, but the server rejected it"),
        (EARLY, {"early_data": "not_offered"}, "asked for 0-RTT, but the client did not offer it"),
        (EARLY, {}, None),
        (
            {"migration": "active"},
            {"migrated": False},
            "asked for a migration, but no PATH_RESPONSE validated the new path before data flowed on it",
        ),
        ({"migration": "active"}, {"migrated": True}, None),
    ],
)
def test_what_the_packets_do_not_tell_the_client_may(
    asked: dict[str, Any], account: dict[str, Any], reason: str | None
) -> None:
    """Its own account is held against a trial, never for it."""
    proof: dict[str, Any] = UNPROVEN | {"tls_version": "TLS 1.3", "tls_group": "x25519"}
    document = {"protocol": "h3", "asked": asked, "proof": proof, "client": {"requests": [account]}}
    assert shortfall(record(document)) == reason


@pytest.mark.parametrize(
    ("sent_bytes", "is_met"), [((350_300, 350_300), False), ((0, 350_300), True), ((0, 0), True), ((None, None), True)]
)
def test_a_cache_that_answers_nothing_is_not_one(sent_bytes: tuple[int | None, ...], is_met: bool) -> None:
    """The document is asked for again each time; a browser that does not tell proves nothing."""
    names = ("index.html", "1.png", "2.png")
    resources = [{"url": name, "bytes": 350_000} for name in names]
    requests = [
        {"url": name, "transferred_bytes": sent} for name, sent in zip(names, (10_300, *sent_bytes), strict=True)
    ]
    document = {
        "protocol": "h3",
        "asked": {"http_cache": True},
        "proof": UNPROVEN | {"tls_version": "TLS 1.3", "tls_group": "x25519"},
        "expected": {"page": {"resources": resources}},
        "client": {"requests": requests},
    }
    found = shortfall(record(document))
    assert (found is None) is is_met
    assert found is None or "every resource came over the network" in found


@pytest.mark.parametrize(
    ("new_connection_id", "challenges", "met"), [(True, 0, True), (False, 1, True), (False, 0, False)]
)
def test_an_active_migration_is_one_that_the_client_knows_of(
    new_connection_id: bool, challenges: int, met: bool
) -> None:
    """It takes a new connection ID or challenges the path itself; some clients do only the one (RFC 9000 section 9)."""
    proof: dict[str, Any] = UNPROVEN | {
        "tls_version": "TLS 1.3",
        "tls_group": "x25519",
        "migrated": True,
        "address_changed": True,
    }
    proof |= {"new_connection_id": new_connection_id, "path_challenges": {"client": challenges, "server": 1}}
    document = {"protocol": "h3", "asked": {"migration": "active"}, "proof": proof, "client": None}
    assert (shortfall(record(document)) is None) is met


def test_early_data_without_data_is_none() -> None:
    """A server that accepts 0-RTT of a client that sent nothing in it."""
    proof: dict[str, Any] = UNPROVEN | {"tls_version": "TLS 1.3", "tls_group": "x25519", "early_data_offered": True}
    proof |= {"early_data": "accepted", "early_data_bytes": 0, "early_data_packets": 1}
    document = {"protocol": "h3", "asked": EARLY, "proof": proof, "client": None}
    assert shortfall(record(document)) == "asked for 0-RTT, but no STREAM data was sent in 0-RTT packets"


@pytest.mark.parametrize(
    ("role", "asked", "found", "account", "reason"),
    [
        ("server", "0.9.25", "0.9.25", "1.7.2", None),
        ("server", "0.9.25", "1.7.2", "0.9.25", "asked for aioquic 0.9.25 as the server, got 1.7.2"),
        ("client", "0.9.25", "0.9.25", "1.7.2", "asked for aioquic 0.9.25 as the client, got 1.7.2"),
        ("client", "0.9", "0.9.25", "0.9.25", None),
        ("client", None, "1.7.2", "0.9.25", None),
        ("client", "0.9.25", None, None, None),
    ],
)
def test_a_program_of_another_version_is_not_what_was_asked_for(
    role: str, asked: str | None, found: str | None, account: str | None, reason: str | None
) -> None:
    """Held against what it told when the run began, and a client's also against its account of the trial."""
    program = {"name": "aioquic", "version_asked": asked, "version": found}
    proof: dict[str, Any] = UNPROVEN | {"tls_version": "TLS 1.3", "tls_group": "x25519"}
    client = {"requests": [{}], "versions": {"aioquic": account} if account else {}}
    document = {"protocol": "h3", "programs": {role: program}, "proof": proof, "client": client}
    assert shortfall(record(document)) == reason


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (True, None),
        ("unproven", None),
        (False, "asked for an address token, but the client's first Initial packet had none"),
    ],
)
def test_a_token_that_was_asked_for_is_in_the_first_packet(seen: bool | str, reason: str | None) -> None:
    proof: dict[str, Any] = UNPROVEN | {"tls_version": "TLS 1.3", "tls_group": "x25519", "address_token": seen}
    document = {"protocol": "h3", "asked": {"address_token": True}, "proof": proof, "client": {"requests": [{}]}}
    assert shortfall(record(document)) == reason
