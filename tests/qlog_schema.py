# SPDX-License-Identifier: Apache-2.0
"""What the drafts of qlog ask of the events that `quiclab export qlog` writes, as JSON Schema.

Written by hand after draft-ietf-quic-qlog-main-schema-14, -quic-events-13 and -h3-events-13. Their own notation is
CDDL, whose maintained validator for Python takes any map for any event and loses its way in arrays of frames. An
event's members are closed, as in CDDL. A QUIC or HTTP/3 frame may be any map there; here its members are closed too,
and those which the drafts require are required; the ones that `NOT_IN_EVERY_LOG` names only where that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fastjsonschema

Schema = dict[str, Any]

BOOL, TEXT, NUMBER, ANY = {"type": "boolean"}, {"type": "string"}, {"type": "number"}, {}
HEX = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
DATE = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$"}

NOT_IN_EVERY_LOG = {
    "new_connection_id": {"retire_prior_to", "connection_id"},
    "reset_stream": {"final_size"},
    "reset_stream_at": {"final_size", "reliable_size"},
    "max_streams": {"stream_type"},
    "streams_blocked": {"stream_type"},
    "reserved": {"frame_type_bytes"},
    "unknown": {"frame_type_bytes"},
}
"""Members that the drafts require of a frame, but not every log tells: a capture does."""


def uint(bits: int) -> Schema:
    """An unsigned number."""
    return {"type": "integer", "minimum": 0, "maximum": 2**bits - 1}


def words(text: str) -> Schema:
    """One of some words."""
    return {"enum": text.split()}


def several(of: Schema, least: int = 0) -> Schema:
    """An array."""
    return {"type": "array", "items": of, "minItems": least}


def closed(required: Schema, optional: Schema | None = None) -> Schema:
    """An object with these members and no others."""
    members = required | (optional or {})
    return {"type": "object", "properties": members, "required": list(required), "additionalProperties": False}


U8, U16, U32, U64 = (uint(bits) for bits in (8, 16, 32, 64))
RAW = closed({}, {"length": U64, "payload_length": U64, "data": HEX})
INITIATOR = words("local remote")
PACKET_TYPE = words("initial handshake 0RTT 1RTT retry version_negotiation stateless_reset unknown")
SPACE = words("initial handshake application_data")
STREAM_TYPE = words("unidirectional bidirectional")
HTTP3_ERRORS = (
    "http_no_error http_general_protocol_error http_internal_error http_stream_creation_error "
    "http_closed_critical_stream http_frame_unexpected http_frame_error http_excessive_load http_id_error "
    "http_settings_error http_missing_settings http_request_rejected http_request_cancelled http_request_incomplete "
    "http_early_response http_connect_error http_version_fallback"
)
APPLICATION_ERROR = words(f"unknown {HTTP3_ERRORS}")
TRANSPORT_ERROR = {
    "anyOf": [
        words(
            "no_error internal_error connection_refused flow_control_error stream_limit_error stream_state_error "
            "final_size_error frame_encoding_error transport_parameter_error connection_id_limit_error "
            "protocol_violation invalid_token application_error crypto_buffer_exceeded key_update_error "
            "aead_limit_reached no_viable_path unknown"
        ),
        {"type": "string", "pattern": "^crypto_error_0x1[0-9a-f][0-9a-f]$"},
    ]
}
HEADER = closed(
    {"packet_type": PACKET_TYPE},
    {"spin_bit": BOOL, "key_phase": U64, "key_phase_bit": BOOL, "packet_number_length": U8, "packet_number": U64,
     "length": U16, "version": HEX, "scil": U8, "dcil": U8, "scid": HEX, "dcid": HEX},
)  # fmt: skip
END = closed({}, {"ip_v4": TEXT, "port_v4": U16, "ip_v6": TEXT, "port_v6": U16, "connection_ids": several(HEX, 1)})
ALPN = closed({}, {"byte_value": HEX, "string_value": TEXT})
_NUMBERS = (
    "max_idle_timeout max_udp_payload_size ack_delay_exponent max_ack_delay active_connection_id_limit "
    "initial_max_data initial_max_stream_data_bidi_local initial_max_stream_data_bidi_remote "
    "initial_max_stream_data_uni initial_max_streams_bidi initial_max_streams_uni max_datagram_frame_size"
)
_IDS = "original_destination_connection_id initial_source_connection_id retry_source_connection_id"
_FLAGS = "resumption_allowed early_data_enabled disable_active_migration grease_quic_bit reset_stream_at"

_FRAMES = several({"type": "object", "required": ["frame_type"]})
"""Each is looked at by its own schema."""
_PACKET = {"frames": _FRAMES, "raw": RAW, "stateless_reset_token": HEX, "supported_versions": several(HEX, 1)}
_BLOCKED = {
    "old": words("blocked unblocked"),
    "reason": words(
        "scheduling pacing amplification_protection congestion_control connection_flow_control stream_flow_control "
        "stream_id application"
    ),
}
_H3_FRAME = {"stream_id": U64, "frame": {"type": "object", "required": ["frame_type"]}}

EVENTS: dict[str, Schema] = {
    "quic:connection_started": closed({"local": END, "remote": END}),
    "quic:connection_closed": closed(
        {},
        {"initiator": INITIATOR, "connection_error": TRANSPORT_ERROR, "application_error": APPLICATION_ERROR,
         "error_code": U64, "internal_code": U64, "reason": TEXT,
         "trigger": words("idle_timeout application error version_mismatch stateless_reset aborted unspecified")},
    ),
    "quic:version_information": closed(
        {}, {"server_versions": several(HEX, 1), "client_versions": several(HEX, 1), "chosen_version": HEX}
    ),
    "quic:alpn_information": closed(
        {}, {"server_alpns": several(ALPN), "client_alpns": several(ALPN), "chosen_alpn": ALPN}
    ),
    "quic:parameters_set": closed(
        {},
        {"initiator": INITIATOR, "tls_cipher": TEXT, "stateless_reset_token": HEX, **dict.fromkeys(_IDS.split(), HEX),
         **dict.fromkeys(_NUMBERS.split(), U64), **dict.fromkeys(_FLAGS.split(), BOOL),
         "unknown_parameters": several(closed({"id": U64}, {"value": HEX}))},
    ),
    "quic:packet_sent": closed(
        {"header": HEADER},
        {**_PACKET, "trigger": words(
            "retransmit_reordered retransmit_timeout pto_probe retransmit_crypto cc_bandwidth_probe")},
    ),
    "quic:packet_received": closed({"header": HEADER}, {**_PACKET, "trigger": words("keys_available")}),
    "quic:packet_dropped": closed(
        {},
        {"header": HEADER, "raw": RAW, "details": {"type": "object"}, "trigger": words(
            "internal_error rejected unsupported invalid duplicate connection_unknown decryption_failure "
            "key_unavailable general")},
    ),
    "quic:packet_buffered": closed(
        {}, {"header": HEADER, "raw": RAW, "trigger": words("backpressure keys_unavailable")}
    ),
    "quic:packet_lost": closed(
        {},
        {"header": HEADER, "frames": _FRAMES, "is_mtu_probe_packet": BOOL,
         "trigger": words("reordering_threshold time_threshold pto_expired")},
    ),
    "quic:frames_created": closed({"frames": _FRAMES}, {"packet_numbers": several(U64)}),
    "quic:frames_parsed": closed({"frames": _FRAMES}, {"packet_numbers": several(U64)}),
    "quic:timer_updated": closed(
        {"event_type": words("set expired cancelled")},
        {"timer_type": words("ack pto loss_timeout path_validation handshake_timeout idle_timeout"), "timer_id": U64,
         "packet_number_space": SPACE, "delta": NUMBER},
    ),
    "quic:recovery_metrics_updated": closed(
        {},
        {**dict.fromkeys(("min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"), NUMBER), "pto_count": U16,
         **dict.fromkeys(("congestion_window", "bytes_in_flight", "ssthresh", "pacing_rate"), U64)},
    ),
    "quic:congestion_state_updated": closed({"new": TEXT}, {"old": TEXT, "trigger": TEXT}),
    "quic:connection_data_blocked_updated": closed({"new": words("blocked unblocked")}, _BLOCKED),
    "quic:stream_data_blocked_updated": closed({"new": words("blocked unblocked"), "stream_id": U64}, _BLOCKED),
    "quic:datagram_data_blocked_updated": closed({"new": words("blocked unblocked")}, _BLOCKED),
    "http3:parameters_set": closed(
        {},
        {"initiator": INITIATOR, "extended_connect": U16, "h3_datagram": U16, "waits_for_settings": BOOL,
         **dict.fromkeys(("max_field_section_size", "max_table_capacity", "blocked_streams_count"), U64)},
    ),
    "http3:stream_type_set": closed(
        {"stream_id": U64, "stream_type": words("request control push reserved unknown qpack_encode qpack_decode")},
        {"initiator": INITIATOR, "stream_type_bytes": U64, "associated_push_id": U64},
    ),
    "http3:frame_created": closed(_H3_FRAME),
    "http3:frame_parsed": closed(_H3_FRAME),
}  # fmt: skip
"""Data by the event's name."""


