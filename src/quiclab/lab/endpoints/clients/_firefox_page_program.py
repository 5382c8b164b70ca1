# SPDX-License-Identifier: Apache-2.0
"""Load one page with Firefox, and keep what the browser reports about it. Started as: `python -I THIS job.json`.

Firefox starts with a fresh profile and an empty page of the document's origin and waits; at a line on stdin it begins
to note the network's requests as they end, then it navigates. Nothing asks the page anything until its load event has
fired. All instants are CLOCK_MONOTONIC in nanoseconds; those in the HAR are of the wall clock, as HARs are.
"""

from __future__ import annotations

import base64
import contextlib
import subprocess
import sys
import time
from pathlib import Path

from quiclab.lab.endpoints.clients import _browser
from quiclab.lab.endpoints.clients._browser import BrowserError, Json, PageClock
from quiclab.lab.endpoints.clients._firefox_har import har
from quiclab.lab.endpoints.clients._firefox_program import Firefox, open_firefox, realtime_minus_monotonic_ns, show_in
from quiclab.lab.endpoints.clients._marionette import Marionette
from quiclab.lab.endpoints.clients._page_load import LAST_PATIENCE_S, QUIET_S, run, wait_until_whole

_MARGIN_S = 2.0
"""Time by which this program gives up later than the browser, so that the browser says why."""
_CLOCK_RESOLUTION_NS = 1_000
_TIMED_OUT = "timed out"
_RECORD = """
window.quiclab.requests = [];
const told = (read) => { try { return read(); } catch { return null; } };
Services.obs.addObserver((subject) => {
  const channel = subject.QueryInterface(Ci.nsIHttpChannel), timed = subject.QueryInterface(Ci.nsITimedChannel);
  const load = channel.loadInfo, type = load.externalContentPolicyType;
  if (load.triggeringPrincipal.isSystemPrincipal && type != Ci.nsIContentPolicy.TYPE_DOCUMENT) return;
  window.quiclab.requests.push({
    url: channel.URI.specIgnoringRef, method: channel.requestMethod, type, by: timed.initiatorType,
    start: timed.asyncOpenTime, name_start: timed.domainLookupStartTime, name_end: timed.domainLookupEndTime,
    connect_start: timed.connectStartTime, secure_start: timed.secureConnectionStartTime,
    connect_end: timed.connectEndTime, sent: timed.requestStartTime, first: timed.responseStartTime,
    last: timed.responseEndTime, status: told(() => channel.responseStatus),
    hop: told(() => channel.protocolVersion), content_type: told(() => channel.contentType),
    encoded: channel.encodedBodySize, transferred: channel.transferSize,
    error: Components.isSuccessCode(channel.status) ? null : ChromeUtils.getXPCOMErrorName(channel.status),
  });
}, "http-on-stop-request");
"""
"""Script that notes requests of the page, not of the browser itself. Instants are microseconds of the wall clock."""
_ACCOUNT = """
const [patience] = arguments;
const observe = (type) => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().map((entry) => entry.startTime)))
    .observe({type, buffered: true});
  setTimeout(() => resolve([]), patience);
});
const painted = Promise.allSettled(Array.from(document.images, (image) => image.decode()))
  .then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))));
const late = new Promise((resolve) => setTimeout(resolve, 4 * patience));
return Promise.race([painted, late]).then(() => observe("largest-contentful-paint")).then((largest) => {
  const [navigation] = performance.getEntriesByType("navigation");
  const [first] = performance.getEntriesByName("first-contentful-paint");
  const decoded = {};
  for (const entry of [navigation, ...performance.getEntriesByType("resource")]) {
    decoded[entry.name] = entry.decodedBodySize;
  }
  return {
    decoded,
    moments: {
      onContentLoad: navigation.domContentLoadedEventStart, onLoad: navigation.loadEventStart,
      _firstContentfulPaint: first?.startTime ?? null, _largestContentfulPaint: largest.at(-1) ?? null,
    },
  };
});
"""
"""Script that returns the page's moments, in milliseconds since navigation start, by the names of HARs. It asks for the
largest paint once every image is decoded and the frame that shows it has been painted."""
_LARGEST_PATIENCE_MS = 500


