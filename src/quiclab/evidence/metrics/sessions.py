# SPDX-License-Identifier: Apache-2.0
"""Beginning of each connection of a client: a full handshake, a resumed session, or 0-RTT data."""

from __future__ import annotations

from collections.abc import Callable

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.proof_record import UNPROVEN, ConnectionProof

_BEGINNINGS = {
    "connections_full": "those that began with a full handshake",
    "connections_resumed": "those that resumed a session and sent no 0-RTT data",
    "connections_early_data_accepted": "those whose 0-RTT data the server accepted",
    "connections_early_data_rejected": "those whose 0-RTT data the server rejected",
    "connections_given_up": "those whose handshake did not come to its end, as of browsers that open several at a time",
}


def beginning(answer: ConnectionProof) -> str | None:
    """Name of the metric that counts a connection of the proof; None where the answer to 0-RTT data stayed closed."""
    if answer.early_data in ("accepted", "rejected"):
        return f"connections_early_data_{answer.early_data}"
    if answer.resumed is None:
        return "connections_given_up"
    if answer.early_data is None:
        return None
    return "connections_resumed" if answer.resumed else "connections_full"


def _count(name: str) -> Callable[[Evidence], float]:
    def compute(evidence: Evidence) -> float:
        answers = evidence.trial.proof.answers
        if answers == UNPROVEN or not answers:
            raise Unknown("the packets were not decrypted")
        found = [beginning(answer) for answer in answers]
        if None in found:
            raise Unknown("the server's answer to 0-RTT data stayed closed")
        return float(found.count(name))

    return compute


SESSIONS = tuple(
    Metric(
        name,
        name.replace("_", " "),
        "",
        "none",
        f"Of the client's connections, {what}, by the decrypted handshakes.",
        _count(name),
    )
    for name, what in _BEGINNINGS.items()
)