def frame(kind: str, required: Schema | None = None, optional: Schema | None = None) -> tuple[str, Schema]:
    """A frame of one type."""
    return kind, closed({"frame_type": {"const": kind}, **(required or {})}, {"raw": RAW, **(optional or {})})


def spared(kind: str, schema: Schema) -> Schema:
    """The same without what not every log tells among what it requires."""
    return schema | {"required": [name for name in schema["required"] if name not in NOT_IN_EVERY_LOG.get(kind, ())]}


_STREAM, _ERROR = {"stream_id": U64}, {"error": APPLICATION_ERROR}
QUIC_FRAMES = dict(
    [
        *(frame(kind) for kind in ("padding", "ping", "handshake_done", "datagram")),
        frame(
            "ack",
            optional={
                "ack_delay": NUMBER,
                "acked_ranges": several({"type": "array", "items": U64, "minItems": 1, "maxItems": 2}, 1),
                **dict.fromkeys(("ect1", "ect0", "ce"), U64),
            },
        ),
        frame("reset_stream", {**_STREAM, **_ERROR, "final_size": U64}, {"error_code": U64}),
        frame("reset_stream_at", {**_STREAM, **_ERROR, "final_size": U64, "reliable_size": U64}, {"error_code": U64}),
        frame("stop_sending", {**_STREAM, **_ERROR}, {"error_code": U64}),
        frame("crypto", {"offset": U64, "raw": RAW}),
        frame("new_token", {"token": {"type": "object"}}),
        frame("stream", _STREAM, {"offset": U64, "fin": BOOL}),
        frame("max_data", {"maximum": U64}),
        frame("max_stream_data", {**_STREAM, "maximum": U64}),
        frame("max_streams", {"stream_type": STREAM_TYPE, "maximum": U64}),
        frame("data_blocked", {"limit": U64}),
        frame("stream_data_blocked", {**_STREAM, "limit": U64}),
        frame("streams_blocked", {"stream_type": STREAM_TYPE, "limit": U64}),
        frame(
            "new_connection_id",
            {"sequence_number": U64, "retire_prior_to": U64, "connection_id": HEX},
            {"connection_id_length": U8, "stateless_reset_token": HEX},
        ),
        frame("retire_connection_id", {"sequence_number": U64}),
        frame("path_challenge", optional={"data": HEX}),
        frame("path_response", optional={"data": HEX}),
        frame(
            "connection_close",
            optional={
                "error_space": words("transport application"),
                "error": {"anyOf": [TRANSPORT_ERROR, APPLICATION_ERROR]},
                "error_code": U64,
                "reason": TEXT,
                "reason_bytes": HEX,
                "trigger_frame_type": {"anyOf": [U64, TEXT]},
            },
        ),
        frame("unknown", {"frame_type_bytes": U64}),
    ]
)
_FIELDS = several(closed({}, {"name": TEXT, "name_bytes": HEX, "value": TEXT, "value_bytes": HEX}))
_SETTING = closed(
    {"value": U64},
    {"name": words(
        "settings_qpack_max_table_capacity settings_max_field_section_size settings_qpack_blocked_streams "
        "settings_enable_connect_protocol settings_h3_datagram reserved unknown"), "name_bytes": U64},
)  # fmt: skip
HTTP3_FRAMES = dict(
    [
        frame("data"),
        frame("headers", {"headers": _FIELDS}),
        frame("cancel_push", {"push_id": U64}),
        frame("settings", {"settings": several(_SETTING)}),
        frame("push_promise", {"push_id": U64, "headers": _FIELDS}),
        frame("goaway", {"id": U64}),
        frame("max_push_id", {"push_id": U64}),
        frame("priority_update", {"priority_field_value": TEXT}, {"stream_id": U64, "push_id": U64}),
        frame("reserved", {"frame_type_bytes": U64}),
        frame("unknown", {"frame_type_bytes": U64}),
    ]
)

