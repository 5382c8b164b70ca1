# SPDX-License-Identifier: Apache-2.0
"""A report as one file: what is in it, what is not, and where its links lead. tests/browser opens it."""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_study import Shape, write_study

from quiclab.report.page.single_file import THINNED, write_single_file
from quiclab.report.page.write import write_report

SMALL = replace(Shape(), workloads=("1 MB",), paths=("clean", "loss"), blocks=3, aa_blocks=1, voids=frozenset(),
                failures=frozenset())  # fmt: skip
_PACKED = re.compile(r'<script type="text/plain" id="([^"]+)">([^<]+)</script>')
_DATA = re.compile(r'(<script type="application/json" id="([^"]+)">)(.*?)(?=</script>)', re.DOTALL)
_ID = re.compile(r'\bid="([^"]+)"')


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a study with two pages, each about a metric."""
    study = write_study(tmp_path_factory.mktemp("study"), SMALL)
    write_report(study, "setup_ms")
    return write_report(study)


def unpacked(text: str) -> dict[str, Any]:
    """Return the packed members of a single file, by name."""
    return {name: zlib.decompress(base64.b64decode(packed)).decode() for name, packed in _PACKED.findall(text)}


def parts_of(text: str) -> dict[str, str]:
    """The pages inside, by their names, with their data in place."""
    parts = {}
    for name, packed in unpacked(text).items():
        if name.startswith("group-"):
            group = json.loads(packed)
            for part, page in group["pages"].items():
                parts[part] = _DATA.sub(lambda found, part=part: found[1] + group["data"][part].get(found[2], ""), page)  # noqa: B023
    order = re.findall(r'data-part="([^"]+)"', text)
    assert sorted(order) == sorted(parts)
    return {html.unescape(name): parts[name] for name in order}


def test_every_page_of_a_pair_is_inside_and_no_link_leads_out(page: Path, tmp_path: Path) -> None:
    """Links lead to a place of the page, to a part, or hold a table."""
    packed = write_single_file(page, tmp_path / "mail.html")
    text = (tmp_path / "mail.html").read_text(encoding="utf-8")
    parts = parts_of(text)
    assert set(parts) == {str(each.relative_to(page.parent)) for each in page.parent.glob("report/pairs/*/*.html")}
    assert packed.pairs == len(parts)
    assert packed.size_bytes == len(text.encode())
    places = set(_ID.findall(text))
    for body in (text.partition("<script")[0], *parts.values()):
        for href in map(html.unescape, re.findall(r'\bhref="([^"]*)"', body)):
            name, _, anchor = href.removeprefix("#").partition("#")
            assert href.startswith("data:") or name in places or anchor in set(_ID.findall(parts.get(name, ""))) | {""}
            assert href.startswith(("#", "data:")), href
    assert "Content-Security-Policy" in text
    assert re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0] in page.read_text()  # type: ignore[index]


def test_names_of_places_occur_once(page: Path, tmp_path: Path) -> None:
    """The page of a pair is shown within the report: its figures must not be taken for the report's."""
    write_single_file(page, tmp_path / "mail.html")
    text = (tmp_path / "mail.html").read_text(encoding="utf-8")
    own = _ID.findall(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))
    assert len(own) == len(set(own))
    for body in parts_of(text).values():
        assert set(_ID.findall(body)).isdisjoint(own)


def test_what_is_left_out_is_said_there_and_where_it_is_missing(page: Path, tmp_path: Path) -> None:
    """At the head, and at the list of logs, whose names stay without links."""
    packed = write_single_file(page, tmp_path / "mail.html")
    text = (tmp_path / "mail.html").read_text(encoding="utf-8")
    assert packed.left_out == (
        "the page about handshake time, bytes_acknowledged.parquet, the raw logs and the tables of single trials"
    )
    assert packed.left_out in text
    assert "setup_ms.html" not in text
    logs = parts_of(text)["report/pairs/1-1-MB-clean/block-0.html"].partition('id="logs"')[2]
    assert "<li>trial.json " in logs
    assert "They are not in this file" in logs


def test_a_table_is_in_its_link(page: Path, tmp_path: Path) -> None:
    """As the file beside the report has it."""
    write_single_file(page, tmp_path / "mail.html")
    link = re.search(
        r'href="data:text/csv;base64,([^"]+)" download="distributions.csv"', (tmp_path / "mail.html").read_text()
    )
    assert link is not None
    assert base64.b64decode(link[1]) == (page.parent / "report/data/distributions.csv").read_bytes()
    assert pl.read_csv(base64.b64decode(link[1])).height == 2 * 2 * 3 + 2 * 2 * 1


def test_median_trials_are_the_last_to_be_left_out(page: Path, tmp_path: Path) -> None:
    """Where not all pages fit, the rest is counted, and no link leads to what is not there."""
    whole = write_single_file(page, tmp_path / "whole.html")
    medians = list(page.parent.glob("report/pairs/*/median.html"))
    groups = [each for each in _PACKED.findall((tmp_path / "whole.html").read_text()) if each[0].startswith("group-")]
    most_bytes = whole.size_bytes - sum(len(packed) for _, packed in groups) // 4
    packed = write_single_file(page, tmp_path / "mail.html", most_bytes=most_bytes)
    text = (tmp_path / "mail.html").read_text(encoding="utf-8")
    parts = parts_of(text)
    assert len(medians) < packed.pairs < whole.pairs
    assert sum(name.endswith("median.html") for name in parts) == len(medians)
    assert f"the pages of {whole.pairs - packed.pairs} more pairs" in packed.left_out
    linked = set(re.findall(r'href="#(report/pairs/[^"#]+)', text + "".join(parts.values())))
    assert linked == set(parts)


def test_a_page_of_a_block_lacks_figures_of_single_packets(page: Path, tmp_path: Path) -> None:
    """They are as large as all others together; median trials have them, and each page says what is thinned."""
    write_single_file(page, tmp_path / "mail.html")
    parts = parts_of((tmp_path / "mail.html").read_text(encoding="utf-8"))
    for name, body in parts.items():
        assert THINNED in html.unescape(body)
        if not name.endswith("median.html"):
            assert 'data-shows="sequence"' not in body


def test_figures_and_scripts_are_unpacked_to_what_they_were(page: Path, tmp_path: Path) -> None:
    """Every place of data has its own, and the code is the report's with that of the file."""
    write_single_file(page, tmp_path / "mail.html")
    text, report = (tmp_path / "mail.html").read_text(encoding="utf-8"), page.read_text(encoding="utf-8")
    found = unpacked(text)
    figures = json.loads(found["packed-figures"])
    places = set(re.findall(r'<script type="application/json" id="([^"]+)"></script>', text))
    assert set(figures) == places == {name for _, name, _ in _DATA.findall(report)} - {"themes"}
    assert json.loads(figures["map-1"])["data"][1]["z"] == json.loads(dict(_named(report))["map-1"])["data"][1]["z"]
    assert found["packed-code"].count("const Figures") == 1


def _named(report: str) -> list[tuple[str, str]]:
    return [(name, content) for _, name, content in _DATA.findall(report)]
