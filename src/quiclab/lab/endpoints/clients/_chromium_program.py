# SPDX-License-Identifier: Apache-2.0
"""Fetch one URL with Chromium, and write down when. Started as: `python -I THIS job.json`.

Chromium starts with a fresh profile and shows a page of the server's origin that its own interception answered; then
the program waits for a line on stdin. All instants are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from quiclab.lab.endpoints.clients import _browser
from quiclab.lab.endpoints.clients._browser import BrowserError, Json, PageClock
from quiclab.lab.endpoints.clients._cdp import BROWSER_FDS, Cdp, Pipes

_PAGE = "<!doctype html><link rel=icon href=data:,>"
"""Empty page; without the icon the browser would request one from the server."""
_ISOLATED = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
"""Fields that isolate the page from others, which gives it a clock of 5 µs instead of 100 µs."""
_CLOCK_RESOLUTION_NS = 6_000
"""Resolution of the clock: the page's 5 µs, and 1 µs of the metric that says where its clock begins."""
_PREFERENCES = {"net": {"network_prediction_options": 2}, "signin": {"allowed_on_next_startup": False}}
"""Preferences that switch predictions off; otherwise the navigation alone opens a connection to the server, or two."""


Page = TypeVar("Page", bound="ChromiumPage")


class ChromiumPage:
    """Chromium with a page. Subclasses decide which page, and what happens with it."""

    def __init__(self, job: Json, cdp: Cdp) -> None:
        self._job = job
        self._cdp = cdp
        product = cdp.call("Browser.getVersion")["product"]
        self.versions = {"chromium": product.rpartition("/")[2]}
        self.facts: Json = {}
        self._session = self._open_page()

    def _open_page(self) -> str:
        """Open the page that is shown before the word is given; return its session."""
        return self._attach()

    def _attach(self) -> str:
        """The session of the empty page that Chromium starts with."""
        targets = self._cdp.call("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        session: str = self._cdp.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        return session

    def _place_clock(self, resolution_ns: int) -> PageClock:
        """Map the page's clock: Chromium's ticks are CLOCK_MONOTONIC, and it says at which tick the page's clock
        began."""
        self._cdp.call("Performance.enable", self._session)
        metrics = self._cdp.call("Performance.getMetrics", self._session)["metrics"]
        self._cdp.call("Performance.disable", self._session)
        began_s = next(metric["value"] for metric in metrics if metric["name"] == "NavigationStart")
        return _browser.place_clock(
            lambda: float(self.evaluate("performance.now()")), round(began_s * 1e9), resolution_ns
        )

    def evaluate(self, expression: str, patience_s: float | None = _browser.START_PATIENCE_S) -> Any:
        """Evaluate a JavaScript expression in the page; promises are awaited."""
        answer = self._cdp.call(
            "Runtime.evaluate",
            self._session,
            patience_s=patience_s,
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"the page's script failed: {answer['exceptionDetails'].get('text')}")
        return answer["result"]["value"]

    def close(self) -> None:
        """Let Chromium end in good order, so that it completes its NetLog."""
        with contextlib.suppress(BrowserError):
            self._cdp.call("Browser.close", patience_s=_browser.CLOSE_PATIENCE_S)
            self._cdp.wait_for_end(_browser.CLOSE_PATIENCE_S)

    def proof(self) -> Json:
        """Facts about the request from the NetLog, if there is one; the network's error says more than the page's."""
        if self._job["netlog"] is None:
            return {"http_version_from": "resource timing"}
        found = proof_of(Path(self._job["netlog"]), self._job["url"])
        network_error = found.pop("net_error", None)
        closed = found.pop("quic_closed", "")
        if network_error is not None:
            found["error"] = f"Chromium: {network_error}" + (f": {closed}" if closed else "")
        return found | {"http_version_from": "netlog" if "http_version" in found else "resource timing"}


class Chromium(ChromiumPage):
    """Chromium with a page of the server's own origin."""

    def __init__(self, job: Json, cdp: Cdp) -> None:
        super().__init__(job, cdp)
        self.clock = self._place_clock(_CLOCK_RESOLUTION_NS)

    def _open_page(self) -> str:
        """Open a page of the server's origin without sending a packet."""
        cdp, url = self._cdp, urlsplit(self._job["url"])
        session = self._attach()
        cdp.call("Page.enable", session)
        cdp.call("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        cdp.send("Page.navigate", session, url=f"https://{url.netloc}/")
        headers = {"Content-Type": "text/html", **_ISOLATED}
        cdp.call(
            "Fetch.fulfillRequest",
            session,
            requestId=cdp.wait_for("Fetch.requestPaused")["requestId"],
            responseCode=200,
            responseHeaders=[{"name": name, "value": value} for name, value in headers.items()],
            body=base64.b64encode(_PAGE.encode()).decode(),
        )
        cdp.wait_for("Page.loadEventFired")
        cdp.call("Fetch.disable", session)
        cdp.call("Page.disable", session)
        return session

    def fetch(self, url: str) -> Json:
        """Fetch a URL in the page, without a time limit: the laboratory has one."""
        answer: Json = self.evaluate(f"({_browser.FETCH_FUNCTION})({json.dumps(url)})", None)
        return answer


@contextlib.contextmanager
def open_chromium(job: Json, kind: type[Page]) -> Iterator[Page]:
    """Open Chromium with that kind of page, and with its sandbox where the machine allows one."""
    home = Path(job["home"])
    shutil.rmtree(home, ignore_errors=True)
    profile = home / "profile"
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES))
    log = home / "chromium.log"
    trust, trust_arguments = _trust(job, home)
    arguments = [*job["argv"], f"--user-data-dir={profile}", *trust_arguments]
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(_start(job, kind, arguments, home, log))
            sandbox = True
        except BrowserError:
            if "sandbox" not in log.read_text(errors="replace"):
                raise
            browser = stack.enter_context(_start(job, kind, [*arguments, "--no-sandbox"], home, log))
            sandbox = False
        browser.facts |= {"trust": trust, "sandbox": sandbox}
        yield browser


