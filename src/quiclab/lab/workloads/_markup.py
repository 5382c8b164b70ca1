# SPDX-License-Identifier: Apache-2.0
"""Texts of a generated page: its document, stylesheets, scripts and data, each of an exact size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from quiclab.model.errors import SpecError

if TYPE_CHECKING:
    from quiclab.lab.workloads.page import Part

_HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>page</title><link rel="icon" href="data:,">
<style>body{margin:0;display:flex;flex-wrap:wrap;align-content:flex-start}img{width:100px;height:75px;margin:2px;background:#eee}\
#main{display:block;width:780px;height:300px}</style>
"""
_TAIL = "</body></html>\n"
_FETCH = "<script>for(const u of [%s])fetch(u,{cache:'no-store'}).then(r=>r.arrayBuffer())</script>\n"


def document(parts: Sequence[Part], size: int | None, host: str, main_at: int = 1) -> bytes:
    """Make the document. Stylesheets, fonts and the first third of the scripts are in the head; then come the images,
    the main one at its place; then the other scripts, which wait for nothing; then a script that requests the data.
    Raises SpecError if `size` is too small; None is the least that will do. `host` is the document's own."""
    by_type = {kind: [part for part in parts if part.type == kind] for kind in ("style", "script", "image", "font")}
    early = by_type["script"][: len(by_type["script"]) // 3]
    late = by_type["script"][len(early) :]
    images = [part for part in by_type["image"] if not part.main]
    images[main_at - 1 : main_at - 1] = [part for part in by_type["image"] if part.main]
    data = ",".join(f"'{escape(part.link(host))}'" for part in parts if part.type == "data")
    lines = [
        _HEAD,
        *(f'<link rel="stylesheet" href="{escape(part.link(host))}">\n' for part in by_type["style"]),
        *(f'<link rel="preload" as="font" crossorigin href="{escape(part.link(host))}">\n' for part in by_type["font"]),
        *(f'<script defer src="{escape(part.link(host))}"></script>\n' for part in early),
        "</head><body>\n",
        *(f'<img{_marks(part)} alt="" src="{escape(part.link(host))}">\n' for part in images),
        *(f'<script async src="{escape(part.link(host))}"></script>\n' for part in late),
        _FETCH % data if data else "",
    ]
    text = "".join(lines)
    least = len(text) + len(_TAIL) + len("<!---->")
    size = least if size is None else size
    room = size - len(text) - len(_TAIL) - len("<!---->")
    if room < 0:
        raise SpecError(f"a document of {size} bytes cannot name {len(parts)} resources: write html = {size - room} B")
    return f"{text}<!--{'x' * room}-->{_TAIL}".encode()


def _marks(image: Part) -> str:
    importance = f" fetchpriority={image.fetch_priority}" if image.fetch_priority else ""
    return (" id=main" if image.main else "") + importance


def filled(kind: str, size: int, words: Callable[[int], str]) -> bytes:
    """A stylesheet, a script or data that is valid and does nothing."""
    before, after = {"style": ("/*", "*/"), "script": ("/*", "*/"), "data": ('{"filling":"', '"}')}[kind]
    return f"{before}{words(size - len(before) - len(after))}{after}".encode()
