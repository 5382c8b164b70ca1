# SPDX-License-Identifier: Apache-2.0
"""Every page of the docs is found by its kind in docs/README.md, and by links from README.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
KINDS = {
    "Learn": ("how-to", "notebooks", "."),
    "How to": ("how-to",),
    "Explanation": ("explanation",),
    "Reference": ("reference",),
    "Decisions": ("decisions",),
}
"""Sections of the index, each with the folders of docs/ whose pages may stand there."""
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def links(page: Path) -> list[Path]:
    """Files and folders of the repository that a page links to, outside blocks of code."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    targets = [link.partition("#")[0] for link in _LINK.findall(text) if "://" not in link]
    return [(page.parent / target).resolve() for target in targets if target]


def pages(root: Path) -> set[Path]:
    """Pages and notebooks below docs/, but for the index."""
    return {*(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")} - {root / "docs" / "README.md"}


def reachable(first: Path) -> set[Path]:
    """Pages that a reader comes to from one page by links alone; a link to a folder leads to no page."""
    found, ahead = set[Path](), [first]
    while ahead:
        page = ahead.pop()
        if page not in found and page.is_file() and page.suffix in (".md", ".ipynb"):
            found.add(page)
            ahead += links(page) if page.suffix == ".md" else []
    return found


def test_every_page_is_reached_from_the_first() -> None:
    """By links in text, as a reader follows them."""
    assert pages(ROOT) - reachable(ROOT / "README.md") == set()


def test_a_page_without_a_link_is_found(tmp_path: Path) -> None:
    """Also one that only another such page, a block of code or a link to its folder names."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("[a](docs/a.md#part) [docs](docs)\n```\n[b](docs/b.md)\n```\n")
    for name, text in (("a", "[first](../README.md)"), ("b", "[c](c.md)"), ("c", "[b](b.md)")):
        (tmp_path / "docs" / f"{name}.md").write_text(text)
    lost = pages(tmp_path) - reachable(tmp_path / "README.md")
    assert {page.name for page in lost} == {"b.md", "c.md"}


def test_the_index_has_every_page_once_by_its_kind_with_a_line() -> None:
    """A how-to that teaches may stand under "Learn" instead."""
    sections = re.split(r"^## (.+)$", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)
    listed = list[Path]()
    assert sections[1::2] == list(KINDS)
    for kind, text in zip(sections[1::2], sections[2::2], strict=True):
        rows = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\) \| (.+) \|$", text, flags=re.MULTILINE)
        assert rows
        for target, said in rows:
            assert str(Path(target).parent) in KINDS[kind], target
            assert said.strip(), target
            listed.append((INDEX.parent / target).resolve())
    assert sorted(listed) == sorted(pages(ROOT))


def test_links_of_the_docs_lead_somewhere() -> None:
    """Files and folders that are there."""
    sources = [*pages(ROOT), INDEX, *ROOT.glob("*.md")]
    lost = [(page, to) for page in sources if page.suffix == ".md" for to in links(page) if not to.exists()]
    assert lost == []
