# SPDX-License-Identifier: Apache-2.0
"""`quiclab decode`: what it writes, what it says, and what it answers to bad input."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from decoders import writers

from quiclab.cli.main import main
from quiclab.model.errors import ExitCode
from quiclab.model.tables import TABLES


def _zipped(content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("server.pcap", content)
    return file.getvalue()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a log of each end, a capture, and a file that is none."""
    folder = tmp_path / "logs"
    (folder / "server-qlog").mkdir(parents=True)
    (folder / "client.sqlog").write_bytes(writers.Qlog("client").bytes())
    (folder / "server-qlog/a.sqlog.gz").write_bytes(gzip.compress(writers.Qlog("server").bytes()))
    capture = writers.Capture("client")
    capture.add("up", 5, writers.udp("up", 30))
    (folder / "client.pcapng").write_bytes(capture.bytes())
    (folder / "notes.txt").write_text("not a log")
    return folder


def test_a_folder_becomes_tables(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One Parquet file per table that has rows, with its units, and the three that tell about the files."""
    out = tmp_path / "tables"
    assert main(["decode", str(logs), "-o", str(out)]) == ExitCode.OK
    sources = pl.read_parquet(out / "sources.parquet")
    assert set(sources.select("source", "format", "vantage").rows()) == {
        ("logs/client.pcapng", "pcapng", "client"),
        ("logs/client.sqlog", "qlog", "client"),
        ("logs/server-qlog/a.sqlog.gz", "qlog", "server"),
    }
    assert pl.read_parquet(out / "ip_packets.parquet").height == 1
    for name in ("ip_packets", "sources"):
        told = json.loads(pl.read_parquet_metadata(out / f"{name}.parquet")["units"])
        assert told == TABLES[name].units
        assert told["uncertainty_ns"] == "ns"
    assert {path.name for path in out.iterdir()} >= {"decode_stats.parquet", "absent.parquet"}
    assert not (out / "page_events.parquet").exists()
    said = capsys.readouterr().out
    assert "logs/notes.txt" in said
    assert "ip_packets" in said
    assert not (tmp_path / ".tables.partial").exists()


def test_the_ends_can_be_named(tmp_path: Path) -> None:
    """`--server` says whose a file is that does not say so itself."""
    capture = writers.Capture("server")
    capture.add("down", 5, writers.udp("down", 30))
    (tmp_path / "trace.pcapng").write_bytes(capture.bytes())
    out = tmp_path / "tables"
    assert main(["decode", "--server", str(tmp_path / "trace.pcapng"), "-o", str(out)]) == ExitCode.OK
    assert pl.read_parquet(out / "ip_packets.parquet")["vantage"].to_list() == ["server"]


def test_earlier_tables_are_replaced_only_on_demand(logs: Path, tmp_path: Path) -> None:
    """And a folder with something else in it never is."""
    out = tmp_path / "tables"
    command = ["decode", str(logs), "-o", str(out)]
    assert main(command) == ExitCode.OK
    assert main(command) == ExitCode.SPEC
    (out / "frames.parquet").write_bytes(b"")
    assert main([*command, "--force"]) == ExitCode.OK
    assert not (out / "frames.parquet").exists() or pl.read_parquet(out / "frames.parquet").height
    assert main(["decode", str(logs), "-o", str(logs), "--force"]) == ExitCode.SPEC


def test_a_damaged_log_is_told_and_the_rest_written(logs: Path, tmp_path: Path) -> None:
    """The exit code says that input was lost; the file's name stands in decode_stats."""
    (logs / "link.qplog").write_bytes(b"QLPKTLOG\2")
    out = tmp_path / "tables"
    assert main(["decode", str(logs), "-o", str(out)]) == ExitCode.INPUT_LOST
    stats = pl.read_parquet(out / "decode_stats.parquet")
    assert stats.filter(name="unreadable")["source"].to_list() == ["logs/link.qplog"]
    assert pl.read_parquet(out / "ip_packets.parquet").height == 1


def test_the_exit_code_tells_a_lost_rest_and_a_lost_whole(logs: Path, tmp_path: Path) -> None:
    """A rest that cannot be read is an error, which has a code; a capture cut short is a loss, which has none."""
    capture = (logs / "client.pcapng").read_bytes()
    for rest, code in ((b"\6\0\0\0\xff\xff\xff\xff", ExitCode.INPUT_LOST), (b"\6\0\0\0", ExitCode.OK)):
        (logs / "client.pcapng").write_bytes(capture + rest)
        assert main(["decode", str(logs), "-o", str(tmp_path / "tables"), "--force"]) == code
    alone = tmp_path / "alone.qplog"
    alone.write_bytes(b"QLPKTLOG\2")
    assert main(["decode", str(alone), "-o", str(tmp_path / "none")]) == ExitCode.DECODE


@pytest.mark.parametrize(("pack", "how"), [(lzma.compress, "xz"), (bz2.compress, "bzip2"), (_zipped, "zip")])
def test_what_is_packed_otherwise_is_told(
    pack: Callable[[bytes], bytes], how: str, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Alone it is an error that names the compressions that are read; beside other logs it is a loss in the summary."""
    packed = tmp_path / "server.pcap"
    packed.write_bytes(pack(writers.pcap([writers.udp("up", 30)])))
    assert main(["decode", str(packed), "-o", str(tmp_path / "none")]) == ExitCode.DECODE
    said = capsys.readouterr().err
    assert f"server.pcap ({how})" in said
    assert "gzip and Zstandard are read as they are" in said
    out = tmp_path / "tables"
    assert main(["decode", str(packed), str(logs), "-o", str(out)]) == ExitCode.INPUT_LOST
    stats = pl.read_parquet(out / "decode_stats.parquet").filter(source="server.pcap")
    assert stats.select("name", "severity").rows() == [(f"unread_compression:{how}", "data_loss")]
    assert "unread_compression" in capsys.readouterr().out


@pytest.mark.parametrize("rest", [b"junk", b"\0" * 9 + b"x", b"\x1f\x8b\x09" + b"x" * 30])
def test_what_follows_a_whole_gzip_member_is_not_lost_silently(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rest: bytes
) -> None:
    """The first member was decoded; that more was there is told."""
    packed, out = tmp_path / "server.pcap.gz", tmp_path / "tables"
    packed.write_bytes(gzip.compress(writers.pcap([writers.udp("up", 30)])) + rest)
    assert main(["decode", str(packed), "-o", str(out)]) == ExitCode.OK
    stats = pl.read_parquet(out / "decode_stats.parquet").filter(severity="data_loss")
    assert stats["name"].to_list() == ["corrupt_compression"]
    assert pl.read_parquet(out / "ip_packets.parquet").height == 1
    assert "corrupt_compression" in capsys.readouterr().out


def test_a_named_file_that_is_no_log_is_told(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spoiled or empty capture that was named is input lost; the same files in a named folder change no code."""
    monkeypatch.setenv("COLUMNS", "200")
    (logs / "garbage.pcapng").write_bytes(b"\x17\x2a" * 500)
    (logs / "empty.pcapng").touch()
    named = [str(logs / name) for name in ("client.pcapng", "garbage.pcapng", "empty.pcapng")]
    out = tmp_path / "tables"
    assert main(["decode", *named, "-o", str(out)]) == ExitCode.INPUT_LOST
    assert "error no logs of a known format: garbage.pcapng, empty.pcapng" in capsys.readouterr().out
    assert pl.read_parquet(out / "ip_packets.parquet").height == 1
    assert main(["decode", str(logs), "-o", str(tmp_path / "folder")]) == ExitCode.OK
    assert "left alone: logs/empty.pcapng, logs/garbage.pcapng, logs/notes.txt" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], ExitCode.SPEC, "no log is named"),
        (["nowhere.qlog"], ExitCode.SPEC, "nowhere.qlog"),
        (["text.txt"], ExitCode.DECODE, "text.txt"),
        (["secret.qlog"], ExitCode.DECODE, "secret.qlog"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str],
    code: ExitCode,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing named, nothing there, no log, no permission: what it was, what to do, and no output left."""
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text("hello")
    Path("secret.qlog").symlink_to("secret.qlog")
    if arguments == ["secret.qlog"]:
        code = ExitCode.SPEC  # a link that leads nowhere is not there
    assert main(["decode", *arguments, "-o", "out"]) == code
    said = capsys.readouterr().err
    assert says in said
    assert "hint" in said
    assert not Path("out").exists()


def test_a_full_disk_is_told_and_leaves_nothing(logs: Path, tmp_path: Path) -> None:
    """A real small file system that is full."""
    place = tmp_path / "small"
    place.mkdir()
    command = (
        f"mount -t tmpfs -o size=16k none {place}; head -c 16384 /dev/zero > {place}/filler;"
        f' "$0" decode {logs} -o {place}/tables; code=$?; ls -A {place}; exit $code'
    )
    quiclab = Path(__file__).parents[3] / ".venv/bin/quiclab"
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", command, quiclab],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == ExitCode.HOST, done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.split() == ["filler"]


@pytest.mark.parametrize("end", ["--client", "--server"])
def test_a_log_says_itself_whose_it_is(end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line may not say otherwise; a file's name is a guess, which the log overrules."""
    log, out = tmp_path / "client.sqlog", tmp_path / "tables"
    qlog = writers.Qlog("server")
    qlog.packet("sent", 1, 1, 100, [{"frame_type": "ping"}])
    log.write_bytes(qlog.bytes())
    code = main(["decode", end, str(log), "-o", str(out)])
    if end == "--client":
        assert code == ExitCode.SPEC
        assert (
            "client.sqlog was given with --client, but says itself that it is the server's" in capsys.readouterr().err
        )
        assert not out.exists()
        assert main(["decode", str(log), "-o", str(out)]) == ExitCode.OK
    assert pl.read_parquet(out / "sources.parquet")["vantage"].to_list() == ["server"]


