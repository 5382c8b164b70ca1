# SPDX-License-Identifier: Apache-2.0
"""qlog: every draft, as documents, text sequences or lines, as written by any program."""

from __future__ import annotations

from pathlib import Path

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Context, FileTables, Take


class Qlog:
    """A qlog file with one or more traces."""

    format = "qlog"
    versions = (
        "draft-00 to draft-02, 0.3 and 0.4",
        "file_schema (events quic-12 and later)",
        "JSON, JSON-SEQ and NDJSON; events as objects or as arrays; gzip or Zstandard",
    )
    tables = (
        *("packets", "frames", "acks", "streams", "transport_metrics", "cc_states", "losses", "timers"),
        *("flow_control", "blocked", "handshake", "parameters", "http_requests", "http_frames"),
    )
    clock = "The endpoint's own: with an epoch mapped to CLOCK_MONOTONIC, without one relative to the log's start."

    def sniff(self, head: bytes) -> bool:
        """True if a header near the start names a qlog version or schema."""
        start = head.lstrip()[:1]
        return start in (b"\x1e", b"{") and any(key in head for key in (b'"qlog_version"', b'"file_schema"'))

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode all traces, in the order of the log; streams, losses and requests come where their connection ends."""
        return _core.decode("qlog", path, context, take)
