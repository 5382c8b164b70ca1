# SPDX-License-Identifier: Apache-2.0
"""Downloads one URL over HTTP/3 with aioquic and writes down when. Started as: `python -I THIS job.json`.

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


class Download(QuicConnectionProtocol):
    """One GET on a new connection."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._http = H3Connection(self._quic)
        self.done = asyncio.get_running_loop().create_future()
        self.body: list[bytes] = []
        self.facts: dict[str, Any] = {"first_byte_ns": None, "alpn": None, "status": None}

    def get(self, authority: str, path: str) -> None:
        """Send the request."""
        stream = self._quic.get_next_available_stream_id()
        headers = [
            (b":method", b"GET"),
            (b":scheme", b"https"),
            (b":authority", authority.encode()),
            (b":path", path.encode()),
        ]
        self._http.send_headers(stream, headers, end_stream=True)
        self.transmit()

    def quic_event_received(self, event: QuicEvent) -> None:
        """Feed HTTP/3 and note instants."""
        if isinstance(event, ProtocolNegotiated):
            self.facts["alpn"] = event.alpn_protocol
        if isinstance(event, ConnectionTerminated) and not self.done.done():
            self.done.set_exception(ConnectionError(event.reason_phrase or f"closed with error {event.error_code}"))
        for http_event in self._http.handle_event(event):
            self._http_event(http_event)

    def _http_event(self, event: H3Event) -> None:
        if isinstance(event, HeadersReceived):
            self.facts["status"] = int(dict(event.headers).get(b":status", b"0"))
        elif isinstance(event, DataReceived):
            if self.facts["first_byte_ns"] is None and event.data:
                self.facts["first_byte_ns"] = time.monotonic_ns()
            self.body.append(event.data)
        if getattr(event, "stream_ended", False) and not self.done.done():
            self.facts["last_byte_ns"] = time.monotonic_ns()
            self.done.set_result(None)


async def run(job: dict[str, Any]) -> dict[str, Any]:
    """The whole transfer; an account of it with an `error` if it did not end well."""
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
    result: dict[str, Any] = {"url": job["url"], "protocol": "h3", "start_ns": time.monotonic_ns()}
    body = b""
    try:
        # aioquic connects to an address and checks the certificate against server_name.
        async with connect(
            job["address"], url.port or 443, configuration=configuration, create_protocol=Download
        ) as client:
            download = cast("Download", client)
            download.get(url.netloc, url.path)
            try:
                await download.done
            finally:
                result |= download.facts
                body = b"".join(download.body)
    except (ConnectionError, OSError, TimeoutError) as error:
        result["error"] = str(error) or type(error).__name__
    result.setdefault("last_byte_ns", time.monotonic_ns())
    result["close_ns"] = time.monotonic_ns()
    result["http_version"] = "HTTP/3" if result.get("alpn") == "h3" else "unknown"
    result["congestion_control"] = job["library"]["congestion_control_algorithm"]
    result["body_bytes"] = len(body)
    result["sha256"] = hashlib.sha256(body).hexdigest()
    return result


def main() -> int:
    """Exit code 0 when the request got an answer."""
    job = json.loads(Path(sys.argv[1]).read_text())
    sys.stdin.readline()
    request = asyncio.run(run(job))
    report = {
        "version": 1,
        "versions": {"aioquic": aioquic.__version__},
        "requests": [request],
        "close_ns": request["close_ns"],
    }
    Path(job["output"]).write_text(json.dumps(report, indent=1))
    if "error" in request:
        print(request["error"])
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
