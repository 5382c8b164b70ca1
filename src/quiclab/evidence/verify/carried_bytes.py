# SPDX-License-Identifier: Apache-2.0
"""Check that the arm's own transport carried what the trial moved: payload is counted, for which no key is needed."""

from __future__ import annotations

from quiclab.evidence.metrics.expected_bytes import may_use_several_sockets, moved_bytes, protocol_of
from quiclab.model.proof_record import UNPROVEN
from quiclab.model.trial_record import TrialRecord

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