def test_one_file_is_of_one_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both at once is a contradiction of the command line with itself."""
    log = tmp_path / "a.sqlog"
    log.write_bytes(writers.Qlog("server").bytes())
    assert main(["decode", "--client", str(log), "--server", str(log), "-o", str(tmp_path / "out")]) == ExitCode.SPEC
    assert "given with --client and with --server" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a[1]", "{x}", "a*b?", "wei\u00df \U0001f980"])
def test_any_name_will_do(name: str, tmp_path: Path) -> None:
    """What patterns are made of is nothing special in names of logs, of their folders, and of what is written."""
    logs = tmp_path / name
    logs.mkdir()
    qlog = writers.Qlog("client")
    qlog.packet("sent", 1, 1, 100, [{"frame_type": "ping"}])
    (logs / f"client-{name}.sqlog").write_bytes(qlog.bytes())
    # What a pattern would find, too.
    (tmp_path / "a1").mkdir()
    tables = tmp_path / f"tables-{name}"
    assert main(["decode", str(logs), "-o", str(tables)]) == ExitCode.OK
    assert pl.read_parquet(tables / "packets.parquet", glob=False)["source"].to_list() == [
        f"{name}/client-{name}.sqlog"
    ]
    out = tmp_path / f"out-{name}"
    assert main(["export", "qlog", str(tables), "-o", str(out)]) == ExitCode.OK
    assert [path.suffix for path in out.iterdir()] == [".sqlog"]
    assert main(["export", "qlog", str(logs), "-o", str(out), "--force"]) == ExitCode.OK


def test_names_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A log's is told with its bytes; an output's is refused, as nothing could be written to it."""
    log = Path(os.fsdecode(os.fsencode(tmp_path) + b"/client-\xff.sqlog"))
    qlog = writers.Qlog("client")
    qlog.packet("sent", 1, 1, 100, [{"frame_type": "ping"}])
    log.write_bytes(qlog.bytes())
    out = tmp_path / "tables"
    assert main(["decode", str(log), "-o", str(out)]) == ExitCode.OK
    assert pl.read_parquet(out / "packets.parquet")["source"].to_list() == ["client-\\xff.sqlog"]
    for command in (["decode", str(log)], ["export", "qlog", str(out)]):
        assert main([*command, "-o", str(log) + "-out"]) == ExitCode.SPEC
        assert "not UTF-8: " in capsys.readouterr().err