class PageLoad(Firefox):
    """Firefox with an empty page, and then with the one under test."""

    def __init__(self, job: Json, marionette: Marionette, process: subprocess.Popen[bytes]) -> None:
        super().__init__(job, marionette, process)
        self._seen: list[Json] = []
        self._account: Json = {"decoded": {}, "moments": {}}
        self._zero_ns: int | None = None
        self._process_before = 0
        show_in(marionette, job["viewport"])

    def record(self) -> None:
        """Have the network stack's observer note each request."""
        self._run("chrome", _RECORD)
        self._process_before = self._page_process()

    def _page_process(self) -> int:
        return int(self._run("chrome", "return gBrowser.selectedBrowser.browsingContext.currentWindowGlobal.osPid"))

    def load(self) -> Json:
        """Navigate; return what the browser reports once the page is whole. `error` says why it is not."""
        limit_s = float(self._job["limit_s"])
        deadline = time.monotonic() + limit_s
        error = self._navigate(limit_s)
        if error is None:
            # Once all known resources have come, nothing more can; the account waits for what the page paints last.
            quiet_s = 0.0 if self._job["resources"] > 1 else QUIET_S
            wait_until_whole(self._job, self._count_requests, deadline, quiet_s)
        self._seen = self._run("chrome", "return window.quiclab.requests")
        self._seen.sort(key=lambda each: each["start"])
        # Otherwise the start of a process would be part of the load.
        self.facts["page_kept_its_process"] = self._page_process() == self._process_before
        # A page that is caught in a script of its own no longer answers.
        with contextlib.suppress(BrowserError):
            self._account = self._marionette.run("content", _ACCOUNT, _LARGEST_PATIENCE_MS, patience_s=LAST_PATIENCE_S)
            self._zero_ns = self._place_clock().origin_ns
        clock = PageClock(-realtime_minus_monotonic_ns(), _CLOCK_RESOLUTION_NS)
        requests = [_request(self._job, clock, each, self._account["decoded"]) for each in self._seen]
        return {"load_fired": error is None, "error": error, "requests": requests}

    def _navigate(self, limit_s: float) -> str | None:
        """Navigate; return what kept the load event from firing, or None if it did fire."""
        self._marionette.call("WebDriver:SetTimeouts", {"pageLoad": round(limit_s * 1000)})
        self._marionette.enter("content")
        try:
            self._marionette.call("WebDriver:Navigate", {"url": self._job["url"]}, limit_s + _MARGIN_S)
        except BrowserError as error:
            if _TIMED_OUT in str(error):
                return f"the page's load event did not fire within {limit_s:g} s (limits.trial)"
            return f"the page cannot be loaded: {error}"
        return None

    def _count_requests(self) -> int:
        return int(self._run("chrome", "return window.quiclab.requests.length"))

    def keep(self, folder: Path) -> None:
        """Write what was noted as a HAR, and a picture of the page as it is now."""
        zero_ns = None if self._zero_ns is None else self._zero_ns + realtime_minus_monotonic_ns()
        text = har(self._job["url"], self.versions["firefox"], zero_ns, self._account["moments"], self._seen)
        (folder / "client-page.har").write_text(text)
        with contextlib.suppress(BrowserError):
            self._marionette.enter("content")
            shot = self._marionette.call("WebDriver:TakeScreenshot", {"full": False}, LAST_PATIENCE_S)
            (folder / "client-page.png").write_bytes(base64.b64decode(shot["value"]))


def _request(job: Json, clock: PageClock, seen: Json, decoded: dict[str, int]) -> Json:
    """A request as client.json has it; an instant of 0 is none."""

    def instant(name: str) -> int | None:
        return clock.at(seen[name] / 1000) if seen[name] else None

    return {
        "url": seen["url"],
        "protocol": job["protocol"],
        "initiator_type": seen["by"],
        "start_ns": instant("start"),
        "sent_ns": instant("sent"),
        "first_byte_ns": instant("first"),
        "last_byte_ns": instant("last"),
        "name_ns": (seen["name_end"] - seen["name_start"]) * 1000,
        "clock_uncertainty_ns": clock.uncertainty_ns,
        "status": seen["status"],
        "http_version": _browser.HTTP_VERSIONS.get(seen["hop"], "unknown"),
        "body_bytes": seen["encoded"],
        # The page knows the decompressed size of a body, if it reports this request at all.
        "decoded_bytes": decoded.get(seen["url"]) or seen["encoded"],
        "transferred_bytes": seen["transferred"],
    }


if __name__ == "__main__":
    sys.exit(run(lambda job: open_firefox(job, PageLoad)))
