# SPDX-License-Identifier: Apache-2.0
"""QUIC packets and frames of a capture, as tshark tells of them and as our tables do, in one shape."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl

Frame = list[Any]
"""Its name, then the numbers that identify it; an ACK's are its ranges."""
Packet = list[Any]
"""Its type, number, length and frames."""
Packets = dict[int, list[Packet]]
"""By the number of the IP packet that carries them, from 0."""

_LONG_TYPES = {
    "quic.long.packet_type": ("initial", "0RTT", "handshake", "retry"),
    "quic.long.packet_type_v2": ("retry", "initial", "0RTT", "handshake"),
}
_NAMES = [
    *("padding", "ping", "ack", "ack", "reset_stream", "stop_sending", "crypto", "new_token"),
    *["stream"] * 8,
    *("max_data", "max_stream_data", "max_streams", "max_streams"),
    *("data_blocked", "stream_data_blocked", "streams_blocked", "streams_blocked"),
    *("new_connection_id", "retire_connection_id", "path_challenge", "path_response"),
    *("connection_close", "connection_close", "handshake_done", "immediate_ack"),
]
_NUMBERS = {
    "padding": ["padding_length"],
    "crypto": ["crypto.offset", "crypto.length"],
    "max_data": ["md.maximum_data"],
    "max_stream_data": ["msd.stream_id", "msd.maximum_stream_data"],
    "max_streams": ["ms.max_streams"],
    "new_connection_id": ["nci.sequence"],
    "retire_connection_id": ["rci.sequence"],
}


def by_tshark(capture: Path, key_log: Path) -> Packets:
    """All packets that tshark can open; one whose frames it does not show has None for them."""
    command = ["tshark", "-r", str(capture), "-o", f"tls.keylog_file:{key_log}", "-Y", "quic && !icmp"]
    command += ["-T", "json", "--no-duplicate-keys", "-J", "frame quic"]
    listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    packets: Packets = {}
    for layers in (each["_source"]["layers"] for each in listed):
        told = [_packet(quic) for quic in _listed(layers["quic"]) if isinstance(quic, dict)]
        # What tshark calls coalesced padding is no packet.
        packets[int(layers["frame"]["frame.number"]) - 1] = [packet for packet in told if packet[0] is not None]
    return packets


def _packet(quic: dict[str, Any]) -> Packet:
    length = int(quic.get("quic.packet_length", 0))
    short = quic.get("quic.short", quic if quic.get("quic.header_form") == "0" else None)
    kind: str | None
    if short is not None:
        kind, number = "1RTT", short.get("quic.packet_number")
    elif quic.get("quic.version") == "0x00000000":
        kind, number = "version_negotiation", None
    else:
        kinds = (names[int(quic[field])] for field, names in _LONG_TYPES.items() if field in quic)
        kind, number = next(kinds, None), quic.get("quic.packet_number")
    frames = [_frame(frame) for frame in _listed(quic.get("quic.frame", []))]
    return [kind, None if number is None else int(number), length, frames or None]


def _frame(fields: dict[str, Any]) -> Frame:
    kind = int(_listed(fields["quic.frame_type"])[0], 0)
    name = _NAMES[kind] if kind < len(_NAMES) else {0x30: "datagram", 0x31: "datagram", 0xAF: "ack_frequency"}[kind]
    if name == "ack":
        return [name, *_ranges(fields)]
    if name == "stream":
        at = int(fields.get("quic.stream.offset", 0))
        return [name, int(fields["quic.stream.stream_id"]), at, bool(kind & 1)]
    return [name, *(int(fields[f"quic.{number}"]) for number in _NUMBERS.get(name, []))]


def _ranges(fields: dict[str, Any]) -> list[list[int]]:
    last = int(fields["quic.ack.largest_acknowledged"])
    ranges = [[last - int(fields["quic.ack.first_ack_range"]), last]]
    gaps, lengths = _listed(fields.get("quic.ack.gap", [])), _listed(fields.get("quic.ack.ack_range", []))
    for gap, length in zip(gaps, lengths, strict=True):
        last = ranges[-1][0] - int(gap) - 2
        ranges.append([last - int(length), last])
    return ranges


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def by_tables(tables: dict[str, pl.DataFrame]) -> Packets:
    """The same of what was decoded; a packet that was not opened, or came twice, has None for its frames."""
    ranges: defaultdict[tuple[Any, ...], list[list[int]]] = defaultdict(list)
    for row in tables.get("acks", pl.DataFrame()).iter_rows(named=True):
        ranges[_key(row)].append([row["first"], row["last"]])
    frames: defaultdict[tuple[Any, ...], list[Frame]] = defaultdict(list)
    for row in tables.get("frames", pl.DataFrame()).iter_rows(named=True):
        frames[_key(row)].append(_decoded_frame(row, ranges))
    packets: defaultdict[int, list[Packet]] = defaultdict(list)
    for row in tables["packets"].filter(pl.col("transport") == "quic").iter_rows(named=True):
        own = frames.get(_key(row)) if row["trigger"] != "duplicate" else None
        packets[row["ip_packet"]].append([row["packet_type"], row["packet_number"], row["length_bytes"], own])
    return dict(packets)


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in ("connection", "direction", "packet_type", "packet_number", "time_ns"))


def _decoded_frame(row: dict[str, Any], ranges: dict[tuple[Any, ...], list[list[int]]]) -> Frame:
    name = row["frame_type"]
    if name == "ack":
        return [name, *ranges[_key(row)]]
    columns = {
        "stream": ("stream_id", "offset", "fin"),
        "padding": ("length_bytes",),
        "crypto": ("offset", "length_bytes"),
        "max_stream_data": ("stream_id", "value"),
    }
    return [name, *(row[column] for column in columns.get(name, ("value",) if name in _NUMBERS else ()))]


def disagreements(ours: Packets, theirs: Packets) -> list[str]:
    """What differs, apart from what tshark does not open and from packets that came twice."""
    found = []
    for number in sorted(ours.keys() | theirs.keys()):
        own, other = ours.get(number, []), theirs.get(number, [])
        opened = sum(packet[3] is not None for packet in other)
        for mine, its in zip(own, other, strict=False):
            if mine[0] != its[0] or (its[3] is not None and mine[3] is not None and mine != its):
                found.append(f"IP packet {number}: {mine} is {its} to tshark")
            elif its[3] is not None and mine[1] is None:
                found.append(f"IP packet {number}: {its} was not opened")
        if len(own) < len(other) and opened > len(own):
            found.append(f"IP packet {number}: {len(own)} packets, {len(other)} to tshark")
    return found
