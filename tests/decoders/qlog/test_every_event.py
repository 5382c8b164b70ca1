# SPDX-License-Identifier: Apache-2.0
"""Every event and member of the current drafts: it changes a row, or it is counted by its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from quiclab.logs.decoders import Context, FileTables, decoder_of

_ENDS = {"ip_v4": "192.0.2.1", "port_v4": 443}
_MOVE = {"tuple_id": "1", "tuple_local": _ENDS, "tuple_remote": _ENDS}
_HEADER = {
    "packet_type": "initial", "packet_type_bytes": 1, "spin_bit": True, "key_phase": 1, "key_phase_bit": True,
    "packet_number_length": 2, "packet_number": 7, "token": {"type": "retry"}, "length": 60, "version": "00000001",
    "scil": 4, "dcil": 4, "scid": "0a0a0a0a", "dcid": "0b0b0b0b",
}  # fmt: skip
_RAW = {"length": 90, "payload_length": 80}
_FRAME = {"frame_type": "max_data", "maximum": 7}
_PACKET = {"header": _HEADER, "raw": _RAW, "datagram_payload_checksum": 5, "trigger": "keys_available"}
_BLOCKED = {"old": "blocked", "new": "unblocked", "reason": "pacing"}
_HTTP3 = {"stream_id": 0, "frame": {"frame_type": "data", "raw": {"payload_length": 5}}}
_KEY = {"key_type": "client_1rtt_secret", "key_phase": 1, "trigger": "tls"}
_SETTINGS = dict.fromkeys(("max_field_section_size", "max_table_capacity", "blocked_streams_count", "h3_datagram"), 1)

EVENTS: dict[str, dict[str, Any]] = {
    "quic:server_listening": {**_ENDS, "ip_v6": "::1", "port_v6": 443, "retry_required": False},
    "quic:connection_started": {"local": _ENDS, "remote": _ENDS},
    "quic:connection_closed": {
        "initiator": "remote", "connection_error": "no_error", "application_error": "http_no_error", "error_code": 5,
        "internal_code": 6, "reason": "done", "trigger": "application",
    },
    "quic:connection_id_updated": {"initiator": "local", "old": "0a", "new": "0b"},
    "quic:spin_bit_updated": {"state": True},
    "quic:connection_state_updated": {"old": "attempted", "new": "handshake_started"},
    "quic:tuple_assigned": _MOVE,
    "quic:mtu_updated": {"old": 1200, "new": 1400, "done": True},
    "quic:version_information": {
        "server_versions": ["00000001"], "client_versions": ["00000001"], "chosen_version": "00000001"
    },
    "quic:alpn_information": {"server_alpns": [], "client_alpns": [], "chosen_alpn": {"string_value": "h3"}},
    "quic:parameters_set": {
        "initiator": "local", "resumption_allowed": True, "early_data_enabled": True, "tls_cipher": "AES",
        "max_idle_timeout": 5, "initial_max_data": 6, "preferred_address": {**_ENDS, "connection_id": "0a"},
        "unknown_parameters": [{"id": 77, "value": "00"}], "reset_stream_at": True,
    },
    "quic:parameters_restored": {"max_idle_timeout": 5, "grease_quic_bit": True},
    "quic:packet_sent": {
        **_PACKET, "frames": [_FRAME], "stateless_reset_token": "00" * 16, "supported_versions": ["00000001"],
        "is_mtu_probe_packet": True,
    },
    "quic:packet_received": {
        **_PACKET, "frames": [_FRAME], "stateless_reset_token": "00" * 16, "supported_versions": []
    },
    "quic:packet_dropped": {**_PACKET, "details": {"a": 1}},
    "quic:packet_buffered": _PACKET,
    "quic:packets_acked": {"packet_number_space": "application_data", "packet_numbers": [1, 2]},
    "quic:udp_datagrams_sent": {"count": 1},
    "quic:udp_datagrams_received": {"count": 1},
    "quic:udp_datagram_dropped": {"raw": _RAW},
    "quic:stream_state_updated": {"stream_id": 0, "new": "open", "stream_side": "sending"},
    "quic:frames_created": {"frames": [_FRAME], "packet_numbers": [9]},
    "quic:frames_parsed": {"frames": [_FRAME], "packet_numbers": [9]},
    "quic:frames_processed": {"frames": [_FRAME]},
    "quic:stream_data_moved": {"stream_id": 0},
    "quic:datagram_data_moved": {"from": "application"},
    "quic:connection_data_blocked_updated": _BLOCKED,
    "quic:stream_data_blocked_updated": {**_BLOCKED, "stream_id": 4},
    "quic:datagram_data_blocked_updated": _BLOCKED,
    "quic:migration_state_updated": {"old": "probing_started", "new": "migration_started", **_MOVE},
    "quic:timer_updated": {
        "timer_type": "pto", "timer_id": 1, "packet_number_space": "handshake", "event_type": "expired", "delta": 5
    },
    "quic:key_updated": {**_KEY, "old": "00", "new": "01"},
    "quic:key_discarded": {**_KEY, "key": "00"},
    "quic:recovery_parameters_set": {"reordering_threshold": 3, "timer_granularity": 1, "initial_rtt": 333},
    "quic:recovery_metrics_updated": {
        "min_rtt": 1, "smoothed_rtt": 2, "latest_rtt": 3, "rtt_variance": 4, "pto_count": 1, "congestion_window": 5000,
        "bytes_in_flight": 60, "ssthresh": 70, "packets_in_flight": 8, "pacing_rate": 9,
    },
    "quic:congestion_state_updated": {"old": "slow_start", "new": "recovery", "trigger": "ecn"},
    "quic:packet_lost": {
        "header": _HEADER, "frames": [_FRAME], "is_mtu_probe_packet": True, "trigger": "time_threshold"
    },
    "quic:marked_for_retransmit": {"frames": [_FRAME]},
    "quic:ecn_state_updated": {"old": "testing", "new": "capable"},
    "http3:parameters_set": {"initiator": "local", **_SETTINGS, "extended_connect": 1, "waits_for_settings": True},
    "http3:parameters_restored": {**_SETTINGS, "extended_connect": 1},
    "http3:stream_type_set": {
        "initiator": "local", "stream_id": 2, "stream_type": "control", "stream_type_bytes": 0, "associated_push_id": 1
    },
    "http3:priority_updated": {
        "stream_id": 0, "push_id": 1, "old": "u=3", "new": "u=1", "trigger": "local", "reason": "local_policy"
    },
    "http3:frame_created": _HTTP3,
    "http3:frame_parsed": _HTTP3,
    "http3:datagram_created": {"quarter_stream_id": 0},
    "http3:datagram_parsed": {"quarter_stream_id": 0},
    "http3:push_resolved": {"push_id": 1, "decision": "claimed"},
    "http:capsule_created": {"stream_id": 0, "capsule": {"capsule_type": "datagram"}},
    "http:capsule_parsed": {"stream_id": 0, "capsule": {"capsule_type": "datagram"}},
    "loglevel:error": {"code": 1, "message": "x"},
    "loglevel:warning": {"code": 1, "message": "x"},
    "loglevel:info": {"message": "x"},
    "loglevel:debug": {"message": "x"},
    "loglevel:verbose": {"message": "x"},
    "simulation:scenario": {"name": "x", "details": {}},
    "simulation:marker": {"type": "x", "message": "y"},
}  # fmt: skip
"""draft-ietf-quic-qlog-main-schema-14, -quic-events-13, -h3-events-13: every event, with all its members that say
something of their own."""


def decoded(folder: Path, *events: dict[str, Any]) -> FileTables:
    """These events, behind one of a stream whose kind and priority others tell."""
    path = folder / "client.sqlog"
    fields = {"group_id": "0a", "time_format": "relative_to_epoch", "reference_time": {"clock_type": "monotonic"}}
    trace = {
        "vantage_point": {"type": "client"},
        "common_fields": fields,
        "event_schemas": ["urn:ietf:params:qlog:events:quic-13"],
    }
    header = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": trace}
    streams = [{"frame_type": "stream", "stream_id": number, "raw": {"payload_length": 9}} for number in (0, 2)]
    data = {"header": {"packet_type": "1RTT", "packet_number": 1}, "frames": streams}
    first = {"time": 0.5, "name": "quic:packet_received", "data": data}
    # What the packet that is acknowledged later was lost by.
    lost = {"time": 0.6, "name": "quic:packet_lost", "data": {"header": {"packet_type": "1RTT", "packet_number": 2}}}
    path.write_text("".join(f"\x1e{json.dumps(each)}\n" for each in (header, first, lost, *events)))
    decoder = decoder_of(path)
    assert decoder is not None
    return decoder.decode(path, Context())


def seen(file: FileTables) -> tuple[dict[str, list[Any]], set[tuple[str, int]]]:
    """All rows, and what was counted."""
    return {name: table.rows() for name, table in file.tables.items()}, {(f.name, f.count) for f in file.findings}


@pytest.mark.parametrize("name", EVENTS)
def test_nothing_is_dropped_without_a_word(name: str, tmp_path: Path) -> None:
    """The event, and each of its members, shows in a row or in what was counted."""
    whole = {"time": 1.0, "name": name, "data": EVENTS[name]}
    told = seen(decoded(tmp_path, whole))
    assert told != seen(decoded(tmp_path))
    assert not [finding for finding, _ in told[1] if finding.startswith("unknown_event")]
    if f"not_tabled:{name.rpartition(':')[2]}" in {finding for finding, _ in told[1]}:
        return
    silent = []
    for member in EVENTS[name]:
        less = {key: value for key, value in EVENTS[name].items() if key != member}
        if seen(decoded(tmp_path, whole | {"data": less})) == told:
            silent.append(member)
    for member in _HEADER if "header" in EVENTS[name] else ():
        header = {key: value for key, value in _HEADER.items() if key != member}
        if seen(decoded(tmp_path, whole | {"data": EVENTS[name] | {"header": header}})) == told:
            silent.append(f"header.{member}")
    assert not silent


FRAMES: list[dict[str, Any]] = [
    {"frame_type": "ack", "ack_delay": 1.5, "acked_ranges": [[1, 2], [4]], "ect0": 1, "ect1": 2, "ce": 3},
    {"frame_type": "reset_stream", "stream_id": 4, "error": "http_request_cancelled", "final_size": 9},
    {"frame_type": "reset_stream", "stream_id": 4, "error_code": 7, "final_size": 9},
    {"frame_type": "reset_stream_at", "stream_id": 4, "error_code": 7, "final_size": 9, "reliable_size": 5},
    {"frame_type": "stop_sending", "stream_id": 4, "error": "http_request_cancelled"},
    {"frame_type": "crypto", "offset": 5, "raw": {"payload_length": 6}},
    {"frame_type": "new_token", "token": {"type": "resumption"}, "raw": {"payload_length": 6}},
    {"frame_type": "stream", "stream_id": 4, "offset": 9, "fin": True, "raw": {"payload_length": 6}},
    {"frame_type": "max_stream_data", "stream_id": 4, "maximum": 8},
    {"frame_type": "max_streams", "stream_type": "unidirectional", "maximum": 8},
    {"frame_type": "streams_blocked", "stream_type": "bidirectional", "limit": 8},
    {
        "frame_type": "new_connection_id", "sequence_number": 1, "retire_prior_to": 0, "connection_id_length": 2,
        "connection_id": "0b0b", "stateless_reset_token": "00" * 16,
    },
    {"frame_type": "path_challenge", "data": "0011223344556677"},
    {
        "frame_type": "connection_close", "error_space": "transport", "error": "no_error", "reason": "x",
        "reason_bytes": "78", "trigger_frame_type": "stream",
    },
    {"frame_type": "unknown", "frame_type_bytes": 77, "raw": {"length": 6}},
]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: frame["frame_type"])
def test_no_member_of_a_frame_is_dropped_without_a_word(frame: dict[str, Any], tmp_path: Path) -> None:
    """Each shows in a row, or in what was counted."""

    def told(frame: dict[str, Any]) -> Any:
        data = {"header": {"packet_type": "1RTT", "packet_number": 3}, "frames": [frame]}
        return seen(decoded(tmp_path, {"time": 1.0, "name": "quic:packet_sent", "data": data}))

    whole = told(frame)
    less = [{key: value for key, value in frame.items() if key != member} for member in frame]
    assert all(told(each) != whole for each in less)


def test_what_holds_a_sender_back(tmp_path: Path) -> None:
    """State, reason and stream of each scope, mvfst's idle application too; only limits are flow control's."""
    events = [
        {"time": 1, "name": "quic:connection_data_blocked_updated", "data": _BLOCKED},
        {"time": 2, "name": "quic:stream_data_blocked_updated", "data": {"new": "unblocked", "stream_id": 4}},
        {
            "time": 3, "name": "quic:stream_data_blocked_updated",
            "data": {"new": "blocked", "stream_id": 8, "reason": "connection_flow_control"},
        },
        {
            "time": 4, "name": "quic:datagram_data_blocked_updated",
            "data": {"new": "blocked", "reason": "congestion_control"},
        },
        {"time": 5, "name": "transport:app_idle_update", "data": {"idle": True, "idle_event": "idle"}},
        {"time": 6, "name": "transport:app_limited_update", "data": {"app_limited": "app unlimited"}},
    ]  # fmt: skip
    tables = decoded(tmp_path, *events).tables
    assert tables["blocked"].select("time_ns", "scope", "stream_id", "old_state", "new_state", "reason").rows() == [
        (1_000_000, "connection", None, "blocked", "unblocked", "pacing"),
        (2_000_000, "stream", 4, None, "unblocked", None),
        (3_000_000, "stream", 8, None, "blocked", "connection_flow_control"),
        (4_000_000, "datagram", None, None, "blocked", "congestion_control"),
        (5_000_000, "connection", None, None, "blocked", "application"),
        (6_000_000, "connection", None, None, "unblocked", "application"),
    ]
    assert set(tables["blocked"]["direction"]) == {"up"}
    limited = tables["flow_control"].filter(pl.col("event") != "limit")
    assert limited.select("time_ns", "event", "scope", "stream_id").rows() == [
        (2_000_000, "unblocked", "stream", 4),
        (3_000_000, "blocked", "connection", None),
    ]


def test_how_far_a_sender_could_go_and_what_it_had(tmp_path: Path) -> None:
    """Limit, bytes that were ready and whether the reason was concluded, in the data or beside them."""
    name = "quic:stream_data_blocked_updated"
    data = {"new": "blocked", "stream_id": 4, "reason": "stream_flow_control"}
    own = {"limit": 9000, "ready_bytes": 70, "inferred": True}
    file = decoded(
        tmp_path,
        {"time": 1, "name": name, "data": {**data, **own}},
        {"time": 2, "name": name, "data": data, **own, "inferred": False},
        {"time": 3, "name": name, "data": {"new": "blocked", "stream_id": 4}, "reason": "whim"},
        {"time": 4, "name": name, "data": {**data, "limit": -1, "ready_bytes": "x", "inferred": 5}},
    )
    assert file.tables["blocked"].select("reason", "limit", "ready_bytes", "inferred").rows() == [
        ("stream_flow_control", 9000, 70, True),
        ("stream_flow_control", 9000, 70, False),
        ("whim", None, None, None),
        ("stream_flow_control", None, None, None),
    ]
    assert file.tables["flow_control"].filter(pl.col("event") == "blocked")["limit"].to_list() == [9000, 9000, None]


def test_an_event_may_have_a_time_format_of_its_own(tmp_path: Path) -> None:
    """It counts from the event before, whatever the trace's do."""
    ping = {"header": {"packet_type": "1RTT"}}
    file = decoded(
        tmp_path,
        {"time": 10, "name": "quic:packet_sent", "data": ping},
        {"time": 2, "time_format": "relative_to_previous_event", "name": "quic:packet_sent", "data": ping},
    )
    assert file.tables["packets"]["time_ns"].to_list()[-2:] == [10_000_000, 12_000_000]


