# SPDX-License-Identifier: Apache-2.0
"""Browsers as endpoints, without a browser: their arguments, their clocks, and what is read from a NetLog."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from contexts import CONTEXT, WORK

from quiclab.lab.endpoints._api import Context, Endpoint
from quiclab.lab.endpoints.clients._browser import PageClock, place_clock
from quiclab.lab.endpoints.clients._chromium_program import proof_of
from quiclab.lab.endpoints.clients.chromium import Chromium
from quiclab.lab.endpoints.clients.firefox import Firefox
from quiclab.model.study import Knobs, Program
from quiclab.model.units import ByteCount

URL = "https://server.test/1MB"
EVENTS = {
    "URL_REQUEST_START_JOB": 1,
    "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS": 2,
    "HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS": 3,
    "HTTP_TRANSACTION_SEND_REQUEST_HEADERS": 4,
    "QUIC_SESSION": 5,
    "TCP_CONNECT_ATTEMPT": 6,
    "SSL_CONNECT": 7,
    "QUIC_SESSION_CLOSED": 8,
    "RESOURCE_SCHEDULER_REQUEST_STARTED": 9,
}

_COMPACT: dict[str, Any] = {"separators": (",", ":")}


def job_of(endpoint: Endpoint, context: Context = CONTEXT, knobs: Knobs | None = None) -> dict[str, Any]:
    """The job file of a command."""
    command = endpoint.command(replace(context, program=Program(endpoint.name, knobs=knobs or Knobs())))
    job: dict[str, Any] = json.loads(command.files[WORK / "client-job.json"])
    return job


def netlog(file: Path, *events: tuple[int, str, int, dict[str, Any]], end: str = '],\n"polledData": []}\n') -> Path:
    """A NetLog as Chromium writes it: an event a line, of (source, name, phase, parameters)."""
    head = json.dumps({"constants": {"logEventTypes": EVENTS, "netError": {"ERR_FAILED": -2}}})[:-1]
    lines = [
        json.dumps({"params": parameters, "phase": phase, "source": {"id": source}, "type": EVENTS[name]}, **_COMPACT)
        for source, name, phase, parameters in events
    ]
    file.write_text(f'{head},\n"events": [\n' + ",\n".join(lines) + end)
    return file


def test_chromium_is_forced_to_the_protocol_and_to_the_server() -> None:
    """One protocol each, names from the arguments alone, logs where the trial keeps them."""
    h3, h2 = (job_of(Chromium(), replace(CONTEXT, protocols=(protocol,)))["argv"] for protocol in ("h3", "h2"))
    assert "--origin-to-force-quic-on=server.test:443" in h3
    assert "--disable-quic" not in h3
    assert "--disable-quic" in h2
    for arguments in (h3, h2):
        assert "--host-resolver-rules=MAP server.test 10.77.0.2, MAP * ~NOTFOUND" in arguments
        assert "--log-net-log=/lab/trial/raw/qlog/client-netlog.json" in arguments
        assert "--net-log-capture-mode=Default" in arguments
        assert "--ssl-key-log-file=/lab/trial/raw/keys.log" in arguments


def test_without_logs_none_is_asked_for() -> None:
    """A trial that measures what logging costs has neither NetLog nor qlog nor keys."""
    silent = replace(CONTEXT, qlog_dir=None, keylog=None)
    chromium, firefox = job_of(Chromium(), silent), job_of(Firefox(), silent)
    assert not [argument for argument in chromium["argv"] if "net-log" in argument or "key-log" in argument]
    assert chromium["netlog"] is None
    assert firefox["preferences"]["network.http.http3.enable_qlog"] is False
    assert "SSLKEYLOGFILE" not in firefox["env"]


@pytest.mark.parametrize(("ip_version", "address", "length"), [(4, "10.77.0.2", 1400), (6, "fd77::2", 1420)])
def test_max_payload_is_that_of_udp(ip_version: Any, address: str, length: int) -> None:
    """Chromium's own argument is 20 bytes more over IPv6; its address stands in brackets there."""
    context = replace(CONTEXT, ip_version=ip_version, address=address)
    arguments = job_of(Chromium(), context, Knobs(max_payload=1400))["argv"]
    assert f"--quic-max-packet-length={length}" in arguments
    assert any(address in argument and ("[" in argument) == (ip_version == 6) for argument in arguments)


def test_chromium_refuses_a_packet_that_it_would_cut() -> None:
    """Its own bound is silent; ours is not."""
    assert Chromium().unsupported(Program("chromium", knobs=Knobs(max_payload=1432)), "h3") is None
    assert "1432" in str(Chromium().unsupported(Program("chromium", knobs=Knobs(max_payload=1433)), "h3"))


