# SPDX-License-Identifier: Apache-2.0
"""Events of the current drafts in the words of qlog 0.3 (draft-ietf-quic-qlog-main-schema-02, -quic-events-01,
-h3-events-01), which tools such as qvis still need."""

from __future__ import annotations

from quiclab.logs.exports._qlog_frames import Json

_CATEGORIES = {
    "connectivity": "connection_started connection_closed",
    "transport": "version_information alpn_information parameters_set parameters_restored packet_sent "
    "packet_received packet_dropped packet_buffered",
    "recovery": "packet_lost congestion_state_updated",
}
_NAMES = {f"quic:{name}": f"{category}:{name}" for category, names in _CATEGORIES.items() for name in names.split()} | {
    "quic:frames_created": "transport:frames_processed",
    "quic:frames_parsed": "transport:frames_processed",
    "quic:recovery_metrics_updated": "recovery:metrics_updated",
    "quic:timer_updated": "recovery:loss_timer_updated",
    "http3:parameters_set": "http:parameters_set",
    "http3:frame_created": "http:frame_created",
    "http3:frame_parsed": "http:frame_parsed",
    "http3:stream_type_set": "http:stream_type_set",
}
_MEMBERS = {
    "initiator": "owner",
    "connection_error": "connection_code",
    "application_error": "application_code",
}
_TIMERS = {"pto": "pto", "ack": "ack", "loss_timeout": "ack"}
"""Names of the timers in 0.3; `loss_timeout` is the time threshold's (RFC 9002 section 6.1.2)."""


def event_of_03(name: str, data: Json) -> tuple[str, Json] | None:
    """Name and data of an event in 0.3; None if 0.3 has no such event."""
    renamed = _NAMES.get(name)
    if renamed is None:
        return None
    if name == "quic:timer_updated":
        if data.get("timer_type") not in _TIMERS:
            return None
        return renamed, data | {"timer_type": _TIMERS[data["timer_type"]]}
    if name == "quic:connection_started":
        return renamed, _ends(data)
    told = {_MEMBERS.get(member, member): value for member, value in data.items()}
    if "frames" in told:
        told["frames"] = [_frame(frame) for frame in told["frames"]]
    return renamed, told


def _ends(data: Json) -> Json:
    told: Json = {}
    for end, way in (("local", "src"), ("remote", "dst")):
        known = data.get(end, {})
        for member in ("ip", "port"):
            value = known.get(f"{member}_v4", known.get(f"{member}_v6"))
            if value is not None:
                told[f"{way}_{member}"] = value
        if known.get("connection_ids"):
            told[f"{way}_cid"] = known["connection_ids"][0]
    return told


def _frame(frame: Json) -> Json:
    """Convert a frame: the length of its data is a member of its own, and a range has two ends even for one packet."""
    told = dict(frame)
    length = frame.get("raw", {}).get("payload_length")
    if length is not None:
        told["length"] = length
    if "acked_ranges" in frame:
        told["acked_ranges"] = [[each[0], each[-1]] for each in frame["acked_ranges"]]
    return told