def test_parameters_without_a_name_have_their_number(tmp_path: Path) -> None:
    """One row each, as a capture tells them."""
    listed = [{"id": 77, "value": "0a"}, {"id": 2**40}, {"value": "00"}]
    data = {"initiator": "remote", "unknown_parameters": listed}
    file = decoded(tmp_path, {"time": 1, "name": "quic:parameters_set", "data": data})
    assert file.tables["parameters"].select("name", "value").rows() == [
        ("parameters_set.server.0x4d", "0a"),
        ("parameters_set.server.0x10000000000", ""),
    ]
    assert ("impossible_value", 1) in {(finding.name, finding.count) for finding in file.findings}


def test_a_trace_that_vanishes_is_told(tmp_path: Path) -> None:
    """One without events that can be read, and one of which its program could only say that it is lost."""
    path = tmp_path / "a.qlog"
    event = {"time": 1, "name": "quic:packet_sent", "data": {"header": {"packet_type": "1RTT"}}}
    traces = [{"events": [event]}, {"events": []}, {"error_description": "lost"}, {"events": "none"}]
    path.write_text(json.dumps({"qlog_version": "0.4", "traces": traces}))
    decoder = decoder_of(path)
    assert decoder is not None
    findings = {finding.name: finding for finding in decoder.decode(path, Context()).findings}
    assert (findings["empty_trace"].count, findings["empty_trace"].severity) == (3, "data_loss")
