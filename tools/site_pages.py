# SPDX-License-Identifier: Apache-2.0
"""The sources of the site: every Markdown page of the repository at its place in the site, with its links and its place
in the navigation; `build_site.py` makes HTML of them.

The repository's own pages stay as a forge shows them. The order of the navigation is that of docs/README.md.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

FIRST = PurePosixPath("README.md")
INDEX = PurePosixPath("docs/README.md")
EXPERIMENTS = PurePosixPath("experiments/README.md")
PROJECT = ("CONTRIBUTING.md", "ARCHITECTURE.md", "GLOSSARY.md", "SECURITY.md", "CHANGELOG.md")
"""Pages of the repository's own folder, in their order in the navigation."""
PICTURES = (".svg", ".png")
_BRACKETS = r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"  # in pairs, three deep at most
_LINK = re.compile(rf"(!?{_BRACKETS})\(([^)\s]+)\)")
_FENCE = r"^( *)(```+)[^\n]*\n.*?^\1\2 *$"
_INDENTED = r"(?<=\n\n)(?: {4}[^\n]*\n)+"
_SPAN = r"(`+)(?!`).*?(?<!`)\3(?!`)"
_CODE = re.compile(f"{_FENCE}|{_INDENTED}|{_SPAN}", re.DOTALL | re.MULTILINE)
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\) \| .+ \|$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of the index: its title, its text, and the pages that it lists, as title and path in the repository."""

    title: str
    text: str
    pages: tuple[tuple[str, PurePosixPath], ...]

    @property
    def site_path(self) -> PurePosixPath:
        """Path of its page in the site."""
        return PurePosixPath(f"{self.title.lower().replace(' ', '-')}.md")


def sections(root: Path) -> list[Section]:
    """Return the sections of docs/README.md, in their order."""
    parts = re.split(r"^## (.+)$", (root / INDEX).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [
        Section(title, text.strip(), tuple((name, normal(INDEX.parent / to)) for name, to in _ROW.findall(text)))
        for title, text in zip(parts[1::2], parts[2::2], strict=True)
    ]


def sources(root: Path) -> list[PurePosixPath]:
    """Return every page of the repository, by its path in it."""
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "docs").rglob("*.ipynb")]
    found += (root / "experiments").rglob("*.md")
    return sorted(PurePosixPath(page.relative_to(root).as_posix()) for page in found)


def site_path(source: PurePosixPath) -> PurePosixPath:
    """Return the path in the site of a file of the repository."""
    if source == FIRST:
        return PurePosixPath("index.md")
    if source == INDEX:
        return PurePosixPath("pages.md")
    inside = source.relative_to("docs") if source.parts[0] == "docs" else source
    if source.name == "README.md":
        return inside.with_name("index.md")
    if inside.suffix == ".md":
        return inside if len(source.parts) > 1 else PurePosixPath("project", source.name.lower())
    if inside.suffix == ".ipynb":
        return inside.with_suffix(".md")
    return inside if inside.suffix in PICTURES else inside.with_name(f"{inside.name}.md")


def normal(path: PurePosixPath) -> PurePosixPath:
    """Return a path of the repository without `..`."""
    return PurePosixPath(os.path.normpath(path))


def linked(text: str) -> Iterator[str]:
    """Yield what a page links to, or shows, within the repository."""
    bare = _CODE.sub("", text)
    yield from (to for _, to in _LINK.findall(bare) if "://" not in to and not to.startswith("mailto:"))


def targets(page: PurePosixPath, text: str) -> list[PurePosixPath]:
    """Return the files of the repository that a page links to or shows."""
    return [normal(page.parent / path) if path else page for path in (to.partition("#")[0] for to in linked(text))]


def with_links(text: str, change: Callable[[str], str]) -> str:
    """Return a page with the links within the repository changed, but for what stands in code."""
    kept: list[str] = []

    def keep(code: re.Match[str]) -> str:
        kept.append(code[0])
        return f"\0{len(kept) - 1}\0"

    def changed(link: re.Match[str]) -> str:
        inside = "://" not in link[2] and not link[2].startswith("mailto:")
        return f"{link[1]}({change(link[2]) if inside else link[2]})"

    return re.sub(r"\0(\d+)\0", lambda code: kept[int(code[1])], _LINK.sub(changed, _CODE.sub(keep, text)))


def write_sources(root: Path, out: Path) -> None:
    """Write the sources of the site into an empty folder. Raises ValueError for a page that the navigation lacks or has
    twice, and for a link that leads nowhere."""
    pages = {source: _text(root, source) for source in sources(root)}
    files = _files(root, pages)
    for source in files:
        if source.suffix not in PICTURES:
            kind = source.suffix.removeprefix(".")
            pages[source] = f"# {source}\n\n```{kind}\n{(root / source).read_text(encoding='utf-8').rstrip()}\n```\n"
        else:
            _make(out / site_path(source)).write_bytes((root / source).read_bytes())
    below = navigation(root, pages)
    for source, text in pages.items():
        target = site_path(source)
        moved = with_links(text, lambda to, source=source, target=target: _moved(to, source, target))
        _make(out / target).write_text(moved + _toctree(target, below.get(source, [])), encoding="utf-8")
    for section in sections(root):
        moved = with_links(section.text, lambda to, at=section.site_path: _moved(to, INDEX, at))
        entries = [(title, site_path(page)) for title, page in section.pages]
        (out / section.site_path).write_text(
            f"# {section.title}\n\n{moved}\n{_toctree(section.site_path, entries)}", encoding="utf-8"
        )
    shutil.copytree(root / "docs" / "site", out, dirs_exist_ok=True)


def _text(root: Path, source: PurePosixPath) -> str:
    text = (root / source).read_text(encoding="utf-8")
    return notebook(text) if source.suffix == ".ipynb" else text


def notebook(text: str) -> str:
    """Return the cells of a notebook as a page of Markdown."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    return "\n\n".join(parts) + "\n"


