# SPDX-License-Identifier: Apache-2.0
"""Serve the files of one folder over HTTP/3 with aioquic, until SIGTERM. Started as: `python -I THIS job.json`."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ProtocolNegotiated, QuicEvent
from aioquic.quic.logger import QuicFileLogger, QuicLoggerTrace
from aioquic.quic.packet_builder import QuicSentPacket
from aioquic.quic.rangeset import RangeSet
from aioquic.quic.recovery import QuicPacketRecovery, QuicPacketSpace


class Logs(QuicFileLogger):
    """Logs of connections, of which those that are still open are written at the end of the server.

    aioquic writes a log long after the connection's end. The warm-up's is left out: it would appear while the measured
    transfer goes on.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.unwanted: list[QuicLoggerTrace] = []

    def end_trace(self, trace: QuicLoggerTrace) -> None:
        """Write the log of a connection, or forget it."""
        if trace in self.unwanted:
            self._traces.remove(trace)
        else:
            super().end_trace(trace)

    def end_all(self) -> None:
        """Write the logs that are still open."""
        for trace in list(self._traces):
            self.end_trace(trace)


class Files(QuicConnectionProtocol):
    """One connection; each GET is answered with the file of that name."""

    root: Path
    address: str
    content_type: str
    logs: Logs | None
    implicit_ack_sample: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._http: H3Connection | None = None
        if self.implicit_ack_sample:
            recovery = self._quic._loss  # noqa: SLF001
            recovery.discard_space = acknowledge_implicitly(recovery)  # type: ignore[method-assign]

    def datagram_received(self, data: bytes | str, addr: tuple[Any, ...]) -> None:
        """Receive a datagram; one from the server's own address is the laboratory's warm-up."""
        trace = self._quic._quic_logger  # noqa: SLF001
        own = addr[0] == self.address and not ip_address(self.address).is_loopback
        if own and self.logs and trace and trace not in self.logs.unwanted:
            self.logs.unwanted.append(trace)
        super().datagram_received(data, addr)

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
        headers = [(b":status", status.encode()), (b"content-length", str(len(body)).encode())]
        http.send_headers(stream, [*headers, (b"content-type", self.content_type.encode())])
        http.send_data(stream, body, end_stream=True)


def acknowledge_implicitly(recovery: QuicPacketRecovery) -> Any:
    """Make the recovery wrong on purpose: when packets are discarded because the handshake went on without them (RFC
    9001 section 4.9.1), the last of them counts as acknowledged at that instant, and its age as a sample of the
    round-trip time."""
    discard = recovery.discard_space

    def wrongly(space: QuicPacketSpace) -> None:
        waiting: list[QuicSentPacket] = [sent for sent in space.sent_packets.values() if sent.is_ack_eliciting]
        if waiting:
            number = waiting[-1].packet_number
            now = asyncio.get_running_loop().time()
            recovery.on_ack_received(
                ack_rangeset=RangeSet([range(number, number + 1)]), ack_delay=0, now=now, space=space
            )
        discard(space)

    return wrongly


async def run(job: dict[str, Any]) -> None:
    """Serve until the process is ended."""
    Files.logs = Logs(job["qlog_dir"]) if job["qlog_dir"] else None
    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=H3_ALPN,
        quic_logger=Files.logs,
        **job["library"],
    )
    configuration.load_cert_chain(job["certificate"], job["key"])
    Files.root, Files.address = Path(job["root"]), job["address"]
    Files.content_type, Files.implicit_ack_sample = job["content_type"], job["implicit_ack_sample"]
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    await serve(job["address"], job["port"], configuration=configuration, create_protocol=Files)
    await stopped.wait()
    if Files.logs is not None:
        Files.logs.end_all()


if __name__ == "__main__":
    asyncio.run(run(json.loads(Path(sys.argv[1]).read_text())))