@contextlib.contextmanager
def _start(job: Json, kind: type[Page], arguments: list[str], home: Path, log: Path) -> Iterator[Page]:
    # Chromium makes a socket in TMPDIR, and the path of a socket has 107 bytes at most: its folder is named short.
    env = {"TMPDIR": "/proc/self/cwd", **job["env"]}
    with Pipes() as pipes, _browser.browser_process(arguments, env, home, log, BROWSER_FDS) as process:
        pipes.hand_over()
        try:
            browser = kind(job, Cdp(pipes))
        except BrowserError as error:
            raise BrowserError(f"Chromium did not start: {error}: {_browser.last_words(log)}") from error
        _browser.settle(process.pid)
        yield browser


def _trust(job: Json, home: Path) -> tuple[str, list[str]]:
    """Put the study's CA into the profile's own store; where certificates are not or cannot be checked, make an
    exception for the server's key."""
    if job["verify"] is not False and job["certutil"] is not None:
        _browser.trust_study_ca(job["certutil"], job["certutil_env"], home / ".pki" / "nssdb", job["ca"])
        return "profile store", []
    if job["verify"]:
        raise BrowserError("to verify certificates Chromium needs certutil: apt-get install -y libnss3-tools")
    return "spki list", [f"--ignore-certificate-errors-spki-list={_key_hash(Path(job['certificate']))}"]


def _key_hash(certificate: Path) -> str:
    """SHA-256 of the public key (SubjectPublicKeyInfo) in base64."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    encoded = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(encoded).digest()).decode()


# One request as Chromium's NetLog tells it: the protocol that carried it, and the number of connections.
_REQUEST_EVENTS = {
    "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS": "HTTP/3",
    "HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS": "HTTP/2",
    "HTTP_TRANSACTION_SEND_REQUEST_HEADERS": "HTTP/1.1",
}
"""Events at which a request's headers leave, one for each version of HTTP."""