def test_firefox_is_forced_by_preferences() -> None:
    """HTTP/3 by the mapping for tests, knobs by the preferences of neqo."""
    knobs = Knobs(connection_window=ByteCount(1000), stream_window=ByteCount(500))
    h3 = job_of(Firefox(), knobs=knobs)["preferences"]
    h2 = job_of(Firefox(), replace(CONTEXT, protocols=("h2",)), Knobs(tls_version="1.2"))["preferences"]
    assert h3["network.http.http3.alt-svc-mapping-for-testing"] == "server.test;h3=:443"
    assert (h3["network.http.http3.max_data"], h3["network.http.http3.max_stream_data"]) == (1000, 500)
    assert (h2["network.http.http3.enable"], h2["network.http.altsvc.enabled"]) == (False, False)
    assert (h2["security.tls.version.min"], h2["security.tls.version.max"]) == (3, 3)


def test_what_firefox_keeps_is_made_without_what_differs_between_trials() -> None:
    """Else one trial's protocol or windows would be another's."""
    job = job_of(Firefox(), replace(CONTEXT, kept=Path("/lab/kept")))
    assert job["profile"] == "/lab/kept/firefox-profile"
    assert not [
        name
        for name in job["common_preferences"]
        if "http3.enable" in name or "alt-svc" in name or name == "network.http.altsvc.enabled"
    ]
    assert job["common_preferences"].items() <= job["preferences"].items()
    assert job_of(Firefox())["profile"] is None


def test_a_claim_within_the_brackets_is_taken() -> None:
    """The browser's own word is finer than the time that an answer takes."""
    began = time.monotonic_ns()
    clock = place_clock(lambda: (time.monotonic_ns() - began) / 1e6, began, 5_000)
    assert clock == PageClock(began, 5_000)


def test_a_claim_outside_the_brackets_is_not() -> None:
    """The answers alone then decide, and the uncertainty says what they leave open."""
    began = time.monotonic_ns()
    clock = place_clock(lambda: (time.monotonic_ns() - began) / 1e6, began + 10**12, 5_000)
    assert abs(clock.origin_ns - began) <= clock.uncertainty_ns
    assert clock.at(1.5) == clock.origin_ns + 1_500_000


@pytest.mark.parametrize(
    ("name", "version", "alpn"),
    [
        ("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", "HTTP/3", "h3"),
        ("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", "HTTP/2", "h2"),
        ("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", "HTTP/1.1", "h2"),
    ],
)
def test_the_netlog_proves_the_protocol_of_this_request(tmp_path: Path, name: str, version: str, alpn: str) -> None:
    """By the event at which its headers left; requests to others say nothing."""
    file = netlog(
        tmp_path / "netlog.json",
        (7, "URL_REQUEST_START_JOB", 1, {"url": URL}),
        (8, "URL_REQUEST_START_JOB", 1, {"url": "https://elsewhere.test/"}),
        (8, "HTTP_TRANSACTION_SEND_REQUEST_HEADERS", 0, {}),
        (9, "TCP_CONNECT_ATTEMPT", 1, {}),
        (9, "TCP_CONNECT_ATTEMPT", 2, {}),
        (9, "SSL_CONNECT", 2, {"next_proto": "h2"}),
        (7, name, 0, {}),
        (8, "RESOURCE_SCHEDULER_REQUEST_STARTED", 0, {"trigger": 5}),
        (8, "HTTP_TRANSACTION_SEND_REQUEST_HEADERS", 0, {}),
    )
    assert proof_of(file, URL) == {
        "http_version": version, "alpn": alpn, "connections": 1, "requests_held_back": 1
    }  # fmt: skip


def test_the_netlog_of_a_killed_browser_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """The last line is cut off; the error and the reason of QUIC before it are found."""
    file = netlog(
        tmp_path / "netlog.json",
        (7, "URL_REQUEST_START_JOB", 1, {"url": URL}),
        (9, "QUIC_SESSION", 1, {}),
        (9, "QUIC_SESSION_CLOSED", 0, {"details": "certificate unknown. SSLErrorStack:[x]"}),
        (7, "URL_REQUEST_START_JOB", 2, {"net_error": -2}),
        end=',\n{"params":{"a',
    )
    assert proof_of(file, URL) == {
        "net_error": "ERR_FAILED", "quic_closed": "certificate unknown.", "connections": 1, "requests_held_back": 0
    }  # fmt: skip


@pytest.mark.parametrize("text", ["", "\n", "no JSON", '{"constants":{}}', '{"constants":{"logEventTypes":{}'])
def test_what_is_no_netlog_proves_nothing(tmp_path: Path, text: str) -> None:
    """Neither does a file that is not there."""
    (tmp_path / "netlog.json").write_text(text)
    assert proof_of(tmp_path / "netlog.json", URL) == {}
    assert proof_of(tmp_path / "nothing.json", URL) == {}
