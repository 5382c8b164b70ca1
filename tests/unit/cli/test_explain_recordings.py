# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --h2 … --h3 …`: two recordings from elsewhere, and what is said of those without an account."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode

_HERE = Path(__file__).parent / "recordings"
_H2, _H3 = _HERE / "h2.pcapng.gz", _HERE / "h3.pcapng.gz"
_KEYS = [_HERE / "h2.keys", _HERE / "h3.keys"]
_QUIC = Path(__file__).parents[2] / "decoders" / "quic"
_NETLOGS = Path(__file__).parents[2] / "decoders" / "netlog"
_PACKET = 6
"""Type of pcapng's blocks with a packet."""


def _explain(h2: Path, h3: Path, keys: list[Path], *more: str) -> int:
    options = [part for key in keys for part in ("--keys", str(key))]
    return main(["explain", "--h2", str(h2), "--h3", str(h3), *options, *more])


def _blocks(capture: Path) -> list[bytes]:
    content, blocks, at = gzip.decompress(capture.read_bytes()), [], 0
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at + 4)
        blocks.append(content[at : at + length])
        at += length
    return blocks


def _is_packet(block: bytes) -> bool:
    return bool(struct.unpack_from("<I", block)[0] == _PACKET)


def _edited(folder: Path, capture: Path, edit: Callable[[list[bytes]], list[bytes]]) -> Path:
    """A capture with its packets changed by `edit`."""
    blocks = _blocks(capture)
    head = [block for block in blocks if not _is_packet(block)]
    file = folder / "edited.pcapng"
    file.write_bytes(b"".join(head + edit([block for block in blocks if _is_packet(block)])))
    return file


def _in_whole_ms(block: bytes) -> bytes:
    """A packet whose time has lost all below a millisecond; the captures count nanoseconds."""
    high, low = struct.unpack_from("<II", block, 12)
    ns = ((high << 32) | low) // 1_000_000 * 1_000_000
    return block[:12] + struct.pack("<II", ns >> 32, ns & 0xFFFFFFFF) + block[20:]


def test_times_in_whole_milliseconds_are_known_to_be_no_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A capture that was converted says it in its times alone: one recording and two tell what that leaves open."""
    coarse = _edited(tmp_path, _H3, lambda packets: list(map(_in_whole_ms, packets)))
    assert main(["explain", str(coarse), "--keys", str(_KEYS[1]), "--json"]) == ExitCode.OK
    total = json.loads(capsys.readouterr().out)["total"]["time"]
    assert (total["least_ms"], total["most_ms"]) == (total["time_ms"] - 2, total["time_ms"] + 2)
    assert main(["explain", str(_H3), str(coarse), "--keys", str(_KEYS[1])]) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert words.count("its times tell an instant to ± 1 ms") == 1
    assert main(["explain", str(_H3), "--keys", str(_KEYS[1])]) == ExitCode.OK
    assert "its times tell" not in capsys.readouterr().out


@pytest.mark.parametrize("keys", [_KEYS, []], ids=["E1", "E2"])
def test_two_captures_with_and_without_keys(keys: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """The parts add up to the time to the last byte, and to its difference; nothing claims an interval."""
    assert _explain(_H2, _H3, keys, "--json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["first"]["level"] == told["second"]["level"] == ("E1" if keys else "E2")
    client = ["client"] if keys else []  # without keys nothing shows when the request was sent
    assert [part["part"] for part in told["parts"]] == ["set_up", *client, "request", "arriving", "waits"]
    for side in ("first", "second", "difference"):
        assert sum(part[side]["time_ms"] for part in told["parts"]) == pytest.approx(told["total"][side]["time_ms"])
    for part in [*told["parts"], told["total"]]:
        for side in ("first", "second", "difference"):
            assert part[side]["least_ms"] <= part[side]["time_ms"] <= part[side]["most_ms"], part
    # A round trip of 30 ms at 4 Mbit/s: TCP and TLS take two, QUIC takes one.
    set_up = told["parts"][0]
    assert 60 < set_up["first"]["time_ms"] < 80
    assert 30 < set_up["second"]["time_ms"] < 45
    assert set_up["sign_is_told"]
    for side in ("first", "second"):
        assert told[side]["path_rate_bit_per_s"] == pytest.approx(4e6, rel=0.02)


def test_the_words_say_what_one_pair_is(capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence, the table, the evidence of both, and that one transfer each is no test."""
    assert _explain(_H2, _H3, _KEYS) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert words.startswith("h3 took ")
    assert "the handshake takes" in words
    assert "h2: the client's capture with its keys" in words
    assert "One transfer each is no test" in words
    assert "without an interval and without a verdict" in words


