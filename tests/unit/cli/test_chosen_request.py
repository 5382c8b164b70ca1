# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain` of a recording of several requests: four of 6 kB, at most two at once, 30 ms and 4 Mbit/s."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

_HERE = Path(__file__).parent / "recordings"
_NETLOGS = Path(__file__).parents[2] / "decoders" / "netlog"


def _words(*names: str) -> list[str]:
    """Recordings with their keys, as explain is asked for them."""
    files = [str(_HERE / f"{name}-four-requests.pcapng.gz") for name in names]
    return [*files, *(word for name in names for word in ("--keys", str(_HERE / f"{name}-four-requests.keys")))]


def _told(words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    assert main(["explain", *words, "--json"]) == ExitCode.OK
    return json.loads(capsys.readouterr().out)


def _ms(told: Any) -> dict[str, float]:
    return {each["part"]: each["time"]["time_ms"] for each in (*told["parts"], told["total"])}


@pytest.mark.parametrize(("name", "slowest", "total_ms"), [("h2", 1, 142.6), ("h3", 4, 100.6)])
def test_the_slowest_is_told(name: str, slowest: int, total_ms: float, capsys: pytest.CaptureFixture[str]) -> None:
    """The time begins with the connection, as the request waited for the handshake; the other one of the first two came
    before it over the same path."""
    told = _told(_words(name), capsys)
    recording = told["recording"]
    assert (recording["stream_id"], recording["other_requests"]) == (slowest, 3)
    assert _ms(told)["total"] == pytest.approx(total_ms, abs=0.1)
    assert _ms(told)["set_up"] > told["parts"][0]["lower_bound_ms"] > 30
    assert 6_000 <= recording["other_bytes_before"] < 6_300
    assert recording["other_bytes_during"] < 100


@pytest.mark.parametrize("name", ["h2", "h3"])
@pytest.mark.parametrize("url", ["/four~3", "https://server.test/four~3"])
def test_one_is_asked_for_by_its_address(name: str, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A request on an open connection has no handshake; a round trip and its own bytes are its lower bound."""
    told = _told([*_words(name), "--url", url], capsys)
    assert told["recording"]["url"] == "https://server.test/four~3"
    parts = _ms(told)
    assert parts["set_up"] == 0
    assert parts["arriving"] == pytest.approx(6_290 * 8 / 4_000, rel=0.1)
    assert told["total"]["lower_bound_ms"] == pytest.approx(parts["total"], rel=0.02)
    assert told["total"]["time"]["time_ms"] == pytest.approx(sum(parts.values()) - parts["total"])


def test_a_stream_says_which_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A client's qlog has no addresses; its times agree with the capture's to a step of its clock."""
    log, capture = [str(_HERE / "h3-four-requests.sqlog.gz")], _words("h3")
    for stream in ("0", "8"):
        of_log = _told([*log, "--stream", stream], capsys)
        assert of_log["recording"]["url"] is None
        of_capture = _told([*capture, "--stream", stream], capsys)
        assert _ms(of_log)["total"] == pytest.approx(_ms(of_capture)["total"], abs=5)
        assert _ms(of_log)["set_up"] == pytest.approx(_ms(of_capture)["set_up"], abs=5)


def test_two_recordings_are_compared_by_the_same_request(capsys: pytest.CaptureFixture[str]) -> None:
    """The slowest of the first, whatever is the slowest of the second; or the one that is asked for."""
    told = _told(_words("h2", "h3"), capsys)
    assert {told["first"]["url"], told["second"]["url"]} == {"https://server.test/four~1"}
    told = _told([*_words("h2", "h3"), "--url", "/four~4"], capsys)
    assert {told["first"]["url"], told["second"]["url"]} == {"https://server.test/four~4"}
    told = _told([*_words("h2", "h3"), "--stream", "3"], capsys)
    assert {told["first"]["url"], told["second"]["url"]} == {"https://server.test/four~2"}
    assert told["total"]["difference"]["time_ms"] == pytest.approx(
        told["total"]["second"]["time_ms"] - told["total"]["first"]["time_ms"]
    )


def test_words_and_page_name_the_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both name the request, its handshake, and the bytes of other answers."""
    page = tmp_path / "why.html"
    assert main(["explain", *_words("h3"), "--url", "/four~3", "-o", str(page)]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert "one of 4 requests (https://server.test/four~3), on a connection that was open already" in words
    assert "The lower bound is a round trip for the request," in words
    assert "one of 4 requests (https://server.test/four~3)" in page.read_text(encoding="utf-8")
    assert main(["explain", *_words("h2")]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert "the slowest of 4 requests (https://server.test/four~1), with its connection's handshake" in words
    assert "6.0 kB of other answers came before its first byte" in words


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([*_words("h3"), "--url", "/none"], ExitCode.DECODE, "it has https://server.test/four~1 (stream 0)"),
        ([*_words("h3"), "--stream", "1"], ExitCode.DECODE, "no answered request in it is for stream 1: it has"),
        ([*_words("h2")[:1], "--url", "/four~1"], ExitCode.DECODE, "it shows no answered request"),
        (["study", "--url", "/x"], ExitCode.SPEC, "--url belongs to recordings"),
        (["study", "--stream", "0"], ExitCode.SPEC, "--stream belongs to recordings"),
        (
            [str(_NETLOGS / "chromium-h2-padded.json.gz"), "--url", "/"],
            ExitCode.DECODE,
            "it does not show the request's connect start",
        ),
    ],
)
def test_what_is_not_there_is_refused(
    words: list[str], code: ExitCode, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error lists the requests that are there, or says what would show them."""
    assert main(["explain", *words]) == code
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_browsers_log_is_asked_for_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    """A chosen object has the account that it has as the only one, over TCP and over QUIC."""
    for name in ("h2", "h3"):
        log = str(_NETLOGS / f"chromium-{name}.json.gz")
        alone = _told([log], capsys)
        assert _told([log, "--url", "/object"], capsys)["total"] == alone["total"]