FILE = closed(
    {
        "file_schema": {"const": "urn:ietf:params:qlog:file:sequential"},
        "serialization_format": {"const": "application/qlog+json-seq"},
        "trace": closed(
            {
                "event_schemas": several(
                    {"type": "string", "pattern": "^urn:ietf:params:qlog:events:[a-z0-9]+-[0-9]+$"}, 1
                )
            },
            {
                "title": TEXT,
                "description": TEXT,
                "common_fields": {
                    "type": "object",
                    "properties": {
                        "group_id": TEXT,
                        "time_format": words("relative_to_epoch relative_to_previous_event"),
                        "reference_time": closed(
                            {"clock_type": TEXT, "epoch": {"anyOf": [DATE, {"const": "unknown"}]}},
                            {"wall_clock_time": DATE},
                        ),
                    },
                },
                "vantage_point": closed(
                    {"type": words("client server network unknown")},
                    {"name": TEXT, "flow": words("client server unknown")},
                ),
            },
        ),
    },
    {"title": TEXT, "description": TEXT},
)
EVENT = {
    "type": "object",
    "required": ["time", "name", "data"],
    "properties": {"time": NUMBER, "name": {"enum": list(EVENTS)}, "data": {"type": "object"}},
}
"""Its envelope may have members of any name."""

