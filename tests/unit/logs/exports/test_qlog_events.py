# SPDX-License-Identifier: Apache-2.0
"""Single rows as qlog's events: every kind, old names, and what the drafts have no word for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from qlog_schema import Drafts, records

from quiclab.logs.exports import Choice, open_tables
from quiclab.logs.exports.qlog import Qlog
from quiclab.model.tables import TABLES

CONNECTION: dict[str, Any] = {"source": "log", "vantage": "client", "connection": "0a", "transport": "quic"}
PACKET = {"event": "sent", "packet_type": "1RTT", "packet_number": 7}


class Made:
    """Tables made of single rows, and the qlog that they become."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self.left_out: Counter[str] = Counter()

    def add(self, table: str, time_ms: float, **members: Any) -> None:
        """One row."""
        known = TABLES[table].schema()
        row = {name: value for name, value in CONNECTION.items() if name in known}
        needed = {"estimate": False} if "estimate" in known else {}
        self._rows.setdefault(table, []).append(row | needed | {"time_ns": round(time_ms * 1e6)} | members)

    def events(self) -> list[dict[str, Any]]:
        """What is written; it must be as the drafts ask."""
        for name, rows in self._rows.items():
            pl.DataFrame(rows, schema=TABLES[name].schema()).write_parquet(self._folder / f"{name}.parquet")
        written = Qlog().write(open_tables(self._folder), Choice(), self._folder)
        self.left_out = written.left_out
        (path,) = written.files
        assert Drafts().check(path) == written.files[path]
        return list(records(path))[1:]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """No rows yet."""
    return Made(tmp_path)


def test_ranges_are_their_packets_and_frames_stay_in_order(made: Made) -> None:
    """An ACK frame takes the ranges of its packet, with the ECN counts of the frame, beside other frames."""
    made.add("packets", 1, **PACKET, length_bytes=60, key_phase=True)
    made.add("frames", 1, **PACKET, frame_type="ack")
    made.add("frames", 1, **PACKET, frame_type="stream", stream_id=0, offset=5, length_bytes=9, fin=True)
    for first, last in ((8, 9), (3, 3)):
        made.add("acks", 1, **PACKET, kind="ack", first=first, last=last, ack_delay_us=250.0, ect0=4, ect1=0, ce=1)
    (event,) = made.events()
    assert event == {
        "time": 0.0,
        "name": "quic:packet_sent",
        "data": {
            "header": {"packet_type": "1RTT", "packet_number": 7, "key_phase_bit": True},
            "frames": [
                {"frame_type": "ack", "ack_delay": 0.25, "ect0": 4, "ect1": 0, "ce": 1, "acked_ranges": [[8, 9], [3]]},
                {"frame_type": "stream", "stream_id": 0, "offset": 5, "fin": True, "raw": {"payload_length": 9}},
            ],
            "raw": {"length": 60},
        },
    }


def test_numbers_of_frames_get_their_names(made: Made) -> None:
    """Limits, errors and sequence numbers; the kind of streams comes from flow control at the same instant."""
    made.add("packets", 1, **PACKET)
    told = {"max_data": 9, "data_blocked": 8, "max_streams": 7, "stop_sending": 0x10C, "retire_connection_id": 2}
    for kind, value in told.items():
        made.add("frames", 1, **PACKET, frame_type=kind, value=value, stream_id=4 if kind == "stop_sending" else None)
    made.add("flow_control", 1, event="limit", scope="streams_uni", limit=7)
    (event,) = made.events()
    assert event["data"]["frames"] == [
        {"frame_type": "max_data", "maximum": 9},
        {"frame_type": "data_blocked", "limit": 8},
        {"frame_type": "max_streams", "maximum": 7, "stream_type": "unidirectional"},
        {"frame_type": "stop_sending", "stream_id": 4, "error_code": 0x10C, "error": "http_request_cancelled"},
        {"frame_type": "retire_connection_id", "sequence_number": 2},
    ]


