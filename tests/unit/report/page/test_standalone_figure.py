# SPDX-License-Identifier: Apache-2.0
"""Every figure by itself, in every format that it can be written in."""

from __future__ import annotations

import contextlib
import html
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from by_night import by_night
from PIL import Image
from synthetic_logs import write_logs
from synthetic_pages import add_pages
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study_tables import open_study
from quiclab.report import figures
from quiclab.report.figures import Asked
from quiclab.report.page.standalone_figure import picture_page, write_figure

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FIGURES = {figure.name: figure for figure in figures.FIGURES}
WITHOUT_DATA = {"proxy", "migration", "pacing", "handshake", "sequence"}
"""Figures of which the synthetic study has nothing."""
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in FIGURES if name not in WITHOUT_DATA},
    "violins": ("distributions", {"shape": "violin"}),
    "many lines": ("window", {"block": 0, "overlaid": (1, 2)}),
}
BY_DAY = ("differences", "filmstrip", "waterfall", "many lines")
"""A coloured map, images, bars, and many curves: those that are drawn as pixels and on paper by day, too."""
DAILY = (*BY_DAY, "reasons", "distributions", "timeline", "bytes_acknowledged", "violins")
"""A figure of each kind: those that are exported by day."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A study with sizes, losses, pages and videos."""
    shape = Shape(workloads=("100 KB", "1 MB"), paths=("clean", "loss"), blocks=3, aa_blocks=0)
    study = write_study(tmp_path_factory.mktemp("study"), shape)
    for seed, trial in enumerate(sorted((study / "trials").iterdir())):
        write_logs(study, trial.name, 200, seed)
    add_pages(study)
    return Asked(open_study(study), analyse_study(study), cell="1 MB/loss", factor="size")


@pytest.fixture(scope="module")
def _browser() -> Iterator[None]:
    """One for all pictures: to start one for each takes longer than all else."""
    import kaleido

    kaleido.start_sync_server(page_generator=picture_page(), silence_warnings=True)
    yield
    kaleido.stop_sync_server(silence_warnings=True)


def test_what_is_left_out_has_no_data(asked: Asked) -> None:
    """And all else is drawn below."""
    found = {name for name in FIGURES if not FIGURES[name].gather(replace(asked, cell=None)).height}
    assert found == WITHOUT_DATA


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (apt-get install chromium)")
@pytest.mark.usefixtures("_browser")
@pytest.mark.filterwarnings("ignore:The kopts argument is ignored")  # of a browser that is there already
@pytest.mark.parametrize("case", [*DAILY, *by_night(*(case for case in CASES if case not in DAILY))])
def test_every_figure_can_be_exported(case: str, asked: Asked, tmp_path: Path) -> None:
    """As a page with its question, and as a picture with its labels."""
    name, choice = CASES[case]
    data = FIGURES[name].gather(replace(asked, **choice))
    out = _written(name, data, tmp_path, "html", "svg")
    page = html.unescape(out["html"].read_text(encoding="utf-8"))
    assert f"<title>{FIGURES[name].question}</title>" in page
    assert f"<h1>{FIGURES[name].question}</h1>" in page
    assert "<script src" not in page
    told = _bare("".join(ElementTree.parse(out["svg"]).getroot().itertext()))
    labels = _labels(figures.spec(FIGURES[name].draw(data)))
    assert labels
    assert [label for label in labels if _bare(label) not in told] == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium (apt-get install chromium)")
@pytest.mark.usefixtures("_browser")
@pytest.mark.filterwarnings("ignore:The kopts argument is ignored")  # of a browser that is there already
@pytest.mark.parametrize("case", [*BY_DAY, *by_night(*(case for case in CASES if case not in BY_DAY))])
def test_every_figure_is_a_picture_of_its_width_and_one_page(case: str, asked: Asked, tmp_path: Path) -> None:
    """Neither is empty, and nothing of the page is cut off."""
    name, choice = CASES[case]
    data = FIGURES[name].gather(replace(asked, **choice))
    out = _written(name, data, tmp_path, "png", "pdf")
    with Image.open(out["png"]) as image:
        assert image.format == "PNG"
        assert image.width == 2 * max(
            760, figures.spec(FIGURES[name].draw(data))["layout"].get("meta", {}).get("least_px", 0)
        )
        assert len(image.convert("L").getcolors() or ()) > 16  # more than paper and a frame: letters have soft edges
    printed = out["pdf"].read_bytes()
    assert printed.startswith(b"%PDF-")
    assert printed.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    assert _corner(printed) == (0.0, 0.0)


def _written(name: str, data: pl.DataFrame, folder: Path, *endings: str) -> dict[str, Path]:
    """The files of a figure by their endings."""
    out = {ending: folder / f"{name}.{ending}" for ending in endings}
    for file in out.values():
        write_figure(FIGURES[name], data, file)
    return out


def _corner(printed: bytes) -> tuple[float, float]:
    """How far from its upper left corner a PDF's page begins to draw: what moves is cut off at the other sides."""
    for stream in re.findall(rb"stream\r?\n(.*?)endstream", printed, re.DOTALL):
        with contextlib.suppress(zlib.error):
            moved = re.match(rb"\S+ 0 0 \S+ 0 \S+ cm\nq\n\S+ 0 0 \S+ (\S+) (\S+) cm", zlib.decompress(stream))
            if moved:
                return float(moved[1]), float(moved[2])
    raise AssertionError("the page does not say where it begins")


def _labels(spec: Mapping[str, Any]) -> list[str]:
    """What is written on a figure: its title, its axes, its notes, its legend, or its table's headings."""
    layout: Mapping[str, Any] = spec["layout"]
    nodes = [layout, *(value for key, value in layout.items() if re.fullmatch(r"[xy]axis\d*", key))]
    found = [node["title"]["text"] for node in nodes if node.get("title")]
    found += [note["text"] for note in layout.get("annotations", ())]
    for trace in spec["data"]:
        if trace.get("name") and trace.get("showlegend", True) and layout.get("showlegend", True):
            found.append(trace["name"])
        if trace["type"] == "table":
            found += trace["header"]["values"]
    return found


def _bare(text: str) -> str:
    """Letters alone: without markup, which becomes parts of their own, and spaces."""
    return re.sub(r"\s", "", html.unescape(re.sub(r"<[^>]*>", "", text)))
