# SPDX-License-Identifier: Apache-2.0
"""Check of a trial whose client was to change its address, proven by its packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quiclab.evidence.verify.proof import UNPROVEN

_LATEST_NS = 100_000_000
"""Longest time from the client's report to the change of address; a later change is another experiment."""
_STATUS = {"restart": 200, "resume": 206}


def changed_in_vain(document: Mapping[str, Any]) -> str | None:
    """Reason why the laboratory could not change the address, or not in time."""
    change = document.get("address_change") or {}
    if change.get("trouble"):
        return f"the client's address could not be changed: {change['trouble']}"
    reached, changed = change.get("reached_ns"), change.get("changed_ns")
    if reached and changed and changed - reached > _LATEST_NS:
        return f"late: the client's address changed {(changed - reached) / 1e6:.0f} ms after the client's word"
    return None


def change_problem(document: Mapping[str, Any]) -> str | None:
    """Return the first thing that is not as it should be after a change of address; whether a connection migrated is
    checked elsewhere."""
    change, asked = document.get("address_change"), document.get("asked") or {}
    if not change:
        return None
    if change["changed_ns"] is None:
        return "the client's address was to change, but the body was complete before: it is too short for that"
    proof = document["proof"]
    addresses = proof["client_addresses"]
    if addresses != UNPROVEN and not addresses.get(change["new_address"], {}).get("server"):
        return f"the client's address changed, but nothing came to the new one, {change['new_address']}"
    status = _STATUS.get(asked.get("on_address_change") or "")
    return None if status is None else _reconnection_problem(document, asked, status)


def _reconnection_problem(document: Mapping[str, Any], asked: Mapping[str, Any], status: int) -> str | None:
    proof, request = document["proof"], ((document["client"] or {}).get("requests") or [{}])[0]
    told = request.get("connections") or []
    if len(told) != 2:
        return f"asked for one new connection after the change of address, but the client had {len(told)}"
    if proof["connections"] not in (2, UNPROVEN):
        return f"asked for one new connection after the change of address, but the packets show {proof['connections']}"
    answers = proof["answers"]
    second: Mapping[str, Any] = answers[-1] if answers != UNPROVEN and len(answers) == 2 else {}
    got = second.get("status") or told[1]["status"]
    if got != status:
        return f"asked to {asked['on_address_change']} the transfer, but the second answer had status {got}"
    have = (request.get("address_change") or {}).get("body_bytes_before")
    span = second.get("content_range") or told[1]["content_range"] or ""
    if status == 206 and not span.startswith(f"bytes {have}-"):
        return f"asked to resume from byte {have}, but the second answer was of {span or 'no known range'}"
    session, resumed = asked.get("reconnect_session"), second.get("resumed")
    if session is not None and resumed is not None and resumed != (session == "resumed"):
        return f"asked for a {session} TLS session on the new connection, but it was {'' if resumed else 'not '}resumed"
    return None
