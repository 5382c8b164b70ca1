# SPDX-License-Identifier: Apache-2.0
"""qlog: the draft-ietf-quic-qlog series as written by ngtcp2, quic-go and aioquic."""

from __future__ import annotations

from pathlib import Path

from quiclab.decoders import _core
from quiclab.decoders._api import Context, FileTables, Take


class Qlog:
    """One file, of one or more traces."""

    format = "qlog"
    versions = ("0.3 JSON-SEQ", "0.3 JSON", "file_schema JSON-SEQ (events quic-12 and later)")
    tables = ("packets", "frames", "acks", "transport_metrics", "parameters")
    clock = "The endpoint's own: with an epoch mapped to CLOCK_MONOTONIC, without one relative to the log's start."

    def sniff(self, head: bytes) -> bool:
        """A header that names a qlog version or schema near the start."""
        return head[:1] in (b"\x1e", b"{") and any(key in head for key in (b'"qlog_version"', b'"file_schema"'))

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Rows of all traces, in the order of the log."""
        return _core.decode("qlog", path, context, take)
