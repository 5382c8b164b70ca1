# SPDX-License-Identifier: Apache-2.0
"""Fetch one URL with Firefox, and write down when. Started as: `python -I THIS job.json`.

Firefox starts with an unused profile and shows an empty page that belongs to the server's origin; then the program
waits for a line on stdin. All instants are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from quiclab.lab.endpoints.clients import _browser
from quiclab.lab.endpoints.clients._browser import BrowserError, Json, PageClock
from quiclab.lab.endpoints.clients._marionette import Marionette

_TRIES = 20
_CLOCK_RESOLUTION_NS = 10_000
"""Resolution of the clock: some turns of the loop below; twenty edges agree within 5 µs."""
_FIND_ORIGIN = """
let origin = -Infinity;
for (let edge = 0; edge < 20; edge++) {
  const before = Date.now();
  let after;
  while ((after = Date.now()) == before);
  origin = Math.max(origin, after - performance.now());
}
return origin;
"""
"""Script that returns CLOCK_REALTIME in milliseconds when the page's clock began: it is known to the microsecond at the
instants at which `Date.now()` changes, and any delay makes the answer smaller. `performance.timeOrigin` would be
simpler, but is off by up to a millisecond."""

_PREPARE = """
const [names, ca] = arguments;
const override = Cc["@mozilla.org/network/native-dns-override;1"].getService(Ci.nsINativeDNSResolverOverride);
for (const [name, address] of Object.entries(names)) override.addIPOverride(name, address);
Cc["@mozilla.org/security/x509certdb;1"].getService(Ci.nsIX509CertDB).addCertFromBase64(ca, "C,,");
window.quiclab = {};
Services.obs.addObserver((subject) => {
  const channel = subject.QueryInterface(Ci.nsIHttpChannel);
  if (!(channel.URI.host in names) || Components.isSuccessCode(channel.status)) return;
  const name = channel.securityInfo?.errorCodeString;
  window.quiclab.error = name || ChromeUtils.getXPCOMErrorName(channel.status);
}, "http-on-stop-request");
return fetch("https://nowhere.invalid/").catch(() => null)
  .then(() => Services.sysinfo.getProperty("canSandboxContent", false));
