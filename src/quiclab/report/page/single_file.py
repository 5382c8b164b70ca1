# SPDX-License-Identifier: Apache-2.0
"""A report as one file to mail: the page with the pages of its pairs inside, compressed, and the tables of its figures.

Everything is made from the files of the report that was written. Text stays text; figures, scripts and pages of pairs
are compressed, thinned to what a screen shows, and unpacked by a short script: those of a pair when a link leads there.
"""

from __future__ import annotations

import base64
import html
import json
import posixpath
import re
import zlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from quiclab.model import number_text
from quiclab.report.page.rendering import script
from quiclab.report.page.screen_size import PIXELS, fewer_points, screen_sized
from quiclab.store.disk import write_atomically

MOST_BYTES = 16_000_000
"""Size of the report and all parts. Encoded as an attachment they stay below the 25 MB that many servers take."""
MOST_TABLE_BYTES = 1_000_000
_LINK = re.compile(r'<a ([^>]*?)href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
_DATA = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>', re.DOTALL)
_CODE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_LOGS, _FIGURES = "<h2>The raw logs</h2>", '<section id="figures">'
_MEDIAN, _PACKETS = "/median.html", "timeline-data"
_LONGEST = re.compile(r'<section id="longest">.*?href="([^"#]+)#figure-timeline"', re.DOTALL)
_PACKET_BY_PACKET = re.compile(r'<article data-shows="(?:sequence|state_machine)">.*?</article>\n', re.DOTALL)
"""Figures of single packets, which a page of a block in the file lacks: they are as large as all others together."""
THINNED = (
    f"Curves are thinned here to the first, last, least and greatest point of each of {PIXELS} columns. The packets "
    "behind a timeline are listed for the largest difference alone; blocks have neither sequence diagrams nor state "
    "machines."
)
CANNOT_UNPACK = (
    "The figures and the pages of pairs are compressed, and this browser cannot unpack them: it lacks "
    "DecompressionStream, which Chromium 80, Firefox 113 and Safari 16.4 have. All numbers are in the tables."
)
"""Sentence of a browser that is too old."""

_BODY = "<body data-single>"
"""Element by which a report in one file, and its scripts, know what it is."""


@dataclass(frozen=True)
class SingleFile:
    """A report that was packed into one file."""

    size_bytes: int
    pairs: int
    """Pages of pairs in it, a cell's page of its median trials among them."""
    left_out: str
    """Parts that it lacks, as a list in a sentence."""


def write_single_file(page: Path, out: Path, most_bytes: int = MOST_BYTES) -> SingleFile:
    """Write the report `page`, which lies in its study, with all that it leads to, as the file `out`."""
    report = page.read_text(encoding="utf-8")
    head, mark, scripts = report.partition('<script type="application/json" id="themes">')
    head, figures = _apart(head.replace("<body>", _BODY, 1))
    themes, _, scripts = scripts.partition("</script>")
    code = "\n".join([*_CODE.findall(scripts), script("single.js")])
    own = [_packed_script("packed-figures", json.dumps(figures)), _packed_script("packed-code", code)]
    pairs = _pages_of_pairs(report, page)
    listed = {html.unescape(name) for name in _LONGEST.findall(report)}
    parts = _fitting(page.parent, pairs, listed, most_bytes - sum(map(len, (head, *own))))
    links = _Links(page, frozenset(parts))
    left_out = _left_out(report, page, len(parts), len(pairs))
    told = f"the report and the pages of {number_text.counted(len(parts), 'pair')}; not {left_out}"
    fact = (
        f"<dt>This file</dt><dd>{html.escape(told)}. {THINNED} All of it is in the study’s folder.</dd>\n</dl>\n"
        f'<p class="caution" id="unpack-note" hidden>{CANNOT_UNPACK}</p>'
    )
    head = links.followed(head, "").replace("</dl>", fact, 1)
    end = (
        f"{mark}{themes}</script>\n"
        + "\n".join((*own, *_groups(parts, links)))
        + f"\n<script>{script('unpack.js')}</script>\n</body>\n</html>\n"
    )
    write_atomically(out, f'{head}<div id="part" hidden></div>\n{end}', option="--single-file")
    return SingleFile(out.stat().st_size, len(parts), left_out)


def _apart(text: str) -> tuple[str, dict[str, str]]:
    """Return a page with its data taken out of their places, and the data by these places, as a screen shows them."""
    data = {html.unescape(name): _on_screen(name, content) for name, content in _DATA.findall(text)}
    return _DATA.sub(lambda found: f'<script type="application/json" id="{found[1]}"></script>', text), data


def _on_screen(name: str, content: str) -> str:
    value = json.loads(content)
    if name == "selector":
        value = fewer_points(value)
    elif isinstance(value, dict) and {"data", "layout"} <= value.keys():
        value = screen_sized(value)
    else:
        return content
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _packed_script(name: str, text: str) -> str:
    return f'<script type="text/plain" id="{name}">{_packed(text)}</script>'


def is_single_file(file: Path) -> bool:
    """True if a file is one that `write_single_file` wrote."""
    return file.is_file() and _BODY in file.read_text(encoding="utf-8", errors="replace")


def _pages_of_pairs(report: str, page: Path) -> list[str]:
    """Paths of the pages that the report leads to: those of median trials first, then block by block."""
    found = re.findall(rf'href="({re.escape(page.stem)}/pairs/[^"#]+)"', report)

    def position(name: str) -> int:
        number = re.search(r"block-(\d+)\.html$", name)
        return int(number[1]) if number else -1

    return sorted(dict.fromkeys(found), key=position)


@dataclass(frozen=True)
class _Part:
    """The page of a pair as a part of the file."""

    title: str
    body: str
    """HTML of the page, without the data of its figures."""
    data: dict[str, str]
    """Place in the page → data."""


def _fitting(study: Path, names: list[str], listed: Container[str], most_bytes: int) -> dict[str, _Part]:
    """Return the pages in this order, as far as they fit; those `listed` with the packets behind their timelines."""
    fitting: dict[str, _Part] = {}
    for name in names:
        text = (study / name).read_text(encoding="utf-8")
        title = text.partition("<title>")[2].partition("</title>")[0]
        body = text.partition("<body>")[2].partition("<footer>")[0]
        body, data = _apart(body if name.endswith(_MEDIAN) else _PACKET_BY_PACKET.sub("", body))
        if name not in listed:
            data.pop(_PACKETS, None)
        most_bytes -= len(_packed(body + json.dumps(data)))
        if most_bytes < 0:
            break
        fitting[name] = _Part(title, body, data)
    return fitting


def _groups(parts: Mapping[str, _Part], links: _Links) -> Iterator[str]:
    """The pages as scripts: those of one cell are packed together, since they have most of their words in common."""
    cells: dict[str, list[str]] = {}
    for name in parts:
        cells.setdefault(posixpath.dirname(name), []).append(name)
    for number, (folder, names) in enumerate(cells.items(), 1):
        for name in names:
            yield (
                f'<script type="text/plain" data-part="{html.escape(name)}" data-title="{parts[name].title}" '
                f'data-group="group-{number}"></script>'
            )
        pages = {name: links.followed(_with_notes(parts[name].body), folder, name) for name in names}
        group = {"pages": pages, "data": {name: parts[name].data for name in names}}
        yield _packed_script(f"group-{number}", json.dumps(group, ensure_ascii=False))


def _with_notes(body: str) -> str:
    body = body.replace(_FIGURES, f'{_FIGURES}\n<p class="data">{THINNED}</p>')
    return body.replace(_LOGS, f'{_LOGS}\n<p class="caution">They are not in this file but in the study’s folder.</p>')


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _left_out(report: str, page: Path, pairs: int, of: int) -> str:
    """Parts that the file lacks, as a list in a sentence."""
    told = [f"the pages of {of - pairs} more pairs (they would make it too large)"] if pairs < of else []
    told += [f"the page about {name}" for name in re.findall(r'<a href="report[^"/]*\.html">([^<]+)</a>', report)]
    data = page.with_suffix("") / "data"
    large = [each.name for each in sorted(data.iterdir()) if not _is_small_table(each)] if data.is_dir() else []
    return number_text.listed([*map(html.unescape, told), *large, "the raw logs", "the tables of single trials"])


def _is_small_table(file: Path) -> bool:
    return file.suffix == ".csv" and file.is_file() and file.stat().st_size <= MOST_TABLE_BYTES


@dataclass(frozen=True)
class _Links:
    """Targets of the pages' links within one file."""

    page: Path
    parts: frozenset[str]

    def followed(self, text: str, folder: str, part: str = "") -> str:
        """Return the text of a page in `folder` of the study with its links as they are in the file: to a part of it,
        to a table that is in the link itself, or, where they lead out of it, none. The page is the `part` of that name,
        or the report."""
        return _LINK.sub(lambda link: self._link(link, folder, part), text)

    def _link(self, link: re.Match[str], folder: str, part: str) -> str:
        before, href, after, words = link.groups()
        path, _, anchor = html.unescape(href).partition("#")
        if part and not path:
            return f'<a {before}href="#{html.escape(f"{part}#{anchor}")}"{after}>{words}</a>'
        if not path or re.match(r"[a-z]+:", path):
            return link[0]
        to = posixpath.normpath(posixpath.join(folder, unquote(path)))
        if to == self.page.name:
            return f'<a {before}href="#{html.escape(anchor)}"{after}>{words}</a>'
        if to in self.parts:
            return f'<a {before}href="#{html.escape(f"{to}#{anchor}" if anchor else to)}"{after}>{words}</a>'
        file = self.page.parent / to
        if _is_small_table(file):
            data = f"data:text/csv;base64,{base64.b64encode(file.read_bytes()).decode()}"
            return f'<a {before}href="{data}" download="{html.escape(file.name)}"{after}>{words}</a>'
        return words
