# SPDX-License-Identifier: Apache-2.0
"""What the server sent more than once."""

from __future__ import annotations

from collections import defaultdict

from quiclab.metrics import quic, tcp
from quiclab.metrics._api import Metric
from quiclab.metrics.evidence import Evidence, Unknown
from quiclab.metrics.intervals import IntervalSet


def retransmitted_bytes(evidence: Evidence) -> float:
    """Payload bytes of the server beyond the first sending of each."""
    if evidence.trial.get("probe"):
        raise Unknown("the server is not the laboratory's: what it sent is not known, only what reached the link")
    again = 0
    if evidence.quic:
        streams: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
        for frame in quic.stream_frames(evidence, "server", "sent"):
            again += frame.end - frame.start - streams[frame.stream].add_length(frame.start, frame.end)
        return again
    connections = tcp.response_segments(evidence, "server")
    if not connections:
        raise Unknown("the server's capture holds no packet that the server sent")
    for segments in connections:
        sent = IntervalSet()
        again += sum(end - start - sent.add_length(start, end) for _, start, end in segments)
    return again


RETRANSMISSION = (
    Metric(
        "retransmitted_bytes",
        "bytes",
        "lower",
        "Bytes that the server sent again. TCP: payload whose sequence number was sent before, in the capture at the "
        "server's end. QUIC: STREAM data whose offset was sent before, in the decrypted capture at the "
        "server's end or by the server's own log.",
        retransmitted_bytes,
    ),
)
