# SPDX-License-Identifier: Apache-2.0
"""Workloads that are pages, as specs say them."""

from __future__ import annotations

import json
import pathlib

import pytest
from specs import changed, problems_of, study_of

from quiclab.model.page import Page
from quiclab.model.units import ByteCount, Share

SIZE = 'size = "100 KB"'


def _page(folder: pathlib.Path, lines: str) -> Page:
    page = study_of(folder, changed((SIZE, f'kind = "page"\n[workload.page]\n{lines}'))).workloads[0].page
    assert page is not None
    return page


def test_resources(tmp_path: pathlib.Path) -> None:
    """With sizes and shares as they are written."""
    page = _page(
        tmp_path, 'html = "7 KB"\nresources = [{type = "image", size = "29 KB", count = 2, third_party = "50 %"}]'
    )
    assert page.size == ByteCount(65_000)
    assert page.resources[0].third_party == Share(0.5)


def test_a_folder_tells_its_size(tmp_path: pathlib.Path) -> None:
    """That is what plans go by."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_bytes(bytes(300))
    (site / "a.css").write_bytes(bytes(200))
    assert _page(tmp_path, 'folder = "site"').size == ByteCount(500)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ('mix = "mixed"\ntotal = "1 MB"', '"requests" is missing'),
        ('mix = "mixed"\npercentile = 50', 'only mix = "http-archive" has percentiles'),
        ('mix = "http-archive"\npercentile = 95', "95 is out of range"),
        ('mix = "http-archive"\npercentile = 50\ntotal = "1 MB"', 'beside "percentile"'),
        ('mix = "mixed"\nthird_party = {scripts = "5 %"}', "script"),
        ('mix = "mixed"\nrequests = 50\ntotal = "20 KB"', "is too little for 50 requests"),
        ('resources = []\nmix = "mixed"\nrequests = 5\ntotal = "1 MB"', 'it cannot stand beside "resources"'),
        ('resources = [{type = "image", size = "10 B"}]', "is too small: a valid image has at least 1024 B"),
        ('resources = [{type = "script", size = "1 KB", main = true}]', "only images have this key"),
        ('folder = "nowhere"', "there is no folder"),
        ('folder = "."\nhosts = 2', 'it does not go with "folder"'),
        ('folder = "."', 'the folder has no file "index.html"'),
        ('har = "spec.toml"', "is no HAR"),
        ('folder = "."\nthink = "none"', 'it does not go with "folder"'),
        ('folder = "."\ndocument = "../spec.toml"', '"../spec.toml" leads out of the folder'),
        ('folder = "."\ndocument = "/etc/hostname"', '"/etc/hostname" leads out of the folder'),
        ('html = "10 B"', "is too small: a document that names its resources needs 512 B"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: pathlib.Path, lines: str, words: str) -> None:
    """Each with what would be right."""
    problems = problems_of(tmp_path, changed((SIZE, f'kind = "page"\n[workload.page]\n{lines}')))
    assert any(words in problem for problem in problems), problems


def test_keys_of_the_other_kind(tmp_path: pathlib.Path) -> None:
    """Objects have no page, and pages no size."""
    told = problems_of(tmp_path, changed((SIZE, f'{SIZE}\nkind = "page"')))
    assert any('"page" is missing' in problem for problem in told)
    assert any("it belongs to objects" in problem for problem in told)
    told = problems_of(tmp_path, changed((SIZE, f'{SIZE}\n[workload.page]\nhtml = "7 KB"')))
    assert any('it belongs to workloads of kind = "page"' in problem for problem in told)


def test_a_page_is_not_sent(tmp_path: pathlib.Path) -> None:
    """Which way objects go is no matter of pages."""
    lines = 'kind = "page"\ndirection = "upload"\n[workload.page]\nhtml = "7 KB"'
    told = problems_of(tmp_path, changed((SIZE, lines)))
    assert any("workload[100KB].direction: a page has no such key" in problem for problem in told)


def test_a_mirrored_site_lies_in_its_folder(tmp_path: pathlib.Path) -> None:
    """A link within it is served; one that leads out is not."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_bytes(bytes(300))
    (site / "same.html").symlink_to("index.html")
    assert _page(tmp_path, 'folder = "site"').size == ByteCount(600)
    (site / "passwd").symlink_to("/etc/passwd")
    told = problems_of(tmp_path, changed((SIZE, 'kind = "page"\n[workload.page]\nfolder = "site"')))
    assert "passwd leads out of the folder" in "\n".join(told)


def _har(**changes: object) -> str:
    response = {"status": 200, "content": {"mimeType": "text/html"}, "bodySize": 1000}
    entry = {"request": {"url": "https://server/"}, "response": response, "timings": {"wait": 5}}
    for key, value in changes.items():
        (response if key in response else entry)[key] = value  # type: ignore[assignment]
    return json.dumps({"log": {"entries": [entry]}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 200_000, "is nested too deeply"),
        (_har(bodySize=10**12), "is a page of 1000000000000 bytes"),
        (_har(bodySize=float("inf")), "in entry 1 of its page a member has a value that it cannot have"),
        (_har(status="x"), "in entry 1 of its page a member has a value that it cannot have"),
        (_har(timings={"wait": 1e300}), "the server thinks for 1e+300 ms"),
        ("null", "it is no object with a log"),
        ("[1, 2]", "it is no object with a log"),
        ('{"log": null}', "log is missing"),
        ('{"log": 1}', "log is no object"),
        ('{"log": {"entries": [null]}}', "log.entries[0] is no object"),
        ('{"log": {"entries": [], "pages": [1]}}', "log.pages[0] is no object"),
        ("1" * 6000, "it holds a number with too many digits"),
        ("１０", "it is no JSON from line 1, column 1 on"),
        ("", "it is no JSON from line 1, column 1 on"),
    ],
)
def test_a_har_that_nobody_recorded(tmp_path: pathlib.Path, text: str, words: str) -> None:
    """It is refused when a plan is made."""
    (tmp_path / "page.har").write_text(text)
    told = problems_of(tmp_path, changed((SIZE, 'kind = "page"\n[workload.page]\nhar = "page.har"')))
    assert words in "\n".join(told)
