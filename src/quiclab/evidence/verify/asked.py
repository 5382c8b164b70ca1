# SPDX-License-Identifier: Apache-2.0
"""Check of the handshake and of the connection against what the spec asked of them: session, 0-RTT, migration, TLS.

`unproven` is not held against a trial, unless the client's own account says that it did not get it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from quiclab.evidence.verify.proof import UNPROVEN


def shortfall(document: Mapping[str, Any]) -> str | None:
    """The first thing that was asked for and not got; None if all was got, or cannot be told."""
    asked, proof = document.get("asked") or {}, document["proof"]
    request = ((document["client"] or {}).get("requests") or [{}])[0]
    problems = (
        _tls(asked, proof),
        _session(asked, proof, request),
        _early_data(asked, proof, request),
        _migration(asked, proof, request) if document["protocol"] == "h3" else None,
    )
    return next((problem for problem in problems if problem), None)


def objects_apart(document: Mapping[str, Any]) -> str | None:
    """Several objects that did not come over one connection, or more of them at once than was asked for."""
    expected, proof = document["expected"], document["proof"]
    objects = expected.get("objects")
    if objects is None:
        return None
    connections, by = proof["connections"], "by decryption"
    # Every path of a connection that migrates is a socket of its own; only decryption tells these from connections.
    if connections == UNPROVEN and not (document.get("asked") or {}).get("migration"):
        connections, by = len(proof["client_sockets"]) if proof["client_sockets"] != UNPROVEN else UNPROVEN, "by socket"
    if connections not in (1, UNPROVEN):
        return f"asked for {len(objects)} objects on one connection, but the client had {connections} ({by})"
    at_once = most_at_once((document["client"] or {}).get("requests") or [])
    if at_once > expected["concurrency"]:
        return f"asked for {expected['concurrency']} objects at once, but {at_once} were under way"
    return None


def most_at_once(requests: Sequence[Mapping[str, Any]]) -> int:
    """Most requests that were under way at the same time, by the client's account."""
    changes = [(request["start_ns"], 1) for request in requests] + [(each["last_byte_ns"], -1) for each in requests]
    return max(accumulate(change for _, change in sorted(changes)), default=0)


def _tls(asked: Mapping[str, Any], proof: Mapping[str, Any]) -> str | None:
    version, got = asked.get("tls_version"), proof["tls_version"]
    if version and got not in (f"TLS {version}", UNPROVEN):
        return f"asked for TLS {version}, got {got}"
    groups, group = asked.get("groups"), proof["tls_group"]
    if groups and group != UNPROVEN and group.lower() not in {name.lower() for name in groups}:
        return f"asked for key exchange by {' or '.join(groups)}, got {group}"
    return None


def _session(asked: Mapping[str, Any], proof: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    session, resumed = asked.get("session"), _got("resumed", proof, request)
    if session == "fresh" and resumed is True:
        return "asked for a fresh session, but an old one was resumed"
    if session == "resumed" and resumed is False:
        return "asked for a resumed session, but the handshake was a full one"
    return None


def _early_data(asked: Mapping[str, Any], proof: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    if asked.get("session") != "early_data":
        return None
    wanted, got = asked.get("expect_early_data") or "accepted", _got("early_data", proof, request)
    if proof["early_data_offered"] is False or got == "not_offered":
        return "asked for 0-RTT, but the client did not offer it"
    if got not in (wanted, UNPROVEN):
        return f"asked for 0-RTT that is {wanted}, but the server {got} it"
    if 0 in (proof["early_data_packets"], proof["early_data_bytes"]):
        return "asked for 0-RTT, but no STREAM data was sent in 0-RTT packets"
    return None


def _migration(asked: Mapping[str, Any], proof: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    wanted = asked.get("migration")
    if not wanted or (migrated := _got("migrated", proof, request)) == UNPROVEN:
        return None
    if migrated is False:
        if proof["address_changed"] is False:
            return "asked for a migration, but the client's address did not change"
        return "asked for a migration, but no PATH_RESPONSE validated the new path before data flowed on it"
    if wanted == "active" and proof["new_connection_id"] is False and not proof["path_challenges"]["client"]:
        return "asked for an active migration, but the client kept its connection ID, as behind a NAT"
    return None


def _got(name: str, proof: Mapping[str, Any], request: Mapping[str, Any]) -> Any:
    """Value that the packets prove, else what the client says of itself."""
    return request.get(name, UNPROVEN) if proof[name] == UNPROVEN else proof[name]
