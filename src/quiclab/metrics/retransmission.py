# SPDX-License-Identifier: Apache-2.0
"""What the sender of the bodies sent more than once."""

from __future__ import annotations

from collections import defaultdict

from quiclab.metrics import quic, tcp
from quiclab.metrics._api import Metric
from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.intervals import IntervalSet


def retransmitted_bytes(evidence: Evidence) -> float:
    """Payload bytes of the sender beyond the first sending of each."""
    if evidence.trial.get("probe"):
        raise Unknown("the server is not the laboratory's: what it sent is not known, only what reached the link")
    again = 0
    if evidence.quic:
        streams: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
        for frame in quic.stream_frames(evidence, evidence.sender, "sent"):
            again += frame.end - frame.start - streams[frame.stream].add_length(frame.start, frame.end)
        return again
    connections = tcp.sent_segments(evidence, evidence.sender, evidence.way)
    if not connections:
        raise Unknown(f"the {evidence.sender}'s capture holds no packet that the {evidence.sender} sent")
    for segments in connections:
        sent = IntervalSet()
        again += sum(end - start - sent.add_length(start, end) for _, start, end in segments)
    return again


RETRANSMISSION = (
    Metric(
        "retransmitted_bytes",
        "bytes",
        "lower",
        "Bytes that the sender of the bodies (the server; of an upload the client) sent again. TCP: payload whose "
        "sequence number was sent before, in the capture at its end. QUIC: STREAM data whose offset was sent before, "
        "in the decrypted capture at its end or by its own log.",
        retransmitted_bytes,
    ),
)
