# SPDX-License-Identifier: Apache-2.0
"""Chromium and Firefox as they are, against Caddy."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from live_link import in_sandbox
from live_programs import PATIENCE_S, PORT, SIZE, on_loopback
from small_study import main_only, quiclab, trials, write_spec

from quiclab.lab.endpoints._api import Endpoint
from quiclab.lab.endpoints._stacks import find_program
from quiclab.lab.endpoints.clients.chromium import Chromium
from quiclab.lab.endpoints.clients.firefox import Firefox
from quiclab.lab.endpoints.servers.caddy import Caddy
from quiclab.lab.testbed.certificates import make_certificates
from quiclab.logs.decoders.trial import decode_trial
from quiclab.model.study import Certificate, Knobs
from quiclab.model.units import ByteCount

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


def _needs(name: str, package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_program(name) is None, reason=f"no {name} here: apt-get install -y {package}")


needs_chromium, needs_firefox = _needs("chromium", "chromium"), _needs("firefox-esr", "firefox-esr")
needs_certutil = _needs("certutil", "libnss3-tools")
chromium = pytest.param(Chromium(), marks=[needs_chromium, needs_certutil], id="chromium")
firefox = pytest.param(Firefox(), marks=needs_firefox, id="firefox")
firefox_too = pytest.param(Firefox(), marks=[needs_firefox, pytest.mark.matrix], id="firefox")


@pytest.fixture(params=[chromium, firefox_too])
def browser(request: pytest.FixtureRequest) -> Endpoint:
    """Each browser that is installed."""
    endpoint: Endpoint = request.param
    return endpoint


def visit(folder: Path, browser: Endpoint, knobs: Knobs | None = None, **changes: Any) -> dict[str, Any]:
    """One request over loopback; what client.json says of it, of the browser, and how the program ended."""

    def work() -> dict[str, Any]:
        with on_loopback(folder) as lab, lab.serve(Caddy(), orderly=False):
            return lab.visit(browser, knobs, **changes)

    result: dict[str, Any] = in_sandbox(work)
    return result


@pytest.mark.parametrize("browser", [chromium, firefox], indirect=True)
def test_a_trial_proves_its_protocol_and_that_nothing_else_was_sent(tmp_path: Path, browser: Endpoint) -> None:
    """The body is whole, the connection new and the only one, and the page's instants enclose its packets."""
    spec = write_spec(tmp_path, size="300 KB", client=f'"{browser.name}"', trial_limit="60 s")
    spec.write_text(spec.read_text().replace('client = "curl-cffi"', f'client = "{browser.name}"'))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    found = trials(tmp_path / "study")
    assert {trial["row"]["arm_name"] for trial in found} == {"h2", "h3"}
    for trial in found:
        assert trial["status"] == "verified", trial["reason"]
        (request,) = trial["client"]["requests"]
        h3 = trial["row"]["arm_name"] == "h3"
        assert request["http_version"] == ("HTTP/3" if h3 else "HTTP/2")
        assert request["http_version_from"] in ("netlog", "about:networking")
        assert (request["alpn"], request["connections"]) == ("h3" if h3 else "h2", 1)
        assert trial["client"]["browser"]["trust"] == "profile store"
        packets = decode_trial(tmp_path / "study" / "trials" / trial["trial_id"]).tables["ip_packets"]
        assert_encloses(request, packets.filter(pl.col("vantage") == "client"))


def assert_encloses(request: dict[str, Any], packets: pl.DataFrame) -> None:
    """One connection to the server, begun after the request and with the body before its end.

    What the server still sends to a port that the browser has left is answered by ICMP (RFC 792: no ports); such an
    answer is no connection, and cannot come before the body was whole.
    """
    icmp = packets.filter(pl.col("src_port").is_null())
    assert (icmp["time_ns"] > request["last_byte_ns"]).all()
    packets = packets.filter(pl.col("src_port").is_not_null())
    up, down = (packets.filter(pl.col("direction") == direction) for direction in ("up", "down"))
    assert up.select("src", "src_port", "dst", "dst_port").n_unique() == 1
    assert down.select("src", "src_port", "dst", "dst_port").n_unique() == 1
    assert set(up["dst_port"]) == {443}
    slack = request["clock_uncertainty_ns"]
    assert request["start_ns"] <= up["time_ns"][0] + slack
    bodies = down.filter(pl.col("payload_bytes") > 1000)["time_ns"]
    assert bodies[0] <= request["first_byte_ns"] + slack
    assert request["first_byte_ns"] < request["last_byte_ns"] < request["close_ns"]
    assert down.filter(pl.col("time_ns") <= request["last_byte_ns"] + slack)["payload_bytes"].sum() >= 300_000


def test_a_foreign_certificate_authority_is_refused(tmp_path: Path, browser: Endpoint) -> None:
    """The trust is the study's CA and no switch that trusts everybody; the reason is the browser's own."""
    kind = Certificate()
    foreign = make_certificates(tmp_path / "foreign", ["127.0.0.1"], [kind])[kind].ca
    for protocol in ("h2", "h3"):
        folder = tmp_path / protocol
        folder.mkdir()
        request = visit(folder, browser, ca=foreign, protocols=(protocol,))
        assert request["exit"] == 1
        assert request["told"] == request["error"]
        assert any(word in request["error"] for word in ("ERR_CERT", "SEC_ERROR", "certificate unknown")), request[
            "error"
        ]


