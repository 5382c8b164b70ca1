# SPDX-License-Identifier: Apache-2.0
"""Cost of a change of the client's address in the middle of a transfer."""

from __future__ import annotations

from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.model.client_account import AddressChangeSeen


def address_change_gap_ms(evidence: Evidence) -> float:
    """No new byte of the body for so long."""
    seen = _seen(evidence)
    before, after = seen.last_byte_before_ns, seen.first_byte_after_ns
    if before is None or after is None:
        raise Unknown("the client did not see bytes of the body on both sides of the change")
    return (after - before) / 1e6


def body_bytes_again(evidence: Evidence) -> float:
    """Body bytes that the client got twice; over QUIC no byte of a stream reaches a program twice."""
    return float(_seen(evidence).body_bytes_again or 0)


def old_address_bytes(evidence: Evidence) -> float:
    """Bytes that the link carried to the client's old address after the client had left it."""
    _change(evidence)
    return float(evidence.for_nobody["size_bytes"].sum())


def address_change_delay_ms(evidence: Evidence) -> float:
    """Delay that the laboratory itself added to the change of address."""
    changed_ns, reached_ns = _change(evidence)
    if reached_ns is None:
        raise Unknown("the address changed at a time")
    return (changed_ns - reached_ns) / 1e6


def _change(evidence: Evidence) -> tuple[int, int | None]:
    """Instants at which the client's old address was gone, and at which the client had asked for that. Raises Unknown
    where it stayed."""
    change = evidence.trial.address_change
    if change is None or change.changed_ns is None:
        raise Unknown("the client's address stayed")
    return change.changed_ns, change.reached_ns


def _seen(evidence: Evidence) -> AddressChangeSeen:
    """Change of address as the client program saw it."""
    _change(evidence)
    seen = evidence.requests[0].address_change
    if seen is None:
        raise Unknown("the client says nothing of the change of its address")
    return seen


ADDRESS_CHANGE = (
    Metric(
        "address_change_gap_ms",
        "gap around the change of address",
        "ms",
        "lower",
        "Around a change of the client's address: the last new byte of the body that the program had before anything "
        "came to the new address, to the first new one after that, by the client's account. Bytes that come once more "
        "are not new.",
        address_change_gap_ms,
    ),
    Metric(
        "body_bytes_again",
        "bytes of the body received again",
        "bytes",
        "lower",
        "Bytes of the body that the client program was given once more after a change of its address, by its account: "
        "all that it had where it starts again, none where it resumes by a range or its connection migrates.",
        body_bytes_again,
    ),
    Metric(
        "old_address_bytes",
        "bytes sent to the old address",
        "bytes",
        "lower",
        "IP packets that the link brought for the client's old address after it was gone, in the client's capture.",
        old_address_bytes,
    ),
    Metric(
        "address_change_delay_ms",
        "delay of the change of address",
        "ms",
        "none",
        "The laboratory's own delay: the client's word that it has so many bytes to the instant at which its old "
        "address was gone. A trial in which it is above 100 ms is invalid.",
        address_change_delay_ms,
    ),
)