_CONNECTION_EVENTS = ("QUIC_SESSION", "TCP_CONNECT_ATTEMPT")
_OTHER_EVENTS = (
    "URL_REQUEST_START_JOB",
    "QUIC_SESSION_VERSION_NEGOTIATED",
    "QUIC_SESSION_CLOSED",
    "SSL_CONNECT",
    "QUIC_SESSION_ZERO_RTT_STATE",
    "RESOURCE_SCHEDULER_REQUEST_STARTED",
)
_EARLY_DATA = {
    "NotAttempted": "not_offered",
    "AttemptedAndSucceeded": "accepted",
    "AttemptedAndRejected": "rejected",
}
"""Results of early data, by the word for a QUIC session's."""
_BEGIN = 1
"""Phase that begins an event with a duration."""


def proof_of(file: Path, url: str) -> Json:
    """Facts about a request, as far as the log has them: http_version, alpn, quic_version, number of connections, the
    network's error, and why the first QUIC session was closed."""
    lines = file.read_text(errors="replace").splitlines() if file.exists() else []
    if not lines:
        return {}
    try:
        constants = json.loads(lines[0].rstrip(",") + "}")["constants"]
    except (ValueError, KeyError):
        return {}
    types: dict[str, int] = constants["logEventTypes"]
    errors = {number: name for name, number in constants["netError"].items()}
    wanted = {types[name]: name for name in (*_REQUEST_EVENTS, *_CONNECTION_EVENTS, *_OTHER_EVENTS) if name in types}
    events = list(_events(lines, wanted))
    mine = {
        event["source"]["id"]
        for name, event in events
        if name == "URL_REQUEST_START_JOB" and event.get("params", {}).get("url") == url
    }
    found: Json = {}
    for name, event in events:
        parameters = event.get("params", {})
        if event["source"]["id"] in mine:
            if name in _REQUEST_EVENTS:
                found["http_version"] = _REQUEST_EVENTS[name]
            elif parameters.get("net_error", 0) < 0:
                found["net_error"] = errors.get(parameters["net_error"], str(parameters["net_error"]))
        if name == "QUIC_SESSION_VERSION_NEGOTIATED":
            found["quic_version"] = parameters.get("version")
        if name == "QUIC_SESSION_CLOSED":
            found.setdefault("quic_closed", str(parameters.get("details", "")).partition(" SSLErrorStack")[0])
        if name == "QUIC_SESSION_ZERO_RTT_STATE" and parameters.get("state") in _EARLY_DATA:
            found.setdefault("early_data", _EARLY_DATA[parameters["state"]])
        if name == "SSL_CONNECT" and "next_proto" in parameters:
            found["alpn"] = parameters["next_proto"]
    if found.get("http_version") == "HTTP/3":
        found["alpn"] = "h3"
    found["connections"] = _connections(events)
    # The event is written only for requests that the browser did not send at once, when it sends them.
    found["requests_held_back"] = sum(name == "RESOURCE_SCHEDULER_REQUEST_STARTED" for name, _ in events)
    return found


def _connections(events: Iterable[tuple[str, Json]]) -> int:
    """Number of connections that the browser began, to any server."""
    return sum(name in _CONNECTION_EVENTS and event["phase"] == _BEGIN for name, event in events)


def _events(lines: Iterable[str], wanted: Mapping[int, str]) -> Iterator[tuple[str, Json]]:
    """Events of a log: Chromium writes one a line, its type last; the last line of a browser that was killed may be cut
    off."""
    for line in lines:
        number = line.rpartition('"type":')[2].rstrip(",]}")
        if not number.isdecimal() or int(number) not in wanted:
            continue
        try:
            event: Json = json.loads(line.rstrip(",]"))
        except ValueError:
            continue
        yield wanted[int(number)], event


if __name__ == "__main__":
    sys.exit(_browser.run(lambda job: open_chromium(job, Chromium)))
