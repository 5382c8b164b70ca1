# SPDX-License-Identifier: Apache-2.0
"""Serves the files of one folder over HTTP/3 with aioquic. Started as: `python -I THIS job.json`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.quic.logger import QuicFileLogger


class Files(QuicConnectionProtocol):
    """One connection; each GET is answered with the file of that name."""

    root: Path

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._http: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        """Feed HTTP/3 and answer requests."""
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic)
        if self._http is None:
            return
        for http_event in self._http.handle_event(event):
            if isinstance(http_event, HeadersReceived):
                self._answer(self._http, http_event.stream_id, dict(http_event.headers)[b":path"].decode())
        self.transmit()

    def _answer(self, http: H3Connection, stream: int, path: str) -> None:
        file = self.root / Path(path.partition("?")[0]).name
        status, body = ("200", file.read_bytes()) if file.is_file() else ("404", b"no such file\n")
        http.send_headers(stream, [(b":status", status.encode()), (b"content-length", str(len(body)).encode())])
        http.send_data(stream, body, end_stream=True)


async def run(job: dict[str, Any]) -> None:
    """Serve until the process is ended."""
    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=H3_ALPN,
        quic_logger=QuicFileLogger(job["qlog_dir"]) if job["qlog_dir"] else None,
        **job["library"],
    )
    configuration.load_cert_chain(job["certificate"], job["key"])
    Files.root = Path(job["root"])
    await serve(job["address"], job["port"], configuration=configuration, create_protocol=Files)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(run(json.loads(Path(sys.argv[1]).read_text())))
