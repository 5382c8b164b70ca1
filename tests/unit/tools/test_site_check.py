# SPDX-License-Identifier: Apache-2.0
"""The look at a built site finds each kind of fault, and nothing in a site without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from site_check import main, problems

NAVIGATION = (
    '<div class="sidebar-tree"><ul><li><div><a href="#">1</a></div></li><li><a href="a.html">A</a></li></ul></div>'
)


def site(folder: Path, first: str = "", page: str = "", style: str = "") -> Path:
    """A site of two pages."""
    (folder / "index.html").write_text(f'<link rel="stylesheet" href="s.css">{NAVIGATION}{first}')
    (folder / "a.html").write_text(f'<h1 id="top">A</h1><a href="index.html">back</a>{page}')
    (folder / "s.css").write_text(style)
    (folder / "search.html").write_text("")
    return folder


def test_a_site_without_a_fault(tmp_path: Path) -> None:
    """Links to anchors, to elsewhere and to files are none."""
    links = (
        '<a href="a.html#top">t</a><a href="https://example.org/">e</a><a href="s.css">s</a><a href="#x" id="x"></a>'
    )
    assert list(problems(site(tmp_path, links, style="a { background: url(data:image/png;base64,AAAA) }"))) == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ('<a href="gone.html">x</a>', "a.html links to gone.html"),
        ('<a href="index.html#gone">x</a>', "a.html links to index.html#gone"),
        ('<a href="#gone">x</a>', "a.html links to #gone"),
        ('<script src="https://cdn.example/x.js"></script>', "a.html loads https://cdn.example/x.js"),
        ('<img src="//cdn.example/x.png">', "a.html loads //cdn.example/x.png"),
        ('<link rel="stylesheet" href="http://cdn.example/x.css">', "a.html loads http://cdn.example/x.css"),
        ('<p style="background: url(https://cdn.example/x.png)">', "a.html loads https://cdn.example/x.png"),
        ("<style>@import 'https://cdn.example/x.css';</style>", "a.html loads https://cdn.example/x.css"),
        ('<img srcset="https://cdn.example/x.png 2x">', "a.html loads https://cdn.example/x.png"),
        ('<img src="gone.png">', "a.html loads gone.png, which is not there"),
    ],
)
def test_a_fault_is_told(tmp_path: Path, fault: str, told: str) -> None:
    """One line names the page and the fault."""
    (found,) = problems(site(tmp_path, page=fault))
    assert found.startswith(told)


@pytest.mark.parametrize("style", ["@import 'https://x.example/a.css';", 'a { src: url("https://x.example/a.woff") }'])
def test_a_style_that_loads_from_elsewhere(tmp_path: Path, style: str) -> None:
    """Both an import and an address in a style are found."""
    (found,) = problems(site(tmp_path, style=style))
    assert found.startswith("s.css loads https://x.example/a.")


def test_a_page_that_the_navigation_lacks_or_has_twice(tmp_path: Path) -> None:
    """A link in the text is no place in it."""
    site(tmp_path, first='<a href="lost.html">lost</a>').joinpath("lost.html").write_text("")
    assert list(problems(tmp_path)) == ["lost.html is 0 times in the navigation"]
    (tmp_path / "lost.html").unlink()
    site(tmp_path, first=NAVIGATION)
    assert list(problems(tmp_path)) == ["a.html is 2 times in the navigation"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit codes 0, 1 and, of a folder that holds no site, 2."""
    assert main([str(site(tmp_path))]) == 0
    assert main([str(site(tmp_path, page='<a href="gone.html">x</a>'))]) == 1
    assert "gone.html" in capsys.readouterr().err
    assert main([str(tmp_path / "none")]) == 2
