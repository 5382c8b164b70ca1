# SPDX-License-Identifier: Apache-2.0
"""HAR 1.2, as browsers, their tools and sitespeed.io write it."""

from __future__ import annotations

import re
from pathlib import Path

from quiclab.logs.decoders import _core
from quiclab.logs.decoders._api import Context, FileTables, Take

_HEAD = re.compile(rb'\s*\{\s*"log"\s*:\s*\{')


class Har:
    """One archive, of one or more pages."""

    format = "har"
    versions = ("1.2", "1.2 with the fields of Chromium, Firefox and sitespeed.io")
    tables = ("http_requests", "page_events")
    clock = "CLOCK_REALTIME of the machine that ran the browser, in milliseconds; mapped to CLOCK_MONOTONIC."

    def sniff(self, head: bytes) -> bool:
        """True if an object `log` comes first, with one of its own members in it."""
        names = (b'"version"', b'"creator"', b'"browser"', b'"pages"', b'"entries"')
        found = _HEAD.match(head)
        return found is not None and any(name in _to_its_end(head[found.end() :]) for name in names)

    def decode(self, path: Path, context: Context, take: Take | None = None) -> FileTables:
        """Decode into one row per entry, and one for every moment that a page names."""
        return _core.decode("har", path, context, take)


def _to_its_end(text: bytes) -> bytes:
    """The part of a text that is in an object which it begins in; all of it where the object does not end."""
    depth = 1
    for at, byte in enumerate(text):
        depth += (byte == ord("{")) - (byte == ord("}"))
        if depth == 0:
            return text[:at]
    return text
