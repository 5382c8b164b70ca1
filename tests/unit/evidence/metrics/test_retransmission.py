# SPDX-License-Identifier: Apache-2.0
"""Retransmitted bytes of trials that were written by hand."""

from __future__ import annotations

from pathlib import Path

from decoders import writers
from unit.evidence.metrics import scenes


def test_tcp_counts_what_left_the_server_twice(tmp_path: Path) -> None:
    """One segment of 100 bytes; its first copy is in the capture though the link dropped it."""
    assert scenes.tcp_scene().metrics(tmp_path)["retransmitted_bytes"].value == 100


def test_quic_counts_stream_offsets_that_were_sent_twice(tmp_path: Path) -> None:
    """The lost packet's 100 bytes of stream data, in a packet of another number and size."""
    assert scenes.quic_scene().metrics(tmp_path)["retransmitted_bytes"].value == 100


def test_connections_of_both_transports_are_counted(tmp_path: Path) -> None:
    """Of a page over HTTP/3 one host has TCP alone: a segment of 60 bytes is lost there and comes again."""
    scene = scenes.quic_scene()
    scene.send("up", 80, writers.tcp("up", 7, flags=2))
    scene.send("down", 90, writers.tcp("down", 500, ack=8, flags=2))
    scene.send("down", 100, writers.tcp("down", 501, bytes(60), ack=8), lost=True)
    scene.send("down", 120, writers.tcp("down", 501, bytes(60), ack=8))
    assert scene.metrics(tmp_path)["retransmitted_bytes"].value == 160


def test_the_first_data_sent_again_has_an_offset(tmp_path: Path) -> None:
    """Of TCP from the first byte of payload, of QUIC in its stream."""
    for scene, offset in ((scenes.tcp_scene(), 300), (scenes.quic_scene(), 100)):
        folder = tmp_path / scene.protocol
        folder.mkdir()
        assert scene.metrics(folder)["first_retransmission_offset_bytes"].value == offset


def test_what_foreign_servers_sent_is_unknown(tmp_path: Path) -> None:
    """The far end of the link shows what reached it, which is not what left the server; the same for both protocols."""
    for scene in (scenes.tcp_scene(), scenes.quic_scene()):
        scene.extra["probe"] = {"url": "https://a.test/"}
        folder = tmp_path / scene.protocol
        folder.mkdir()
        row = scene.metrics(folder)["retransmitted_bytes"]
        assert row.value is None
        assert "the server is not the laboratory's" in (row.note or "")


def test_quic_without_the_servers_log_is_unknown(tmp_path: Path) -> None:
    """Encrypted packets do not show what they repeat."""
    row = scenes.quic_scene(server_log=False).metrics(tmp_path)["retransmitted_bytes"]
    assert (row.value, row.note) == (None, "the server left no log of its packets")
