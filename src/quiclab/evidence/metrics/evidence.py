# SPDX-License-Identifier: Apache-2.0
"""The tables of one trial as the metrics see them: which packets are the workload's, and when t = 0 is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import polars as pl

from quiclab.model.client_account import ClientRequest
from quiclab.model.tables import TABLES
from quiclab.model.trial_record import SecondLink, TrialRecord

End = Literal["client", "server"]
Direction = Literal["up", "down"]
CAPTURES = ("pcap", "pcapng")
"""Formats of captures among the sources."""


class Unknown(Exception):  # noqa: N818 - a result that metrics report, not an error
    """A metric cannot be told from what was recorded; the message says why."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One trial: its tables, and its record. Compared by identity, so that joins can be remembered."""

    tables: Mapping[str, pl.DataFrame]
    trial: TrialRecord

    def table(self, name: str) -> pl.DataFrame:
        """One table; without rows if the trial has none."""
        return self.tables[name] if name in self.tables else TABLES[name].empty()

    def cannot_tell(self, table: str, vantage: End, column: str | None = None) -> str | None:
        """Reason why the files of one end cannot tell of a table or of one of its columns; None where they can.

        A table without rows may mean that nothing happened: this says where it means that nobody would know.
        """
        files = self.table("sources").filter(pl.col("vantage") == vantage)["source"].to_list()
        lacking = self.table("absent").filter(
            pl.col("source").is_in(files),
            pl.col("table") == table,
            pl.col("column").is_null() | pl.col("column").is_in([] if column is None else [column]),
        )
        return str(lacking["reason"][0]) if lacking.height else None

    @property
    def quic(self) -> bool:
        """True if the workload ran over QUIC; else over TCP."""
        return self.trial.protocol == "h3"

    @property
    def upload(self) -> bool:
        """True if the client sends the bodies."""
        return self.trial.expected.upload

    @property
    def way(self) -> Direction:
        """Direction of the bodies."""
        return "up" if self.upload else "down"

    @property
    def sender(self) -> End:
        """End that sends the bodies."""
        return "client" if self.upload else "server"

    @property
    def receiver(self) -> End:
        """End that receives the bodies."""
        return "server" if self.upload else "client"

    @property
    def requests(self) -> tuple[ClientRequest, ...]:
        """The client program's own account of its requests. Raises Unknown if it left none."""
        if not self.trial.requests:
            raise Unknown("the client left no account of its requests")
        return self.trial.requests

    @property
    def has_account(self) -> bool:
        """True if the client program told of its requests."""
        return bool(self.trial.requests)

    @cached_property
    def responses(self) -> pl.DataFrame:
        """Successful responses in the client's capture, where it was decrypted (rows of `http_requests`)."""
        captures = self.table("sources").filter(pl.col("format").is_in(CAPTURES), pl.col("vantage") == "client")
        return self.table("http_requests").filter(
            pl.col("source").is_in(captures["source"].to_list()), pl.col("status").is_between(200, 299)
        )

    def client_instant(self, name: str) -> list[int]:
        """One instant of every request in CLOCK_MONOTONIC ns. Raises Unknown if a request has none."""
        instants = [getattr(request, name) for request in self.requests]
        if any(instant is None for instant in instants):
            raise Unknown(f"a request has no {name}: it did not finish")
        return [int(instant) for instant in instants if instant is not None]

    @cached_property
    def for_nobody(self) -> pl.DataFrame:
        """IP packets (of `ip_packets`) that came for an address after the client had left it: they do not arrive."""
        packets, change = self.table("ip_packets"), self.trial.address_change
        if change is None or change.changed_ns is None:
            return packets.clear()
        return packets.filter(
            pl.col("vantage") == "client",
            pl.col("dst") == change.old_address,
            pl.col("time_ns") >= change.changed_ns,
        )

    @cached_property
    def _transport(self) -> pl.DataFrame:
        packets = self.table("ip_packets").filter(pl.col("protocol").is_in(["tcp", "udp"]))
        if self.for_nobody.is_empty():
            return packets
        return packets.join(self.for_nobody, on=("source", "number"), how="anti", maintain_order="left")

    def packets(self, end: End, direction: Direction, transports: Sequence[str] | None = None) -> pl.DataFrame:
        """The workload's packets that one end's capture holds for one direction, in order.

        The capture of the end that sends also holds what the link dropped. `transports` are those of the protocol
        under test where nothing else is said.
        """
        wanted = tuple(transports or ("udp" if self.quic else "tcp",))
        found = self._packets.get((end, direction, wanted))
        if found is None:
            found = self._packets[end, direction, wanted] = self._transport.filter(
                pl.col("vantage") == end, pl.col("direction") == direction, pl.col("protocol").is_in(wanted)
            )
        return found

    @cached_property
    def _packets(self) -> dict[tuple[End, Direction, tuple[str, ...]], pl.DataFrame]:
        """Results of `packets` so far: most metrics ask for the same four."""
        return {}

    @property
    def one_link(self) -> bool:
        """True if both captures are of the same link, so that a packet has the same index in both."""
        return self.second_link is None and len(self.trial.links_of("client")) < 2

    @property
    def second_link(self) -> SecondLink | None:
        """The client's link in the network to which it was to change; None where it stays."""
        return self.trial.second_link

    @cached_property
    def zero_ns(self) -> int:
        """Departure of the first packet that the client sends, lost or not. Raises Unknown without a capture."""
        sent = self._transport.filter(pl.col("vantage") == "client", pl.col("direction") == "up")
        if sent.is_empty():
            raise Unknown("the client's capture holds no packet that the client sent")
        return int(sent["time_ns"].min())  # type: ignore[arg-type]

    def since_zero_ms(self, time_ns: int) -> float:
        """An instant in ms since the client's first packet."""
        return (time_ns - self.zero_ns) / 1e6
