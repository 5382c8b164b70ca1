# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain` of a recording of several requests: four of 6 kB, at most two at once, 30 ms and 4 Mbit/s."""

from __future__ import annotations

import gzip
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


def test_a_log_that_does_not_say_whose_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The streams are the same, as is the time of each."""
    content = gzip.decompress((_HERE / "h3-four-requests.sqlog.gz").read_bytes())
    assert content.count(b'"type":"client"') == 1
    log = tmp_path / "h3.sqlog"
    log.write_bytes(content.replace(b'"type":"client"', b'"type":"network","flow":"client"'))
    for more in (["--stream", "4"], []):
        whole = _ms(_told([str(_HERE / "h3-four-requests.sqlog.gz"), *more], capsys))
        assert _ms(_told([str(log), *more], capsys)) == whole


def test_a_log_is_not_asked_for_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing in it is encrypted: a server's has but one request that could be meant."""
    assert main(["explain", str(_HERE / "h3-server.sqlog.gz"), "--stream", "0"]) == ExitCode.DECODE
    told = capsys.readouterr().err
    assert "give that of the client's end" in told
    assert "keys" not in told


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


def _cut(folder: Path, name: str, share: float) -> list[str]:
    """The first bytes of a recording of four requests, as of a program that was killed, with its keys."""
    content = gzip.decompress((_HERE / f"{name}-four-requests.pcapng.gz").read_bytes())
    file = folder / f"{name}-cut.pcapng"
    file.write_bytes(content[: round(share * len(content))])
    return [str(file), "--keys", str(_HERE / f"{name}-four-requests.keys")]


@pytest.mark.parametrize("name", ["h2", "h3"])
def test_a_cut_recording_says_how_many_requests_lack_their_end(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The number that ends and the number that does not add up, and fewer end the earlier it is cut."""
    seen = []
    for share in (0.55, 0.7, 0.85):
        words = _cut(tmp_path, name, share)
        recording = _told(words, capsys)["recording"]
        assert recording["is_cut_short"]
        seen.append((recording["other_requests"] + 1, recording["unended_requests"]))
        assert main(["explain", *words, "-o", str(tmp_path / "why.html")]) == ExitCode.OK
        told = " ".join(capsys.readouterr().out.split())
        ended, unended = seen[-1]
        lacking = f"{name}-cut.pcapng is cut short before the answer"
        assert f"to {unended} of its {ended + unended} requests" in told
        for text in (told, " ".join((tmp_path / "why.html").read_text(encoding="utf-8").split())):
            assert text.count(lacking) == 1
    assert [ended for ended, _ in seen] == sorted(ended for ended, _ in seen)
    assert all(unended for _, unended in seen)
    whole = _told(_words(name), capsys)["recording"]
    assert (whole["is_cut_short"], whole["unended_requests"]) == (False, 0)


@pytest.mark.parametrize("name", ["h2", "h3"])
def test_a_recording_that_stops_between_two_packets_is_not_cut_but_lacks_ends(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file is whole, and its answers lack their ends."""
    words = _cut(tmp_path, name, 1)
    file = Path(words[0])
    content, at, ends = file.read_bytes(), 0, []
    while at < len(content):
        at += int.from_bytes(content[at + 4 : at + 8], "little")
        ends.append(at)
    file.write_bytes(content[: max(end for end in ends if end < 0.7 * len(content))])
    recording = _told(words, capsys)["recording"]
    assert not recording["is_cut_short"]
    assert recording["unended_requests"] > 0
    assert main(["explain", *words]) == ExitCode.OK
    assert f"{name}-cut.pcapng stops before the answer" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["h2", "h3"])
def test_a_request_without_an_end_is_refused_by_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is asked for, and all of a recording in which none ends; each error says that the file is cut."""
    words = _cut(tmp_path, name, 0.55)
    lacking = [f"/four~{number}" for number in range(1, 5)]
    refused = 0
    for url in lacking:
        code = main(["explain", *words, "--url", url])
        told = " ".join(capsys.readouterr().err.split())
        assert code in (ExitCode.OK, ExitCode.DECODE)
        refused += f"cut.pcapng, which is cut short: it ends before the answer to {url} does" in told
    assert refused
    assert main(["explain", *_cut(tmp_path, name, 0.3)]) == ExitCode.DECODE
    assert "which is cut short: it ends before the answer" in " ".join(capsys.readouterr().err.split())


def test_a_cut_recording_without_keys_shows_no_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An account by the sizes of packets would take the cut for the end of the answer."""
    assert main(["explain", _cut(tmp_path, "h3", 0.9)[0]]) == ExitCode.DECODE
    assert "is cut short" in " ".join(capsys.readouterr().err.split())


def test_a_cut_log_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A qlog has one record a line: the last one is cut within."""
    log = tmp_path / "cut.sqlog"
    content = gzip.decompress((_HERE / "h3-four-requests.sqlog.gz").read_bytes())
    log.write_bytes(content[: round(0.8 * len(content))])
    recording = _told([str(log)], capsys)["recording"]
    assert recording["is_cut_short"]
    assert recording["unended_requests"] + recording["other_requests"] + 1 == 4


@pytest.mark.parametrize("name", ["h2", "h3"])
@pytest.mark.parametrize("ms", [0, 25])
def test_a_pause_before_the_request_is_the_clients(
    name: str, ms: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All packets from the request on come later, as of a client that waits with an open connection: neither the
    handshake nor the way of the request gets longer."""
    before = _told([*_words(name), "--url", "/four~1"], capsys)
    file = tmp_path / "later.pcapng"
    file.write_bytes(_later(name, before, ms))
    keys = ["--keys", str(_HERE / f"{name}-four-requests.keys")]
    after = _told([str(file), *keys, "--url", "/four~1"], capsys)
    first, second = _ms(before), _ms(after)
    assert second.pop("client") == pytest.approx(first.pop("client") + ms, abs=0.01)
    assert second.pop("total") == pytest.approx(first.pop("total") + ms, abs=0.01)
    assert second == pytest.approx(first, abs=0.01)
    bound = {each["part"]: each["lower_bound_ms"] for each in after["parts"]}
    assert bound["client"] == 0


def _later(name: str, told: Any, ms: int) -> bytes:
    """The recording of four requests with a pause in front of the request that an account is of."""
    content = gzip.decompress((_HERE / f"{name}-four-requests.pcapng.gz").read_bytes())
    parts = _ms(told)
    blocks, at = [], 0
    while at < len(content):
        length = int.from_bytes(content[at + 4 : at + 8], "little")
        blocks.append(bytearray(content[at : at + length]))
        at += length
    packets = [block for block in blocks if int.from_bytes(block[:4], "little") == 6]
    times = [int.from_bytes(each[12:16], "little") << 32 | int.from_bytes(each[16:20], "little") for each in packets]
    sent = times[0] + round((parts["set_up"] + parts["client"]) * 1e6) - 1000
    for block, time in zip(packets, times, strict=True):
        moved = time + (ms * 1_000_000 if time >= sent else 0)
        block[12:16], block[16:20] = (moved >> 32).to_bytes(4, "little"), (moved & 0xFFFFFFFF).to_bytes(4, "little")
    return b"".join(blocks)
