# SPDX-License-Identifier: Apache-2.0
"""Real captures against what tshark says about the same packets."""

from __future__ import annotations

import csv
import gzip
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from quiclab.logs.decoders import Context, decoder_of

GOLDENS = sorted(Path(__file__).parent.glob("*.pcapng.gz"))


def number(text: str) -> int | None:
    """A field of tshark's; empty where the packet has none."""
    return int(text, 0) if text else None


def edges(row: dict[str, str]) -> list[int] | None:
    """SACK edges, left and right in turns."""
    lefts, rights = (row[f"tcp.options.sack_{side}"].split(",") for side in ("le", "re"))
    return [int(edge) for block in zip(lefts, rights, strict=True) for edge in block] if lefts != [""] else None


@pytest.fixture(params=GOLDENS, ids=lambda path: path.name)
def capture(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[pl.DataFrame, list[dict[str, str]]]:
    """Decoded packets, and tshark's rows."""
    golden: Path = request.param
    path = tmp_path / "client.pcapng"
    path.write_bytes(gzip.decompress(golden.read_bytes()))
    decoder = decoder_of(path)
    assert decoder is not None
    lines = gzip.decompress(golden.with_name(golden.name.replace("pcapng", "csv")).read_bytes()).decode().splitlines()
    return decoder.decode(path, Context(vantage="client")).tables["ip_packets"], list(
        csv.DictReader(lines, delimiter=";")
    )


def test_every_packet_agrees_with_tshark(capture: tuple[pl.DataFrame, list[dict[str, str]]]) -> None:
    """Addresses, ports, lengths, ECN, sequence and acknowledgment numbers, flags and SACK blocks of every packet."""
    packets, rows = capture
    assert packets.height == len(rows) > 10
    for packet, row in zip(packets.iter_rows(named=True), rows, strict=True):
        assert packet["src"] == (row["ip.src"] or row["ipv6.src"])
        assert packet["dst"] == (row["ip.dst"] or row["ipv6.dst"])
        assert packet["size_bytes"] == (number(row["ip.len"]) or 40 + int(row["ipv6.plen"]))
        assert packet["ecn"] == number(row["ip.dsfield.ecn"] or row["ipv6.tclass.ecn"])
        assert packet["src_port"] == number(row["tcp.srcport"] or row["udp.srcport"])
        assert packet["dst_port"] == number(row["tcp.dstport"] or row["udp.dstport"])
        udp_bytes = number(row["udp.length"])
        assert packet["payload_bytes"] == (number(row["tcp.len"]) if udp_bytes is None else udp_bytes - 8)
        assert packet["tcp_flags"] == number(row["tcp.flags"])
        assert packet["tcp_seq"] == number(row["tcp.seq"])
        assert (packet["tcp_ack"] or 0) == (number(row["tcp.ack"]) or 0)
        assert packet["tcp_sack"] == edges(row)


def test_times_agree_with_tshark(capture: tuple[pl.DataFrame, list[dict[str, str]]]) -> None:
    """To the nanosecond, apart from the offset between the clocks that the link writes into the file."""
    packets, rows = capture
    times = [int(Decimal(row["frame.time_epoch"]) * 10**9) for row in rows]
    assert (packets["time_ns"] - packets["time_ns"][0]).to_list() == [time - times[0] for time in times]
