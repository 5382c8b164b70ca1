# SPDX-License-Identifier: Apache-2.0
"""The page of a workload, read from a spec: generated, taken from a folder, or recorded."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from quiclab.model.errors import SpecError
from quiclab.model.page import Page, Resources, ThirdParties
from quiclab.model.page_parts import LEAST_BYTES, MOST_HOSTS, MOST_RESOURCES
from quiclab.model.units import ByteCount
from quiclab.spec import http_archive, json_form, kinds
from quiclab.spec.har import read_har
from quiclab.spec.nodes import Kind, Node, ReportedError, build, form_of, table

RESOURCES_KEYS: Mapping[str, Kind[Any]] = {
    "type": kinds.choice(("style", "script", "image", "font", "data")),
    "size": kinds.SIZE,
    "count": kinds.whole(1, MOST_RESOURCES),
    "format": kinds.choice(("png", "jpeg", "webp")),
    "third_party": kinds.SHARE,
    "main": kinds.FLAG,
    "fetch_priority": kinds.choice(("high", "low")),
}


def _read_resources(node: Node) -> Resources:
    resources = build(Resources, node, RESOURCES_KEYS)
    least = LEAST_BYTES[resources.type]
    if resources.size.bytes < least:
        node.child("size").report(f"{resources.size} is too small: a valid {resources.type} has at least {least} B")
    for key in ("format", "main", "fetch_priority"):
        if key in node.value and resources.type != "image":
            node.child(key).report(f"only images have this key, and these are of type {resources.type}")
    return resources


THIRD_PARTIES_KEYS = kinds.keys_of(ThirdParties)


_SHARES_WANTED = 'a share such as "30 %", or a table with one for each type such as {script = "60 %", image = "10 %"}'


def _read_third_parties(node: Node) -> ThirdParties:
    if isinstance(node.value, dict):
        return build(ThirdParties, node, THIRD_PARTIES_KEYS)
    return ThirdParties(*[kinds.SHARE.read(node)] * len(THIRD_PARTIES_KEYS))


PAGE_KEYS: Mapping[str, Kind[Any]] = {
    "html": kinds.SIZE,
    "resources": kinds.several(
        table(
            'a table such as {type = "image", size = "29 KB", count = 70}', Resources, RESOURCES_KEYS, _read_resources
        ),
        'an array of tables such as [{type = "image", size = "29 KB", count = 70}]',
    ),
    "mix": kinds.choice(("many-small", "few-large", "mixed", "http-archive")),
    "requests": kinds.whole(1, MOST_RESOURCES),
    "total": kinds.SIZE,
    "percentile": kinds.whole(http_archive.LEAST, http_archive.MOST),
    "third_party": Kind(
        _SHARES_WANTED,
        _read_third_parties,
        json_form.either(kinds.SHARE.form, form_of(THIRD_PARTIES_KEYS, ThirdParties)),
    ),
    "main_at": kinds.whole(1, MOST_RESOURCES),
    "hosts": kinds.whole(1, MOST_HOSTS),
    "others_protocol": kinds.choice(("same", "h2", "h1")),
    "folder": kinds.FOLDER,
    "document": kinds.text("the name of a file in the folder"),
    "har": Kind(kinds.FILE.wanted, lambda node: str(kinds.FILE.read(node)), kinds.FILE.form),
    "think": kinds.choice(("wait", "none")),
}


_LEAST_HTML = 512


_BELONGS = {
    "resources": ("html", "main_at", "hosts", "others_protocol"),
    "mix": ("html", "requests", "total", "percentile", "third_party", "hosts", "others_protocol"),
    "folder": ("document",),
    "har": ("others_protocol", "think"),
}
"""Sources that a page may be made from, each with the keys that go with it."""


def _read_page(node: Node) -> Page:
    """Read a page; its keys are checked against each other once each of them can be read."""
    page = build(Page, node, PAGE_KEYS)
    before = node.source.reports
    sources = [key for key in _BELONGS if key in node.value] or ["resources"]
    if len(sources) > 1:
        node.child(sources[1]).report(f'it cannot stand beside "{sources[0]}": a page is made from one of the two')
    for key in node.value:
        if key not in _BELONGS and key not in _BELONGS[sources[0]]:
            node.child(key).report(f'it does not go with "{sources[0]}"; {", ".join(_BELONGS[sources[0]])} do')
    if page.html.bytes < _LEAST_HTML:
        node.child("html").report(
            f"{page.html} is too small: a document that names its resources needs {_LEAST_HTML} B"
        )
    if page.mix is not None:
        _check_mix(node, page)
    if page.mix is not None and page.requests and page.total:
        least = page.html.bytes + (page.requests - 1) * max(LEAST_BYTES.values())
        if page.total.bytes < least:
            node.child("total").report(
                f"{page.total} is too little for {page.requests} requests; write {least} B or more"
            )
    if node.source.reports > before:
        raise ReportedError
    if page.percentile is not None:
        parts = http_archive.at(page.percentile).values()
        html = page.html if "html" in node.value else http_archive.HTML
        total = ByteCount(html.bytes + sum(size for _, size in parts))
        return replace(page, html=html, requests=1 + sum(count for count, _ in parts), total=total)
    if page.folder is not None:
        return replace(page, total=_folder_bytes(node, pathlib.Path(page.folder), page.document))
    if page.har is not None:
        return replace(page, total=_har_bytes(node, pathlib.Path(page.har)))
    return page


def _check_mix(node: Node, page: Page) -> None:
    """Check that a mix has either a percentile, or requests and bytes."""
    for key in ("requests", "total"):
        if page.percentile is None and key not in node.value:
            node.report(f'"{key}" is missing; a mix is shared out over that many')
        if page.percentile is not None and key in node.value:
            node.child(key).report('it cannot stand beside "percentile", which determines it')
    if page.percentile is not None and page.mix != "http-archive":
        node.child("percentile").report('only mix = "http-archive" has percentiles')


def _folder_bytes(node: Node, folder: pathlib.Path, document: str) -> ByteCount:
    if pathlib.PurePath(document).is_absolute() or ".." in pathlib.PurePath(document).parts:
        node.child("document").report(f'"{document}" leads out of the folder; write its path below the folder')
        raise ReportedError
    leading_out = [file for file in folder.rglob("*") if not file.resolve().is_relative_to(folder.resolve())]
    if leading_out:
        node.report(f"{leading_out[0]} leads out of the folder: what is served must lie in it")
        raise ReportedError
    if not (folder / document).is_file():
        node.report(f'the folder has no file "{document}"; "document" names the one that is loaded')
        raise ReportedError
    return ByteCount(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))


def _har_bytes(node: Node, file: pathlib.Path) -> ByteCount:
    try:
        return ByteCount(read_har(file).size)
    except SpecError as error:
        node.child("har").report(f"{error.message}; {error.hint}")
        raise ReportedError from error


PAGE: Kind[Page] = table('a table such as {mix = "mixed", requests = 40, total = "1 MB"}', Page, PAGE_KEYS, _read_page)
