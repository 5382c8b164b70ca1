# SPDX-License-Identifier: Apache-2.0
"""Packets of a log in a capture without a key log, whose Initial packets anybody can open."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import polars as pl
import pytest

from quiclab.logs.decoders.aligned import LoggedPacket, align, aligned
from quiclab.logs.decoders.joins import sightings
from quiclab.model.tables import TABLES

_SIZES = {"initial": 1230, "1RTT": 700}


def packets(source: str, *kinds: str) -> pl.DataFrame:
    """What a source tells of packets that the client sent, numbered from 0."""
    rows = [
        {
            "source": source, "vantage": "client", "connection": "c", "time_ns": number, "transport": "quic",
            "event": "sent", "direction": "up", "packet_type": kind, "packet_number": number,
            "length_bytes": _SIZES[kind] + number,
        }
        for number, kind in enumerate(kinds)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=TABLES["packets"].schema())


def test_one_rtt_packets_are_found_beside_initials_that_could_be_opened() -> None:
    """By order and size, though the capture numbers its Initial packets itself."""
    told = packets("netlog", "initial", "1RTT", "1RTT")
    both = pl.concat([told, packets("client.pcapng", "initial")]).lazy()
    seen = sightings(both, ["client.pcapng"])
    wire = pl.DataFrame(
        [
            {
                "source": "client.pcapng", "vantage": "client", "direction": "up", "protocol": "udp",
                "time_ns": 1000 + number, "number": number, "payload_bytes": size,
            }
            for number, size in enumerate(told["length_bytes"])
        ],
        schema=TABLES["ip_packets"].schema(),
    )  # fmt: skip
    found = aligned(seen, both, wire.lazy(), ["client.pcapng"]).filter(pl.col("packet_type") == "1RTT")
    assert found.select("packet_number", "time_ns", "ip_packet").rows() == [(1, 1001, 1), (2, 1002, 2)]


def test_packets_of_which_only_headers_were_captured_are_found_behind_whole_ones() -> None:
    """The first two are opened by their keys; what the log tells beside them fits what stayed closed."""
    told = packets("netlog", "initial", "1RTT", "1RTT", "1RTT")
    shown = packets("client.pcapng", "initial", "1RTT", "1RTT", "1RTT").with_columns(
        ip_packet=10 + pl.col("packet_number"),
        time_ns=1000 + pl.col("time_ns"),
        packet_number=pl.when(pl.col("packet_number") < 2).then("packet_number"),
    )
    both = pl.concat([told, shown.select(told.columns).cast(told.schema)]).lazy()  # type: ignore[arg-type]
    seen = sightings(both, ["client.pcapng"])
    nothing = TABLES["ip_packets"].empty().lazy()
    found = aligned(seen, both, nothing, ["client.pcapng"])
    assert found.select("packet_number", "time_ns", "ip_packet").rows() == [(2, 1002, 12), (3, 1003, 13)]


def short(*lengths: int) -> list[LoggedPacket]:
    """1-RTT packets."""
    return [LoggedPacket(length, "1RTT") for length in lengths]


def test_coalesced_packets_share_a_datagram() -> None:
    """Long headers may be followed by more; a short header ends the datagram."""
    packets = [
        LoggedPacket(151, "initial"),
        LoggedPacket(1049, "handshake"),
        LoggedPacket(165, "handshake"),
        *short(51, 40),
    ]
    assert align(packets, [1200, 216, 40]) == [0, 0, 1, 1, 2]


def test_padding_behind_an_initial_belongs_to_no_packet() -> None:
    """A client that pads the datagram, not the packet, as RFC 9000 section 14.1 allows."""
    assert align([LoggedPacket(516, "initial"), *short(700)], [1200, 700]) == [0, 1]


def test_datagrams_that_the_socket_dropped_are_skipped() -> None:
    """The log never saw them."""
    sizes = [1200, 1201, 60, 1203, 1204, 61, 1206, 1207]
    assert align(short(*sizes[:2], *sizes[4:]), sizes) == [0, 1, 4, 5, 6, 7]


def test_packets_without_a_datagram_are_null() -> None:
    """They stay unplaced; those around them do not."""
    assert align(short(10, 11, 999, 12, 13), [10, 11, 12, 13]) == [0, 1, None, 2, 3]


def test_packets_that_waited_for_keys_are_placed_before() -> None:
    """A 1-RTT packet that came before the handshake ended is logged behind it."""
    packets = [LoggedPacket(300, "handshake"), *short(700, 500, 501, 502, 503, 504, 505)]
    assert align(packets, [700, 300, 500, 501, 502, 503, 504, 505]) == [1, 0, 2, 3, 4, 5, 6, 7]


def test_initials_without_end_are_no_trap() -> None:
    """A log that is nothing but Initials costs no more than any other."""
    packets = [LoggedPacket(40, "initial")] * 3000
    assert align(packets, [1200] * 3000).count(None) < 3000


def test_logs_that_do_not_belong_together_are_not_joined() -> None:
    """Nothing fits: nothing is placed."""
    assert align(short(*range(1000, 1200)), list(range(10, 200))) == [None] * 200


def test_scattered_drops_are_found_again() -> None:
    """Two hundred packets of many sizes, one in twenty dropped by the socket: every packet finds its own datagram."""
    rng = random.Random(3)
    datagrams = [rng.randrange(40, 1400) for _ in range(200)]
    kept = [index for index in range(200) if rng.random() > 0.05]
    assert align(short(*(datagrams[index] for index in kept)), datagrams) == kept


@pytest.mark.parametrize("event", ["sent", "received"])
def test_a_real_log_that_names_its_datagrams_agrees(event: str) -> None:
    """aioquic logs datagrams too: before the packets it received, behind the packets that it sent."""
    golden = Path(__file__).parents[3] / "decoders/qlog/aioquic-client-100kb.qlog.gz"
    (trace,) = json.loads(gzip.decompress(golden.read_bytes()))["traces"]
    packets: list[LoggedPacket] = []
    datagrams: list[int] = []
    received_in: list[int] = []
    for entry in trace["events"]:
        data = entry["data"]
        if entry["name"] == f"transport:packet_{event}":
            packets.append(LoggedPacket(data["raw"]["length"], data["header"]["packet_type"]))
            received_in.append(len(datagrams) - 1)
        if entry["name"] == f"transport:datagrams_{event}":
            datagrams += [raw["payload_length"] for raw in data["raw"]]
    found = align(packets, datagrams)
    if event == "received":
        assert found == received_in
    else:
        # Its two padded Initials, the second with a Handshake packet; then a Handshake with a 1-RTT packet.
        assert found == [0, 1, 1, 2, *range(2, len(datagrams))]
