# SPDX-License-Identifier: Apache-2.0
"""NetLog, the log of Chromium's network stack."""

from __future__ import annotations

from pathlib import Path

from quiclab.decoders import _core
from quiclab.decoders._api import Context, FileTables, Take


class NetLog:
    """One browser's log: QUIC and HTTP/2 sessions, and the requests that use them; truncated ones too."""

    format = "netlog"
    versions = ("1",)
    tables = (
        *("packets", "frames", "acks", "streams", "losses", "flow_control", "handshake", "parameters"),
        *("http_requests", "http_frames"),
    )
    clock = "CLOCK_MONOTONIC of the machine that ran the browser, in whole milliseconds (packets sent: microseconds)."

    def sniff(self, head: bytes) -> bool:
        """Whether the constants come first, in alphabetical order, as Chromium writes them."""
        return head.lstrip()[:16].replace(b" ", b"").startswith(b'{"constants":{') and any(
            name in head for name in (b'"activeFieldTrialGroups"', b'"addressFamily"', b'"logEventTypes"')
        )

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode all sessions and requests, in the order of the log; a sum is placed where what it sums up ends."""
        return _core.decode("netlog", path, context, take)
