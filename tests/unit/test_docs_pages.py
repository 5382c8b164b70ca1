# SPDX-License-Identifier: Apache-2.0
"""Every page of the docs is found by its kind in docs/README.md, and by links from README.md."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs" / "README.md"
KINDS = {
    "Learn": ("learn", "how-to", "notebooks", "."),
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


def of_an_overview(page: Path) -> bool:
    """Tell whether a page is one of those that the page with the name of its folder lists."""
    return page.parent.with_suffix(".md").is_file()


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as forges and the site make them."""
    text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = list[str]()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", said.lower()).replace(" ", "-")
        again = sum(re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each) is not None for each in found)
        found.append(f"{slug}-{again}" if again else slug)
    return set(found)


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
    assert sorted(listed) == sorted(page for page in pages(ROOT) if not of_an_overview(page))


def test_an_overview_lists_the_pages_of_its_folder_once() -> None:
    """The overviews of tables and of causes list each page once."""
    for folder in ("tables", "causes"):
        overview = ROOT / "docs" / "reference" / f"{folder}.md"
        rows = re.findall(rf"^\| \[`\w+`\]\(({folder}/[^)]+)\) \|", overview.read_text(encoding="utf-8"), re.MULTILINE)
        assert sorted(overview.parent / row for row in rows) == sorted((overview.parent / folder).iterdir())


def written() -> list[Path]:
    """Every page of the repository in Markdown."""
    return [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "experiments").rglob("*.md")]


def test_links_lead_somewhere() -> None:
    """Files and folders that are there."""
    assert [(page, to) for page in written() for to in links(page) if not to.exists()] == []


def test_anchors_of_links_are_there() -> None:
    """Every anchor exists, also in links within one page."""
    dead = []
    for page in written():
        text = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        for path, _, anchor in (link.partition("#") for link in _LINK.findall(text) if "://" not in link):
            target = (page.parent / path).resolve() if path else page
            if anchor and target.suffix == ".md" and anchor not in anchors(target):
                dead.append((page, f"{path}#{anchor}"))
    assert dead == []


def test_anchors_are_those_of_a_forge(tmp_path: Path) -> None:
    """Lower case, without marks of code or punctuation; the second of a name has a number."""
    page = tmp_path / "page.md"
    page.write_text("# The `[[path]]`, or *not*\n\n```\n# no heading\n```\n## 7. [A](b.md) _b\n## Again\n### Again\n")
    assert anchors(page) == {"the-path-or-not", "7-a-_b", "again", "again-1"}
