# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain FILE`: the account of one recording from elsewhere, and what an ideal transfer would take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

_HERE = Path(__file__).parent / "recordings"
_H2, _H3 = _HERE / "h2.pcapng.gz", _HERE / "h3.pcapng.gz"
_KEYS = [_HERE / "h2.keys", _HERE / "h3.keys"]


@pytest.mark.parametrize(
    ("option", "file", "level"),
    [("--h2", "h2.pcapng.gz", "E2"), ("--h3", "h3-client.sqlog.gz", "E3"), ("--h3", "h3-server.sqlog.gz", "E4")],
)
def test_one_recording_has_its_own_account(
    option: str, file: str, level: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The parts of a recording alone add up to the time that it takes beside another one."""
    assert main(["explain", option, str(_HERE / file), "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["recording"]["level"] == level
    whole = told["total"]["time"]["time_ms"]
    assert sum(part["time"]["time_ms"] for part in told["parts"]) == pytest.approx(whole)
    both = ["--h2", str(_H2), "--h3", str(_H3 if option == "--h2" else _HERE / file), "--json"]
    assert main(["explain", *both]) == ExitCode.OK
    assert json.loads(capsys.readouterr().out)["total"]["first" if option == "--h2" else "second"]["time_ms"] == whole


def test_words_about_one_recording(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is compared."""
    assert main(["explain", "--h2", str(_H2), "--keys", str(_KEYS[0])]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("h2 took 159 ms: handshake 66.5 ms, client before its request 0.108 ms, request to")
    assert "An ideal transfer over this path takes 144 ms: 15.2 ms less." in words
    assert "h3" not in words


@pytest.mark.parametrize("keys", [_KEYS, []], ids=["E1", "E2"])
@pytest.mark.parametrize("file", [_H2, _H3], ids=["h2", "h3"])
def test_the_lower_bound_of_a_path(file: Path, keys: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """No part takes less; a round trip more for TCP than for QUIC, and no wait."""
    options = [part for key in keys for part in ("--keys", str(key))]
    assert main(["explain", str(file), *options, "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    bound = {each["part"]: each["lower_bound_ms"] for each in told["parts"]}
    assert all(each["lower_bound_ms"] <= each["time"]["time_ms"] for each in [*told["parts"], told["total"]])
    assert told["total"]["lower_bound_ms"] == pytest.approx(sum(bound.values()))
    assert bound["waits"] == 0
    assert bound["set_up"] == pytest.approx(bound["request"] * (2 if file == _H2 else 1), rel=0.01)
