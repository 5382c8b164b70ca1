# SPDX-License-Identifier: Apache-2.0
"""Real captures of QUIC with their key logs, against what tshark says about the same packets."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import polars as pl
import pytest
from quic_by_tshark import by_tables, disagreements

from quiclab.logs.decoders import Context, FileTables, decoder_of

HERE = Path(__file__).parent
GOLDENS = sorted(path.name.removesuffix("-client.pcapng.xz") for path in HERE.glob("*.pcapng.xz"))


def decoded(name: str, folder: Path, key_logs: tuple[Path, ...]) -> FileTables:
    """What the client's capture of one golden gives."""
    path = folder / "client.pcapng"
    path.write_bytes(lzma.decompress((HERE / f"{name}-client.pcapng.xz").read_bytes()))
    decoder = decoder_of(path)
    assert decoder is not None
    return decoder.decode(path, Context(vantage="client", key_logs=key_logs))


def with_keys(name: str, folder: Path) -> dict[str, pl.DataFrame]:
    """Its tables, opened with its own key log."""
    return decoded(name, folder, (HERE / f"{name}.keys",)).tables


@pytest.mark.parametrize("name", GOLDENS)
def test_packets_and_frames_are_those_of_tshark(name: str, tmp_path: Path) -> None:
    """Type, number and length of every packet, all of its frames, all ranges of its ACKs."""
    told = json.loads(lzma.decompress((HERE / f"{name}-client.tshark.json.xz").read_bytes()))
    ours = by_tables(with_keys(name, tmp_path))
    assert len(ours) == len(told)
    assert disagreements(ours, {int(number): packets for number, packets in told.items()}) == []


def test_early_data_is_opened(tmp_path: Path) -> None:
    """A resumed connection whose request goes out before the server's first packet."""
    tables = with_keys("early-data", tmp_path)
    early = tables["packets"].filter(pl.col("packet_type") == "0RTT")
    assert early["packet_number"].to_list() == sorted(early["packet_number"].to_list()) != []
    request = tables["frames"].filter(pl.col("packet_type") == "0RTT", pl.col("stream_id") == 0)
    assert request["fin"].to_list() == [True]


def test_a_hello_retry_request_costs_a_round_trip(tmp_path: Path) -> None:
    """The handshake's steps, by round trip."""
    steps = with_keys("hello-retry-request", tmp_path)["handshake"]
    first = steps.select("step", "round_trip").rows()[:4]
    expected = [("client_hello", 0), ("hello_retry_request", 0), ("client_hello", 1), ("server_hello", 1)]
    assert first == expected


def test_keys_are_updated(tmp_path: Path) -> None:
    """Packets of the second key phase are opened, in both directions."""
    packets = with_keys("key-update", tmp_path)["packets"]
    updated = packets.filter("key_phase")
    assert set(updated["direction"]) == {"up", "down"}
    assert packets["packet_number"].null_count() == 0


@pytest.mark.parametrize("name", GOLDENS)
def test_without_keys_headers_are_told(name: str, tmp_path: Path) -> None:
    """As many packets as with keys, Initial packets opened all the same, and advice about the rest."""
    file = decoded(name, tmp_path, ())
    packets = file.tables["packets"]
    assert packets.height == with_keys(name, tmp_path)["packets"].height
    opened = packets.filter(pl.col("packet_number").is_not_null())
    assert set(opened["packet_type"]) == {"initial"}
    # Without keys nobody knows the connection ids that the client uses from another address.
    closed = [finding for finding in file.findings if finding.name in ("missing_keys", "no_first_packet")]
    assert {finding.severity for finding in closed} == {"data_loss"}
    assert sum(finding.count for finding in closed) == packets.height - opened.height


@pytest.mark.parametrize("name", GOLDENS)
def test_keys_of_another_connection_open_nothing(name: str, tmp_path: Path) -> None:
    """A key log whose secrets are wrong is told from one that lacks them."""
    wrong = tmp_path / "wrong.keys"
    lines = (line.split() for line in (HERE / f"{name}.keys").read_text().splitlines())
    wrong.write_text("".join(f"{label} {random} {secret[::-1]}\n" for label, random, secret in lines))
    file = decoded(name, tmp_path, (wrong,))
    assert "wrong_keys" in {finding.name for finding in file.findings}
    opened = file.tables["packets"].filter(pl.col("packet_number").is_not_null())
    assert set(opened["packet_type"]) == {"initial"}