def test_frames_whose_packet_is_not_told_are_kept(made: Made) -> None:
    """A log of frames alone becomes events of frames."""
    made.add("frames", 1, event="received", frame_type="ping")
    made.add("frames", 2, event="sent", frame_type="ping")
    assert [event["name"] for event in made.events()] == ["quic:frames_parsed", "quic:frames_created"]


def test_rows_out_of_order_are_put_in_order(made: Made) -> None:
    """Times that run backwards in a table do not in the qlog; rows of one instant keep their order."""
    for time, number in ((3, 3), (1, 1), (2, 20), (2, 21)):
        made.add("packets", time, **PACKET | {"packet_number": number})
    made.add("transport_metrics", 1.5, cwnd_bytes=10, bandwidth_bit_per_s=5.0, phase="drain", pacing_rate_bit_per_s=1.6)
    events = made.events()
    assert [event["data"].get("header", {}).get("packet_number") for event in events] == [1, None, 20, 21, 3]
    assert events[1]["data"] == {"congestion_window": 10, "pacing_rate": 2}
    assert (events[1]["phase"], events[1]["bandwidth_bit_per_s"]) == ("drain", 5.0)


def test_words_that_the_draft_lacks_stand_beside_the_data(made: Made) -> None:
    """Triggers and timers of a log's own; packet types that are none."""
    made.add("packets", 1, event="sent", packet_type="1RTT", packet_number=1, trigger="pto_probe")
    made.add("packets", 2, event="sent", packet_type=None, packet_number=2, trigger="whim")
    made.add("packets", 3, event="lost", packet_type="1RTT", packet_number=1)
    made.add("losses", 3, packet_type="1RTT", packet_number=1, rule="time_threshold")
    made.add("timers", 4, timer="pto", event="set", packet_type="1RTT", delta_ms=12.5)
    made.add("timers", 5, timer="anti_deadlock", event="expired")
    made.add("cc_states", 6, old_state="slow_start", new_state="recovery")
    made.add("blocked", 7, scope="stream", stream_id=4, new_state="blocked", reason="stream_flow_control", limit=9)
    made.add("blocked", 8, scope="connection", old_state="blocked", new_state="unblocked", reason="whim")
    sent, whim, lost, pto, own, state, blocked, unblocked = made.events()
    assert sent["data"]["trigger"] == "pto_probe"
    assert (whim["trigger"], whim["data"]["header"]["packet_type"]) == ("whim", "unknown")
    # The log told of the loss as a packet: the table of losses repeats it.
    assert lost["name"] == "quic:packet_lost"
    assert pto["data"] == {
        "event_type": "set", "timer_type": "pto", "packet_number_space": "application_data", "delta": 12.5
    }  # fmt: skip
    assert own["timer"] == "anti_deadlock"
    assert state["data"] == {"old": "slow_start", "new": "recovery"}
    assert blocked["data"] == {"stream_id": 4, "new": "blocked", "reason": "stream_flow_control"}
    # The drafts' data are closed.
    assert blocked["limit"] == 9
    assert (unblocked["data"], unblocked["reason"]) == ({"new": "unblocked", "old": "blocked"}, "whim")


def test_losses_are_told_where_no_packet_is(made: Made) -> None:
    """A capture has estimates of losses, and no events of lost packets."""
    made.add("packets", 1, **PACKET)
    made.add("losses", 2, packet_type="1RTT", packet_number=7, rule="reordering_threshold", estimate=True)
    _, lost = made.events()
    assert lost["data"] == {
        "header": {"packet_type": "1RTT", "packet_number": 7}, "trigger": "reordering_threshold"
    }  # fmt: skip
    assert lost["estimate"] is True