"""
"""Script that puts the study's CA into the profile's own store, and the servers' names into the resolver. A first
request, which cannot leave, wakes the network stack: before it Firefox does not know the mapping that forces HTTP/3."""
_OPEN_PAGE = """
const [origin] = arguments;
const principal = Services.scriptSecurityManager.createContentPrincipal(Services.io.newURI(origin), {});
const remoteType = `webIsolated=${principal.siteOrigin}`;
gBrowser.selectedTab = gBrowser.addTab("about:blank", {
  triggeringPrincipal: principal, preferredRemoteType: remoteType, skipAnimation: true,
});
gBrowser.removeTab(gBrowser.tabs[0], {animate: false});
const browser = gBrowser.selectedBrowser;
return new Promise((resolve) => {
  const look = () => {
    if (browser.contentPrincipal.origin == principal.origin) return resolve(true);
    if (browser.remoteType == remoteType && !browser.webProgress.isLoadingDocument) {
      browser.createAboutBlankDocumentViewer(principal, principal);
    }
    setTimeout(look, 20);
  };
  look();
});
"""
"""Script that opens an empty page in the server's name: it costs no packet, and may fetch what the server's own pages
may."""
_LOOK_AT_NETWORK = """
return new Promise((resolve) => {
  const dashboard = Cc["@mozilla.org/network/dashboard;1"].getService(Ci.nsIDashboard);
  dashboard.requestHttpConnections((data) => resolve({
    ...window.quiclab,
    connections: data.connections.map(({host, httpVersion, active, idle}) =>
      ({host, httpVersion, open: active.length + idle.length})),
  }));
});
"""
"""Script that returns what about:networking shows."""
_CLOSE_CONNECTIONS = """
Services.obs.notifyObservers(null, "net:cancel-all-connections");
"""
_LOOK_S = 0.005
_ALPN = {"HTTP/3": "h3", "HTTP/2": "h2"}
_PROFILE = "profile"
_LOG = "firefox.log"
_OF_ONE_START = ("MarionetteActivePort", "lock", ".parentlock", "user.js", "prefs.js")
"""Files in a profile that would mislead the next start."""


class Firefox:
    """Firefox with its page."""

    def __init__(self, job: Json, marionette: Marionette, process: subprocess.Popen[bytes]) -> None:
        self._job = job
        self._marionette = marionette
        self._process = process
        self._network: Json = {"connections": []}
        self.versions = {"firefox": marionette.version}
        sandbox = self._run("chrome", _PREPARE, job["names"], _base64_of(job["ca"]))
        self.facts: Json = {"trust": "profile store", "sandbox": bool(sandbox)}
        self._run("chrome", _OPEN_PAGE, f"https://{urlsplit(job['url']).netloc}")
        windows = marionette.call("WebDriver:GetWindowHandles", {})
        marionette.call("WebDriver:SwitchToWindow", {"handle": windows[0]})
        self.clock = self._place_clock()

    def _run(self, context: Literal["chrome", "content"], script: str, *arguments: Any) -> Any:
        return self._marionette.run(context, script, *arguments, patience_s=_browser.START_PATIENCE_S)

    def _place_clock(self) -> PageClock:
        """Map the page's clock to CLOCK_REALTIME, and that to CLOCK_MONOTONIC."""
        before_ns = realtime_minus_monotonic_ns()
        origin_ms = self._milliseconds(_FIND_ORIGIN)
        offset_ns = realtime_minus_monotonic_ns()
        return _browser.place_clock(
            lambda: self._milliseconds("return performance.now()"),
            round(origin_ms * 1e6) - offset_ns,
            _CLOCK_RESOLUTION_NS + abs(offset_ns - before_ns),
        )

    def _milliseconds(self, script: str) -> float:
        """Run a script that returns milliseconds; on a busy machine it sometimes returns nothing at first, because the
        page is not ready yet."""
        for _ in range(_TRIES):
            if (value := self._run("content", script)) is not None:
                return float(value)
            time.sleep(0.1)
        raise BrowserError("the page in Firefox does not tell its time")

    def fetch(self, url: str) -> dict[str, object]:
        """Fetch a URL in the page, without a time limit: the laboratory has one."""
        script = f"return ({_browser.FETCH_FUNCTION})(arguments[0])"
        answer: dict[str, object] = self._marionette.run("content", script, url, patience_s=None)
        return answer

    def close(self) -> None:
        """End Firefox once its connections are closed and their qlogs whole; the rest of it need not end in good
        order."""
        self._network = self._run("chrome", _LOOK_AT_NETWORK)
        with contextlib.suppress(BrowserError, subprocess.TimeoutExpired):
            self._run("chrome", _CLOSE_CONNECTIONS)
            if self._writes_qlogs(_browser.CLOSE_PATIENCE_S):
                self._marionette.call("Marionette:Quit", {"flags": ["eForceQuit"]}, _browser.CLOSE_PATIENCE_S)
                self._process.wait(_browser.CLOSE_PATIENCE_S)
        if self._job["qlog_dir"] is not None:
            for file in self._qlogs():
                shutil.move(file, self._job["qlog_dir"])

    def _qlogs(self) -> list[Path]:
        return list(Path(self._job["home"]).glob("qlog_*/*"))

    def _writes_qlogs(self, patience_s: float) -> bool:
        """True if Firefox still has a qlog open after this time: it closes a log with its connection."""
        qlogs = {str(file) for file in self._qlogs()}
        deadline = time.monotonic() + patience_s
        while qlogs & _open_files(self._process.pid):
            if time.monotonic() > deadline:
                return True
            time.sleep(_LOOK_S)
        return False

    def proof(self) -> Json:
        """Facts about the request from the network stack's own list of connections; its error says more than the
        page's."""
        connections = self._network["connections"]
        found: Json = {"connections": sum(connection["open"] for connection in connections)}
        for connection in connections:
            if connection["host"] == self._job["host"] and connection["httpVersion"] in _ALPN:
                found["http_version"] = connection["httpVersion"]
                found["alpn"] = _ALPN[connection["httpVersion"]]
        if "error" in self._network:
            found["error"] = f"Firefox: {self._network['error']}"
        return found | {"http_version_from": "about:networking" if "http_version" in found else "resource timing"}


