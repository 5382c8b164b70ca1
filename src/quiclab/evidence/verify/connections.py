# SPDX-License-Identifier: Apache-2.0
"""The connections of a trial's measured client, as the tables of its capture have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from quiclab.evidence.verify.http_responses import CAPTURE
from quiclab.evidence.verify.wire import Sender, socket_name
from quiclab.model.tables import Row

_FLAGS = ("disable_active_migration", "grease_quic_bit")
_INTEGERS = (
    *("max_idle_timeout", "max_udp_payload_size", "initial_max_data", "initial_max_stream_data_bidi_local"),
    *("initial_max_stream_data_bidi_remote", "initial_max_stream_data_uni", "initial_max_streams_bidi"),
    *("initial_max_streams_uni", "ack_delay_exponent", "max_ack_delay", "active_connection_id_limit"),
    *("max_datagram_frame_size", "min_ack_delay", "initial_rtt"),
)
"""Transport parameters that are integers (RFC 9000 section 18.2, RFC 9221, the draft on ACK frequency, Google's)."""
_OF_TLS = ("tls_cipher", "tls_group")
"""Names in the qlog event that are not transport parameters."""
_HELLOS = ("client_hello", "hello_retry_request", "server_hello")
_OF_CAPTURE = ("ip_packets", "packets", "handshake", "frames", "parameters", "http_requests", "http_frames")
_SENDERS: dict[str, Sender] = {"up": "client", "down": "server"}


@dataclass(frozen=True)
class Step:
    """One message of a handshake, at the time of the packet that completed it."""

    time_ns: int
    sender: Sender
    name: str
    """Name of the message, as in the column `handshake.step`."""
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class Packet:
    """One QUIC packet or TCP segment. Several QUIC packets may share an IP packet."""

    number: int
    """Number of the IP packet in the capture, from 1."""
    time_ns: int
    sender: Sender
    kind: str | None
    """Packet type, as in the column `packets.packet_type`."""
    packet_number: int | None
    socket: str
    """The client's socket, for example `udp 10.77.0.1:50502`."""
    payload_bytes: int
    """Payload of the IP packet's datagram or segment."""


@dataclass(frozen=True, eq=False)
class Connection:
    """One connection: its rows of each table, in the order of time."""

    name: str
    is_quic: bool
    tables: Mapping[str, pl.DataFrame]

    @cached_property
    def steps(self) -> list[Step]:
        """Messages of the handshake; a hello that cannot be read is left out."""
        rows = self.tables["handshake"].select("time_ns", "direction", "step", "detail").iter_rows()
        return [
            Step(at, _SENDERS[way], name, json.loads(told) if told else {})
            for at, way, name, told in rows
            if told or name not in _HELLOS
        ]

    def step(self, name: str) -> Step | None:
        """The first message of that name."""
        return next((step for step in self.steps if step.name == name), None)

    def packets(self, until_ns: int | None = None) -> Iterator[Packet]:
        """Packets of the connection, opened or not, without copies of earlier ones."""
        columns = ("number", "time_ns", "direction", "packet_type", "packet_number", "socket", "payload_bytes")
        rows = self.tables["packets"].filter(pl.col("event") != "dropped")
        if until_ns is not None:
            rows = rows.filter(pl.col("time_ns") <= until_ns)
        for number, at, way, *rest in rows.select(columns).iter_rows():
            yield Packet(number + 1, at, _SENDERS[way], *rest)

    @property
    def sockets(self) -> list[str]:
        """Names of the client's sockets, in the order in which they appear."""
        return self.tables["packets"]["socket"].unique(maintain_order=True).to_list()

    def has_packets(self, *conditions: pl.Expr) -> bool:
        """True if one of the connection's packets (rows of `packets`) meets all conditions."""
        return not self.tables["packets"].filter(*conditions).is_empty()

    def frames(self, *types: str) -> Iterator[Row]:
        """QUIC frames of the given types."""
        return self.tables["frames"].filter(pl.col("frame_type").is_in(types)).iter_rows(named=True)

    def parameters(self, prefix: str) -> dict[str, str]:
        """Name behind the prefix → value; the last one where a name was sent more than once."""
        rows = self.tables["parameters"].filter(pl.col("name").str.starts_with(prefix)).select("name", "value")
        return {name.removeprefix(prefix): value for name, value in rows.iter_rows()}

    def announced(self, prefix: str) -> dict[str, int | bool | str]:
        """Transport parameters or SETTINGS as sent: integers, True for flags, else as hexadecimal digits."""
        told: dict[str, int | bool | str] = {}
        for name, value in self.parameters(prefix).items():
            if name in _INTEGERS or not prefix.startswith("parameters_set"):
                told[name] = int(value)
            elif name not in _OF_TLS:
                told[name] = True if name in _FLAGS else "".join(json.loads(value)) if value.startswith("[") else value
        return told

    @property
    def requests(self) -> pl.DataFrame:
        """Rows of `http_requests`."""
        return self.tables["http_requests"]

    @cached_property
    def offers_early_data(self) -> bool:
        """True if a ClientHello offered early data."""
        return any(step.detail.get("early_data") for step in self.steps if step.name == "client_hello")

    @cached_property
    def early_data(self) -> str | None:
        """`not_offered`, `accepted` or `rejected` (RFC 8446 section 4.2.10); None where the answer stayed closed."""
        if not self.offers_early_data:
            return "not_offered"
        answer = self.step("encrypted_extensions")
        if answer is None:
            hello = self.step("server_hello")
            return "rejected" if hello is not None and hello.detail.get("version") != "TLS 1.3" else None
        return "accepted" if answer.detail.get("early_data") else "rejected"

    @cached_property
    def resumed(self) -> bool | None:
        """True if TLS resumed a session; None where the handshake did not come to its end, or nothing shows it.

        TLS 1.2: a server that resumes sends Finished and no certificate (RFC 5246 section 7.3).
        """
        hello = self.step("server_hello")
        answered = self.has_packets(
            pl.col("packet_type") == "1RTT", pl.col("packet_number").is_not_null(), pl.col("direction") == "down"
        )
        if hello is None or not (self.step("finished") or answered):
            return None
        if hello.detail.get("version") == "TLS 1.3":
            return bool(hello.detail.get("pre_shared_key"))
        return self.step("certificate") is None


def captured(tables: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Rows that the capture at the client's end gave, of those tables that captures fill."""
    return {name: tables[name].filter(pl.col("source") == CAPTURE) for name in _OF_CAPTURE}


def connections(rows: Mapping[str, pl.DataFrame]) -> list[Connection]:
    """Connections of a capture, given with its rows, by their first packet; each has at least one packet there."""
    joined = dict(rows) | {"packets": _with_sockets(rows["packets"], rows["ip_packets"])}
    split = {name: frame.sort("time_ns", maintain_order=True) for name, frame in joined.items() if name != "ip_packets"}
    parts = {name: frame.partition_by("connection", as_dict=True) for name, frame in split.items()}
    found = []
    for (name,), packets in parts["packets"].items():
        if name is not None:
            of_it = {table: parts[table].get((name,), empty.clear()) for table, empty in split.items()}
            found.append(Connection(str(name), packets["transport"][0] == "quic", of_it))
    return sorted(found, key=lambda each: int(each.tables["packets"]["number"][0]))


def _with_sockets(packets: pl.DataFrame, ip_packets: pl.DataFrame) -> pl.DataFrame:
    """Each with its IP packet's number, payload and the client's socket."""
    carried = ip_packets.select("number", "protocol", "src", "src_port", "dst", "dst_port", "payload_bytes")
    up = pl.col("direction") == "up"
    return (
        packets.drop_nulls("ip_packet")
        .rename({"ip_packet": "number"})
        .join(carried, on="number", how="inner", maintain_order="left")
        .with_columns(
            address=pl.when(up).then("src").otherwise("dst"), port=pl.when(up).then("src_port").otherwise("dst_port")
        )
        .with_columns(socket=socket_name("protocol", "address", "port"))
    )
