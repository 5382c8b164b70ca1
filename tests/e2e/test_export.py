# SPDX-License-Identifier: Apache-2.0
"""`quiclab export` as a user meets it: from tables and from logs, choices, refusals, exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from by_night import by_night
from exported import THREE_QLOGS, unpack
from qlog_schema import Drafts

NGTCP2 = next(path for path in THREE_QLOGS if path.name.startswith("ngtcp2"))


def quiclab(*arguments: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run the command, behind another one."""
    command = [*before, sys.executable, "-m", "quiclab.cli.main", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_the_help_teaches() -> None:
    """Formats, sources, examples and exit codes."""
    told = quiclab("export", "--help").stdout
    for word in ("qlog", "har", "--connection", "--vantage", "quiclab decode", "exit codes", "qvis"):
        assert word in told, word
    assert "export" in quiclab("--help").stdout


def test_a_capture_becomes_a_qlog_and_a_har(tmp_path: Path) -> None:
    """Straight from a capture with its key log, without a trace of what lay between."""
    (logs := tmp_path / "logs").mkdir()
    unpack("quic-go", logs)
    done = quiclab("export", "qlog", logs / "client.pcapng", logs / "keys.log", "-o", tmp_path / "qlogs")
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "qlogs").iterdir()
    events = Drafts().check(path)
    assert f"{path}: {events} events" in done.stdout
    assert "qlog has no place for:" in done.stdout
    har = tmp_path / "out.har"
    done = quiclab("export", "har", logs / "client.pcapng", "--keys", logs / "keys.log", "-o", har)
    assert (done.returncode, done.stdout) == (0, f"{har}: 1 requests\n"), done.stderr
    assert len(json.loads(har.read_text())["log"]["entries"]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "out.har", "qlogs"]


def test_tables_become_what_their_logs_become(tmp_path: Path) -> None:
    """A folder that `quiclab decode` wrote gives the same bytes as the logs themselves."""
    assert quiclab("decode", *THREE_QLOGS, "-o", tmp_path / "tables").returncode == 0
    for source, name in ((THREE_QLOGS, "a"), ([tmp_path / "tables"], "b")):
        assert quiclab("export", "qlog", *source, "-o", tmp_path / name).returncode == 0
    first, second = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert first == second
    assert len(first) == 3
    done = quiclab("export", "qlog", tmp_path / "tables", "--vantage", "server", "-o", tmp_path / "c")
    assert [path.name for path in (tmp_path / "c").iterdir()] == [
        "1c7ed0f829bd81cb6079ab547e72e1f0e5944702_server.sqlog"
    ], done.stdout


def test_what_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    """An earlier export not without --force; what is no export not at all."""
    out, har = tmp_path / "out", tmp_path / "x.har"
    assert quiclab("export", "qlog", NGTCP2, "-o", out).returncode == 0
    (written,) = out.iterdir()
    before = written.stat().st_ino
    done = quiclab("export", "qlog", NGTCP2, "-o", out)
    assert (done.returncode, "--force" in done.stderr) == (2, True), done.stderr
    assert written.stat().st_ino == before
    assert quiclab("export", "qlog", NGTCP2, "-o", out, "--force").returncode == 0
    assert written.stat().st_ino != before
    written.write_text("mine")
    for force in ((), ("--force",)):
        done = quiclab("export", "qlog", NGTCP2, "-o", out, *force)
        assert (done.returncode, written.name in done.stderr) == (2, True), done.stderr
    assert written.read_text() == "mine"
    har.mkdir()
    assert quiclab("export", "har", NGTCP2, "-o", har, "--force").returncode == 2
    har.rmdir()
    har.write_text("mine")
    assert quiclab("export", "har", NGTCP2, "-o", har).returncode == 2
    assert har.read_text() == "mine"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("qlog", "{folder}/none.pcapng"), 2, "not there"),
        (("qlog", "{folder}/text"), 4, "none of these files is a log"),
        (("qlog", "{folder}/client.pcapng"), 4, "only TCP: 10.77.0.1:"),
        *by_night(
            (("qlog", "{qlog}", "--connection", "1c7e"), 2, "1c7ed0f829bd81cb6079ab547e72e1f0e5944702"),
            (("qlog", "{qlog}", "--source", "ngtcp2-client-100k.sqlog.gz"), 2, "ngtcp2-client-100kb.sqlog.gz?"),
            (("qlog", "{qlog}", "--vantage", "server"), 2, "client"),
            (("qlog", "{folder}/broken.qlog"), 4, "none of these logs can be read"),
            (("har", "{qlog}"), 4, "no HTTP request"),
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(tmp_path: Path, arguments: tuple[str, ...], code: int, told: str) -> None:
    """Every refusal has its documented exit code, says what to do, and leaves nothing behind."""
    (folder := tmp_path / "in").mkdir()
    (folder / "text").write_text("nothing of the kind\n")
    (folder / "broken.qlog").write_text('{"qlog_version":"0.3","qlog_format":"JSON","traces":7}')
    unpack("h2", folder)
    out = tmp_path / "out"
    done = quiclab("export", *(each.format(folder=folder, qlog=NGTCP2) for each in arguments), "-o", out)
    assert (done.returncode, told in done.stderr) == (code, True), done.stderr + done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_tables_that_are_none(tmp_path: Path) -> None:
    """A folder that looks like tables and is not, or is of another version: decode again."""
    (tmp_path / "sources.parquet").write_bytes(b"PAR1")
    done = quiclab("export", "qlog", tmp_path, "-o", tmp_path.with_name("out"))
    assert (done.returncode, "decode the logs again" in done.stderr) == (4, True), done.stderr


@pytest.mark.netns
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """No half of an export stays, and an earlier one is kept."""
    (disk := tmp_path / "disk").mkdir()
    kept = tmp_path / "kept"
    assert quiclab("export", "qlog", NGTCP2, "-o", tmp_path / "earlier").returncode == 0
    mount = f"mount -t tmpfs -o size=64k none {disk} && cp -r {tmp_path}/earlier {disk}/out"
    script = f'{mount}; "$@"; code=$?; cp -r {disk} {kept}; exit $code'
    before = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh")
    done = quiclab("export", "qlog", NGTCP2, "-o", disk / "out", "--force", before=before)
    assert done.returncode == 3, done.stderr
    assert "No space left" in done.stderr
    assert "nothing was replaced" in done.stderr
    (written,), (earlier,) = ((folder).iterdir() for folder in (kept / "out", tmp_path / "earlier"))
    assert written.read_bytes() == earlier.read_bytes()
    assert [path.name for path in kept.iterdir()] == ["out"]
