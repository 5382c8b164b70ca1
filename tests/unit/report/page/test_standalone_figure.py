# SPDX-License-Identifier: Apache-2.0
"""Every figure by itself, in every format that it can be written in."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
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
from quiclab.model.errors import SpecError
from quiclab.model.units import Length
from quiclab.report import figures
from quiclab.report.figures import Asked
from quiclab.report.page.standalone_figure import write_figure
from quiclab.report.printing import PrintSize

FIGURES = {figure.name: figure for figure in figures.FIGURES}
WITHOUT_DATA = {"proxy", "migration", "pacing", "handshake", "sequence", "blocking", "releases"}
"""Figures of which the synthetic study has nothing."""
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in FIGURES if name not in WITHOUT_DATA},
    "violins": ("distributions", {"shape": "violin"}),
    "many lines": ("window", {"block": 0, "overlaid": (1, 2)}),
}
BY_DAY = ("differences", "filmstrip", "waterfall", "many lines")
"""A coloured map, images, bars, and many curves: those that are drawn as pixels and on paper by day, too."""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """A study with sizes, losses, pages and videos."""
    shape = Shape(workloads=("100 KB", "1 MB"), paths=("clean", "loss"), blocks=3, aa_blocks=0)
    study = write_study(tmp_path_factory.mktemp("study"), shape)
    for seed, trial in enumerate(sorted((study / "trials").iterdir())):
        write_logs(study, trial.name, 200, seed)
    add_pages(study)
    return Asked(open_study(study), analyse_study(study), cell="1 MB/loss", factor="size")


def test_what_is_left_out_has_no_data(asked: Asked) -> None:
    """And all else is drawn below."""
    found = {name for name in FIGURES if not FIGURES[name].gather(replace(asked, cell=None)).height}
    assert found == WITHOUT_DATA


@pytest.mark.parametrize("case", CASES)
def test_every_figure_can_be_exported(case: str, asked: Asked, tmp_path: Path) -> None:
    """As a page with its question, and as a picture with its labels."""
    name, choice = CASES[case]
    data = figures.gathered(FIGURES[name], replace(asked, **choice))
    out = _written(name, data, tmp_path, "html", "svg")
    page = html.unescape(out["html"].read_text(encoding="utf-8"))
    assert f"<title>{FIGURES[name].question}</title>" in page
    assert f"<h1>{FIGURES[name].question}</h1>" in page
    assert "<script src" not in page
    told = _bare("".join(ElementTree.parse(out["svg"]).getroot().itertext()))
    labels = _labels(figures.spec(FIGURES[name].draw(data)))
    assert labels
    assert [label for label in labels if any(_bare(line) not in told for line in label.split("<br>"))] == []


@pytest.mark.parametrize("case", [*BY_DAY, *by_night(*(case for case in CASES if case not in BY_DAY))])
def test_every_figure_is_a_picture_of_one_page(case: str, asked: Asked, tmp_path: Path) -> None:
    """PDF and SVG are not empty and have one size; the PDF embeds the fonts of its letters."""
    name, choice = CASES[case]
    data = figures.gathered(FIGURES[name], replace(asked, **choice))
    out = _written(name, data, tmp_path, "png", "pdf")
    printed = out["pdf"].read_bytes()
    width, height = media_box(printed)
    with Image.open(out["png"]) as image:
        assert image.format == "PNG"
        assert (image.width, image.height) == pytest.approx((width * 192 / 72, height * 192 / 72), abs=1)
        assert len(image.convert("L").getcolors() or ()) > 16  # more than paper and a frame: letters have soft edges
    least = figures.spec(FIGURES[name].draw(data))["layout"].get("meta", {}).get("least_px", 0)
    assert width >= max(760, least) * 0.75 - 0.01
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    assert re.search(rb"/Subtype\s*/(CIDFontType2|TrueType)\b", printed)
    assert b"/FontFile2" in printed


@pytest.mark.parametrize(("width", "points"), [("8.4cm", 238.11), ("88 mm", 249.45), ("7in", 504), ("400pt", 400)])
def test_a_picture_is_as_wide_as_asked(width: str, points: float, asked: Asked, tmp_path: Path) -> None:
    """The width is right to a hundredth of a point, and letters have the size that was asked for."""
    out = tmp_path / "curves.pdf"
    size = PrintSize.asked(Length.parse(width), Length.parse("7.5pt"))
    data = figures.gathered(FIGURES["rtt"], asked)
    write_figure(FIGURES["rtt"], data, out, size)
    assert media_box(out.read_bytes())[0] == pytest.approx(points, abs=0.01)
    write_figure(FIGURES["rtt"], data, out.with_suffix(".svg"), size)
    told = out.with_suffix(".svg").read_text(encoding="utf-8")
    assert re.search(r"font-size: 7.5px|font: 7.5px", told)  # a user unit of matplotlib's SVG is a point


def test_a_picture_without_room_for_its_labels_is_refused(asked: Asked, tmp_path: Path) -> None:
    """No picture is written in which labels overlap."""
    out = tmp_path / "table.pdf"
    size = PrintSize.asked(Length.parse("4cm"), Length.parse("12pt"))
    with pytest.raises(SpecError, match=r"4\.0 cm") as refused:
        write_figure(FIGURES["cost"], figures.gathered(FIGURES["cost"], asked), out, size)
    assert "--width" in str(refused.value.hint)
    assert not out.exists()


def _written(name: str, data: pl.DataFrame, folder: Path, *endings: str) -> dict[str, Path]:
    """The files of a figure by their endings."""
    out = {ending: folder / f"{name}.{ending}" for ending in endings}
    for file in out.values():
        write_figure(FIGURES[name], data, file)
    return out


def media_box(printed: bytes) -> tuple[float, float]:
    """Width and height of a PDF's page in points."""
    found = re.search(rb"/MediaBox \[ 0 0 (\S+) (\S+) \]", printed)
    assert found
    return float(found[1]), float(found[2])


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
