# SPDX-License-Identifier: Apache-2.0
"""Print the faults of a built site: dead links and anchors, pages that the navigation lacks or has twice, and what a
browser would load from elsewhere.

usage: site_check.py FOLDER
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FIRST = "index.html"
NO_PAGES = ("search.html",)
"""Pages that are no part of the docs."""
_LOADED = ("src", "srcset", "poster", "data", "xlink:href")
"""Attributes by which an element loads something, whatever the element; `href` does in `_LOADED_BY_HREF`."""
_LOADED_BY_HREF = ("link", "use", "image")
_LED_TO = ("index", "search", "next", "prev", "canonical", "author", "licence", "license")
"""Relations of a `link` that loads nothing."""
_LOADED_BY_CSS = re.compile(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)")


class Page(HTMLParser):
    """Anchors, links and loaded resources of a page, and the links of its navigation."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors, self.links, self.loaded, self.navigation = set[str](), list[str](), list[str](), list[str]()
        self._depth = 0  # in elements `div` of the navigation
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in an element."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "div" and (self._depth or "sidebar-tree" in found.get("class", "").split()):
            self._depth += 1
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
            self.navigation += [found["href"]] * bool(self._depth)
        names = (*_LOADED, "href") if tag in _LOADED_BY_HREF and found.get("rel") not in _LED_TO else _LOADED
        for name in (each for each in names if found.get(each)):
            several = found[name].split(",") if name == "srcset" else [found[name]]
            self.loaded += [each.split()[0] for each in several]
        self._in_style = tag == "style"
        if "style" in found:
            self.loaded += _by_css(found["style"])

    def handle_data(self, data: str) -> None:
        """Take in text: that of a style loads what it names."""
        if self._in_style:
            self.loaded += _by_css(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._in_style = False
        if tag == "div" and self._depth:
            self._depth -= 1


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong with a site, a line each."""
    pages = {file.relative_to(site).as_posix(): Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html")}
    for name, page in sorted(pages.items()):
        yield from _dead(site, name, page, pages)
        yield from (f"{name} loads {each}" for each in page.loaded if _elsewhere(each))
        yield from (f"{name} loads {each}, which is not there" for each in page.loaded if _missing(site / name, each))
    for sheet in sorted(site.rglob("*.css")):
        for each in _by_css(sheet.read_text(encoding="utf-8")):
            if _elsewhere(each):
                yield f"{sheet.relative_to(site)} loads {each}"
    yield from _navigation(pages)


def _dead(site: Path, name: str, page: Page, pages: dict[str, Page]) -> Iterator[str]:
    for link in page.links:
        if urlsplit(link).scheme:
            continue
        path, _, anchor = link.partition("#")
        target = (site / name).parent.joinpath(unquote(path)).resolve() if path else site.resolve() / name
        if not target.is_file():
            yield f"{name} links to {link}, which is not there"
            continue
        other = pages.get(target.relative_to(site.resolve()).as_posix())
        if other is not None and anchor and unquote(anchor) not in other.anchors:
            yield f"{name} links to {link}, which has no such anchor"


def _navigation(pages: dict[str, Page]) -> Iterator[str]:
    """The navigation of the first page, which is the whole of it."""
    listed = [FIRST, *(link for link in pages[FIRST].navigation if link != "#")]
    for name in sorted(pages.keys() - set(NO_PAGES)):
        if listed.count(name) != 1:
            yield f"{name} is {listed.count(name)} times in the navigation"


def _by_css(text: str) -> list[str]:
    return [one or two for one, two in _LOADED_BY_CSS.findall(text)]


def _elsewhere(address: str) -> bool:
    return address.startswith("//") or urlsplit(address).scheme not in ("", "data")


def _missing(page: Path, address: str) -> bool:
    path = urlsplit(address).path
    return not _elsewhere(address) and not address.startswith("data:") and not (page.parent / unquote(path)).exists()


def main(arguments: list[str]) -> int:
    """Print what is wrong with the site in a folder; 1 where something is."""
    if len(arguments) != 1 or not Path(arguments[0], FIRST).is_file():
        print(__doc__, file=sys.stderr)
        return 2
    found = list(problems(Path(arguments[0])))
    for line in found:
        print(f"site: {line}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