def test_old_names_of_parameters_become_the_drafts(made: Made) -> None:
    """Names of 0.3, versions of any notation, ends by role, errors by number; the rest is counted."""
    made.add("packets", 0, **PACKET)
    for name, value in {
        "connection_started.src_ip": "2001:db8::1",
        "connection_started.src_port": "4433",
        "connection_started.dst_ip": "192.0.2.1",
        "version_information.chosen_version": "1",
        "version_information.client_versions": "[1, 1798521807]",
        "alpn_information.chosen_alpn": "h3",
        "alpn_information.client_alpns": "h3,h2",
        "parameters_set.client.idle_timeout": "30000",
        "parameters_set.client.initial_source_connection_id": "(empty)",
        "parameters_set.client.disable_active_migration": "true",
        "parameters_set.client.initial_max_data": "many",
        "parameters_set.client.colour": "blue",
        "parameters_set.client.0x2b": "0aff",
        "parameters_set.client.0x4d": "many",
        "settings.remote.SETTINGS_QPACK_BLOCKED_STREAMS": "100",
        "connection_closed.remote.connection_code": "296",
        "quic_session.host": "x",
    }.items():
        made.add("parameters", 1, name=name, value=value)
    told = {event["name"]: event["data"] for event in made.events()[1:]}
    assert told == {
        "quic:connection_started": {
            "local": {"ip_v6": "2001:db8::1", "port_v6": 4433}, "remote": {"ip_v4": "192.0.2.1"}
        },
        "quic:version_information": {"chosen_version": "00000001", "client_versions": ["00000001", "6b3343cf"]},
        "quic:alpn_information": {
            "chosen_alpn": {"string_value": "h3"}, "client_alpns": [{"string_value": "h3"}, {"string_value": "h2"}]
        },
        "quic:parameters_set": {
            "initiator": "local", "max_idle_timeout": 30000, "initial_source_connection_id": "",
            "disable_active_migration": True, "unknown_parameters": [{"id": 0x2B, "value": "0aff"}],
        },
        "http3:parameters_set": {"initiator": "remote", "blocked_streams_count": 100},
        "quic:connection_closed": {
            "initiator": "remote", "connection_error": "crypto_error_0x128", "error_code": 296
        },
    }  # fmt: skip
    assert made.left_out == {
        "parameters quic_session": 1,
        "parameters parameters_set.colour": 1,
        "parameters parameters_set.initial_max_data that cannot be read": 1,
        "parameters parameters_set.unknown_parameters that cannot be read": 1,
    }


def test_ends_by_role_are_local_or_remote(made: Made) -> None:
    """A capture knows client and server; whose capture it is says which is local."""
    made.add("packets", 0, **PACKET)
    made.add("parameters", 1, name="connection_started.client", value="[2001:db8::1]:4433")
    made.add("parameters", 1, name="connection_started.server", value="192.0.2.1:443")
    assert made.events()[1]["data"] == {
        "local": {"ip_v6": "2001:db8::1", "port_v6": 4433}, "remote": {"ip_v4": "192.0.2.1", "port_v4": 443}
    }  # fmt: skip


@pytest.mark.parametrize(
    "detail",
    ['{"fields":[[":status","200"],["a","b: c"]]}', '[":status: 200","a: b: c"]', '{":status":"200","a":"b: c"}'],
)
def test_header_fields_are_read_in_every_notation(made: Made, detail: str) -> None:
    """Pairs of a capture, lines of Chromium, an object."""
    members = {"http_version": "HTTP/3", "event": "received", "stream_id": 0, "frame_type": "headers"}
    made.add("http_frames", 1, **members, length_bytes=9, detail=detail)
    made.add("http_frames", 2, **members | {"stream_id": None})
    (event,) = made.events()
    fields = [{"name": ":status", "value": "200"}, {"name": "a", "value": "b: c"}]
    assert event["name"] == "http3:frame_parsed"
    assert event["data"]["frame"] == {"frame_type": "headers", "headers": fields, "raw": {"payload_length": 9}}
    assert made.left_out == {"http_frames without a stream": 1}


