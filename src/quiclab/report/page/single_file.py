# SPDX-License-Identifier: Apache-2.0
"""A report as one file to mail: the page with the pages of its pairs inside, compressed, and the tables of its figures.

Everything is made from the files of the report that was written. The page's own script unpacks the part that a link
leads to.
"""

from __future__ import annotations

import base64
import html
import posixpath
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from quiclab.model import number_text
from quiclab.report.page.rendering import script
from quiclab.store.disk import write_atomically

MOST_BYTES = 16_000_000
"""Size of the report and all parts. Encoded as an attachment they stay below the 25 MB that many servers take."""
MOST_TABLE_BYTES = 1_000_000
_LINK = re.compile(r'<a ([^>]*?)href="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)
_LOGS = "<h2>The raw logs</h2>"

_BODY = "<body data-single>"
"""Element by which a report in one file, and its scripts, know what it is."""


@dataclass(frozen=True)
class SingleFile:
    """A report that was packed into one file."""

    size_bytes: int
    pairs: int
    """Pages of pairs in it."""
    left_out: str
    """Parts that it lacks, as a list in a sentence."""


def write_single_file(page: Path, out: Path, most_bytes: int = MOST_BYTES) -> SingleFile:
    """Write the report `page`, which lies in its study, with all that it leads to, as the file `out`."""
    report = page.read_text(encoding="utf-8")
    pairs = _pages_of_pairs(report, page)
    parts = _fitting(page.parent, pairs, most_bytes - page.stat().st_size)
    links = _Links(page, frozenset(parts))
    left_out = _left_out(report, page, len(parts), len(pairs))
    # What comes from here on are scripts, which have no links.
    head, mark, scripts = report.partition('<script type="application/json" id="themes">')
    head = head.replace("<body>", _BODY, 1)
    told = f"the report and the pages of {number_text.counted(len(parts), 'pair')}; not {left_out}"
    fact = f"<dt>This file</dt><dd>{html.escape(told)}. Those are in the study’s folder.</dd>\n</dl>"
    head = links.followed(head, "").replace("</dl>", fact, 1)
    packed = "\n".join(_part(name, links.followed(body, posixpath.dirname(name), name), title)
                       for name, (title, body) in parts.items())  # fmt: skip
    place = '<div id="part" hidden></div>\n'
    end = f"<script>{script('single.js')}</script>\n</body>\n</html>\n"
    write_atomically(
        out, f"{head}{place}{packed}\n{mark}{scripts.rpartition('</body>')[0]}{end}", option="--single-file"
    )
    return SingleFile(out.stat().st_size, len(parts), left_out)


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


def _fitting(study: Path, names: list[str], most_bytes: int) -> dict[str, tuple[str, str]]:
    """Return title and body of each page, in this order, as far as they fit."""
    fitting: dict[str, tuple[str, str]] = {}
    for name in names:
        text = (study / name).read_text(encoding="utf-8")
        title = text.partition("<title>")[2].partition("</title>")[0]
        body = text.partition("<body>")[2].partition("<footer>")[0]
        most_bytes -= len(_packed(body))
        if most_bytes < 0:
            break
        fitting[name] = title, body
    return fitting


def _packed(text: str) -> str:
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _part(name: str, body: str, title: str) -> str:
    body = body.replace(_LOGS, f'{_LOGS}\n<p class="caution">They are not in this file but in the study’s folder.</p>')
    return f'<script type="text/plain" data-part="{html.escape(name)}" data-title="{title}">{_packed(body)}</script>'


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
