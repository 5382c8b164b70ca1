# SPDX-License-Identifier: Apache-2.0
"""Retransmissions: what the sender of the bodies sent more than once."""

from __future__ import annotations

from collections import defaultdict

from quiclab.evidence.metrics import quic, tcp
from quiclab.evidence.metrics._api import Metric
from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.intervals import IntervalSet


def retransmitted_bytes(evidence: Evidence) -> float:
    """Payload bytes of the sender beyond the first sending of each."""
    if evidence.trial.probe:
        raise Unknown("the server is not the laboratory's: what it sent is not known, only what reached the link")
    again = 0
    if evidence.quic:
        streams: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
        for frame in quic.stream_frames(evidence, evidence.sender, "sent"):
            again += frame.end - frame.start - streams[frame.stream].add_length(frame.start, frame.end)
    # Beside a page's QUIC there are other hosts, which may have TCP alone.
    connections = tcp.sent_segments(evidence, evidence.sender, evidence.way)
    if not connections and not evidence.quic:
        raise Unknown(f"the {evidence.sender}'s capture holds no packet that the {evidence.sender} sent")
    for segments in connections:
        sent = IntervalSet()
        again += sum(end - start - sent.add_length(start, end) for _, start, end in segments)
    return again


def first_retransmission_offset_bytes(evidence: Evidence) -> float:
    """Position of the first payload that was sent again, in the sender's stream (Yu and Benson 2021, Figure 6)."""
    if evidence.trial.probe:
        raise Unknown("the server is not the laboratory's: what it sent is not known, only what reached the link")
    if evidence.quic:
        streams: defaultdict[tuple[str, int], IntervalSet] = defaultdict(IntervalSet)
        for frame in quic.stream_frames(evidence, evidence.sender, "sent"):
            length = frame.end - frame.start
            if streams[frame.stream].add_length(frame.start, frame.end) < length and quic.is_request_stream(
                frame.stream_id
            ):
                return frame.start
        raise Unknown("nothing was sent again")
    connections = tcp.sent_segments(evidence, evidence.sender, evidence.way)
    if not connections:
        raise Unknown(f"the {evidence.sender}'s capture holds no packet that the {evidence.sender} sent")
    again = [found for segments in connections if (found := _first_again(segments)) is not None]
    if not again:
        raise Unknown("nothing was sent again")
    return min(again)[1]


def _first_again(segments: tcp.Segments) -> tuple[int, int] | None:
    """(time_ns, offset from the first byte of payload) of a connection's first segment that was sent before."""
    sent = IntervalSet()
    for time_ns, start, end in segments:
        if sent.add_length(start, end) < end - start:
            return time_ns, start - 1  # the SYN takes the first sequence number
    return None


RETRANSMISSION = (
    Metric(
        "retransmitted_bytes",
        "bytes retransmitted",
        "bytes",
        "lower",
        "Bytes that the sender of the bodies (the server; of an upload the client) sent again. TCP: payload whose "
        "sequence number was sent before, in the capture at its end. QUIC: STREAM data whose offset was sent before, "
        "in the decrypted capture at its end or by its own log. Of a page over both: together.",
        retransmitted_bytes,
        heading="retransmitted",
    ),
    Metric(
        "first_retransmission_offset_bytes",
        "offset of the first retransmission",
        "bytes",
        "none",
        "Where the first data that the sender of the bodies sent again stands in its stream; null where nothing was. "
        "TCP: offset of the sequence number from the first byte of payload, TLS included. QUIC: offset in its stream.",
        first_retransmission_offset_bytes,
    ),
)
