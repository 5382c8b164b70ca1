# SPDX-License-Identifier: Apache-2.0
"""The verdict on one attempt: does it count, did it fail, or was the laboratory at fault?

`judge` reads what the runner left, writes proof, status and the artefact register into trial.json, and returns the
verdict. Only *verified* counts; *failed* ranks worst; *unproven* is left out, as neither packets nor an account of the
client tell what it got; *void* is the laboratory's fault and voids the whole block.

Check of a trial whose client was to change its address, proven by its packets.

Check that the arm's own transport carried what the trial moved: payload is counted, for which no key is needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from quiclab.evidence.metrics.expected_bytes import may_use_several_sockets, moved_bytes, protocol_of
from quiclab.evidence.verify.artefacts import register
from quiclab.evidence.verify.asked import objects_apart, shortfall
from quiclab.evidence.verify.bodies import body_problem
from quiclab.evidence.verify.competing_flows import broken_wire, competition_problem
from quiclab.evidence.verify.delivered import HTTP_VERSIONS, shown_by_packets, unproven
from quiclab.evidence.verify.disturbed import disturbance_problem, with_bound
from quiclab.evidence.verify.origin_leg import control_problem, relay_problem
from quiclab.evidence.verify.proof import prove
from quiclab.model.host_findings import StoodStill
from quiclab.model.link_account import LinkAccount
from quiclab.model.number_text import listed
from quiclab.model.proof_record import UNPROVEN, ConnectionProof, Proof
from quiclab.model.tables.drop_reasons import DropKind, dropped_by
from quiclab.model.terminal_escape import plain
from quiclab.model.trial_record import Asked, EstimatedDisturbance, TrialRecord
from quiclab.store.disk import write_atomically
from quiclab.store.layout import Status
from quiclab.store.packed_captures import pack_captures
from quiclab.store.packed_logs import pack_logs
from quiclab.store.record_form import as_json, as_record, as_trial

_HANDSHAKE_BYTES = 16 << 10
"""Bytes that a handshake may bring, with its chain of certificates."""
_BESIDE_BYTES = 64 << 10
"""The most that all other connections may bring: a choice, for the handshakes of some that are not needed."""
_NAMES = {"tcp": "TCP", "udp": "QUIC"}


def carried_problem(trial: TrialRecord) -> str | None:
    """Problem of a transport of the arm that carried fewer bytes than the body has: how many each transport carried."""
    carried, size_bytes = trial.proof.payload_bytes, moved_bytes(trial)
    if carried == UNPROVEN or size_bytes is None:
        return None
    sender, way = _sender(trial)
    own = protocol_of(trial)
    other = "tcp" if own == "udp" else "udp"
    if carried[own][sender] >= size_bytes:
        return None
    return (
        f"asked for {size_bytes} bytes over {_NAMES[own]}, but it carried only {carried[own][sender]} bytes {way} the "
        f"client, and {_NAMES[other]} carried {carried[other][sender]}"
    )


def split_problem(trial: TrialRecord) -> str | None:
    """Problem of bodies that came over several connections: no socket of the client carried as many bytes as they have.

    A connection that migrates has a socket for each of its paths; where packets show one connection, it was one.
    """
    proof, size_bytes = trial.proof, moved_bytes(trial)
    most = proof.payload_bytes_of_one_socket
    if most == UNPROVEN or size_bytes is None or may_use_several_sockets(trial):
        return None
    sender, way = _sender(trial)
    largest = most[protocol_of(trial)][sender]
    if largest >= size_bytes:
        return None
    return f"asked for {size_bytes} bytes on one connection, but none carried more than {largest} {way} the client"


def twice_problem(trial: TrialRecord) -> str | None:
    """Reason to refuse a trial in which other sockets carried more than a handshake: the client fetched
    something beside what is measured, or before it.

    A browser opens connections that it then does not need, and may come to QUIC by an answer over TCP.
    """
    proof, size_bytes = trial.proof, moved_bytes(trial)
    carried, most = proof.payload_bytes, proof.payload_bytes_of_one_socket
    if carried == UNPROVEN or most == UNPROVEN or size_bytes is None:
        return None
    if may_use_several_sockets(trial) or trial.probe:
        return None
    (sender, way), own = _sender(trial), protocol_of(trial)
    beside = {name: counts[sender] for name, counts in carried.items() if name in _NAMES}
    beside[own] -= most[own][sender]
    for name, count in beside.items():
        if count > min(_BESIDE_BYTES, size_bytes + _HANDSHAKE_BYTES):
            over = f"other {_NAMES[name]} connections {way} the client"
            return f"beside the connection that is measured, {count} bytes went over {over}"
    return None


def _sender(trial: TrialRecord) -> tuple[str, str]:
    """The end that sends the bodies, and a word for their way with `the client` behind it."""
    return ("client", "from") if trial.expected.upload else ("server", "to")


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


# Ends that were stopped during a trial, which then measures that.
#
# A program in a jail cannot stop itself, nor can another: it is the first process of a PID namespace. Its children it
# can stop, and they one another, so that such a stop is its own affair.
#
# Decision 4 (docs/decisions/0004-how-late-is-too-late.md) has what is not seen.
def ends_problem(trial: TrialRecord) -> str | None:
    """Say which of client, server and proxy was stopped from outside; None where none was."""
    for role, stood in _stood_still(trial):
        if stood.number:
            return f"the {role} was stopped from outside for {stood.stopped_ns / 1e6:.1f} ms"
    return None


def children_problem(trial: TrialRecord) -> str | None:
    """Say whose child was stopped, which only its own program can be counted on to do; None where none was."""
    stopped = (role for role, stood in _stood_still(trial) if stood.looks_at_children)
    role = next(stopped, None)
    return role and f"a process that the {role} had started was stopped"


def _stood_still(trial: TrialRecord) -> Iterator[tuple[str, StoodStill]]:
    return ((role, cost.stood_still) for role, cost in trial.host.cost.items())


_LONGEST_REASON = 2000


@dataclass(frozen=True)
class Verdict:
    """Worth of an attempt, and its reason."""

    status: Status
    reason: str


Disturbed = Callable[[TrialRecord], EstimatedDisturbance | None]
"""Estimates what the laboratory added to a trial; None where that is not known."""


def judge(folder: Path, tables: Mapping[str, pl.DataFrame], disturbed: Disturbed = lambda _: None) -> Verdict:
    """Judge the attempt in `folder` by its files and its tables (from `decoders.decode_trial`), complete its
    trial.json, and compress its logs. Calling it again is harmless."""
    document: dict[str, object] = json.loads((folder / "trial.json").read_text())
    verdict = judge_document(document, folder, tables, disturbed)
    pack_logs(folder)
    pack_captures(folder / "raw")
    document["artefacts"] = [as_json(each) for each in register(folder)]
    write_atomically(folder / "trial.json", json.dumps(document, indent=1))
    return verdict


def judge_document(
    document: dict[str, object], folder: Path, tables: Mapping[str, pl.DataFrame], disturbed: Disturbed = lambda _: None
) -> Verdict:
    """Judge the attempt in `folder` as `judge` does, and enter proof, disturbance and verdict into `document`, the
    content of its trial.json; nothing is written."""
    trial = as_trial(document, proof=Proof(), own_failure=None, disturbance=None)
    spoiled = trial.void is not None  # logs that were cut off prove nothing
    proof = {} if spoiled else prove(folder, trial, tables)
    trial = replace(trial, proof=as_record(proof, Proof))
    trial = replace(trial, own_failure=None if spoiled else _own_failure(trial))
    found = None if spoiled or not trial.link.is_told else disturbed(trial)
    if found is not None:
        trial = replace(trial, disturbance=with_bound(trial, found))
    told = _verdict(trial)
    verdict = Verdict(told.status, short_reason(told.reason))
    document |= {
        "proof": proof,
        "own_failure": trial.own_failure,
        "disturbance": trial.disturbance and as_json(trial.disturbance),
        "status": verdict.status,
        "reason": verdict.reason,
    }
    return verdict


def short_reason(reason: str) -> str:
    """A reason as files and tables keep it: it may quote a program."""
    return plain(reason, _LONGEST_REASON)


def problem_of(trial: TrialRecord) -> str | None:
    """Return what was wrong with a judged trial, apart from how its link did."""
    return trial.failure or _transport_problem(trial) or body_problem(trial) or _contradiction(trial)


def _contradiction(trial: TrialRecord) -> str | None:
    """Return what the packets show against the trial, whatever the client reports."""
    carried = carried_problem(trial) or split_problem(trial) or twice_problem(trial)
    return shown_by_packets(trial).problem or carried or trial.proof.account_contradicted


def _verdict(trial: TrialRecord) -> Verdict:
    if (spoiled := trial.void) is not None:
        return Verdict("void", spoiled)
    if (harm := trial.logs_spoiled) is not None:
        return Verdict("failed", harm)
    link = trial.link
    if not link.is_told:
        return Verdict("void", "the link left no account of itself")
    if not link.sound:
        return Verdict("void", "the link: " + "; ".join(link.unsound_reasons))
    if (changed := trial.proof.capture_contradicted) is not None:
        return Verdict("failed", changed)
    if (stood := ends_problem(trial)) is not None:
        return Verdict("void", stood)
    if (trouble := changed_in_vain(trial)) is not None:
        return Verdict("void", trouble)
    if (lost := broken_wire(trial)) is not None:
        return Verdict("void", lost)
    problem = trial.own_failure
    unknown = None if problem else unproven(trial)
    if unknown:  # it could not count anyway, and would be as little known if it were run again
        return Verdict("unproven", unknown)
    if (disturbed := disturbance_problem(trial)) is not None:
        return Verdict("void", disturbed)
    return Verdict("failed", problem) if problem else Verdict("verified", "")


def _own_failure(trial: TrialRecord) -> str | None:
    """Return what its endpoints did wrong in a trial that the laboratory carried to its end; None where nothing was."""
    if not trial.link.is_told:
        return None
    if trial.failure is not None:
        return short_reason(trial.failure + _refused_on_the_way(trial.link))
    found = (check(trial) for check in _CHECKS)
    return next((short_reason(problem) for problem in found if problem), None)


def _refused_on_the_way(link: LinkAccount) -> str:
    """Say how many packets the path blocked, policed or lost for their size, which may be why the trial failed."""
    counts: Counter[str] = Counter()
    for side in (link.up, link.down):
        counts.update(dropped_by(side.dropped, DropKind.BLOCK, DropKind.POLICER, DropKind.SIZE, DropKind.NAT))
    told = [f"{count} {'packets' if count != 1 else 'packet'} as {reason}" for reason, count in counts.items() if count]
    return f"; the path dropped {listed(told)}" if told else ""


def _transport_problem(trial: TrialRecord) -> str | None:
    """A trial that fell back to another protocol is a failure with that reason."""
    proof, wanted = trial.proof, trial.protocol or ""
    expected_transport = "quic" if wanted == "h3" else "tcp"
    if proof.transport not in (expected_transport, UNPROVEN):
        return f"asked for {HTTP_VERSIONS[wanted]} over {expected_transport}, but the packets were {proof.transport}"
    for got in (proof.http_version_seen, proof.http_version):
        if got not in (HTTP_VERSIONS[wanted], UNPROVEN):
            return f"asked for {HTTP_VERSIONS[wanted]}, got {got}"
    asked, got = proof.tcp_congestion_control_asked, proof.tcp_congestion_control
    if wanted != "h3" and got not in (asked, UNPROVEN):
        return f"asked for TCP congestion control {asked}, the sender's socket had {got}"
    return None


_CHECKS = (
    *(children_problem, _transport_problem, control_problem, competition_problem),
    *(body_problem, _contradiction, relay_problem, objects_apart, change_problem, shortfall),
)
"""Checks of a trial that ran to its end, in this order."""
