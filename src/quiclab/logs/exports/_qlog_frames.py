# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables `frames` and `http_frames` as qlog's frames (quic-events section 7.13, h3-events section 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from quiclab.logs.exports._details import members, names_and_values, priority
from quiclab.logs.exports._qlog_names import application_error
from quiclab.logs.exports._tables import Row

Json = dict[str, Any]

_STREAM_TYPES_BY_NAME = ("unidirectional", "bidirectional")


def _is_number(value: Any) -> bool:
    return type(value) is int and value in range(1 << 64)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and _HEX.fullmatch(value) is not None


_NUMBER_IS = {
    "max_data": "maximum",
    "max_stream_data": "maximum",
    "max_streams": "maximum",
    "data_blocked": "limit",
    "stream_data_blocked": "limit",
    "streams_blocked": "limit",
    "new_connection_id": "sequence_number",
    "retire_connection_id": "sequence_number",
    "reset_stream": "error_code",
    "reset_stream_at": "error_code",
    "stop_sending": "error_code",
    "connection_close": "error_code",
    "unknown": "frame_type_bytes",
}
"""Names for the column `value` by type of frame; in frames that the draft does not know, it keeps its name."""
_REQUIRED = {
    "new_connection_id": ("retire_prior_to", "connection_id"),
    "reset_stream": ("final_size",),
    "reset_stream_at": ("final_size", "reliable_size"),
    "max_streams": ("stream_type",),
    "streams_blocked": ("stream_type",),
    "unknown": ("frame_type_bytes",),
    "reserved": ("frame_type_bytes",),
}
"""Members that the drafts require, but not every log has."""
_HEX = re.compile(r"([0-9a-f]{2})*")
_IN_DETAIL: dict[str, dict[str, Callable[[Any], bool]]] = {
    "new_connection_id": {"retire_prior_to": _is_number, "connection_id": _is_hex},
    "reset_stream": {"final_size": _is_number},
    "reset_stream_at": {"final_size": _is_number, "reliable_size": _is_number},
    "max_streams": {"stream_type": _STREAM_TYPES_BY_NAME.__contains__},
    "streams_blocked": {"stream_type": _STREAM_TYPES_BY_NAME.__contains__},
    "path_challenge": {"data": _is_hex},
    "path_response": {"data": _is_hex},
    "connection_close": {
        "error_space": ("transport", "application").__contains__,
        "reason": _is_text,
        "reason_bytes": _is_hex,
        "trigger_frame_type": _is_text,
    },
}
"""Members of each type that the column `detail` holds by these names, and what they must be."""
_WITH_DATA = ("stream", "crypto", "datagram", "padding", "new_token")
_STREAM_TYPES = {"streams_bidi": "bidirectional", "streams_uni": "unidirectional"}
_SETTINGS = {
    "qpack_max_table_capacity": "settings_qpack_max_table_capacity",
    "max_field_section_size": "settings_max_field_section_size",
    "qpack_blocked_streams": "settings_qpack_blocked_streams",
    "enable_connect_protocol": "settings_enable_connect_protocol",
    "h3_datagram": "settings_h3_datagram",
}


def quic_frame(row: Row, acks: Sequence[Row], flow_control: Sequence[Row]) -> Json:
    """One QUIC frame; `acks` has the ranges of an ACK frame, `flow_control` what else is known of the instant."""
    kind: str = row["frame_type"]
    frame: Json = {"frame_type": kind}
    for name, kinds in (("stream_id", None), ("offset", ("stream", "crypto")), ("fin", ("stream",))):
        if row[name] is not None and (kinds is None or kind in kinds):
            frame[name] = row[name]
    told = members(row["detail"])
    frame |= {name: told[name] for name, fits in _IN_DETAIL.get(kind, {}).items() if name in told and fits(told[name])}
    if acks:
        if acks[0]["ack_delay_us"] is not None:
            frame["ack_delay"] = acks[0]["ack_delay_us"] / 1000
        # Every range of the frame carries the ECN counts.
        frame |= {name: acks[0][name] for name in ("ect0", "ect1", "ce") if acks[0][name] is not None}
        frame["acked_ranges"] = [_range(each["first"], each["last"]) for each in acks]
    value = row["value"]
    if value is not None:
        name = _NUMBER_IS.get(kind, "value")
        frame[name] = value
        if name == "error_code" and kind != "connection_close":
            frame["error"] = application_error(value)
        if kind in ("max_streams", "streams_blocked") and "stream_type" not in frame:
            scopes = {_STREAM_TYPES.get(each["scope"]) for each in flow_control if each["limit"] == value}
            if len(known := scopes - {None}) == 1:
                frame["stream_type"] = known.pop()
    if row["length_bytes"] is not None:
        frame["raw"] = {"payload_length" if kind in _WITH_DATA else "length": row["length_bytes"]}
    elif kind == "crypto":
        frame["raw"] = {}
    if kind == "new_token":
        frame["token"] = {}
    return frame


def lacking(frame: Json) -> tuple[str, ...]:
    """Members of a frame, QUIC's or HTTP/3's, that the drafts require and no log had."""
    return tuple(name for name in _REQUIRED.get(frame["frame_type"], ()) if name not in frame)


def _range(first: int, last: int) -> list[int]:
    return [first] if first == last else [first, last]


def http3_frame(row: Row) -> Json:
    """One HTTP/3 frame."""
    kind: str = row["frame_type"]
    if kind.startswith("unknown"):
        kind = "unknown"
    frame: Json = {"frame_type": kind}
    value = row["value"]
    if kind in ("headers", "push_promise"):
        frame["headers"] = [{"name": name, "value": text} for name, text in names_and_values(row["detail"])]
    elif kind == "settings":
        frame["settings"] = [_setting(name, text) for name, text in names_and_values(row["detail"]) if text.isdigit()]
    elif kind == "priority_update":
        frame["priority_field_value"] = priority(row["detail"])
    known = {"goaway": "id", "cancel_push": "push_id", "max_push_id": "push_id", "push_promise": "push_id"}
    known |= {"priority_update": "stream_id", "reserved": "frame_type_bytes", "unknown": "frame_type_bytes"}
    if value is not None:
        frame[known.get(kind, "value")] = value
    if row["length_bytes"] is not None:
        frame["raw"] = {"payload_length": row["length_bytes"]}
    return frame


def _setting(name: str, value: str) -> Json:
    short = name.lower().removeprefix("settings_")
    setting: Json = {"name": _SETTINGS.get(short, "unknown"), "value": int(value)}
    if setting["name"] == "unknown":
        number = int(short, 0) if short.isdigit() or short.startswith("0x") else None
        if number is not None:
            setting["name_bytes"] = number
    return setting
