# SPDX-License-Identifier: Apache-2.0
"""Play one video with Chromium, and write down how that went. Started as: `python -I THIS job.json`.

The page, its player and dash.js are there before the word comes: they cost no packet. All instants are CLOCK_MONOTONIC
in nanoseconds.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

from quiclab.lab.endpoints.clients._browser import BrowserError, Json
from quiclab.lab.endpoints.clients._chromium_program import Chromium, open_chromium
from quiclab.lab.endpoints.clients._player import PAGE_SCRIPT, player_log, problem


def main() -> int:
    """Run the whole program; exit code 0 if the video started."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    job = json.loads(Path(sys.argv[1]).read_text())
    output, settings = Path(job["output"]), job["video"]
    try:
        with open_chromium(job, Chromium) as browser:
            if settings["script"] is not None:
                _load(browser, Path(settings["script"]))
            output.with_suffix(".ready").touch()
            if not sys.stdin.readline():
                return 1  # the runner, which gives the word, is gone
            call = f"({PAGE_SCRIPT.read_text()})({json.dumps(settings | {'url': job['url']})})"
            told = browser.evaluate(call, None)
            browser.close()
            closed_ns = time.monotonic_ns()
            trouble = problem(told, settings["watch_ms"])
            log = player_log(told, job["url"], browser.clock)
            request = _request(job, browser, log, trouble) | {"close_ns": closed_ns}
    except BrowserError as error:
        print(error)
        return 1
    report = {"version": 1, "versions": browser.versions, "requests": [request], "close_ns": closed_ns}
    if log["player_version"] is not None:
        report["versions"] = browser.versions | {log["player"]: log["player_version"]}
    output.write_text(json.dumps(report | {"browser": browser.facts}, indent=1))
    output.with_name("client-player.json").write_text(json.dumps(log))
    if trouble is not None:
        print(request["error"])
        return 1
    return 0


def _load(browser: Chromium, script: Path) -> None:
    try:
        text = script.read_text()
    except OSError as error:
        raise BrowserError(f"DASH is played by dash.js, which is not here: {error}: make stacks") from error
    browser.evaluate(f"{text}\n;true")


def _request(job: Json, browser: Chromium, log: Json, trouble: str | None) -> Json:
    """Account of one request that stands for all of the player's; it has no last byte, because the player sends
    requests while it plays."""
    proof = browser.proof()
    # A player cancels requests whose answers it does not want yet, which is no failure of the trial.
    network_error = proof.pop("error", None)
    request: Json = {
        "url": job["url"],
        "protocol": job["protocol"],
        "start_ns": log["start_ns"],
        "first_byte_ns": None,
        "last_byte_ns": None,
        "clock_uncertainty_ns": log["clock_uncertainty_ns"],
        "status": None,
        "http_version": "unknown",
        "body_bytes": None,
        "sha256": None,
        "congestion_control": None,
    }
    if trouble is not None:
        aborted = network_error is None or "ERR_ABORTED" in network_error
        request["error"] = trouble if aborted else f"{trouble} ({network_error})"
    return request | proof


if __name__ == "__main__":
    sys.exit(main())