Check = Callable[[Any], Any]


class Drafts:
    """The schemas, ready to be asked."""

    def __init__(self) -> None:
        compiled: Callable[[Schema], Check] = fastjsonschema.compile
        self._file, self._event = compiled(FILE), compiled(EVENT)
        self._events = {name: compiled(schema) for name, schema in EVENTS.items()}
        kinds = {"quic": QUIC_FRAMES, "http3": HTTP3_FRAMES}
        self._whole = {name: {kind: compiled(each) for kind, each in of.items()} for name, of in kinds.items()}
        self._frames = {
            name: {kind: compiled(spared(kind, each)) for kind, each in of.items()} for name, of in kinds.items()
        }

    def check(self, path: Path, *, whole: bool = False) -> int:
        """The number of events of a file. Raises AssertionError with the first record that is not as it should be.

        `whole`: frames have all that the drafts require, `NOT_IN_EVERY_LOG` too.
        """
        header, *events = records(path)
        _hold(self._file, header)
        for event in events:
            _hold(self._event, event)
            _hold(self._events[event["name"]], event["data"])
            data = event["data"]
            for each in (*data.get("frames", ()), *([data["frame"]] if "frame" in data else ())):
                # A frame type that the drafts do not name may be any map.
                frames = self._whole if whole else self._frames
                known = frames[event["name"].split(":")[0]].get(each["frame_type"])
                if known:
                    _hold(known, each)
        return len(events)


def _hold(check: Check, value: Any) -> None:
    try:
        check(value)
    except fastjsonschema.JsonSchemaException as error:
        raise AssertionError(f"{error.message}: {json.dumps(value)[:500]}") from error


def records(path: Path) -> Iterator[Any]:
    """All JSON texts of a sequence; each must begin with a record separator and end with a line feed (RFC 7464)."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("\x1e")
    for record in text[1:].split("\x1e"):
        assert record.endswith("\n")
        yield json.loads(record)