def test_a_servers_log_is_compared_by_what_both_tell(capsys: pytest.CaptureFixture[str]) -> None:
    """Its few acknowledgments show no rate of the path: the answer is one part in both."""
    assert _explain(_H2, _HERE / "h3-server.sqlog.gz", [], "--json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["second"]["level"] == "E4"
    assert told["second"]["path_rate_bit_per_s"] is None
    assert told["first"]["path_rate_bit_per_s"] == pytest.approx(4e6, rel=0.02)
    assert [part["part"] for part in told["parts"]] == ["set_up", "request", "answer"]
    assert sum(part["difference"]["time_ms"] for part in told["parts"]) == pytest.approx(
        told["total"]["difference"]["time_ms"]
    )
    assert told["second"]["bytes_missing_ms"] is None


def test_a_clients_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Its times are whole milliseconds, which each part allows for."""
    assert _explain(_H2, _HERE / "h3-client.sqlog.gz", [], "--json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["second"]["level"] == "E3"
    span = told["total"]["second"]
    assert span["most_ms"] - span["least_ms"] >= 2


def test_two_netlogs(capsys: pytest.CaptureFixture[str]) -> None:
    """The browser's log of a request over TCP has no packets, but its connection and its DATA frames."""
    h2, h3 = (_NETLOGS / f"chromium-{name}.json.gz" for name in ("h2", "h3"))
    assert _explain(h2, h3, [], "--json") == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert told["first"]["level"] == told["second"]["level"] == "E3"
    assert told["total"]["first"]["time_ms"] == 112
    assert told["parts"][0]["first"]["time_ms"] == 44


def test_a_file_in_place_of_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One recording by itself and two by their order say what the options say; two of one protocol have their files'
    names."""
    keys = [part for key in _KEYS for part in ("--keys", str(key))]
    assert main(["explain", str(_H3), *keys[2:]]) == ExitCode.OK
    alone = capsys.readouterr().out
    assert main(["explain", "--h3", str(_H3), *keys[2:]]) == ExitCode.OK
    assert capsys.readouterr().out == alone
    assert main(["explain", str(_H2), str(_H3), *keys]) == ExitCode.OK
    both = capsys.readouterr().out
    assert _explain(_H2, _H3, _KEYS) == ExitCode.OK
    assert capsys.readouterr().out == both
    old, new = tmp_path / "curl-8.20.pcapng.gz", tmp_path / "curl-8.21.pcapng.gz"
    for copy in (old, new):
        copy.write_bytes(_H3.read_bytes())
    assert main(["explain", str(old), str(new), *keys[2:], "-o", str(tmp_path / "why.html")]) == ExitCode.OK
    told = capsys.readouterr().out
    assert told.startswith("curl-8.20 and curl-8.21 do not differ")
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "<title>curl-8.21 against curl-8.20</title>" in page
    assert "curl-8.21 − curl-8.20, ms" in page
    assert main(["explain", str(_H3), str(_H3)]) == ExitCode.OK
    assert capsys.readouterr().out.startswith("first and second do not differ")


@pytest.mark.parametrize("keys", [_KEYS[1:], []], ids=["E1", "E2"])
def test_one_transfer_twice_does_not_differ(
    keys: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file twice and a copy of it have no difference; a capture whose times were cut has one."""
    copy = tmp_path / "copy.pcapng.gz"
    copy.write_bytes(_H3.read_bytes())
    options = [part for key in keys for part in ("--keys", str(key))]
    for other, name in ((_H3, "second"), (copy, "copy")):
        assert main(["explain", str(_H3), str(other), *options]) == ExitCode.OK
        words = " ".join(capsys.readouterr().out.split())
        assert f"and {name} do not differ: they hold one transfer, packet by packet." in words
    coarse = _edited(tmp_path, _H3, lambda packets: list(map(_in_whole_ms, packets)))
    assert main(["explain", str(_H3), str(coarse), *options]) == ExitCode.OK
    assert "do not differ" not in capsys.readouterr().out


def test_no_order_is_claimed_that_the_recordings_do_not_show(capsys: pytest.CaptureFixture[str]) -> None:
    """Two logs of one connection, one of each end, whose difference may lie on either side of none."""
    assert main(["explain", str(_HERE / "h3-client.sqlog.gz"), str(_HERE / "h3-server.sqlog.gz")]) == ExitCode.OK
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith("The recordings do not tell if h3-server took longer than h3-client: ")
    assert "a difference of −8.2 … +1.9 ms." in told


def test_a_file_with_both_protocols_is_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture with a transfer over TCP and one over QUIC: the options say which is meant."""
    both = tmp_path / "both.pcapng"
    both.write_bytes(gzip.decompress(_H2.read_bytes()) + gzip.decompress(_H3.read_bytes()))
    assert main(["explain", str(both)]) == ExitCode.SPEC
    assert f"say which one: --h2 {both} or --h3 {both}" in " ".join(capsys.readouterr().err.split())
    assert main(["explain", "--h3", str(both)]) == ExitCode.OK
    assert capsys.readouterr().out.startswith("h3 took 132 ms")


def _backwards(packets: list[bytes]) -> list[bytes]:
    return [packets[0], *packets[-10:], *packets[1:-10]]


_BAD: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "middle": (lambda packets: packets[12:], "begins in the middle of the connection"),
    "end": (lambda packets: packets[:-20], "ends before the answer does"),
    "one way": (lambda packets: packets[:1], "holds no TCP connection in which a server sends data"),
    "lost": (lambda packets: packets[:30] + packets[31:], "lacks 1,448 bytes that the client acknowledges"),
    "request lost": (lambda packets: packets[:11] + packets[12:], "bytes that the server acknowledges"),
    "backwards": (_backwards, "contradicts itself"),
}


@pytest.mark.parametrize("kind", _BAD)
def test_a_capture_that_carries_no_account_is_named(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence that says what is wrong with it; no number is made up."""
    edit, words = _BAD[kind]
    assert _explain(_edited(tmp_path, _H2, edit), _H3, _KEYS) == ExitCode.DECODE
    said = capsys.readouterr()
    assert words in said.err
    assert "edited.pcapng" in said.err
    assert not said.out
    assert "Traceback" not in said.err


def test_a_packet_of_quic_that_is_not_there_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With keys acknowledgments tell of it; the capture holds the end of the connection all the same."""
    edited = _edited(tmp_path, _H3, lambda packets: packets[:30] + packets[31:])
    assert _explain(_H2, edited, _KEYS) == ExitCode.DECODE
    assert "it lacks 1 packet that the client acknowledges" in " ".join(capsys.readouterr().err.split())


def test_without_keys_what_the_client_never_answered_is_no_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A capture of QUIC that stops with a full packet of the server."""
    edited = _edited(tmp_path, _H3, lambda packets: packets[:44])
    assert _explain(_H2, edited, []) == ExitCode.DECODE
    assert "data came after the client's last packet" in " ".join(capsys.readouterr().err.split())


def test_a_pipe_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing waits for the other end of it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert _explain(pipe, _H3, []) == ExitCode.SPEC
    assert _explain(_H2, _H3, [pipe]) == ExitCode.SPEC
    assert capsys.readouterr().err.count("these are no files") == 2


def test_without_keys_the_end_must_be_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ends an answer is encrypted: only the connection's own end shows that nothing is missing."""
    assert _explain(_edited(tmp_path, _H2, lambda packets: packets[:-20]), _H3, []) == ExitCode.DECODE
    assert "record until the client closes, or give the keys" in " ".join(capsys.readouterr().err.split())


def test_without_keys_no_packet_of_quic_shows_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A capture that ends between two packets looks whole: the text says so, and programs are told."""
    assert _explain(_H2, _H3, []) == ExitCode.OK
    words = " ".join(capsys.readouterr().out.split())
    assert "No packet of QUIC shows without keys that the answer ended" in words
    assert "the answer's packets have 25.6 kB" in words
    for keys, shown in ((_KEYS, True), ([], False)):
        assert _explain(_H2, _H3, keys, "--json") == ExitCode.OK
        told = json.loads(capsys.readouterr().out)
        assert (told["first"]["end_is_shown"], told["second"]["end_is_shown"]) == (True, shown)


def test_small_answers_of_different_sizes_are_different_transfers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.8 kB are not the 25 kB of the other recording, though no contents show."""
    other = tmp_path / "h3.pcapng"
    other.write_bytes(lzma.decompress((_QUIC / "early-data-client.pcapng.xz").read_bytes()))
    assert _explain(_H2, other, []) == ExitCode.SPEC
    assert "these are different transfers, or one of them is cut off" in " ".join(capsys.readouterr().err.split())


def test_several_connections_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture of everything on a machine holds more than the transfer that is meant."""
    both = tmp_path / "both.pcapng"
    chromium = gzip.decompress(_H2.read_bytes())
    other = b"".join(block.replace(b"\x01\xbb", b"\x01\xbc") if _is_packet(block) else block for block in _blocks(_H2))
    both.write_bytes(chromium + other)
    assert _explain(both, _H3, []) == ExitCode.DECODE
    assert "holds 2 TCP connections" in capsys.readouterr().err


def test_a_capture_from_the_other_end_is_not_taken_for_the_clients(capsys: pytest.CaptureFixture[str]) -> None:
    """A client far from the capture answers a round trip later: that is unlike a client's own."""
    assert _explain(_HERE / "h2-at-server.pcapng.gz", _H3, []) == ExitCode.SPEC
    assert "these recordings are unlike: h2 was taken between client and server" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("h2", "h3", "keys", "code", "words"),
    [
        (_H3, _H2, [], ExitCode.DECODE, "holds no TCP connection"),
        (_H2, _H3, _KEYS[:1], ExitCode.DECODE, "no key that was given fits it"),
        (_H2, _NETLOGS / "chromium-h3.json.gz", [], ExitCode.SPEC, "these are different transfers"),
        (_HERE / "README.md", _H3, [], ExitCode.DECODE, "none of these files is a log"),
        (_HERE / "h2.pcap", _H3, [], ExitCode.SPEC, "these files are not there"),
        (_HERE / "plain-http.pcap.gz", _H3, [], ExitCode.DECODE, "its request is not encrypted"),
        (_HERE, _H3, [], ExitCode.SPEC, "one recording for each transfer"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    h2: Path, h3: Path, keys: list[Path], code: ExitCode, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Swapped, closed, unlike, missing, or no recording at all: the code and the sentence say which."""
    assert _explain(h2, h3, keys) == code
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--h2", str(_H2), "-o", "why.txt"], "give it the ending .html"),
        (["study", "-o", "why.html"], "-o belongs to recordings"),
        (["--h2", str(_H2), "--h3", str(_H3), "--metric", "ttlb_ms"], "--metric belongs to a study"),
        (["study", "--h2", str(_H2), "--h3", str(_H3)], "not both"),
        ([], "needs a study or recordings"),
        ([str(_H2), "--baseline", "h2"], "name the older recording first"),
        ([str(_H2), "--h3", str(_H3)], "by themselves"),
        (["not-there.pcapng"], "these files are not there"),
        (["study", "--keys", "file"], "--keys belongs to recordings"),
    ],
)
def test_a_study_or_two_recordings(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A command line with neither of them, or with both, is refused."""
    assert main(["explain", *arguments]) == ExitCode.SPEC
    assert words in " ".join(capsys.readouterr().err.split())


def test_the_how_to_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """The outputs in docs/how-to/explain-captures.md are of the recordings here."""
    assert _explain(_H2, _H3, _KEYS) == ExitCode.OK
    page = (_HERE.parents[3] / "docs/how-to/explain-captures.md").read_text(encoding="utf-8")
    assert " ".join(capsys.readouterr().out.split()) in " ".join(page.split())
    assert main(["explain", str(_H2), "--keys", str(_KEYS[0])]) == ExitCode.OK
    alone = capsys.readouterr().out.partition("h2: the client's capture")[0]
    assert " ".join(alone.split()) in " ".join(page.split())


def test_a_damaged_log_is_no_bug_of_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A frame that has lost the number of its stream leaves the rest of the log as it is."""
    whole = gzip.decompress((_HERE / "h3-server.sqlog.gz").read_bytes())
    damaged = tmp_path / "server.sqlog"
    damaged.write_bytes(whole.replace(b'"stream_id"', b'"strEam_id"', 3))
    assert damaged.read_bytes() != whole
    assert _explain(_H2, damaged, []) in (ExitCode.OK, ExitCode.DECODE)
    assert "Traceback" not in capsys.readouterr().err


def test_a_recording_has_the_name_of_what_it_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """HTTP/1.1 is no h2, though both come over TCP; and without keys TCP carries nobody knows which."""
    of_h1 = Path(__file__).parents[1] / "evidence/verify/recordings/h1"
    for options, name in (
        ([str(of_h1 / "client.pcapng"), "--keys", str(of_h1 / "keys.log")], "h1"),
        (["--h2", str(of_h1 / "client.pcapng"), "--keys", str(of_h1 / "keys.log")], "h1"),
        ([str(of_h1 / "client.pcapng")], "TCP"),
        (["--h2", str(of_h1 / "client.pcapng")], "h2"),
    ):
        assert main(["explain", *options]) == ExitCode.OK
        assert capsys.readouterr().out.startswith(f"{name} took ")
    copy = tmp_path / "other.pcapng"
    copy.write_bytes((of_h1 / "client.pcapng").read_bytes())
    assert main(["explain", str(of_h1 / "client.pcapng"), str(copy), "--json"]) == ExitCode.OK
    told = json.loads(capsys.readouterr().out)
    assert (told["first"]["name"], told["second"]["name"]) == ("client", "other")
