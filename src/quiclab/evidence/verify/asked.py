# SPDX-License-Identifier: Apache-2.0
"""Check of the programs, the handshake and the connection against what the spec asked of them: versions, session,
0-RTT, migration, TLS.

`unproven` is not held against a trial, unless the client's own account says that it did not get it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from quiclab.model.client_account import ClientRequest
from quiclab.model.program import is_version
from quiclab.model.proof_record import UNPROVEN, Proof
from quiclab.model.trial_record import Asked, TrialRecord


def shortfall(trial: TrialRecord) -> str | None:
    """The first thing that was asked for and not got; None if all was got, or cannot be told."""
    asked, proof = trial.asked, trial.proof
    request = trial.first_request
    problems = (
        _versions(trial),
        _tls(asked, proof),
        _session(asked, proof, request),
        _early_data(asked, proof, request),
        _http_cache(trial),
        _address_token(asked, proof),
        _migration(asked, proof, request) if trial.protocol == "h3" else None,
    )
    return next((problem for problem in problems if problem), None)


def objects_apart(trial: TrialRecord) -> str | None:
    """Several objects that did not come over one connection, or more of them at once than was asked for."""
    expected, proof = trial.expected, trial.proof
    objects = expected.objects
    if objects is None:
        return None
    connections, by = proof.connections, "by decryption"
    # Every path of a connection that migrates is a socket of its own; only decryption tells these from connections.
    if connections == UNPROVEN and not trial.asked.migration:
        connections, by = UNPROVEN if proof.client_sockets == UNPROVEN else len(proof.client_sockets), "by socket"
    if connections not in (1, UNPROVEN):
        return f"asked for {len(objects)} objects on one connection, but the client had {connections} ({by})"
    at_once = most_at_once(trial.requests)
    if expected.concurrency is not None and at_once > expected.concurrency:
        return f"asked for {expected.concurrency} objects at once, but {at_once} were under way"
    return None


def most_at_once(requests: Sequence[ClientRequest]) -> int:
    """Most requests that were under way at the same time, by the client's account."""
    begun = [(each.start_ns, 1) for each in requests if each.start_ns is not None]
    changes = begun + [(each.last_byte_ns, -1) for each in requests if each.last_byte_ns is not None]
    return max(accumulate(change for _, change in sorted(changes)), default=0)


def _versions(trial: TrialRecord) -> str | None:
    """Program of another version than the spec asks for: by what it told when the run began, and a client also by its
    account of this trial."""
    for role, program in trial.programs.items():
        account = trial.client.versions.get(program.name) if trial.client and role == "client" else None
        for version in (program.version, account):
            if program.version_asked and isinstance(version, str) and not is_version(version, program.version_asked):
                return f"asked for {program.name} {program.version_asked} as the {role}, got {version}"
    return None


def _tls(asked: Asked, proof: Proof) -> str | None:
    version, got = asked.tls_version, proof.tls_version
    if version and got not in (f"TLS {version}", UNPROVEN):
        return f"asked for TLS {version}, got {got}"
    groups, group = asked.groups, proof.tls_group
    if groups and group != UNPROVEN and group.lower() not in {name.lower() for name in groups}:
        return f"asked for key exchange by {' or '.join(groups)}, got {group}"
    return None


def _session(asked: Asked, proof: Proof, request: ClientRequest) -> str | None:
    session, resumed = asked.session, _got(proof.resumed, request.resumed)
    if session == "fresh" and resumed is True:
        return "asked for a fresh session, but an old one was resumed"
    if session == "resumed" and resumed is False:
        return "asked for a resumed session, but the handshake was a full one"
    return None


def _early_data(asked: Asked, proof: Proof, request: ClientRequest) -> str | None:
    if asked.session != "early_data":
        return None
    wanted, got = asked.expect_early_data or "accepted", _got(proof.early_data, request.early_data)
    if proof.early_data_offered is False or got == "not_offered":
        return "asked for 0-RTT, but the client did not offer it"
    if got not in (wanted, UNPROVEN):
        return f"asked for 0-RTT that is {wanted}, but the server {got} it"
    if 0 in (proof.early_data_packets, proof.early_data_bytes):
        return "asked for 0-RTT, but no STREAM data was sent in 0-RTT packets"
    return None


def _http_cache(trial: TrialRecord) -> str | None:
    """A browser that was to have a cache, and loaded all that it could have had in it once more."""
    page, requests = trial.expected.page, {each.url: each for each in trial.requests}
    if not trial.asked.http_cache or page is None:
        return None
    sent = [requests[each.url].transferred_bytes for each in page.resources[1:] if each.url in requests]
    if sent and all(each is not None and each > 0 for each in sent):
        return "asked for what an earlier visit left in the HTTP cache, but every resource came over the network"
    return None


def _address_token(asked: Asked, proof: Proof) -> str | None:
    if asked.address_token and proof.address_token is False:
        return "asked for an address token, but the client's first Initial packet had none"
    return None


def _migration(asked: Asked, proof: Proof, request: ClientRequest) -> str | None:
    wanted = asked.migration
    if not wanted or (migrated := _got(proof.migrated, request.migrated)) == UNPROVEN:
        return None
    if migrated is False:
        if proof.address_changed is False:
            return "asked for a migration, but the client's address did not change"
        return "asked for a migration, but no PATH_RESPONSE validated the new path before data flowed on it"
    if wanted == "active" and proof.new_connection_id is False and not _challenges(proof):
        return "asked for an active migration, but the client kept its connection ID, as behind a NAT"
    return None


def _challenges(proof: Proof) -> int:
    """PATH_CHALLENGE frames that the client sent."""
    return 0 if proof.path_challenges == UNPROVEN else proof.path_challenges.get("client", 0)


def _got(proven: bool | str, told: bool | str | None) -> bool | str:
    """Value that the packets prove, else what the client says of itself."""
    return (UNPROVEN if told is None else told) if proven == UNPROVEN else proven
