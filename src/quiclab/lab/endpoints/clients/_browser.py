# SPDX-License-Identifier: Apache-2.0
"""Code that the programs around a browser share: its processes, the study's CA, the page that fetches, and the clock.

The object is fetched by a page of the server's own origin that came without a packet, so that the connection is new
and the object is the first request on it. The page reads the body as a stream, keeps it in memory, and hashes it after
the last byte; nothing outside the page listens meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]
"""An object that comes as JSON: the job of such a program, and what a browser tells of itself."""
START_PATIENCE_S = 60.0
"""Time limit of each step of a browser's start, on a machine that does other things too."""
CLOSE_PATIENCE_S = 5.0
_SETTLE_PATIENCE_S = 2.0
_SETTLE_LOOK_S = 0.1
_BRACKETS = 12
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

FETCH_FUNCTION = """
async (url) => {
  const answer = {start: performance.now(), first: null};
  try {
    const response = await fetch(url, {cache: "no-store", credentials: "omit"});
    answer.status = response.status;
    const reader = response.body.getReader();
    const chunks = [];
    for (;;) {
      const {done, value} = await reader.read();
      if (done) break;
      answer.first ??= performance.now();
      chunks.push(value);
    }
    answer.last = performance.now();
    const body = await new Blob(chunks).arrayBuffer();
    answer.bytes = body.byteLength;
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    answer.sha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    answer.hop = performance.getEntriesByName(new URL(url).href)[0]?.nextHopProtocol ?? "";
  } catch (error) {
    answer.last ??= performance.now();
    answer.error = String(error);
  }
  return answer;
}
"""
"""Script that fetches a URL. Instants are the page's own, in milliseconds; `hop` is the protocol as ALPN names it."""

HTTP_VERSIONS = {"h3": "HTTP/3", "h2": "HTTP/2", "http/1.1": "HTTP/1.1"}


class BrowserError(Exception):
    """The browser did not do what it was told; one line for the user."""


@dataclass(frozen=True)
class PageClock:
    """Mapping from the page's `performance.now()` to CLOCK_MONOTONIC."""

    origin_ns: int
    uncertainty_ns: int

    def at(self, page_ms: float) -> int:
        """CLOCK_MONOTONIC at that instant of the page."""
        return self.origin_ns + round(page_ms * 1e6)


class Browser(Protocol):
    """A browser that is running and shows the page."""

    clock: PageClock
    facts: dict[str, object]
    """Facts about how it was started, for client.json."""
    versions: dict[str, str]

    def fetch(self, url: str) -> dict[str, object]:
        """Run FETCH_FUNCTION in the page."""
        ...

    def close(self) -> None:
        """Let the browser end by itself, so that its logs are whole."""
        ...

    def proof(self) -> dict[str, object]:
        """Facts about the request from the browser's logs, after `close`: http_version, alpn, error, …"""
        ...


def run(open_browser: Callable[[dict[str, object]], AbstractContextManager[Browser]]) -> int:
    """Run the whole program; exit code 0 if the request got an answer."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    job = json.loads(Path(sys.argv[1]).read_text())
    try:
        with open_browser(job) as browser:
            Path(job["output"]).with_suffix(".ready").touch()
            if not sys.stdin.readline():
                return 1  # the runner, which gives the word, is gone
            answer = browser.fetch(job["url"])
            browser.close()
            closed_ns = time.monotonic_ns()
            request = _request(job, browser, answer) | {"close_ns": closed_ns}
            report = {"version": 1, "versions": browser.versions, "requests": [request], "close_ns": closed_ns}
    except BrowserError as error:
        print(error)
        return 1
    Path(job["output"]).write_text(json.dumps(report | {"browser": browser.facts}, indent=1))
    if "error" in request:
        print(request["error"])
        return 1
    return 0


def _request(job: Json, browser: Browser, answer: Json) -> Json:
    clock = browser.clock
    first = answer["first"]
    request: Json = {
        "url": job["url"],
        "protocol": job["protocol"],
        "start_ns": clock.at(answer["start"]),
        "first_byte_ns": None if first is None else clock.at(first),
        "last_byte_ns": clock.at(answer["last"]),
        "clock_uncertainty_ns": clock.uncertainty_ns,
        "status": answer.get("status"),
        "http_version": HTTP_VERSIONS.get(answer.get("hop", ""), "unknown"),
        "body_bytes": answer.get("bytes", 0),
        "sha256": answer.get("sha256"),
        "congestion_control": None,
    }
    if "error" in answer:
        request["error"] = answer["error"]
    return request | browser.proof()


@contextlib.contextmanager
def browser_process(
    argv: Sequence[str], env: Mapping[str, str], home: Path, log: Path, pass_fds: Sequence[int] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """A browser in a process group of its own, which ends with the block, and with this program however that ends."""
    with log.open("ab") as sink:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "--", *argv],
            env={"PATH": _PATH, "HOME": str(home), "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "disabled:", **env},
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            pass_fds=pass_fds,
            process_group=0,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def trust_study_ca(certutil: Sequence[str], env: Mapping[str, str], store: Path, ca: str) -> None:
    """Make an NSS certificate store in the folder `store`, in which the study's CA is trusted and nothing else."""
    store.mkdir(parents=True, exist_ok=True)
    for arguments in (["-N", "--empty-password"], ["-A", "-n", "study", "-t", "C,,", "-i", ca]):
        done = subprocess.run(
            [*certutil, *arguments, "-d", f"sql:{store}"],
            env={"PATH": _PATH, "HOME": str(store), **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=START_PATIENCE_S,
            check=False,
        )
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip().splitlines()
            raise BrowserError(f"certutil cannot make a certificate store: {said[-1] if said else 'it said nothing'}")


def place_clock(read_now_ms: Callable[[], float], claimed_origin_ns: int, resolution_ns: int) -> PageClock:
    """Map the page's clock as the browser claims it, checked against instants of our own around each answer of the
    page.

    Where the claim cannot be true the answers alone decide, and the uncertainty is half of what they leave open.
    """
    low, high = -sys.maxsize, sys.maxsize
    for _ in range(_BRACKETS):
        before = time.monotonic_ns()
        now = round(read_now_ms() * 1e6)
        low, high = max(low, before - now), min(high, time.monotonic_ns() - now)
    low, high = low - resolution_ns, high + resolution_ns
    if low <= claimed_origin_ns <= high:
        return PageClock(claimed_origin_ns, resolution_ns)
    return PageClock((low + high) // 2, abs(high - low) // 2)


def settle(process_group: int) -> None:
    """Wait until the browser's processes rest after their start, within bounds: its work would slow the transfer."""
    deadline = time.monotonic() + _SETTLE_PATIENCE_S
    before = _cpu_ticks(process_group)
    while time.monotonic() < deadline:
        time.sleep(_SETTLE_LOOK_S)
        now = _cpu_ticks(process_group)
        if now <= before:
            return
        before = now


def _cpu_ticks(process_group: int) -> int:
    total = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[2]) == process_group:
                    total += int(fields[11]) + int(fields[12])
    return total


def last_words(log: Path) -> str:
    """The end of what a browser printed, for error messages."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if "dbus" not in line]
    return " | ".join(lines[-3:])[-400:] or "it printed nothing"
