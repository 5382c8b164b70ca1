# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --lost CLIENT SERVER`: what lost the packets between the captures of both ends."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

_HERE = Path(__file__).parent / "recordings"
_CLIENT, _SERVER = _HERE / "policed-client.pcap.gz", _HERE / "policed-server.pcap.gz"


def _lost(client: Path, server: Path, *more: str) -> int:
    return main(["explain", "--lost", str(client), str(server), *more])


def test_the_losses_of_a_real_policer_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Sixty packets were dropped by a policer of 8 Mbit/s and 30 KB, which no capture says."""
    assert _lost(_CLIENT, _SERVER, "--json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    up, down = told["directions"]
    assert (told["transport"], up["lost"], up["bucket"]) == ("tcp", [], None)
    assert [each["kind"] for each in down["lost"]] == ["policer"] * 60
    assert down["bucket"]["rate_bit_per_s"] == pytest.approx(8e6, rel=0.01)
    assert down["bucket"]["size_bytes"] == pytest.approx(30_000, abs=1500)
    assert (down["bucket"]["explained"], down["bucket"]["contrary"], down["unknown_why"]) == (60, 0, "")


def test_the_words_name_the_policer(capsys: pytest.CaptureFixture[str]) -> None:
    assert _lost(_CLIENT, _SERVER) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert "60 of 1 452 packets from server to client were lost: 60 by a policer." in words.replace("\u2009", " ")
    assert "a policer of 8.01 Mbit/s (7.99 … 8.01 Mbit/s) with a bucket of 30 kB has too few tokens" in words


def test_a_capture_that_lacks_packets_shows_no_losses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Packets that came and were not captured where they were sent are missing there, not on the path."""
    content = gzip.decompress(_SERVER.read_bytes())
    packets, at = [], 24
    while at < len(content):
        length = int.from_bytes(content[at + 8 : at + 12], "little")
        packets.append(content[at : at + 16 + length])
        at += 16 + length
    server = tmp_path / "server.pcap"
    server.write_bytes(content[:24] + b"".join(each for number, each in enumerate(packets) if number % 4 or number < 9))
    assert _lost(_CLIENT, server) == ExitCode.DECODE
    assert "are found where they were sent" in capsys.readouterr().err


def test_captures_of_two_transfers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert _lost(_HERE / "h2.pcapng.gz", _SERVER) == ExitCode.DECODE
    assert "are found where they were sent" in capsys.readouterr().err


@pytest.mark.parametrize("more", [["--url", "/a"], ["--h2", str(_CLIENT)], ["--page", str(_CLIENT)]])
def test_options_about_requests_do_not_belong_to_it(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert _lost(_CLIENT, _SERVER, *more) == ExitCode.SPEC
    assert "without --" in capsys.readouterr().err