Window = TypeVar("Window", bound=Firefox)


@contextlib.contextmanager
def open_firefox(job: Json, kind: type[Window]) -> Iterator[Window]:
    """Open Firefox with a profile of its own, either new or as the first start of a new one left it."""
    home = Path(job["home"])
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    kept = Path(job["profile"]) if job["profile"] is not None else None
    if kept is not None:
        if not kept.exists():
            _start_once(job, home, kept)
        shutil.copytree(kept, home / _PROFILE)
    with _started(job, home, job["preferences"]) as (marionette, process):
        try:
            browser = kind(job, marionette, process)
        except BrowserError as error:
            raise BrowserError(f"Firefox did not start: {error}: {_browser.last_words(home / _LOG)}") from error
        browser.facts["profile"] = "new" if kept is None else "started once before, empty"
        _browser.settle(process.pid)
        yield browser


def _start_once(job: Json, home: Path, kept: Path) -> None:
    """Start Firefox once, for all trials of the study to copy the profile: the first start takes a second longer,
    because Firefox fills stores and caches of its own code. It does so here without a page, and with the preferences
    that no trial changes."""
    folder = home / "first"
    folder.mkdir()
    with _started(job, folder, job["common_preferences"]) as (marionette, process):
        try:
            if "viewport" in job:
                show_in(marionette, job["viewport"])
            marionette.call("Marionette:Quit", {"flags": ["eForceQuit"]})
            process.wait(_browser.START_PATIENCE_S)
        except (BrowserError, subprocess.TimeoutExpired) as error:
            raise BrowserError(f"Firefox did not end its first start: {error}") from error
    for name in _OF_ONE_START:
        (folder / _PROFILE / name).unlink(missing_ok=True)
    # The study's folder is another mount than the trial's: what is copied is whole before it has its name.
    whole = shutil.copytree(folder / _PROFILE, kept.with_name(f"{kept.name}-{os.getpid()}"))
    try:
        whole.rename(kept)
    except OSError:  # another client of the same trial came first
        shutil.rmtree(whole, ignore_errors=True)


@contextlib.contextmanager
def _started(job: Json, home: Path, preferences: Json) -> Iterator[tuple[Marionette, subprocess.Popen[bytes]]]:
    profile, log = home / _PROFILE, home / _LOG
    profile.mkdir(exist_ok=True)
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
    (profile / "user.js").write_text("".join(lines))
    arguments = [*job["argv"], "--profile", str(profile)]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(
            _browser.browser_process(arguments, {"TMPDIR": str(home), **job["env"]}, home, log)
        )
        try:
            marionette = stack.enter_context(Marionette(profile, process))
        except BrowserError as error:
            raise BrowserError(f"Firefox did not start: {error}: {_browser.last_words(log)}") from error
        yield marionette, process


def show_in(marionette: Marionette, viewport: Sequence[int]) -> None:
    """Give the page this width and height. The profile keeps the window's size, which takes a while to change."""
    inner = marionette.run("content", "return [innerWidth, innerHeight]", patience_s=_browser.START_PATIENCE_S)
    if inner != list(viewport):
        outer = marionette.call("WebDriver:GetWindowRect", {})
        width, height = (outer[name] + viewport[at] - inner[at] for at, name in enumerate(("width", "height")))
        marionette.call("WebDriver:SetWindowRect", {"width": width, "height": height})


def _open_files(pid: int) -> set[str]:
    found = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.add(str(entry.readlink()))
    return found


def _base64_of(pem: str) -> str:
    lines = Path(pem).read_text().splitlines()
    return "".join(line for line in lines if line and not line.startswith("-----"))


def realtime_minus_monotonic_ns() -> int:
    """Offset from CLOCK_MONOTONIC to CLOCK_REALTIME now."""
    before = time.monotonic_ns()
    realtime = time.time_ns()
    return realtime - (before + time.monotonic_ns()) // 2


if __name__ == "__main__":
    sys.exit(_browser.run(lambda job: open_firefox(job, Firefox)))
