# SPDX-License-Identifier: Apache-2.0
"""Code that the programs for loading pages share, whatever the browser: when they begin, what they write down, and how
they end."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from quiclab.lab.endpoints.clients._browser import BrowserError, Json

MOST_RESOURCES = 10_000
"""Most resources of a page that the browser has to remember."""
QUIET_S = 0.5
"""Silence after which a page is whole, and has painted everything."""
_LOOK_S = 0.1
LAST_PATIENCE_S = 5.0
"""Time limit for the page's answers after the load."""


class PageBrowser(Protocol):
    """A browser that is running and shows an empty page."""

    facts: dict[str, object]
    """Facts about how it was started, for client.json."""
    versions: dict[str, str]

    def record(self) -> None:
        """Begin to keep what the browser reports about the load."""
        ...

    def load(self) -> Json:
        """Navigate; return `requests`, `load_fired`, and in `error` why the page is not whole."""
        ...

    def keep(self, folder: Path) -> None:
        """Write down what was recorded, and a picture of the page as it is now."""
        ...

    def close(self) -> None:
        """Let the browser end by itself, so that its logs are whole."""
        ...

    def proof(self) -> dict[str, object]:
        """Facts about the document's request from the browser's logs, after `close`."""
        ...


def run(open_browser: Callable[[dict[str, object]], AbstractContextManager[PageBrowser]]) -> int:
    """Run the whole program; exit code 0 if the page's load event fired."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    job = json.loads(Path(sys.argv[1]).read_text())
    output = Path(job["output"])
    try:
        with open_browser(job) as browser:
            output.with_suffix(".ready").touch()
            if not sys.stdin.readline():
                return 1  # the runner, which gives the word, is gone
            browser.record()
            went_ns = time.monotonic_ns()
            account = browser.load()
            whole_ns = time.monotonic_ns()
            browser.keep(output.parent)
            browser.close()
            closed_ns = time.monotonic_ns()
    except BrowserError as error:
        print(error)
        return 1
    proof = browser.proof()
    requests = account.pop("requests")
    if requests:
        requests[0] |= {name: value for name, value in proof.items() if name != "error"}
    trouble = account.pop("error")
    report = {
        "version": 1,
        "versions": browser.versions,
        "requests": requests,
        "close_ns": closed_ns,
        "page": {**account, "went_ns": went_ns, "whole_ns": whole_ns, "viewport": job["viewport"]},
        "browser": browser.facts,
    }
    output.write_text(json.dumps(report, indent=1))
    if trouble is not None:
        network = proof.get("error")
        print(f"{trouble}; {_came(job, requests)}" + (f"; {network}" if network else ""))
        return 1
    return 0


def _came(job: Json, requests: Sequence[Json]) -> str:
    came = sum(request["first_byte_ns"] is not None for request in requests)
    known = job["resources"]
    return f"{came} resources had arrived" + (f", of {known} or more" if known > 1 else "")


def wait_until_whole(job: Json, count_requests: Callable[[], int], deadline: float, quiet_s: float = QUIET_S) -> None:
    """Wait until all known resources, including the document, have come and nothing more for `quiet_s`; or until the
    deadline."""
    count, quiet = -1, time.monotonic()
    while (now := time.monotonic()) < deadline:
        seen = count_requests()
        if seen != count:
            count, quiet = seen, now
        if now - quiet >= quiet_s and count >= job["resources"]:
            return
        time.sleep(_LOOK_S)
