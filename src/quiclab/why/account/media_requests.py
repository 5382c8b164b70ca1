# SPDX-License-Identifier: Apache-2.0
"""Requests of a player for a video, one after another, and when so much of each answer had come."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Evidence, Unknown, quic, tcp
from quiclab.evidence.metrics.evidence import CAPTURES, End
from quiclab.evidence.metrics.intervals import IntervalSet
from quiclab.model.tables import Row

_READ_LATER_NS = 1_500_000
"""Error of a browser's log, which counts whole milliseconds."""
_WITH_HEADERS = {"tcp": 1.002, "quic": 1.0003}
"""Bytes of the transport for each byte of a body: with headers of frames of 16 KB, and of as many TLS records."""
_ENDS: tuple[End, End] = ("client", "server")
_RANGE = re.compile(r"bytes (\d+)-")
_SEGMENT = re.compile(r"(\d+)-(\d+)\.m4s$")


@dataclass(frozen=True)
class Fetch:
    """One request of a player's and its answer."""

    name: str
    stream: int
    left_ns: int
    """Instant at which the client sent the beginning of the request."""
    asked_ns: int | None
    """Instant at which the server had the whole request; None where neither capture nor log shows it."""
    answers_ns: int | None
    """Instant at which the server sent the header of its answer; None where neither capture nor log shows it."""
    done_ns: int | None
    """Arrival of the answer's last byte; None where it was not complete when the trial was over."""
    begin: int
    """Place in the file of the body's first byte."""
    came: Sequence[tuple[int, int]]
    """(instant, offset in the stream, or in TCP's bytes) whenever more of it could be read in order."""
    marks: Sequence[tuple[int, int]]
    """(instant, bytes of the body that were there by then), from its header on."""
    with_headers: float
    """Bytes of the transport for each byte of the body."""

    @property
    def segment(self) -> int | None:
        """Number of the segment of DASH, from 1; None for other files."""
        found = _SEGMENT.search(self.name)
        return int(found[2]) if found else None

    def arrival(self, place: int) -> int | None:
        """Instant at which the file was there up to a place, as far as this answer brought it; None where it did not.

        Between two marks bytes of the body are taken to be spread evenly over those of the transport, and behind the
        last one with the usual headers between them: the packet found may be one before or behind.
        """
        size = place - self.begin
        at = bisect_left([body for _, body in self.marks], size)
        if size <= 0 or not self.marks:
            return None
        from_ns, before = self.marks[max(0, at - 1)]
        target = self._offset(from_ns) + round((size - before) * self.with_headers)
        if at < len(self.marks):
            until_ns, body = self.marks[at]
            if size == body or body <= before:
                return until_ns
            low, high = self._offset(from_ns), self._offset(until_ns)
            target = low + (high - low) * (size - before) // (body - before)
        found = bisect_left(self.came, target, key=lambda each: each[1])
        return self.came[found][0] if found < len(self.came) else None

    def last_before(self, by_ns: int) -> int | None:
        """Arrival of the last packet with more of this answer by an instant; None where there was none."""
        first = bisect_right(self.came, self.left_ns, key=lambda each: each[0])
        at = bisect_right(self.came, by_ns, key=lambda each: each[0])
        end_ns = self.done_ns or by_ns
        return self.came[at - 1][0] if at > first and self.came[at - 1][0] <= end_ns else None

    def _offset(self, by_ns: int) -> int:
        """The first byte of the packet that had come last."""
        at = bisect_right(self.came, by_ns, key=lambda each: each[0])
        return self.came[at - 2][1] + 1 if at > 1 else 0


def connections(evidence: Evidence) -> set[str]:
    """Names, in the client's records, of the connections over which the video was asked for. Raises Unknown where the
    records do not show the requests."""
    client = _rows(evidence, "client")
    if not client:
        raise Unknown("neither capture nor log of the client shows a request of the player's")
    return {str(rows[0]["connection"]) for rows in client.values()}


def fetches(evidence: Evidence) -> list[Fetch]:
    """Fetches of the video over its one connection, in the order of the requests."""
    client, server = (_rows(evidence, end) for end in _ENDS)
    progress = _Progress.from_evidence(evidence)
    made = [_fetch(progress, rows, server.get(stream, [])) for stream, rows in client.items()]
    return sorted(made, key=lambda each: each.left_ns)


def _rows(evidence: Evidence, end: End) -> dict[int, list[Mapping[str, object]]]:
    """Stream → what the end's sources tell of an answered request for a file of the video, its capture first.

    A capture of headers shows the first requests of a connection and the beginning of their answers.
    """
    video = evidence.trial.expected.video
    folder = (video.name if video else "").rpartition("/")[0]
    captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
    rows = evidence.table("http_requests").filter(
        pl.col("vantage") == end,
        pl.col("url").str.contains(f"/{folder}/", literal=True),
        pl.col("status").is_in([200, 206]),
        pl.col("stream_id").is_not_null(),
        pl.col("send_start_ns").is_not_null(),
    )
    found: dict[int, list[Mapping[str, object]]] = {}
    for row in rows.sort(~pl.col("source").is_in(captures), maintain_order=True).iter_rows(named=True):
        found.setdefault(int(row["stream_id"]), []).append(row)
    return found


