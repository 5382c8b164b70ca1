# SPDX-License-Identifier: Apache-2.0
"""Download over one HTTP/3 connection with aioquic, and write down when. Started as: `python -I THIS job.json`.

It waits for a line on stdin before it begins. All instants are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import aioquic
from aioquic.asyncio.client import connect
from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, QuicEvent
from aioquic.quic.logger import QuicFileLogger


class Download:
    """One request and its result."""

    def __init__(self, url: str, start_ns: int) -> None:
        self.url = url
        self.body: list[bytes] = []
        self.facts: dict[str, object] = {"start_ns": start_ns, "first_byte_ns": None, "status": None}
        self.done = False

    def take(self, event: H3Event) -> bool:
        """Note instants; return whether the download is complete now."""
        if isinstance(event, HeadersReceived):
            self.facts["status"] = int(dict(event.headers).get(b":status", b"0"))
        elif isinstance(event, DataReceived):
            if self.facts["first_byte_ns"] is None and event.data:
                self.facts["first_byte_ns"] = time.monotonic_ns()
            self.body.append(event.data)
        if getattr(event, "stream_ended", False):
            self.facts["last_byte_ns"] = time.monotonic_ns()
            self.done = True
        return self.done


class Visit(QuicConnectionProtocol):
    """One connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._http = H3Connection(self._quic)
        self._streams: dict[int, Download] = {}
        self._waiting: list[Download] = []
        self.done = asyncio.get_running_loop().create_future()
        self.alpn: str | None = None

    def get(self, downloads: list[Download], concurrency: int) -> None:
        """Request all downloads in their order, the next one whenever one is complete."""
        self._waiting = downloads[concurrency:]
        for download in downloads[:concurrency]:
            self._ask(download)
        self.transmit()

    def _ask(self, download: Download) -> None:
        url, stream = urlsplit(download.url), self._quic.get_next_available_stream_id()
        self._streams[stream] = download
        headers = [
            (b":method", b"GET"),
            (b":scheme", b"https"),
            (b":authority", url.netloc.encode()),
            (b":path", url.path.encode()),
        ]
        self._http.send_headers(stream, headers, end_stream=True)

    def quic_event_received(self, event: QuicEvent) -> None:
        """Pass QUIC's events on to HTTP/3."""
        if isinstance(event, ProtocolNegotiated):
            self.alpn = event.alpn_protocol
        if isinstance(event, ConnectionTerminated) and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase or f"closed with error {event.error_code}"))
        for http_event in self._http.handle_event(event):
            self._http_event(http_event)

    def _http_event(self, event: H3Event) -> None:
        download = self._streams.get(getattr(event, "stream_id", -1))
        if download is None or download.done:
            return
        if not download.take(event):
            return
        if self._waiting:
            following = self._waiting.pop(0)
            following.facts["start_ns"] = time.monotonic_ns()
            self._ask(following)
            self.transmit()
        elif all(each.done for each in self._streams.values()) and not self.done.done():
            self.done.set_result(None)


async def run(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Make all requests; return an account of each, with an `error` if it did not end well."""
    url = urlsplit(job["url"])
    configuration = QuicConfiguration(
        is_client=True,
        alpn_protocols=H3_ALPN,
        server_name=url.hostname,
        max_data=16 << 20,
        max_stream_data=8 << 20,
        quic_logger=QuicFileLogger(job["qlog_dir"]) if job["qlog_dir"] else None,
        secrets_log_file=Path(job["keylog"]).open("a") if job["keylog"] else None,  # noqa: SIM115
        **job["library"],
    )
    configuration.load_verify_locations(job["ca"])
    start_ns = time.monotonic_ns()
    downloads = [Download(each, start_ns) for each in (job["url"], *job["other_urls"])]
    alpn, error = None, None
    try:
        # aioquic connects to an address and checks the certificate against server_name.
        async with connect(
            job["address"], url.port or 443, configuration=configuration, create_protocol=Visit
        ) as client:
            visit = cast("Visit", client)
            visit.get(downloads, job["concurrency"])
            try:
                await visit.done
            finally:
                alpn = visit.alpn
    except (ConnectionError, OSError, TimeoutError) as failure:
        error = str(failure) or type(failure).__name__
    close_ns = time.monotonic_ns()
    common = {
        "close_ns": close_ns,
        "alpn": alpn,
        "http_version": "HTTP/3" if alpn == "h3" else "unknown",
        "congestion_control": job["library"].get("congestion_control_algorithm", "reno"),
    }
    return [_account(download, common, error) for download in downloads]


def _account(download: Download, common: dict[str, object], error: str | None) -> dict[str, object]:
    body = b"".join(download.body)
    told = {"url": download.url, "protocol": "h3", "last_byte_ns": common["close_ns"], **download.facts, **common}
    if error is not None and not download.done:
        told["error"] = error
    return told | {"body_bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}


def main() -> int:
    """Exit code 0 when every request got an answer."""
    job = json.loads(Path(sys.argv[1]).read_text())
    sys.stdin.readline()
    requests = asyncio.run(run(job))
    report = {
        "version": 1,
        "versions": {"aioquic": aioquic.__version__},
        "requests": requests,
        "close_ns": requests[-1]["close_ns"],
    }
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    errors = [request["error"] for request in requests if "error" in request]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
