# SPDX-License-Identifier: Apache-2.0
"""TCP, TLS and HTTP/2 of captures as tshark sees them: the same segments, acknowledgments, messages and frames."""

from __future__ import annotations

import lzma
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from by_night import by_night

from quiclab.logs.decoders import Context, End
from quiclab.logs.decoders.pcapng import Pcapng

CAPTURES = sorted((Path(__file__).parents[1] / "decoders/tls").glob("*.xz"))
BY_NIGHT = [path for path in CAPTURES if path.name.startswith(("curl-nginx-client", "nghttp-envoy-server"))]
"""Of the same programs or another program's of the same kind, without what only one of the others shows."""
SERVER_PORT = "443"
HTTP2_FRAMES = (
    "data",
    "headers",
    "priority",
    "rst_stream",
    "settings",
    "push_promise",
    "ping",
    "goaway",
    "window_update",
    "continuation",
)
pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


@dataclass(frozen=True)
class Capture:
    """One capture and our tables of it."""

    path: Path
    end: End
    tables: dict[str, pl.DataFrame]

    def tshark(self, display_filter: str, *fields: str) -> Iterator[tuple[str, list[list[str]]]]:
        """Direction and, for every field, all its values, of every packet that passes the filter."""
        wanted = [argument for field in ("tcp.dstport", *fields) for argument in ("-e", field)]
        command = ["tshark", "-r", str(self.path), "-o", "tcp.reassemble_out_of_order:TRUE", "-Y", display_filter]
        text = subprocess.run([*command, "-T", "fields", *wanted], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            port, *values = line.split("\t")
            yield "up" if port == SERVER_PORT else "down", [value.split(",") if value else [] for value in values]


@pytest.fixture(
    params=[*(path for path in CAPTURES if path not in BY_NIGHT), *by_night(*BY_NIGHT)],
    ids=lambda path: path.name.removesuffix(".pcapng.xz"),
)
def capture(request: pytest.FixtureRequest, tmp_path: Path) -> Capture:
    """One capture, decoded with nothing but the keys that it holds."""
    end: End = "client" if "-client" in request.param.name else "server"
    path = tmp_path / f"{end}.pcapng"
    path.write_bytes(lzma.decompress(request.param.read_bytes()))
    return Capture(path, end, Pcapng().decode(path, Context(vantage=end)).tables)


def test_segments(capture: Capture) -> None:
    """The same sequence numbers, lengths and windows; at the sender's end the same retransmissions."""
    fields = (
        "tcp.seq",
        "tcp.len",
        "tcp.analysis.retransmission",
        "tcp.analysis.out_of_order",
        "tcp.analysis.keep_alive",
    )
    theirs = list(capture.tshark("tcp", *fields))
    ours = capture.tables["packets"].select("direction", "packet_number", "length_bytes").rows()
    assert ours == [(way, int(seq[0]), int(length[0])) for way, (seq, length, *_) in theirs]
    again = [bool(retransmission or reordered) for _, (_, _, retransmission, reordered, _) in theirs]
    sent = capture.tables["packets"]["event"] == "sent"
    flags = capture.tables["packets"]["retransmission"]
    assert flags.filter(sent).to_list() == [flag for flag, own in zip(again, sent, strict=True) if own]
    # What arrives late for the first time may have been reordered, as far as its receiver knows.
    assert all(flag or not ours for flag, ours in zip(again, flags, strict=True))


def test_acknowledgments(capture: Capture) -> None:
    """The same cumulative acknowledgments on segments without data, and the same SACK blocks."""
    fields = ("tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re")
    pure = "tcp.len == 0 && tcp.flags.ack == 1 && tcp.flags.syn == 0 && tcp.flags.fin == 0 && tcp.flags.reset == 0"
    theirs = list(capture.tshark(pure, *fields))
    acks = capture.tables["acks"]
    carriers = capture.tables["packets"].filter(pl.col("length_bytes") == 0)["time_ns"].implode()
    cumulative = acks.filter(pl.col("kind") == "cumulative", pl.col("time_ns").is_in(carriers))
    told = {(way, int(ack[0]) - 1) for way, (ack, *_) in theirs}
    assert told <= set(cumulative.select("direction", "last").rows())
    blocks = [
        (way, int(left), int(right) - 1)
        for way, (_, lefts, rights) in theirs
        for left, right in zip(lefts, rights, strict=True)
    ]
    ours = acks.filter(pl.col("kind") != "cumulative").select("direction", "first", "last").rows()
    assert sorted(ours) == sorted(blocks)


def test_receive_windows(capture: Capture) -> None:
    """The last window of every receiver, scaled as both ends agreed."""
    last = {way: int(window[0]) for way, (window,) in capture.tshark("tcp.flags.reset == 0", "tcp.window_size")}
    limits = capture.tables["flow_control"].filter(pl.col("scope") == "receive_window", pl.col("limit").is_not_null())
    for way, limited in (("up", "down"), ("down", "up")):
        assert limits.filter(pl.col("direction") == limited)["window_bytes"][-1] == last[way]


def test_handshake_messages(capture: Capture) -> None:
    """Every TLS handshake message, encrypted ones included, of the same length."""
    theirs: list[tuple[str, int]] = []
    for way, (lengths,) in capture.tshark("tls.handshake", "tls.handshake.length"):
        theirs += [(way, int(length) + 4) for length in lengths]
    steps = capture.tables["handshake"].filter(~pl.col("step").is_in(["syn", "syn_ack", "ack"]))
    for way in ("up", "down"):
        ours = steps.filter(pl.col("direction") == way)["length_bytes"].to_list()
        assert ours == [length for their_way, length in theirs if their_way == way]


def test_http2_frames(capture: Capture) -> None:
    """Every frame both ways: type, stream and length of the decrypted payload."""
    fields = ("http2.type", "http2.streamid", "http2.length")
    theirs: list[tuple[str, str, int, int]] = []
    for way, values in capture.tshark("http2", *fields):
        rows = zip(*values, strict=True)
        theirs += [(way, HTTP2_FRAMES[int(kind)], int(stream), int(length)) for kind, stream, length in rows]
    frames = capture.tables["http_frames"].with_columns(pl.col("stream_id").fill_null(0))
    for way in ("up", "down"):
        ours = frames.filter(pl.col("direction") == way).select("direction", "frame_type", "stream_id", "length_bytes")
        assert ours.rows() == [frame for frame in theirs if frame[0] == way]