def _files(root: Path, pages: dict[PurePosixPath, str]) -> list[PurePosixPath]:
    """Files that pages link to or show, and that are no pages. Raises ValueError for those that are not there."""
    found = set[PurePosixPath]()
    for source, text in pages.items():
        for target in targets(source, text):
            if not (root / target).is_file():
                raise ValueError(f"{source}: a link to {target}, which is no file")
            found.add(target)
    return sorted(found - pages.keys())


def navigation(
    root: Path, pages: dict[PurePosixPath, str]
) -> dict[PurePosixPath, list[tuple[str | None, PurePosixPath]]]:
    """Return what stands below each page in the navigation, as title and path. Raises ValueError for a page that has
    no place in it, or two."""
    below: dict[PurePosixPath, list[tuple[str | None, PurePosixPath]]] = {}
    listed = [page for section in sections(root) for _, page in section.pages]
    below[FIRST] = [(None, section.site_path) for section in sections(root)]
    below[FIRST] += [("Experiments", site_path(EXPERIMENTS)), ("All pages", site_path(INDEX))]
    below[FIRST] += [(None, site_path(PurePosixPath(name))) for name in PROJECT]
    placed = [*listed, FIRST, INDEX, EXPERIMENTS, *map(PurePosixPath, PROJECT)]
    for source in pages:
        if source not in placed and (parent := _parent(source, pages)) is not None:
            below.setdefault(parent, []).append((_short(source), site_path(source)))
            placed.append(source)
    if wrong := sorted({str(page) for page in pages if placed.count(page) != 1}):
        raise ValueError(f"not once in the navigation (docs/README.md): {', '.join(wrong)}")
    return below


def _parent(source: PurePosixPath, pages: dict[PurePosixPath, str]) -> PurePosixPath | None:
    """The page that a page not in the index belongs to: the overview of its folder or of the next one above, or else,
    of a file, the first page that links to it."""
    for folder in source.parents:
        for overview in (folder.with_suffix(".md") if folder.name else None, folder / "README.md"):
            if overview in pages and overview not in (source, FIRST, INDEX):
                return overview
    if source.suffix in (".md", ".ipynb"):
        return None
    return next(page for page, text in pages.items() if source in targets(page, text))


def _short(source: PurePosixPath) -> str | None:
    """A title for the navigation where the page's own is too long for it."""
    if source.parts[0] != "experiments":
        return None
    return source.parent.name if source.name == "README.md" else f"{source.parent.name}/{source.name}"


def _moved(link: str, source: PurePosixPath, target: PurePosixPath) -> str:
    """A link of a page in the repository, as the page in the site has it."""
    path, mark, anchor = link.partition("#")
    if not path:
        return link
    return f"{_relative(site_path(normal(source.parent / path)), target)}{mark}{anchor}"


def _relative(to: PurePosixPath, page: PurePosixPath) -> str:
    return PurePosixPath(os.path.relpath(to, page.parent)).as_posix()


def _toctree(page: PurePosixPath, entries: list[tuple[str | None, PurePosixPath]]) -> str:
    if not entries:
        return ""
    lines = [f"{title} <{_relative(to, page)}>" if title else _relative(to, page) for title, to in entries]
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(lines) + "\n```\n"


def _make(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
