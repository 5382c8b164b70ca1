# SPDX-License-Identifier: Apache-2.0
"""`quiclab probe` against real servers in namespaces that play the Internet, and a caller that is one of them, too."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from internet import SERVER, URL, caddy, internet
from live_link import in_sandbox
from small_study import QUICLAB, quiclab, trials

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_SIZE = 60_000
_CALM = ("--allow-host-nat", "--disturbance", "100 %", "--pause", "50 ms", "--pairs", "1")
"""A loaded machine must not void what is tested here."""
_FORWARDING = Path("/proc/sys/net/ipv4/conf/uplink/forwarding")


def _online(folder: Path, work: Callable[[Path], Any], protocols: tuple[str, ...] = ("h1", "h2", "h3")) -> Any:
    """Run `work(CA)` where a server is on the Internet."""
    (folder / "www").mkdir()
    (folder / "www" / "object").write_bytes(os.urandom(_SIZE))
    (folder / "www" / "empty").touch()
    (folder / "www" / "folder").mkdir()
    (folder / "www" / "folder" / "index.html").write_text("hello")

    def inside() -> Any:
        with internet() as outside, caddy(outside, folder, protocols) as ca:
            return work(ca)

    return in_sandbox(inside)


def _probe(*arguments: str | Path) -> dict[str, Any]:
    done = quiclab("probe", *_CALM, *arguments)
    return {
        "code": done.returncode,
        "output": done.stdout,
        "errors": done.stderr,
        "forwarding": _FORWARDING.read_text() if _FORWARDING.exists() else None,
    }


@pytest.mark.parametrize("backend", ["tun", *by_night("veth")])
def test_a_whole_probe(tmp_path: Path, backend: str) -> None:
    """Both protocols through the link to a real server: proven, compared, reported, with nothing left behind."""
    study = tmp_path / "study"
    told = _online(
        tmp_path,
        lambda ca: _probe("--delay", "10ms", "--backend", backend, "--ca", ca, "--out", study, f"{URL}/object"),
    )
    assert told["code"] == 0, told["errors"]
    assert told["forwarding"] == "0\n"
    assert not (study / "host-nat.json").exists()
    assert f"({SERVER}): 8 planned and 100 at most, 100 MB of bodies at most" in told["output"]
    assert f"both answer, with {_SIZE} bytes" in told["output"]
    assert (study / "report.html").stat().st_size > 100_000
    assert json.loads((study / "requests.json").read_text()) == {
        "server.test:443": {"requests": 8, "body_bytes": 8 * _SIZE}
    }
    kept = trials(study)
    assert len(kept) == 6
    for trial in kept:
        wanted = {"h2": ("tcp", "HTTP/2"), "h3": ("quic", "HTTP/3")}[trial["protocol"]]
        assert (trial["status"], trial["reason"]) == ("verified", "")
        assert (trial["proof"]["transport"], trial["proof"]["http_version"]) == wanted
        assert trial["proof"]["tls_version"] == "TLS 1.3"
        assert trial["server_address"] == SERVER
        assert trial["host"]["tcp_info"] == {}
    metrics = pl.read_parquet(study / "metrics.parquet")
    times = metrics.filter(pl.col("name") == "ttlb_ms")["value"]
    assert times.len() == 6
    assert times.null_count() == 0
    assert times.min() >= 40  # type: ignore[operator] # two round trips at least
    unknown = metrics.filter(pl.col("name") == "retransmitted_bytes")
    assert unknown["value"].null_count() == unknown.height == 6
    assert all("the server is not the laboratory's" in note for note in unknown["note"])
    assert "The servers are not the laboratory's" in told["output"].replace("\n", " ")


def test_a_server_without_http3(tmp_path: Path) -> None:
    """Said after one look over each protocol, and not tried again."""
    study = tmp_path / "study"
    told = _online(tmp_path, lambda ca: _probe("--ca", ca, "--out", study, f"{URL}/object"), ("h1", "h2"))
    assert told["code"] == 1
    assert "there is nothing to compare" in told["errors"]
    assert f"no usable HTTP/3 at {SERVER} port 443" in told["errors"]
    assert "its HTTP/2 answers" in told["errors"]
    assert json.loads((study / "requests.json").read_text())["server.test:443"]["requests"] == 2
    assert told["forwarding"] == "0\n"
    assert trials(study) == []


@pytest.mark.nightly
def test_what_is_no_answer_is_left_out(tmp_path: Path) -> None:
    """Status 404 and a body without bytes cannot be compared; the URL that can goes on."""
    urls = (f"{URL}/missing", f"{URL}/empty", f"{URL}/folder", f"{URL}/object")
    told = _online(tmp_path, lambda ca: _probe("--ca", ca, "--out", tmp_path / "study", "--no-report", *urls))
    assert told["code"] == 0, told["errors"]
    assert "left out: https://server.test/missing" in told["output"]
    assert "the server answered with status 404" in told["output"]
    assert "left out: https://server.test/folder" in told["output"]
    assert "which sends to https://server.test/folder/: give that URL" in told["output"]
    assert "left out: https://server.test/empty" in told["output"]
    assert "the body is empty" in told["output"]
    assert {trial["row"]["workload"] for trial in trials(tmp_path / "study")} == {"server.test-object"}


def test_certificates_are_checked(tmp_path: Path) -> None:
    """The machine's own CAs do not know the server's; --insecure takes it as it is."""
    out = ("--no-report", "--out", tmp_path / "study", f"{URL}/object")
    refused, taken = _online(tmp_path, lambda _: [_probe(*out), _probe("--insecure", *out)])
    assert refused["code"] == 1
    assert "certificate" in refused["errors"]
    assert taken["code"] == 0, taken["errors"]


@pytest.mark.nightly
def test_a_probe_is_continued_within_its_bounds(tmp_path: Path) -> None:
    """What was run stays, what it cost is remembered, and a bound that is reached ends the rest with that reason."""
    study = tmp_path / "study"

    def work(ca: Path) -> list[Any]:
        common = ("--ca", ca, "--out", study, "--no-report")
        first = _probe(*common, f"{URL}/object")
        again = _probe(*common, f"{URL}/object")
        other = _probe(*common, "--delay", "1ms", f"{URL}/object")
        more = _probe(*common, "--pairs", "3", "--max-requests", "20", "--max-bytes", "600 KB", f"{URL}/object")
        return [first, again, other, more]

    first, again, other, more = _online(tmp_path, work)
    assert (first["code"], again["code"]) == (0, 0), again["errors"]
    assert other["code"] == 2
    assert "the link: was 'the path as it is', is 'delay 1ms'" in other["errors"]
    assert more["code"] == 1
    assert "more than --max-bytes allows: the rest was not run" in more["errors"]


def _start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [str(QUICLAB), "probe", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, *by_night(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
def test_ended_by_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """Nothing of the change is left: after kill -9 once `quiclab clean` was run, after others at once."""
    study = tmp_path / "study"

    def work(ca: Path) -> list[Any]:
        process = _start(*_CALM, "--pairs", "9", "--ca", ca, "--out", study, f"{URL}/object")
        patience = time.monotonic() + 60
        while not any(study.glob("trials/*/trial.json")):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < patience
            time.sleep(0.02)
        during = _FORWARDING.read_text()
        process.send_signal(number)
        process.communicate(timeout=60)
        killed = _FORWARDING.read_text(), (study / "host-nat.json").exists()
        cleaned = quiclab("clean", study)
        devices = sorted(each.name for each in Path("/proc/sys/net/ipv4/conf").iterdir())
        return [during, *killed, cleaned.stdout, _FORWARDING.read_text(), (study / "host-nat.json").exists(), devices]

    during, left, recorded, told, after, record, devices = _online(tmp_path, work)
    assert (during, after, record) == ("1\n", "0\n", False)
    assert devices == ["all", "default", "lo", "uplink"]
    if number == signal.SIGKILL:
        assert (left, recorded) == ("1\n", True)
        assert "taken back from this machine's network: net.ipv4.conf.uplink.forwarding = 0" in told
    else:
        assert (left, recorded) == ("0\n", False)


def test_it_asks_on_a_terminal(tmp_path: Path) -> None:
    """Anything but yes, and nothing is sent nor changed."""
    script = (
        "import os, pty, sys\n"
        "pid, terminal = pty.fork()\n"
        "if pid == 0:\n    os.execv(sys.argv[1], sys.argv[1:])\n"
        "seen = b''\n"
        "while b'[y/N]' not in seen:\n    seen += os.read(terminal, 4096)\n"
        "os.write(terminal, b'n\\n')\n"
        "try:\n    while more := os.read(terminal, 4096):\n        seen += more\nexcept OSError:\n    pass\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode())\n"
    )
    study = tmp_path / "study"

    def work(ca: Path) -> list[Any]:
        command = [str(QUICLAB), "probe", *_CALM, "--ca", str(ca), "--out", str(study), f"{URL}/object"]
        done = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, text=True, check=True)
        return [done.stdout, (study / "requests.json").exists(), _FORWARDING.read_text()]

    output, sent, forwarding = _online(tmp_path, work)
    assert output.startswith("130 ")
    assert "nothing was sent" in output
    assert (sent, forwarding) == (False, "0\n")


_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")


@pytest.mark.parametrize(
    ("arguments", "before", "code", "words"),
    [
        (["https://a.test/"], (), 3, "it needs --allow-host-nat"),
        (["--allow-host-nat", "https://a.test/"], _USER, 3, "it needs root and --allow-host-nat"),
        (["--allow-host-nat", "https://a.invalid/"], (), 3, "a.invalid has no IPv4 address"),
        (["http://a.test/"], (), 2, "http://a.test/: write a whole URL that begins with https://"),
        (["--pairs", "50", "https://a.test/"], (), 2, "a.test:443 would get 302 requests"),
        *by_night(
            (["--pairs", "0", "https://a.test/"], (), 2, "--pairs: 0 is not from 1 to 1000"),
            (["--loss", "120%", "https://a.test/"], (), 2, "--loss"),
            (["--pause", "soon", "https://a.test/"], (), 2, "--pause"),
            (["--ca", "/no/such", "https://a.test/"], (), 2, "--ca: there is no file /no/such"),
        ),
    ],
)
def test_refused(tmp_path: Path, arguments: list[str], before: Sequence[str], code: int, words: str) -> None:
    """One clear error that says what to do, before anything is sent."""

    def work() -> list[Any]:
        done = quiclab("probe", *arguments, "--out", tmp_path / "study", before=before)
        return [done.returncode, done.stderr]

    got, errors = in_sandbox(work)
    assert (got, "Traceback" in errors) == (code, False), errors
    assert words in errors
    if code == 3 and "invalid" not in words:
        assert "user-mode stacks (pasta, slirp4netns) end TCP on this machine" in errors
