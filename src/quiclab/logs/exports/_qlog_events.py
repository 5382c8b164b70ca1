# SPDX-License-Identifier: Apache-2.0
"""All rows of one instant of one trace as qlog's events."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quiclab.logs.exports._qlog_frames import Json, http3_frame, lacking, quic_frame
from quiclab.logs.exports._qlog_parameters import parameter_events
from quiclab.logs.exports._tables import Row

TABLES_WRITTEN = (
    "parameters",
    "streams",
    "timers",
    "packets",
    "frames",
    "acks",
    "losses",
    "transport_metrics",
    "cc_states",
    "flow_control",
    "blocked",
    "http_frames",
)
"""Tables that events are made of."""

Instant = Mapping[str, Sequence[Row]]
"""Rows of every table at one instant, in their tables' order."""
Told = tuple[str, Json, Json]
"""Name and data of an event, and further members that the drafts do not have."""

_PACKET_TYPES = ("initial", "handshake", "0RTT", "1RTT", "retry", "version_negotiation", "stateless_reset")
_TRIGGERS = {
    "quic:packet_sent": "retransmit_reordered retransmit_timeout pto_probe retransmit_crypto cc_bandwidth_probe",
    "quic:packet_received": "keys_available",
    "quic:packet_lost": "reordering_threshold time_threshold pto_expired",
    "quic:packet_dropped": "internal_error rejected unsupported invalid duplicate connection_unknown "
    "decryption_failure key_unavailable general",
    "quic:packet_buffered": "backpressure keys_unavailable",
}
_TIMERS = {"pto": "pto", "loss": "loss_timeout", "ack": "ack", "idle": "idle_timeout"}
_SPACES = {"initial": "initial", "handshake": "handshake", "0RTT": "application_data", "1RTT": "application_data"}
_STREAM_TYPES = {
    "request": "request",
    "control": "control",
    "push": "push",
    "qpack_encoder": "qpack_encode",
    "qpack_decoder": "qpack_decode",
}
_REASONS = (
    *("scheduling", "pacing", "amplification_protection", "congestion_control", "connection_flow_control"),
    *("stream_flow_control", "stream_id", "application"),
)
_METRICS = {
    "cwnd_bytes": "congestion_window",
    "bytes_in_flight": "bytes_in_flight",
    "ssthresh_bytes": "ssthresh",
    "smoothed_rtt_ms": "smoothed_rtt",
    "min_rtt_ms": "min_rtt",
    "latest_rtt_ms": "latest_rtt",
    "rtt_variance_ms": "rtt_variance",
    "pto_count": "pto_count",
}


class Teller:
    """Maker of events, which counts what there is no event for."""

    def __init__(self, left_out: Counter[str], *, losses_are_packets: bool, whole_numbers: bool = True) -> None:
        """Start without counts. `losses_are_packets`: the log reported lost packets itself, so that the table `losses`
        repeats them. `whole_numbers`: transport parameters without a name have their whole number, which a NetLog
        truncates.
        """
        self._left_out = left_out
        self._whole_numbers = whole_numbers
        self._losses_are_packets = losses_are_packets

    def events(self, instant: Instant) -> Iterator[Told]:
        """Events of one instant: what was agreed first, then packets, then what they led to."""
        for name, data in parameter_events(instant["parameters"], self._left_out, whole_numbers=self._whole_numbers):
            yield name, data, {}
        for row in instant["streams"]:
            if row["transport"] == "quic" and row["kind"] in _STREAM_TYPES:
                yield _stream_type(row)
        yield from map(_timer, _quic_rows(instant["timers"]))
        for told in _packets(instant):
            self._count_lacking(told[1].get("frames", ()))
            yield told
        if not self._losses_are_packets:
            yield from map(_loss, _quic_rows(instant["losses"]))
        yield from map(_metrics, _quic_rows(instant["transport_metrics"]))
        yield from map(_congestion_state, _quic_rows(instant["cc_states"]))
        for row in _quic_rows(instant["blocked"]):
            if row["scope"] in ("connection", "stream", "datagram"):
                yield _blocked(row)
        for row in instant["http_frames"]:
            if row["http_version"] == "HTTP/3":
                yield from self._http3(row)

    def _count_lacking(self, frames: Sequence[Json]) -> None:
        for frame in frames:
            for member in lacking(frame):
                self._left_out[f"{member} of {frame['frame_type']} frames, which no log tells"] += 1

    def _http3(self, row: Row) -> Iterator[Told]:
        if row["stream_id"] is None:
            self._left_out["http_frames without a stream"] += 1
            return
        name = "http3:frame_created" if _is_sent(row) else "http3:frame_parsed"
        frame = http3_frame(row)
        self._count_lacking([frame])
        yield name, {"stream_id": row["stream_id"], "frame": frame}, {}


