# SPDX-License-Identifier: Apache-2.0
"""Check of a trial whose client was to change its address, proven by its packets."""

from __future__ import annotations

from quiclab.model.proof_record import UNPROVEN, ConnectionProof
from quiclab.model.trial_record import Asked, TrialRecord

_LATEST_NS = 100_000_000
"""Longest time from the client's report to the change of address; a later change is another experiment."""
_STATUS = {"restart": 200, "resume": 206}


def changed_in_vain(trial: TrialRecord) -> str | None:
    """Reason why the laboratory could not change the address, or not in time."""
    change = trial.address_change
    if change is None:
        return None
    if change.trouble:
        return f"the client's address could not be changed: {change.trouble}"
    reached, changed = change.reached_ns, change.changed_ns
    if reached and changed and changed - reached > _LATEST_NS:
        return f"late: the client's address changed {(changed - reached) / 1e6:.0f} ms after the client's word"
    return None


def change_problem(trial: TrialRecord) -> str | None:
    """Return the first thing that is not as it should be after a change of address; whether a connection migrated is
    checked elsewhere."""
    change, asked = trial.address_change, trial.asked
    if change is None:
        return None
    if change.changed_ns is None:
        return "the client's address was to change, but the body was complete before: it is too short for that"
    proof = trial.proof
    addresses = proof.client_addresses
    if addresses != UNPROVEN and not addresses.get(change.new_address or "", {}).get("server"):
        return f"the client's address changed, but nothing came to the new one, {change.new_address}"
    status = _STATUS.get(asked.on_address_change or "")
    return None if status is None else _reconnection_problem(trial, asked, status)


def _reconnection_problem(trial: TrialRecord, asked: Asked, status: int) -> str | None:
    proof, request = trial.proof, trial.first_request
    told = request.answers
    if len(told) != 2:
        return f"asked for one new connection after the change of address, but the client had {len(told)}"
    if proof.connections not in (2, UNPROVEN):
        return f"asked for one new connection after the change of address, but the packets show {proof.connections}"
    answers = proof.answers
    second = answers[-1] if answers != UNPROVEN and len(answers) == 2 else ConnectionProof(resumed=None)
    got = second.status or told[1].status
    if got != status:
        return f"asked to {asked.on_address_change} the transfer, but the second answer had status {got}"
    have = request.address_change and request.address_change.body_bytes_before
    span = second.content_range or told[1].content_range or ""
    if status == 206 and not span.startswith(f"bytes {have}-"):
        return f"asked to resume from byte {have}, but the second answer was of {span or 'no known range'}"
    session, resumed = asked.reconnect_session, second.resumed
    if session is not None and resumed is not None and resumed != (session == "resumed"):
        return f"asked for a {session} TLS session on the new connection, but it was {'' if resumed else 'not '}resumed"
    return None
