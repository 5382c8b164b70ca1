# SPDX-License-Identifier: Apache-2.0
"""The document that `quiclab explain --h2 … --h3 … --json` prints, as dataclasses."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.why.account.one_end import OneEnd, Span
from quiclab.why.recordings import RecordedStep, Recordings


@dataclass(frozen=True)
class SpanEntry:
    """A time, with the least and the most that the recording allows."""

    time_ms: float
    """The time."""
    least_ms: float
    """Least that the recording allows."""
    most_ms: float
    """Most that the recording allows."""


@dataclass(frozen=True)
class PartEntry:
    """One part of the time in both recordings."""

    part: str
    """Name of the part; `total` is the whole time to the last byte."""
    h2: SpanEntry
    """The time in the recording of HTTP/2."""
    h3: SpanEntry
    """The time in the recording of HTTP/3."""
    difference: SpanEntry
    """Time by which HTTP/3 took longer."""
    sign_is_told: bool
    """True if the recordings are exact enough to tell which took longer."""


@dataclass(frozen=True)
class RecordingEntry:
    """One recording, and what it shows besides the parts of the time."""

    file: str
    """Name of the recording."""
    level: str
    """Level of evidence: `E1`, `E2`, `E3` or `E4` (docs/explanation/account.md)."""
    path_rate_bit_per_s: float | None
    """Rate at which the path served, by the arrivals; null where packets came in bunches, which show none."""
    first_round_trip_ms: float
    """Time from the client's first packet to the server's; E4: the least round trip that the server measured."""
    answer_wire_bytes: int
    """Bytes of the answer's packets, with IP headers."""
    end_is_shown: bool
    """True if the recording shows that the answer ended; of QUIC no packet does without keys."""
    long_waits: int
    """Number of waits of half a round trip and more."""
    long_waits_ms: float
    """Sum of these waits."""
    bytes_missing_ms: float | None
    """Time in which bytes had come that could not be read, as earlier ones were missing; null where nothing tells."""


@dataclass(frozen=True)
class RecordingsDocument:
    """Differences between the times of two recorded transfers. One transfer each is no test: there is no interval, no
    p."""

    version: int
    """Version of the document's form."""
    h2: RecordingEntry
    """The recording of HTTP/2."""
    h3: RecordingEntry
    """The recording of HTTP/3."""
    parts: tuple[PartEntry, ...]
    """One for each part that both recordings can tell; they add up to the whole."""
    total: PartEntry
    """The whole time to the last byte."""


def recordings_document(version: int, files: tuple[str, str], found: Recordings) -> RecordingsDocument:
    """Put a comparison into its document."""
    return RecordingsDocument(
        version,
        _recording(files[0], found.first),
        _recording(files[1], found.second),
        tuple(map(_part, found.steps)),
        _part(found.total),
    )


def _recording(file: str, account: OneEnd) -> RecordingEntry:
    long = account.long_waits_ms
    return RecordingEntry(
        file,
        str(account.level),
        account.rate_bit_per_s,
        account.seen.round_trip_ns / 1e6,
        int(account.seen.arrivals.size_bytes.sum()),
        account.end_is_shown,
        len(long),
        float(long.sum()),
        account.missing_ms,
    )


def _part(step: RecordedStep) -> PartEntry:
    name = str(step.part) if step.part else "total"
    return PartEntry(name, _span(step.first), _span(step.second), _span(step.difference), step.has_clear_sign)


def _span(span: Span) -> SpanEntry:
    return SpanEntry(span.ms, span.low_ms, span.high_ms)
