# SPDX-License-Identifier: Apache-2.0
"""Declarations of every server of pages about their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from quiclab.lab.endpoints._api import Context

CONTENT_TYPES: Mapping[str, str] = {
    "html": "text/html; charset=utf-8",
    "htm": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "avif": "image/avif",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "ico": "image/x-icon",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "ttf": "font/ttf",
    "xml": "text/xml; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "mp4": "video/mp4",
    "wasm": "application/wasm",
}
"""Media types by the ending of a file's name; the machine's own list would differ from host to host."""

HEADERS: Mapping[str, str] = {"Access-Control-Allow-Origin": "*", "Timing-Allow-Origin": "*"}
"""Fields that let a page use fonts and data of other hosts, and let the browser report when they arrived."""

HTTP3_FIELD, HTTP3_HERE = "Alt-Svc", 'h3=":443"; ma=86400'
"""Field of answers to a page over HTTP/3. A browser that discovered HTTP/3 knows it; Chromium, which is forced to use
HTTP/3, would otherwise assume a server that does not multiplex, and hold back all but some six requests for images at a
time, as with HTTP/1.1 (`SupportsRequestPriority` of its HttpServerProperties; seen in its NetLog)."""


MAY_KEEP, MAY_NOT_KEEP = "max-age=86400", "no-store"
"""Cache-Control (RFC 9111 section 5.2.2) of what a browser may keep, and of all else."""


def listening(context: Context) -> tuple[Literal["tcp", "udp"], ...]:
    """Sockets that a server of all versions opens: one of each kind, for a page at every address of its hosts."""
    sockets: list[Literal["tcp", "udp"]] = ["tcp", "udp"]
    for host in context.other_hosts:
        sockets += ["tcp", "udp"] if "h3" in host.protocols else ["tcp"]
    return tuple(sockets)