@needs_chromium
def test_without_verification_chromium_takes_a_foreign_authority(tmp_path: Path) -> None:
    """`verify = false` excuses the server's own key, and client.json says so."""
    kind = Certificate()
    foreign = make_certificates(tmp_path / "foreign", ["127.0.0.1"], [kind])[kind].ca
    request = visit(tmp_path, Chromium(), Knobs(verify=False), ca=foreign)
    assert (request["told"], request["body_bytes"], request["http_version"]) == ("", SIZE, "HTTP/3")
    assert request["browser"]["trust"] == "spki list"


@pytest.mark.nightly
def test_the_tls_version_is_the_one_asked_for(tmp_path: Path, browser: Endpoint) -> None:
    """TLS 1.2 logs a master secret, TLS 1.3 traffic secrets."""
    for version, label in (("1.2", "CLIENT_RANDOM "), ("1.3", "CLIENT_TRAFFIC_SECRET_0 ")):
        folder = tmp_path / version
        folder.mkdir()
        request = visit(folder, browser, Knobs(tls_version=version), protocols=("h2",))
        assert (request["told"], request["body_bytes"], request["http_version"]) == ("", SIZE, "HTTP/2")
        keys = (folder / "keys.log").read_text()
        assert label in keys
        assert ("TRAFFIC_SECRET" in keys) == (version == "1.3")


@pytest.mark.nightly
@needs_firefox
def test_firefox_grants_the_windows_asked_for(tmp_path: Path) -> None:
    """The server hears of them in the transport parameters."""
    knobs = Knobs(connection_window=ByteCount(1 << 20), stream_window=ByteCount(1 << 18))
    request = visit(tmp_path, Firefox(), knobs)
    assert (request["told"], request["body_bytes"], request["http_version"]) == ("", SIZE, "HTTP/3")
    (told,) = (event for event in server_events(tmp_path, "parameters_set") if event["initiator"] == "remote")
    assert told["initial_max_data"] == 1 << 20
    assert told["initial_max_stream_data_bidi_local"] == 1 << 18
    assert list((tmp_path / "qlog").glob("server.test*.sqlog")), "Firefox's own qlog"


@pytest.mark.nightly
@needs_firefox
def test_firefox_copies_a_profile_that_knows_nothing_of_trials(tmp_path: Path) -> None:
    """Made by the first, used by the second; what the one set the other does not have."""
    kept = tmp_path / "kept"
    kept.mkdir()
    told = []
    for name, protocol, knobs in (("a", "h3", Knobs(stream_window=ByteCount(1 << 18))), ("b", "h3", Knobs())):
        folder = tmp_path / name
        folder.mkdir()
        request = visit(folder, Firefox(), knobs, protocols=(protocol,), kept=kept)
        assert (request["told"], request["body_bytes"], request["http_version"]) == ("", SIZE, "HTTP/3")
        assert request["browser"]["profile"] == "started once before, empty"
        (parameters,) = (event for event in server_events(folder, "parameters_set") if event["initiator"] == "remote")
        told.append(parameters["initial_max_stream_data_bidi_local"])
    assert told[0] == 1 << 18
    assert told[1] != told[0]
    assert not (kept / "firefox-profile" / "prefs.js").exists()


@needs_chromium
@needs_certutil
def test_chromium_fills_packets_to_the_size_asked_for(tmp_path: Path) -> None:
    """Its first datagrams, which are padded, are as long as max_payload says."""
    request = visit(tmp_path, Chromium(), Knobs(max_payload=1400))
    assert (request["told"], request["body_bytes"], request["http_version"]) == ("", SIZE, "HTTP/3")
    received = [event["raw"]["length"] for event in server_events(tmp_path, "packet_received")]
    assert max(received) == 1400


def server_events(folder: Path, name: str) -> list[dict[str, Any]]:
    """Data of the events of one name in the server's qlog; one that its end cut has no line end (RFC 7464)."""
    (log,) = (folder / "qlog").glob("*_server.sqlog")
    records = [json.loads(text) for text in log.read_text().split("\x1e") if text.endswith("\n")]
    return [record["data"] for record in records if record.get("name", "").endswith(name)]


def test_nobody_listens(tmp_path: Path, browser: Endpoint) -> None:
    """A refused connection is an error with the browser's own name for it."""
    request = visit(tmp_path, browser, protocols=("h2",), port=PORT + 1)
    assert request["exit"] == 1
    assert "CONNECTION_REFUSED" in request["told"]


@pytest.mark.parametrize("number", [signal.SIGKILL, *by_night(signal.SIGTERM)])
def test_no_process_outlives_the_program(tmp_path: Path, browser: Endpoint, number: signal.Signals) -> None:
    """Whether it is asked to end or killed, the browser and its helpers go with it."""

    def work() -> list[str]:
        with on_loopback(tmp_path) as lab:
            process = lab.start(browser)
            patience = time.monotonic() + PATIENCE_S
            while len(others(process.pid)) < 4:
                assert process.poll() is None
                assert time.monotonic() < patience
                time.sleep(0.05)
            process.send_signal(number)
            process.communicate(timeout=PATIENCE_S)
            while (left := others(process.pid)) and time.monotonic() < patience:
                time.sleep(0.05)
            return left

    assert in_sandbox(work) == []


def others(program: int) -> list[str]:
    """Names of the living processes of the sandbox beside this one and the program."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in (os.getpid(), program):
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().rpartition(")")
                if rest.split()[0] != "Z":
                    found.append(name)
    return found
