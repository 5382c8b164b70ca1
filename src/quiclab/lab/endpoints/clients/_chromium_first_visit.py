# SPDX-License-Identifier: Apache-2.0
"""The visit before the measured one: it leaves the browser its sessions of TLS and QUIC, and nothing else but, where
that is asked for, its HTTP cache.

Chromium keeps tickets in memory only, so that the same browser has to make both visits. The first one is in a tab of
its own, which is closed with its process; then every socket is closed, and the HTTP cache is emptied unless it is to be
kept.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from quiclab.lab.endpoints.clients._browser import BrowserError
from quiclab.lab.endpoints.clients._cdp import Cdp

_SOCKETS = "chrome://net-internals/#sockets"
_FLUSH = "chrome.send('flushSocketPools')"
_QUIET_S = 0.3
"""Pause at the end of the visit: tickets and settings come with the handshake, but late answers take time."""
_LOOK_S = 0.02
_PATIENCE_S = 30.0


def visit_once(cdp: Cdp, url: str, limit_s: float, *, keep_sessions: bool, keep_cache: bool = False) -> None:
    """Load a page and forget everything but the sessions and, where asked for, the HTTP cache; or these too: then the
    visit is made in an off-the-record profile.

    Either way the browser is as warm as it will be. Raises BrowserError.
    """
    deadline = time.monotonic() + limit_s
    context = {} if keep_sessions else cdp.call("Target.createBrowserContext")
    with _Tab(cdp, **context) as tab:
        cdp.call("Page.enable", tab.session)
        answer = cdp.call("Page.navigate", tab.session, patience_s=limit_s, url=url)
        if "errorText" in answer:
            raise BrowserError(f"the first visit, which fetches the ticket, failed: {answer['errorText']}")
        cdp.wait_for("Page.loadEventFired", max(0.0, deadline - time.monotonic()))
        time.sleep(_QUIET_S)
        if not keep_cache:
            cdp.call("Network.enable", tab.session)
            cdp.call("Network.clearBrowserCache", tab.session)
    if context:
        cdp.call("Target.disposeBrowserContext", **context)
    with _Tab(cdp, _SOCKETS) as tab:
        _until(lambda: tab.evaluate("document.readyState") == "complete", "chrome://net-internals did not open")
        tab.evaluate(_FLUSH)


class _Tab:
    """A new tab, which is closed again."""

    def __init__(self, cdp: Cdp, url: str = "about:blank", **where: Any) -> None:
        self._cdp = cdp
        self._target = cdp.call("Target.createTarget", url=url, **where)["targetId"]
        self.session: str = cdp.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]

    def __enter__(self) -> _Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self._cdp.call("Target.closeTarget", targetId=self._target)

    def evaluate(self, expression: str) -> Any:
        answer = self._cdp.call("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")


def _until(there: Callable[[], bool], trouble: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            raise BrowserError(trouble)
        time.sleep(_LOOK_S)


def split_netlog(netlog: Path, first: Path, went_ns: int) -> None:
    """Move what happened before the measured visit into a log of its own, so that it is not counted.

    Chromium writes its constants in the first two lines and then an event a line, in the order of time.
    """
    kept = netlog.with_suffix(".kept")
    with netlog.open() as lines, first.open("w") as before, kept.open("w") as after:
        for number, line in enumerate(lines):
            if number < 2:
                before.write(line)
                after.write(line)
                continue
            (before if _instant_ms(line) < went_ns / 1e6 else after).write(line)
        before.write("]}\n")
    kept.replace(netlog)


def _instant_ms(line: str) -> float:
    """Instant of an event by CLOCK_MONOTONIC; the last line has none, or is cut off."""
    try:
        return float(json.loads(line.rstrip(",]}\n") + "}")["time"])
    except (ValueError, KeyError):
        return float("inf")
