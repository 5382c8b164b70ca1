# SPDX-License-Identifier: Apache-2.0
"""Facts that a capture's IP and transport headers tell without any key: which sockets talked, how much, and ECN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

ECN_CODEPOINTS = ("not_ect", "ect1", "ect0", "ce")
"""Codepoints by the value of their two bits (RFC 3168 section 5)."""

Sender = Literal["client", "server"]


@dataclass(frozen=True)
class ClientSocket:
    """A client's end of a connection, or of one path of a QUIC connection, and what went to and fro."""

    name: str
    """Protocol, address and port, for example `udp 10.77.0.1:50502`."""
    protocol: Literal["tcp", "udp"]
    address: str
    payload_bytes: Mapping[Sender, int]
    """Bytes that each sender's TCP or UDP carried, whether the capture kept them or not."""


@dataclass(frozen=True)
class Wire:
    """The packets of one capture that come from or go to the server's port."""

    sockets: Sequence[ClientSocket]
    """The client's sockets, in the order in which they appear."""
    ecn: Mapping[Sender, Mapping[str, int]]
    """Packets per codepoint."""

    def ecn_seen(self, sender: Sender) -> dict[str, int]:
        """Packets of one sender by codepoint; those that it never used are left out."""
        return {name: count for name, count in self.ecn[sender].items() if count}

    def ecn_shares(self, sender: Sender) -> dict[str, float | int]:
        """Packets of one sender, and how many of them are ECT(0), ECT(1) and CE, with their shares."""
        counts = self.ecn[sender]
        packets = sum(counts.values())
        shares: dict[str, float | int] = {"packets": packets}
        for name in ("ect0", "ect1", "ce"):
            shares |= {name: counts[name], f"{name}_pct": round(100 * counts[name] / packets, 3) if packets else 0.0}
        return shares

    def payload_by_address(self) -> dict[str, dict[Sender, int]]:
        """Payload bytes of each sender, by the client's address, in the order in which these appear."""
        found: dict[str, dict[Sender, int]] = {}
        for socket in self.sockets:
            sums = found.setdefault(socket.address, {"client": 0, "server": 0})
            for sender, count in socket.payload_bytes.items():
                sums[sender] += count
        return found

    def payload_by_protocol(self) -> dict[str, dict[Sender, int]]:
        """Payload bytes of each sender, over TCP and over UDP."""
        return {
            protocol: {
                "client": self.payload_bytes(protocol, "client"),
                "server": self.payload_bytes(protocol, "server"),
            }
            for protocol in ("tcp", "udp")
        }

    def most_by_socket(self) -> dict[str, dict[Sender, int]]:
        """Payload bytes of each sender on the client socket that has most of them, over TCP and over UDP."""
        senders: tuple[Sender, ...] = ("client", "server")
        return {
            protocol: {
                sender: max(
                    (each.payload_bytes[sender] for each in self.sockets if each.protocol == protocol), default=0
                )
                for sender in senders
            }
            for protocol in ("tcp", "udp")
        }

    def payload_bytes(self, protocol: str, sender: Sender) -> int:
        """Payload bytes of all packets of one sender over TCP or UDP."""
        return sum(socket.payload_bytes[sender] for socket in self.sockets if socket.protocol == protocol)


def read_wire(ip_packets: pl.DataFrame, server_port: int) -> Wire:
    """Read one capture's rows of the table `ip_packets`."""
    up = pl.col("dst_port") == server_port
    packets = (
        ip_packets.lazy()
        .filter(pl.col("protocol").is_in(["tcp", "udp"]), up | (pl.col("src_port") == server_port))
        .select(
            "protocol",
            "ecn",
            pl.col("payload_bytes").fill_null(0).cast(pl.Int64),
            sender=pl.when(up).then(pl.lit("client")).otherwise(pl.lit("server")),
            address=pl.when(up).then("src").otherwise("dst"),
            port=pl.when(up).then("src_port").otherwise("dst_port"),
        )
        .collect()
    )
    return Wire(_sockets(packets), {sender: _ecn(packets, sender) for sender in ("client", "server")})


def socket_name(protocol: str, address: str, port: str) -> pl.Expr:
    """Name of a socket, for example `udp [2001:db8::1]:50502`, from the columns of its parts."""
    host = pl.col(address)
    shown = pl.when(host.str.contains(":", literal=True)).then(pl.format("[{}]", host)).otherwise(host)
    return pl.format("{} {}:{}", protocol, shown, port)


def _sockets(packets: pl.DataFrame) -> list[ClientSocket]:
    sent = pl.col("payload_bytes").filter
    rows = packets.group_by("protocol", "address", "port", maintain_order=True).agg(
        client=sent(pl.col("sender") == "client").sum(), server=sent(pl.col("sender") == "server").sum()
    )
    name = socket_name("protocol", "address", "port").alias("name")
    named = rows.select(name, "protocol", "address", "client", "server")
    return [
        ClientSocket(name, protocol, address, {"client": client, "server": server})
        for name, protocol, address, client, server in named.iter_rows()
    ]


def _ecn(packets: pl.DataFrame, sender: Sender) -> dict[str, int]:
    counts = dict(packets.filter(pl.col("sender") == sender)["ecn"].value_counts().iter_rows())
    return {name: counts.get(value, 0) for value, name in enumerate(ECN_CODEPOINTS)}