def test_settings_priorities_and_stream_types(made: Made) -> None:
    """Known settings by name, others by number; what a stream is for."""
    members = {"http_version": "HTTP/3", "event": "sent", "stream_id": 2}
    made.add("http_frames", 1, **members, frame_type="settings", detail='{"qpack_blocked_streams":100,"0x21":3}')
    made.add("http_frames", 2, **members, frame_type="priority_update", value=4, detail='{"priority":"u=1, i"}')
    made.add("http_frames", 3, **members, frame_type="goaway", value=8)
    made.add("streams", 0, stream_id=2, kind="qpack_encoder")
    kind, *frames = made.events()
    assert kind["data"] == {"stream_id": 2, "stream_type": "qpack_encode"}
    assert [event["data"]["frame"] for event in frames] == [
        {
            "frame_type": "settings",
            "settings": [
                {"name": "settings_qpack_blocked_streams", "value": 100},
                {"name": "unknown", "value": 3, "name_bytes": 0x21},
            ],
        },
        {"frame_type": "priority_update", "priority_field_value": "u=1, i", "stream_id": 4},
        {"frame_type": "goaway", "id": 8},
    ]


def test_a_capture_from_between_is_told_as_the_client_would(tmp_path: Path) -> None:
    """Packets that were seen on the way: what goes up was sent, and the vantage point is the network."""
    (made := Made(tmp_path)).add(
        "packets", 1, event="seen", direction="up", packet_type="1RTT", packet_number=1, vantage=None
    )
    made.add("packets", 2, event="seen", direction="down", packet_type="1RTT", packet_number=1, vantage=None)
    assert [event["name"] for event in made.events()] == ["quic:packet_sent", "quic:packet_received"]
    (header, *_) = records(tmp_path / "0a_unknown.sqlog")
    assert header["trace"]["vantage_point"] == {"name": "log", "type": "network", "flow": "client"}


def test_frames_say_what_the_drafts_require(made: Made) -> None:
    """As the column `detail` has it; of what no log told, the reader is told what is missing."""
    made.add("packets", 1, **PACKET)
    for kind, value, detail in (
        ("reset_stream", 0x10C, '{"final_size":9}'),
        ("new_connection_id", 1, '{"connection_id":"0a0b","retire_prior_to":0}'),
        ("max_streams", 7, '{"stream_type":"bidirectional"}'),
        ("path_challenge", None, '{"data":"0011223344556677","colour":"blue"}'),
        ("reset_stream", 0x10C, '{"final_size":"many"}'),
    ):
        stream = 4 if kind == "reset_stream" else None
        made.add("frames", 1, **PACKET, frame_type=kind, value=value, stream_id=stream, detail=detail)
    (event,) = made.events()
    told = event["data"]["frames"]
    assert told[0] == {
        "frame_type": "reset_stream", "stream_id": 4, "error_code": 0x10C, "error": "http_request_cancelled",
        "final_size": 9,
    }  # fmt: skip
    assert told[1] == {
        "frame_type": "new_connection_id", "sequence_number": 1, "retire_prior_to": 0, "connection_id": "0a0b"
    }  # fmt: skip
    assert told[2]["stream_type"] == "bidirectional"
    assert told[3] == {"frame_type": "path_challenge", "data": "0011223344556677"}
    assert "final_size" not in told[4]
    assert made.left_out == {"final_size of reset_stream frames, which no log tells": 1}


def test_a_frame_without_a_name_has_its_number(made: Made) -> None:
    """Reserved and unknown ones of HTTP/3, whatever a capture calls them."""
    made.add("packets", 1, **PACKET)
    for kind, number in (("reserved", 0x21), ("unknown_0x2f", 0x2F)):
        made.add("http_frames", 2, event="sent", stream_id=2, http_version="HTTP/3", frame_type=kind, value=number)
    assert [event["data"]["frame"] for event in made.events()[1:]] == [
        {"frame_type": "reserved", "frame_type_bytes": 0x21},
        {"frame_type": "unknown", "frame_type_bytes": 0x2F},
    ]
    assert not made.left_out
