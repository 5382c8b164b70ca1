# SPDX-License-Identifier: Apache-2.0
"""qlogs read by the json module, the plain way: what the decoder must give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

EVENTS = {"packet_sent": "sent", "packet_received": "received", "packet_lost": "lost", "packet_dropped": "dropped"}
METRICS = {"metrics_updated", "recovery_metrics_updated", "metric_update"}
TYPES = {"initial", "handshake", "0RTT", "1RTT", "retry"}
SPACES = {"initial": 0, "handshake": 1}


@dataclass
class Trace:
    """One trace: its own members, and its events as (time, name, data)."""

    header: dict[str, Any]
    events: list[tuple[Decimal, str, dict[str, Any]]]
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    @property
    def microseconds(self) -> bool:
        """Whether its times, and lengths of time, are in microseconds instead of milliseconds."""
        return bool(self.header.get("configuration", {}).get("time_units") == "us")


def load(text: str | bytes) -> Any:
    """Numbers with a point stay as exact as they are written."""
    return json.loads(text, parse_float=Decimal)


def traces(data: bytes) -> Iterator[Trace]:
    """All traces of a log; one that was cut off ends with its last whole event."""
    if data.startswith(b"\x1e"):
        records = [record for record in data.split(b"\x1e") if record.endswith(b"\n")]
        header, *events = (load(record) for record in records)
        yield Trace(header["trace"], [as_tuple(event, ()) for event in events])
        return
    try:
        document = load(data)
    except json.JSONDecodeError:
        last = max(data.rfind(end) for end in (b"}],[", b"}],\n["))
        document = load(data[: last + 2] + b"]}]}")
    for trace in document["traces"]:
        fields = tuple(name.lower() for name in trace.get("event_fields", ()))
        yield Trace(trace, [as_tuple(event, fields) for event in trace["events"] if event])


def as_tuple(event: Any, fields: tuple[str, ...]) -> tuple[Decimal, str, dict[str, Any]]:
    """Time, name without its namespace, data: of an object, or of an array whose places `fields` name."""
    if isinstance(event, list):
        event = dict(zip(fields, event, strict=False))
        event["time"] = event["relative_time"]
        event["name"] = event.get("event", event.get("event_type"))
    data = event["data"]
    if event.get("trigger") not in (None, "DEFAULT", "UNKNOWN"):
        data = {"trigger": event["trigger"], **data}
    return Decimal(event["time"]), event["name"].split(":")[-1].lower(), data


def epoch_ns(trace: Trace, offset_ns: int) -> int:
    """What must be added to the times of a trace."""
    fields = trace.header["common_fields"]
    reference = fields.get("reference_time")
    if isinstance(reference, dict):
        whole, fraction = reference["wall_clock_time"].rstrip("Z").split(".")
        seconds = int(datetime.fromisoformat(whole + "+00:00").timestamp())
        return seconds * 10**9 + int(fraction.ljust(9, "0")) - offset_ns
    if reference is None:
        return -offset_ns
    reference_ns = int((Decimal(reference) * 10**6).to_integral_value())
    return reference_ns - offset_ns if reference_ns > 10**18 else 0


def number(value: Any) -> int | None:
    """A number that may be written as text."""
    return None if value is None else int(value)


def read(trace: Trace, who: tuple[str | None, str], ways: tuple[str, str], offset_ns: int) -> None:
    """Fill `rows`: packets, frames, acks, transport_metrics, losses, blocked."""
    tables = ("packets", "frames", "acks", "transport_metrics", "losses", "blocked")
    rows: dict[str, list[Any]] = {name: [] for name in tables}
    unit = 1000 if trace.microseconds else 10**6
    zero = epoch_ns(trace, offset_ns)
    sent: dict[tuple[int, int], tuple[int, int | None]] = {}
    acknowledged: list[tuple[int, int, int, int]] = []
    deltas = trace.header["common_fields"].get("time_format") == "delta"
    before_it = Decimal(0)
    for time, name, body in trace.events:
        if deltas:
            time += before_it
            before_it = time
        time_ns = int((time * unit).to_integral_value()) + zero
        if name in EVENTS:
            event = EVENTS[name]
            header = body.get("header", {})
            kind = header.get("packet_type", body.get("packet_type", body.get("type")))
            kind = kind if kind in TYPES else None
            packet_number = number(header.get("packet_number", body.get("packet_number")))
            length = body.get("raw", {}).get("length", header.get("packet_size", body.get("packet_size"))) or None
            way = ways[0] if event in ("sent", "lost") else ways[1]
            key = (*who, event, time_ns, way, kind, packet_number)
            trigger = body.get("trigger")
            rows["packets"].append((*key, "quic", length, trigger))
            space = SPACES.get(kind or "", 2)
            if event == "sent" and packet_number is not None:
                sent[space, packet_number] = (time_ns, length)
            if event == "lost":
                before = sent.get((space, packet_number or 0), (None, None))
                rows["losses"].append(
                    [*who, time_ns, ways[0], kind, packet_number, length or before[1], before[0], space]
                )
            for frame in body.get("frames", []):
                raw = frame.get("raw", {})
                data_length = raw.get("payload_length", frame.get("payload_length", frame.get("length")))
                stream = number(frame.get("stream_id", frame.get("id")))
                members = (stream, number(frame.get("offset")), number(data_length), frame.get("fin"))
                rows["frames"].append((*key, frame["frame_type"].lower(), *members))
                delay = frame.get("ack_delay")
                delay_us = None if delay is None else float(delay) * (1 if trace.microseconds else 1000)
                for acked in frame.get("acked_ranges", []):
                    first, last = int(acked[0]), int(acked[-1])
                    rows["acks"].append((*key, first, last, delay_us))
                    if event == "received":
                        acknowledged.append((time_ns, space, first, last))
        if name == "packets_acked":
            space = SPACES.get(body["packet_number_space"], 2)
            acknowledged += [(time_ns, space, each, each) for each in body["packet_numbers"]]
        if name.endswith("_data_blocked_updated"):
            told = (body.get(member) for member in ("old", "new", "reason", "limit", "ready_bytes", "inferred"))
            rows["blocked"].append((*who, time_ns, ways[0], name.split("_")[0], body.get("stream_id"), *told))
        if name in METRICS:
            rtts = (body.get(member) for member in ("smoothed_rtt", "min_rtt", "latest_rtt", "rtt_variance"))
            scale = 1e-3 if trace.microseconds else 1.0
            threshold = body.get("ssthresh")
            values = [
                body.get("congestion_window", body.get("cwnd")),
                body.get("bytes_in_flight"),
                None if threshold is None or threshold > 2**62 else threshold,
                *(None if rtt is None else float(rtt) * scale for rtt in rtts),
                body.get("pacing_rate"),
                body.get("pto_count"),
            ]
            rows["transport_metrics"].append((*who, time_ns, *values))
    trace.rows = {name: [tuple(row) for row in table] for name, table in rows.items() if name != "losses"}
    trace.rows["losses"] = []
    for *loss, space in rows["losses"]:
        after_all = later(loss[2], space, loss[5], acknowledged)
        trace.rows["losses"].append((*loss, after_all, after_all is not None if acknowledged else None))


def later(lost_ns: int, space: int, packet_number: int, acknowledged: list[tuple[int, int, int, int]]) -> int | None:
    """When a packet was acknowledged that had been declared lost."""
    times = (
        time_ns
        for time_ns, in_space, first, last in acknowledged
        if time_ns >= lost_ns and in_space == space and first <= packet_number <= last
    )
    return next(times, None)
