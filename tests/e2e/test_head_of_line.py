# SPDX-License-Identifier: Apache-2.0
"""Head-of-line blocking of real trials, held against a second computation: byte by byte, from the raw packets."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_ARMS = {protocol: f'protocol = "{protocol}"\nclient = "curl-cffi"\nserver = "{{server}}"' for protocol in ("h2", "h3")}
_OBJECT_FRAMES = ("headers", "data", "continuation", "push_promise")
_NEVER = np.iinfo(np.int64).max


class _Kept:
    """Tables of one trial, as the study keeps them."""

    def __init__(self, study: Path, trial: dict[str, Any]) -> None:
        self._study, self.trial_id = study, trial["trial_id"]
        self.upload = trial["expected"]["direction"] == "upload"
        self.receiver, self.way = ("server", "up") if self.upload else ("client", "down")

    def table(self, name: str) -> pl.DataFrame:
        return pl.read_parquet(self._study / "tables" / name / f"{self.trial_id}.parquet")

    def captured(self, name: str) -> pl.DataFrame:
        """Rows of the receiver's capture that are about the bodies' direction."""
        told = self.table(name).filter(pl.col("source").str.contains(f"{self.receiver}.pcapng"))
        return told.filter(pl.col("direction") == self.way)

    @property
    def values(self) -> dict[str, float | None]:
        return dict(self.table("metrics").select("name", "value").iter_rows())


def _bytes_over_tcp(kept: _Kept) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], Any]:
    """Arrays over the bytes of the direction: arrival by raw sequence numbers, stream (−1 is nobody's), true for a
    record's own bytes, and the record's number."""
    records = kept.captured("tls_records")
    size = int((records["first_byte"] + records["length_bytes"]).max()) - 1  # type: ignore[operator]
    arrived = np.full(size, _NEVER)
    packets = kept.captured("ip_packets").filter(protocol="tcp")
    (initial,) = packets.filter(pl.col("tcp_flags") & 2 != 0)["tcp_seq"].unique()
    for seq, payload, time_ns in packets.select("tcp_seq", "payload_bytes", "time_ns").iter_rows():
        at = (seq - initial - 1) % 2**32
        if payload:
            arrived[at : at + payload] = np.minimum(arrived[at : at + payload], time_ns)
    content = np.zeros(size, bool)
    record_of = np.zeros(size, np.int64)
    columns = ("first_byte", "length_bytes", "content_bytes", "content_type")
    for number, (first, length, plain, kind) in enumerate(records.select(columns).iter_rows()):
        record_of[first - 1 : first - 1 + length] = number
        if kind == "application_data":
            content[first + 4 : first + 4 + plain] = True
    told = [-1] * 24 if kept.upload else []
    frames = kept.captured("http_frames").filter(http_version="HTTP/2")
    for stream_id, kind, length in frames.select("stream_id", "frame_type", "length_bytes").iter_rows():
        told += [stream_id if kind in _OBJECT_FRAMES else -1] * (9 + length)
    stream = np.full(size, -1)
    places = np.flatnonzero(content)
    assert len(told) == len(places)
    stream[places] = told
    # A record's header goes with the next byte of content, its tag with the one before.
    own = ~content
    for number in range(record_of[-1] + 1):
        within = np.flatnonzero(record_of == number)
        inner = within[content[within]]
        if inner.size:
            stream[within[within < inner[0]]], stream[within[within > inner[-1]]] = stream[inner[0]], stream[inner[-1]]
    assert arrived.max() < _NEVER
    return arrived, stream, own, record_of


def _by_bytes_over_tcp(kept: _Kept) -> dict[tuple[int, str], list[tuple[int, int]]]:
    """Waits of single bytes (begin, end), by stream and cause."""
    arrived, stream, own, record_of = _bytes_over_tcp(kept)
    before = np.maximum.accumulate(arrived)
    whole = np.array([before[record_of == number].max() for number in range(record_of[-1] + 1)])[record_of]
    _check_delivered(kept, whole[~own])
    found: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for stream_id in set(stream) - {-1}:
        at = np.flatnonzero(stream == stream_id)
        gap = np.maximum.accumulate(arrived[at])
        steps = (arrived[at], gap, before[at], whole[at])
        for cause, begin, end in zip(("own_gap", "other_gap", "tls_record"), steps[:-1], steps[1:], strict=True):
            waits = (end > begin) & ~own[at]
            found[int(stream_id), cause] += zip(begin[waits].tolist(), end[waits].tolist(), strict=True)
    return found


def _check_delivered(kept: _Kept, readable_ns: np.ndarray[Any, Any]) -> None:
    """The decoder, which puts segments in order and opens records, could read each DATA frame's end in that instant."""
    frames = kept.captured("http_frames").filter(http_version="HTTP/2")
    ends = (frames["length_bytes"].cast(pl.Int64) + 9).cum_sum() + 24 * kept.upload - 1
    data = frames["frame_type"] == "data"
    assert frames.filter(data)["last_byte_ns"].to_list() == readable_ns[ends.filter(data).to_numpy()].tolist()


def _by_bytes_over_quic(kept: _Kept) -> dict[tuple[int, str], list[tuple[int, int]]]:
    frames = kept.captured("frames").filter(pl.col("frame_type") == "stream", pl.col("stream_id") % 4 == 0)
    found: defaultdict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for (stream_id,), rows in frames.group_by("stream_id"):
        arrived = np.full(int((rows["offset"] + rows["length_bytes"]).max()), _NEVER)  # type: ignore[arg-type]
        for offset, length, time_ns in rows.select("offset", "length_bytes", "time_ns").iter_rows():
            arrived[offset : offset + length] = np.minimum(arrived[offset : offset + length], time_ns)
        gap = np.maximum.accumulate(arrived)
        waits = gap > arrived
        assert isinstance(stream_id, int)
        found[stream_id, "own_gap"] += zip(arrived[waits].tolist(), gap[waits].tolist(), strict=True)
    return found


def _covered_ns(spans: list[tuple[int, int]]) -> int:
    """Length of the union of spans, by the stretches between all of their ends."""
    ends = sorted({end for span in spans for end in span})
    different = set(spans)
    return sum(
        later - sooner
        for sooner, later in pairwise(ends)
        if any(begin <= sooner and later <= until for begin, until in different)
    )


def _check(kept: _Kept, found: dict[tuple[int, str], list[tuple[int, int]]]) -> None:
    """Hold every sum of the table and the metrics against the waits of single bytes."""
    table = kept.table("delivery_waits").filter(pl.col("cause").is_in(["own_gap", "other_gap", "tls_record"]))
    sums = {
        (stream_id, cause): (size, pytest.approx(byte_ms))
        for stream_id, cause, size, byte_ms in table.group_by("stream_id", "cause")
        .agg(pl.col("bytes").sum(), pl.col("byte_milliseconds").sum())
        .iter_rows()
    }
    assert {
        key: (len(waits), sum(end - begin for begin, end in waits) / 1e6) for key, waits in found.items() if waits
    } == sums
    values = kept.values
    blocked = {stream: waits for (stream, cause), waits in found.items() if cause == "other_gap"}
    assert values["hol_blocked_bytes"] == sum(map(len, blocked.values()))
    lengths_ms = [_covered_ns(waits) / 1e6 for waits in blocked.values()]
    assert values["hol_blocked_ms"] == pytest.approx(sum(lengths_ms))
    assert values["hol_longest_blocked_ms"] == pytest.approx(max(lengths_ms, default=0))


@pytest.mark.parametrize(("direction", "server"), [("download", "caddy"), ("upload", "nginx")])
def test_waits_are_those_of_each_byte(tmp_path: Path, direction: str, server: str) -> None:
    """Six objects at 3 % loss both ways: over TCP some wait for others, over QUIC each for its own bytes alone."""
    need(("client", "curl-cffi"), ("server", server))
    arms = {name: text.format(server=server) for name, text in _ARMS.items()}
    workload = f'size = "60 KB"\ncount = 6\ndirection = "{direction}"'
    trials = run_arms(tmp_path, arms, None, path='loss = "3 %"', workload=workload)
    assert {name: trial["status"] for name, trial in trials.items()} == dict.fromkeys(arms, "verified")
    h2, h3 = (_Kept(tmp_path / "study", trials[name]) for name in arms)
    _check(h2, _by_bytes_over_tcp(h2))
    _check(h3, _by_bytes_over_quic(h3))
    assert h2.table("delivery_waits").filter(cause="other_gap").height, "the seed loses packets with others behind"
    assert h2.values["hol_overtaken_pct"] == 0, "the link keeps the order"
    assert h3.values["hol_blocked_ms"] == 0
    assert h3.table("delivery_waits").filter(cause="own_gap").height


def test_reordering_is_told_from_loss(tmp_path: Path) -> None:
    """Packets that are held back for 3 ms and lose nothing: every gap ends with bytes that had been sent earlier."""
    need(("client", "curl-cffi"), ("server", "caddy"))
    arms = {name: text.format(server="caddy") for name, text in _ARMS.items()}
    path = 'queue = "200 packets"\ndown = { reorder = { probability = "5 %", extra_delay = "3 ms" } }'
    trials = run_arms(tmp_path, arms, None, path=path, workload='size = "60 KB"\ncount = 6')
    for name in arms:
        waits = _Kept(tmp_path / "study", trials[name]).table("delivery_waits")
        gaps = waits.filter(pl.col("cause").is_in(["own_gap", "other_gap"]))
        assert gaps.height
        assert gaps["overtaken"].all(), gaps