def _quic_rows(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["transport"] == "quic"]


def _is_sent(row: Row) -> bool:
    """True if a packet was sent. One that was seen on the way, at neither end, is told from the client's point of
    view."""
    return bool(row["event"] == "sent" or (row["event"] == "seen" and row["direction"] == "up"))


def _packet_key(row: Row) -> tuple[Any, ...]:
    return row["event"], row["packet_type"], row["packet_number"]


def _packets(instant: Instant) -> Iterator[Told]:
    frames, acks = defaultdict(list), defaultdict(list)
    for row in instant["frames"]:
        frames[_packet_key(row)].append(row)
    for row in _quic_rows(instant["acks"]):
        acks[_packet_key(row)].append(row)

    def taken(key: tuple[Any, ...]) -> list[Json]:
        ranges = acks.pop(key, [])
        told = []
        for row in frames.pop(key, []):
            is_ack = row["frame_type"] == "ack"
            told.append(quic_frame(row, ranges if is_ack else (), instant["flow_control"]))
            ranges = [] if is_ack else ranges
        return told

    for row in _quic_rows(instant["packets"]):
        yield _packet(row, taken(_packet_key(row)))
    for key in list(frames):
        sent = _is_sent(frames[key][0])
        name = "quic:frames_created" if sent else "quic:frames_parsed"
        yield name, {"frames": taken(key)}, {}


def _packet(row: Row, frames: list[Json]) -> Told:
    event = row["event"]
    if event == "seen":
        event = "sent" if _is_sent(row) else "received"
    name = f"quic:packet_{event}"
    data: Json = {"header": _header(row)}
    if frames:
        data["frames"] = frames
    if row["length_bytes"] is not None and event != "lost":
        data["raw"] = {"length": row["length_bytes"]}
    return name, data, _trigger(name, row["trigger"], data)


def _header(row: Row) -> Json:
    kind = row["packet_type"] if row["packet_type"] in _PACKET_TYPES else "unknown"
    header: Json = {"packet_type": kind}
    if row["packet_number"] is not None:
        header["packet_number"] = row["packet_number"]
    if kind == "1RTT" and row.get("key_phase") is not None:
        header["key_phase_bit"] = row["key_phase"]
    return header


def _trigger(name: str, trigger: str | None, data: Json) -> Json:
    """Put the trigger into the data if the draft has that word; else return it as a further member."""
    if trigger in _TRIGGERS.get(name, "").split():
        data["trigger"] = trigger
        return {}
    return {} if trigger is None else {"trigger": trigger}


def _estimate(row: Row) -> Json:
    return {"estimate": True} if row["estimate"] else {}


def _loss(row: Row) -> Told:
    data: Json = {"header": _header(row)}
    return "quic:packet_lost", data, _trigger("quic:packet_lost", row["rule"], data) | _estimate(row)


def _metrics(row: Row) -> Told:
    data: Json = {told: row[name] for name, told in _METRICS.items() if row[name] is not None}
    if row["pacing_rate_bit_per_s"] is not None:
        data["pacing_rate"] = round(row["pacing_rate_bit_per_s"])
    beside = {name: row[name] for name in ("bandwidth_bit_per_s", "phase") if row[name] is not None}
    return "quic:recovery_metrics_updated", data, beside | _estimate(row)


def _congestion_state(row: Row) -> Told:
    told = {"old": row["old_state"], "new": row["new_state"], "trigger": row["trigger"]}
    data = {name: value for name, value in told.items() if value is not None}
    return "quic:congestion_state_updated", data, _estimate(row)


def _timer(row: Row) -> Told:
    data: Json = {"event_type": row["event"]}
    beside = _estimate(row)
    if row["timer"] in _TIMERS:
        data["timer_type"] = _TIMERS[row["timer"]]
    else:
        beside["timer"] = row["timer"]
    if row["packet_type"] in _SPACES:
        data["packet_number_space"] = _SPACES[row["packet_type"]]
    if row["delta_ms"] is not None:
        data["delta"] = row["delta_ms"]
    return "quic:timer_updated", data, beside


def _blocked(row: Row) -> Told:
    data: Json = {"new": row["new_state"]}
    if row["old_state"] is not None:
        data["old"] = row["old_state"]
    beside: Json = {name: row[name] for name in ("limit", "ready_bytes", "inferred") if row[name] is not None}
    if row["reason"] in _REASONS:
        data["reason"] = row["reason"]
    elif row["reason"] is not None:
        beside["reason"] = row["reason"]
    if row["scope"] == "stream":
        data = {"stream_id": row["stream_id"], **data}
    return f"quic:{row['scope']}_data_blocked_updated", data, beside


def _stream_type(row: Row) -> Told:
    return "http3:stream_type_set", {"stream_id": row["stream_id"], "stream_type": _STREAM_TYPES[row["kind"]]}, {}