def _fetch(progress: _Progress, client: Sequence[Row], server: Sequence[Row]) -> Fetch:
    row, stream = client[0], int(client[0]["stream_id"])
    came = progress.came(stream)
    cancelled = any(each["error"] for each in client)
    ends = ((each["source"], None if cancelled else each["last_byte_ns"]) for each in client)
    source, done_ns = next(((source, at) for source, at in ends if at is not None), ("", None))
    if source not in progress.captures and done_ns is not None:
        done_ns = _before(came, done_ns + _READ_LATER_NS)
    asked_ns, answers_ns = (
        next((each[instant] for each in server if each[instant] is not None), None)
        for instant in ("send_end_ns", "headers_ns")
    )
    begins = (_RANGE.match(each["content_range"] or "") for each in client)
    begin = next((int(found[1]) for found in begins if found), 0)
    left_ns = progress.left(row["source"], stream, row["send_start_ns"])
    name = str(row["url"]).rpartition("/")[2]
    headers = _WITH_HEADERS["quic" if progress.evidence.quic else "tcp"]
    return Fetch(name, stream, left_ns, asked_ns, answers_ns, done_ns, begin, came, progress.marks(row), headers)


def _before(came: Sequence[tuple[int, int]], by_ns: int) -> int | None:
    return max((time_ns for time_ns, _ in came if time_ns <= by_ns), default=None)


@dataclass(frozen=True)
class _Progress:
    """Bytes that came to the client in order, by stream; of TCP, the connection as a whole."""

    evidence: Evidence
    captures: frozenset[str]
    by_stream: Mapping[int, Sequence[tuple[int, int]]]
    asked: Mapping[int, int]
    """QUIC: stream → departure of the first packet with bytes of its request."""

    @classmethod
    def from_evidence(cls, evidence: Evidence) -> _Progress:
        captures = evidence.table("sources").filter(pl.col("format").is_in(CAPTURES))["source"].to_list()
        if not evidence.quic:
            connections = tcp.sent_segments(evidence, "client", "down")
            whole = list(connections[0].in_order()) if connections else []
            return cls(evidence, frozenset(captures), {-1: whole}, {})
        return cls(evidence, frozenset(captures), _in_order(evidence), _asked(evidence))

    def came(self, stream: int) -> Sequence[tuple[int, int]]:
        return self.by_stream.get(stream if self.evidence.quic else -1, [])

    def left(self, source: str, stream: int, told_ns: int) -> int:
        """Departure of a request's first packet: as the capture says, else the one that the log means."""
        if source in self.captures:
            return told_ns
        if self.evidence.quic:
            departed = self.asked.get(stream)
        else:
            sent = self.evidence.packets("client", "up").filter(
                pl.col("payload_bytes") > 0, pl.col("time_ns") >= told_ns - _READ_LATER_NS
            )
            departed = sent["time_ns"].min()  # type: ignore[assignment]
        if departed is None:
            raise Unknown("no packet of the client's is found for a request that its log tells of")
        return departed

    def marks(self, row: Row) -> list[tuple[int, int]]:
        """Progress of a body over time: at its header, with each frame that a capture shows, and at its end."""
        frames = self.evidence.table("http_frames").filter(
            pl.col("source") == row["source"],
            pl.col("stream_id") == row["stream_id"],
            pl.col("frame_type") == "data",
            pl.col("direction") == "down",
        )
        body = 0
        found = [(row["headers_ns"], 0)] if row["headers_ns"] is not None else []
        for last_ns, length in frames.sort("time_ns").select("last_byte_ns", "length_bytes").iter_rows():
            body += length or 0
            if last_ns is not None:  # a browser's log tells only when a frame begins
                found.append((last_ns, body))
        whole = row["source"] in self.captures and row["last_byte_ns"] is not None
        if whole and row["response_body_bytes"] is not None:
            found.append((row["last_byte_ns"], row["response_body_bytes"]))
        return list(_rising(found))


def _rising(marks: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = -1
    for time_ns, body in sorted(marks):
        if body > last:
            last = body
            yield time_ns, body


def _in_order(evidence: Evidence) -> dict[int, list[tuple[int, int]]]:
    arrival = quic.arrivals(evidence)
    frames = [each for each in quic.stream_frames(evidence, "client", "received") if each.packet in arrival]
    seen: dict[int, IntervalSet] = {}
    found: dict[int, list[tuple[int, int]]] = {}
    for frame in sorted(frames, key=lambda each: arrival[each.packet]):
        data = seen.setdefault(frame.stream_id, IntervalSet())
        before = data.reach(0)
        data.add(frame.start, frame.end)
        if data.reach(0) > before:
            found.setdefault(frame.stream_id, []).append((arrival[frame.packet], data.reach(0)))
    return found


def _asked(evidence: Evidence) -> dict[int, int]:
    departed = quic.departures(evidence, "client")
    found: dict[int, int] = {}
    for frame in quic.stream_frames(evidence, "client", "sent"):
        if frame.packet in departed:
            found.setdefault(frame.stream_id, departed[frame.packet][0])
    return found
