# SPDX-License-Identifier: Apache-2.0
"""A recorded page load (HAR 1.2), as far as a replay needs it: hosts, types, sizes, and how long each server
thought."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from quiclab.model.errors import SpecError
from quiclab.model.json_trouble import json_trouble
from quiclab.model.page_parts import MOST_HOSTS, MOST_RESOURCES, ResourceType
from quiclab.store.forms import misplaced
from quiclab.store.own_files import read_named

_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_-]{1,63})*")
_LEAST_BYTES = 128
"""Least size of a resource: a smaller one could not be valid."""
_LEAST_LOSSY_BYTES = 2048
"""Size below which images are made as PNG."""
_MOST_BYTES = 1 << 30
"""Largest page, because a page is made in memory."""
_MOST_WAIT_MS = 3_600_000
_REMEDY = "record one with a browser's network panel"
_TYPES: tuple[tuple[str, ResourceType], ...] = (
    ("css", "style"),
    ("javascript", "script"),
    ("image/", "image"),
    ("font", "font"),
)
_FORM = {
    "log!": {
        "pages": [{"id!": str}],
        "entries!": [{"request!": {"url!": str}, "response!": {"content": dict}, "pageref": str, "timings": dict}],
    }
}
"""Members of a HAR that are read, by the form of `quiclab.store.forms`."""
Highest = Literal["h3", "h2", "h1"]


@dataclass(frozen=True)
class Recorded:
    """One entry that is replayed."""

    type: ResourceType
    size: int
    host: str
    format: Literal["png", "jpeg", "webp"]
    wait_ns: int
    """Recorded time from the request being sent to the first byte of the answer."""


@dataclass(frozen=True)
class RecordedPage:
    """The first page of a HAR."""

    document: Recorded
    resources: tuple[Recorded, ...]
    highest: dict[str, Highest]
    """Newest version of HTTP that each host answered with."""

    @property
    def size(self) -> int:
        """Bytes of all bodies."""
        return sum(each.size for each in (self.document, *self.resources))


def read_har(file: Path) -> RecordedPage:
    """Read the entries that were answered with a body, each URL once. Bodies are not needed: sizes are enough.

    Raises SpecError for a file that is no HAR or has no document.
    """
    try:
        document = json.loads(read_named(file))  # UTF-16 and byte order marks are recognised
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"{file} is no HAR: {json_trouble(error)}", _REMEDY) from error
    if not isinstance(document, dict):
        raise SpecError(f"{file} is no HAR: it is no object with a log", _REMEDY)
    if (wrong := misplaced(document, _FORM)) is not None:
        raise SpecError(f"{file} is no HAR: {wrong}", _REMEDY)
    entries = []
    for number, entry in enumerate(_first_page_entries(document["log"]), 1):
        try:
            entries.append(_entry(entry))
        except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, _UnfitError) else "a member has a value that it cannot have"
            raise SpecError(f"{file} is no HAR: in entry {number} of its page {why}", _REMEDY) from error
    known: dict[str, Recorded] = {}
    highest: dict[str, Highest] = {}
    for url, recorded, version in (entry for entry in entries if entry is not None):
        known.setdefault(url, recorded)
        highest[recorded.host] = max(version, highest.get(recorded.host, "h1"))
    if not known:
        raise SpecError(f"{file} has no answer over HTTP with a body", "record the load of a whole page")
    document, *resources = known.values()
    if len(resources) > MOST_RESOURCES or len(highest) > MOST_HOSTS:
        told = f"{len(resources)} resources of {len(highest)} hosts"
        raise SpecError(f"{file} has {told}", f"replay at most {MOST_RESOURCES} of {MOST_HOSTS}")
    page = RecordedPage(document, tuple(resources), highest)
    if page.size > _MOST_BYTES:
        raise SpecError(f"{file} is a page of {page.size} bytes", f"replay at most {_MOST_BYTES} bytes")
    return page


class _UnfitError(ValueError):
    """A value of an entry that can be read and cannot be replayed."""


def _first_page_entries(log: dict[str, Any]) -> list[dict[str, Any]]:
    pages = log.get("pages") or []
    first = pages[0]["id"] if pages else None
    entries = [entry for entry in log["entries"] if first is None or entry.get("pageref") in (first, None)]
    return sorted(entries, key=lambda entry: str(entry.get("startedDateTime", "")))


def _entry(entry: dict[str, Any]) -> tuple[str, Recorded, Highest] | None:
    """URL, resource and version; None for what is not replayed: redirects, failures, other schemes and odd names."""
    url, response = str(entry["request"]["url"]).partition("#")[0], entry["response"]
    split = urlsplit(url)
    host = (split.hostname or "").lower()
    if split.scheme not in ("http", "https") or not 200 <= int(response.get("status") or 0) < 300:
        return None
    if not _NAME.fullmatch(host) or re.fullmatch(r"[0-9.]+", host):
        return None
    content = response.get("content") or {}
    media_type = str(content.get("mimeType") or "").lower()
    kind: ResourceType = next((kind for word, kind in _TYPES if word in media_type), "data")
    sizes = (response.get("bodySize"), response.get("_transferSize"), content.get("size"))
    size = next((int(each) for each in sizes if isinstance(each, int | float) and each > 0), 0)
    image: Literal["png", "jpeg", "webp"] = "png"
    if size >= _LEAST_LOSSY_BYTES:
        image = "jpeg" if "jpeg" in media_type or "jpg" in media_type else "webp" if "webp" in media_type else "png"
    wait = (entry.get("timings") or {}).get("wait")
    wait_ns = round(max(0.0, wait) * 1e6) if isinstance(wait, int | float) else 0
    if wait_ns > _MOST_WAIT_MS * 1e6:
        raise _UnfitError(f"the server thinks for {wait:g} ms")
    return url, Recorded(kind, max(size, _LEAST_BYTES), host, image, wait_ns), _version(response, entry["request"])


def _version(response: dict[str, object], request: dict[str, object]) -> Highest:
    text = str(response.get("httpVersion") or request.get("httpVersion") or "").lower()
    if "3" in text or "quic" in text:
        return "h3"
    return "h2" if "2" in text else "h1"
