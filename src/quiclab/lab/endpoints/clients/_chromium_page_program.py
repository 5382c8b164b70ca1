# SPDX-License-Identifier: Apache-2.0
"""Load one page with Chromium, and keep what the browser reports about it. Started as: `python -I THIS job.json`.

Chromium starts with a fresh profile and an empty page and waits; where a session is asked for, it makes a first visit
at a line on stdin and says when that is over by a file. At the next line it begins a trace of its own
(moments of the load, requests, screenshots), then it navigates. Nothing asks the page anything until its
load event has fired. All instants are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import base64
import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from quiclab.lab.endpoints.clients import _browser
from quiclab.lab.endpoints.clients._browser import BrowserError, Json, PageClock
from quiclab.lab.endpoints.clients._chromium_first_visit import split_netlog, visit_once
from quiclab.lab.endpoints.clients._chromium_program import ChromiumPage, open_chromium
from quiclab.lab.endpoints.clients._page_load import LAST_PATIENCE_S, MOST_RESOURCES, run, wait_until_whole

_CATEGORIES = ("devtools.timeline", "blink.user_timing", "loading", "disabled-by-default-devtools.screenshot")
_CLOCK_RESOLUTION_NS = 101_000
"""Step of the clock of a page that is not isolated, 100 µs, with some room."""
_STREAM_BYTES = 1 << 20
_ACCOUNT = """
[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map((entry) => ({
  url: entry.name, by: entry.initiatorType, start: entry.startTime, sent: entry.requestStart,
  first: entry.responseStart, last: entry.responseEnd, status: entry.responseStatus, hop: entry.nextHopProtocol,
  encoded: entry.encodedBodySize, decoded: entry.decodedBodySize, transferred: entry.transferSize,
  name_start: entry.domainLookupStart, name_end: entry.domainLookupEnd,
}))
"""


class PageLoad(ChromiumPage):
    """Chromium with an empty page, and then with the one under test."""

    def _open_page(self) -> str:
        session = self._attach()
        cdp, (width, height) = self._cdp, self._job["viewport"]
        cdp.call(
            "Emulation.setDeviceMetricsOverride",
            session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        # Without this the browser reports the first 250 resources and no others.
        buffer = f"performance.setResourceTimingBufferSize({MOST_RESOURCES})"
        cdp.call("Page.enable", session)
        cdp.call("Page.addScriptToEvaluateOnNewDocument", session, source=buffer)
        return session

    def record(self) -> None:
        """Begin the trace in the page's own session, because only that one has screenshots."""
        self._cdp.call(
            "Tracing.start",
            self._session,
            transferMode="ReturnAsStream",
            traceConfig={
                "recordMode": "recordAsMuchAsPossible",
                "excludedCategories": ["*"],
                "includedCategories": list(_CATEGORIES),
            },
        )
        self._went_ns = time.monotonic_ns()

    def close(self) -> None:
        """Close the browser; then its log is whole, and the part of the first visit goes into a log of its own."""
        super().close()
        if self._job["session"] is not None and self._job["netlog"] is not None:
            first = Path(self._job["output"]).with_name("first-visit-netlog.json")
            split_netlog(Path(self._job["netlog"]), first, self._went_ns)

    def visit_first(self) -> None:
        """Make the visit that leaves sessions to resume, or only a warm browser."""
        keep = self._job["session"] != "fresh"
        visit_once(
            self._cdp,
            self._job["url"],
            float(self._job["limit_s"]),
            keep_sessions=keep,
            keep_cache=self._job["http_cache"],
        )

    def load(self) -> Json:
        """Navigate; return what the browser reports once the page is whole. `error` says why it is not."""
        deadline = time.monotonic() + float(self._job["limit_s"])
        error = self._navigate(deadline)
        fired = error is None
        if fired:
            wait_until_whole(self._job, self._count_requests, deadline)
        requests: list[Json] = []
        # A page that is caught in a script of its own no longer answers.
        with contextlib.suppress(BrowserError):
            entries: list[Json] = self.evaluate(_ACCOUNT, LAST_PATIENCE_S)
            clock = self._place_clock(_CLOCK_RESOLUTION_NS)
            requests = [_request(self._job, clock, entry) for entry in entries]
        return {"load_fired": fired, "error": error, "requests": requests}

    def _navigate(self, deadline: float) -> str | None:
        """Navigate; return what kept the load event from firing, or None if it did fire."""
        limit = f"within {self._job['limit_s']:g} s (limits.trial)"
        try:
            remaining = deadline - time.monotonic()
            answer = self._cdp.call("Page.navigate", self._session, patience_s=remaining, url=self._job["url"])
        except BrowserError as error:
            return f"the server did not answer {limit}: {error}"
        if "errorText" in answer:
            return f"the page cannot be loaded: {answer['errorText']}"
        try:
            self._cdp.wait_for("Page.loadEventFired", max(0.0, deadline - time.monotonic()))
        except BrowserError as error:
            return f"the page's load event did not fire {limit}: {error}"
        return None

    def _count_requests(self) -> int:
        return 1 + int(self.evaluate("performance.getEntriesByType('resource').length"))

    def keep(self, folder: Path) -> None:
        """End the trace and write it, then a picture of the page as it is now."""
        self._cdp.send("Tracing.end", self._session)
        stream = self._cdp.wait_for("Tracing.tracingComplete")["stream"]
        with (folder / "client-trace.json").open("wb") as file:
            while True:
                part = self._cdp.call("IO.read", self._session, handle=stream, size=_STREAM_BYTES)
                data = part["data"]
                file.write(base64.b64decode(data) if part.get("base64Encoded") else data.encode())
                if part["eof"]:
                    break
        with contextlib.suppress(BrowserError):
            shot = self._cdp.call(
                "Page.captureScreenshot", self._session, patience_s=LAST_PATIENCE_S, format="jpeg", quality=70
            )
            (folder / "client-page.jpg").write_bytes(base64.b64decode(shot["data"]))


def _request(job: Json, clock: PageClock, entry: Json) -> Json:
    """A resource as client.json has it; an instant of 0 is none."""

    def instant(name: str) -> int | None:
        return clock.at(entry[name]) if entry[name] else None

    return {
        "url": entry["url"],
        "protocol": job["protocol"],
        "initiator_type": entry["by"],
        "start_ns": clock.at(entry["start"]),
        "sent_ns": instant("sent"),
        "first_byte_ns": instant("first"),
        "last_byte_ns": clock.at(entry["last"]),
        "name_ns": round((entry["name_end"] - entry["name_start"]) * 1e6),
        "clock_uncertainty_ns": clock.uncertainty_ns,
        "status": entry["status"] or None,
        "http_version": _browser.HTTP_VERSIONS.get(entry["hop"], "unknown"),
        "body_bytes": entry["encoded"],
        "decoded_bytes": entry["decoded"],
        "transferred_bytes": entry["transferred"],
    }


@contextlib.contextmanager
def open_page(job: Json) -> Iterator[PageLoad]:
    """Open Chromium; where a session is asked for, after a visit that makes it know the servers, or only warms it."""
    with open_chromium(job, PageLoad) as browser:
        if job["session"] is not None:
            output = Path(job["output"])
            output.with_suffix(".ready").touch()
            if not sys.stdin.readline():
                raise BrowserError("nobody gave the word for the first visit")
            browser.visit_first()
            output.with_suffix(".visited").touch()
        yield browser


if __name__ == "__main__":
    sys.exit(run(open_page))
