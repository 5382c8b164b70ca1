# SPDX-License-Identifier: Apache-2.0
"""The sources of the site: every page once, at its place, with links that lead to the same pages."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePosixPath

import pytest
from site_pages import linked, navigation, notebook, sections, site_path, sources, with_links, write_sources

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the site of this repository."""
    folder = tmp_path_factory.mktemp("pages")
    write_sources(ROOT, folder)
    return folder


def small(root: Path, **pages: str) -> Path:
    """A repository with few pages; `__` in a name is a folder."""
    texts = {"README": "# Tool\n", "docs__README": "# Docs\n\n## Learn\n\n| [A](a.md) | of it |\n", "docs__a": "# A\n"}
    texts |= {"experiments__README": "# Experiments\n"}
    texts |= {name: f"# {name}\n" for name in ("CONTRIBUTING", "ARCHITECTURE", "GLOSSARY", "SECURITY", "CHANGELOG")}
    for name, text in (texts | pages).items():
        file = root / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (root / "docs" / "site").mkdir()
    return root


def entries(page: Path) -> list[Path]:
    """Pages below a page in the navigation."""
    found = re.findall(r"^```\{toctree\}\n:hidden:\n\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in found for line in block.splitlines()]
    return [(page.parent / (re.findall(r"<(.+)>$", line) or [line])[0]).resolve() for line in lines]


def test_the_navigation_has_every_page_once(written: Path) -> None:
    """The navigation reaches every page from the first one, and each once."""
    found, ahead = list[Path](), [written.resolve() / "index.md"]
    while ahead:
        page = ahead.pop()
        found.append(page)
        ahead += entries(page)
    assert sorted(found) == sorted(written.resolve().rglob("*.md"))


def test_every_page_of_the_repository_is_in_the_site(written: Path) -> None:
    """Each page has a place of its own in the site."""
    places = [site_path(source) for source in sources(ROOT)]
    assert len(set(places)) == len(places) > 100
    assert [each for each in places if not (written / each).is_file()] == []


def test_links_lead_to_files_of_the_site(written: Path) -> None:
    """Links lead to files of the site, also those to specs, pictures and notebooks and out of docs/."""
    dead = [
        (page.name, to)
        for page in written.rglob("*.md")
        for to in linked(page.read_text(encoding="utf-8"))
        if not (page.parent / (to.partition("#")[0] or page.name)).is_file()
    ]
    assert dead == []


def test_a_page_that_the_index_lacks_is_told(tmp_path: Path) -> None:
    """So is one that it lists twice."""
    with pytest.raises(ValueError, match=r"docs/b\.md"):
        write_sources(small(tmp_path / "one", docs__b="# B\n"), tmp_path / "out")
    twice = "# Docs\n\n## Learn\n\n| [A](a.md) | it |\n| [A](a.md) | again |\n"
    with pytest.raises(ValueError, match=r"docs/a\.md"):
        write_sources(small(tmp_path / "two", docs__README=twice), tmp_path / "out")


def test_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    """The error names the page with the link."""
    with pytest.raises(ValueError, match=r"docs/a\.md.*docs/gone\.md"):
        write_sources(small(tmp_path, docs__a="# A\n\n[gone](gone.md#part)\n"), tmp_path / "out")


def test_links_are_those_of_the_site(tmp_path: Path) -> None:
    """Out of docs/, to a folder's README, to a spec; not those in code, nor to elsewhere."""
    text = "# A\n\n[g](../GLOSSARY.md#word) ![p](p.svg) [e](https://example.org/x.md) `[c](../GLOSSARY.md)`\n"
    text += "[s](../experiments/one/spec.toml) [r](../README.md) [`x`](#here)\n\n```\n[c](../GLOSSARY.md)\n```\n"
    root = small(tmp_path / "root", docs__a=text)
    (root / "experiments" / "one").mkdir()
    (root / "experiments" / "one" / "spec.toml").write_text('name = "one"\n')
    (root / "docs" / "p.svg").write_text("<svg/>")
    (tmp_path / "out").mkdir()
    write_sources(root, tmp_path / "out")
    expected = text.replace("[g](../GLOSSARY.md#word)", "[g](project/glossary.md#word)")
    expected = expected.replace("../experiments/one/spec.toml", "experiments/one/spec.toml.md")
    assert (tmp_path / "out" / "a.md").read_text() == expected.replace("[r](../README.md)", "[r](index.md)")
    assert (tmp_path / "out" / "p.svg").read_text() == "<svg/>"
    assert 'name = "one"' in (tmp_path / "out" / "experiments" / "one" / "spec.toml.md").read_text()


@pytest.mark.parametrize(
    "code", ["`[a](b)`", "``x ` [a](b)``", "```\n[a](b)\n```", "  ```sh\n  [a](b)\n  ```", "text\n\n    [a](b)\n"]
)
def test_code_stays_as_it_is(code: str) -> None:
    """Spans and blocks of every kind; a link before or after it changes."""
    text = f"[one](a.md) {code}\n\n[two](a.md)\n" if code[0] == "`" and "\n" not in code else f"{code}\n\n[two](a.md)\n"
    changed = with_links(text, lambda _: "z.md")
    assert code in changed
    assert changed.count("z.md") == text.count("a.md")


def test_a_link_with_brackets_in_its_text_is_one() -> None:
    """Brackets in pairs belong to the text of a link."""
    assert list(linked("[the [[path]] key](a.md) [`x[0]`](b.md)")) == ["a.md", "b.md"]


def test_a_notebook_is_a_page() -> None:
    """Text as text, code as Python."""
    cells = [{"cell_type": "markdown", "source": ["# T\n", "text"]}, {"cell_type": "code", "source": ["a = 1"]}]
    assert notebook(json.dumps({"cells": cells})) == "# T\n\ntext\n\n```python\na = 1\n```\n".replace("T\n\n", "T\n")


def test_sections_are_those_of_the_index() -> None:
    """Sections have the order and the pages of the index."""
    found = sections(ROOT)
    assert [each.title for each in found] == ["Learn", "How to", "Explanation", "Reference", "Decisions"]
    assert all(each.pages for each in found)
    pages = dict.fromkeys(sources(ROOT), "")
    below = navigation(ROOT, pages)[PurePosixPath("README.md")]
    assert [to for _, to in below][:5] == [each.site_path for each in found]
