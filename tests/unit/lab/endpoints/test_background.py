# SPDX-License-Identifier: Apache-2.0
"""The commands of background traffic, and that its program sends at the rate that it is told."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from quiclab.lab.endpoints.background import FlowSource, background_commands
from quiclab.model.study import Background
from quiclab.model.units import Bitrate, ByteCount, Duration


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(("kind", "sockets"), [("udp", ("udp",)), ("on_off", ("udp",)), ("short_flows", ("tcp",))])
def test_a_source_listens_and_a_sink_waits(tmp_path: Path, kind: str, sockets: tuple[str, ...]) -> None:
    """Both from one job; only on_off has pauses."""
    background = Background(kind, Bitrate(10**6), off=Duration(5))  # type: ignore[arg-type]
    commands = background_commands(background, FlowSource(4, "10.77.3.2", 446, 7, tmp_path))
    source, sink = commands["server"], commands["client"]
    assert (source.sockets, source.waits_for_go) == (sockets, False)
    assert (sink.waits_for_go, sink.ready_file) == (True, tmp_path / "ready")
    (job,) = (json.loads(text) for text in source.files.values())
    assert (job["port"], job["bit_per_s"], job["off_ns"]) == (446, 10**6, 5 if kind == "on_off" else 0)


def test_datagrams_have_their_size_and_number(tmp_path: Path) -> None:
    """The source sends to whoever asks first, in order, each with the payload that the spec says."""
    port = _free_port()
    background = Background("udp", Bitrate(10**7), packet=ByteCount(500))
    source = background_commands(background, FlowSource(4, "127.0.0.1", port, 7, tmp_path))["server"]
    for file, text in source.files.items():
        file.write_text(text)
    with (
        subprocess.Popen(source.argv, env=dict(source.env)) as process,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sink,
    ):
        try:
            sink.settimeout(0.1)
            got: list[bytes] = []
            while len(got) < 20 and process.poll() is None:
                try:
                    if not got:
                        sink.sendto(b"begin", ("127.0.0.1", port))
                    got.append(sink.recv(2048))
                except (TimeoutError, ConnectionError):
                    continue
        finally:
            process.kill()
    assert {len(datagram) for datagram in got} == {500}
    assert [int.from_bytes(datagram[:8]) for datagram in got] == list(range(20))
    assert sys.executable == source.argv[0]
