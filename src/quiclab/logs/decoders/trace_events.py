# SPDX-License-Identifier: Apache-2.0
"""Chrome's trace events, as DevTools, chrome://tracing and browsertime write them."""

from __future__ import annotations

from pathlib import Path

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Context, FileTables, Take


class TraceEvents:
    """A trace, as an object or as an array that need not be closed."""

    format = "trace_events"
    versions = ("JSON object", "JSON array")
    tables = ("http_requests", "page_events")
    clock = "CLOCK_MONOTONIC of the machine that ran the browser, in microseconds, if that was Linux; else its own."

    def sniff(self, head: bytes) -> bool:
        """True if there is an array named `traceEvents`, or one whose first object has a phase and a category."""
        start = head.lstrip()
        if start.startswith(b"{"):
            return b'"traceEvents"' in head
        return start[:1] == b"[" and start[1:].lstrip()[:1] == b"{" and all(key in head for key in (b'"ph"', b'"cat"'))

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode moments of the page, and requests, each where it ends."""
        return _core.decode("trace_events", path, context, take)
