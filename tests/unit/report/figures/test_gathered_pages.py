# SPDX-License-Identifier: Apache-2.0
"""The data of the figures of pages, players, competitions and 0-RTT, and of several blocks over each other."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image
from synthetic_pages import add_pages
from synthetic_study import Shape, write_study

from quiclab.compare.analyse import analyse_study
from quiclab.compare.study import read_study
from quiclab.compare.study_tables import open_study
from quiclab.report.figures import FIGURES, Asked
from quiclab.report.page.study_figures import study_figures

SHAPE = replace(Shape(), workloads=("1 MB",), paths=("clean", "loss"), failures=frozenset(), voids=frozenset())


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of h2 and h3 over a network without and with loss."""
    study = write_study(tmp_path_factory.mktemp("study"), SHAPE)
    add_pages(study)
    return study


def _gathered(directory: Path, name: str, **asked: Any) -> pl.DataFrame:
    asked_for = Asked(open_study(directory), analyse_study(directory), **asked)
    return next(figure for figure in FIGURES if figure.name == name).gather(asked_for)


def test_a_strip_shows_what_was_on_the_screen_at_each_of_its_steps(directory: Path) -> None:
    """At 200 ms still the white of 5 ms, from 400 ms the black of the last screenshot; nothing of the page before."""
    strip = _gathered(directory, "filmstrip").filter(arm="h2").drop_nulls("picture")
    shown = {}
    for x_ms, picture in strip.select("x_ms", "picture").iter_rows():
        image = Image.open(io.BytesIO(base64.b64decode(picture.partition(",")[2])))
        assert image.size == (220, 165)
        shown[x_ms] = image.convert("L").getpixel((5, 5))
    assert 0.0 not in shown
    assert (shown[200.0], shown[300.0], shown[400.0]) == (255, 128, 0)


def test_progress_is_that_of_every_screenshot(directory: Path) -> None:
    """Beside the strip's steps the curve has a point where something changed."""
    curve = _gathered(directory, "filmstrip").filter(arm="h3")
    assert {(5.0, 0.0), (210.0, 0.5), (400.0, 1.0)} <= set(curve.select("x_ms", "progress").rows())


def test_the_main_image_is_told_of_every_trial_of_the_cell(directory: Path) -> None:
    """Start and end of nine blocks and two arms."""
    data = _gathered(directory, "main_image", cell="1 MB/loss")
    assert data.height == 18
    assert set(data.select("start_ms", "end_ms").rows()) == {(120.0, 300.0)}


def test_bytes_are_divided_by_type_and_protocol(directory: Path) -> None:
    """A script by HTTP/2 among others by HTTP/3; what the page before loaded does not count."""
    data = _gathered(directory, "page_bytes").filter(arm="h3")
    assert set(data.select("resource_type", "protocol", "bytes").rows()) == {
        ("Document", "HTTP/3", 1_000), ("Script", "HTTP/2", 5_500), ("Script", "HTTP/3", 4_500),
    }  # fmt: skip


def test_beta_is_the_share_of_the_benchmarks_time_that_is_saved(directory: Path) -> None:
    """The difference within pairs with its sign turned: a saving is above zero."""
    data = _gathered(directory, "improvement")
    values = analyse_study(directory).comparisons
    assert data["beta_pct"].to_list() == [-(comparison.difference_pct or 0) for comparison in values]
    assert data.filter(path_title="1 % loss")["significant"].all()


def test_gamma_is_against_the_baseline_without_loss(directory: Path, tmp_path: Path) -> None:
    """The paths differ by the loss alone: with 4 stalls there and 3 here a quarter is avoided."""
    study = _copy(directory, tmp_path)
    _set_stalls(study, {("1 MB/clean", "h2"): 4.0, ("1 MB/loss", "h2"): 6.0, ("1 MB/loss", "h3"): 3.0})
    data = _gathered(study, "stall_reduction")
    gamma = {(path, arm): value for path, arm, value in data.select("path_title", "arm", "gamma_pct").iter_rows()}
    assert gamma["1 % loss", "h2"] == pytest.approx(-50)
    assert gamma["1 % loss", "h3"] == pytest.approx(25)
    assert gamma["nothing added", "h2"] == 0


def test_a_benchmark_that_never_stalls_gives_no_gamma(directory: Path, tmp_path: Path) -> None:
    """A zero baseline gives null."""
    study = _copy(directory, tmp_path)
    _set_stalls(study, {("1 MB/clean", "h2"): 0.0})
    assert _gathered(study, "stall_reduction")["gamma_pct"].null_count() == 4


def test_alpha_compares_with_tcp_of_the_same_congestion_control(directory: Path) -> None:
    """h3 offers 0-RTT here, so there is no plain QUIC; every trial proves that the server took it."""
    row = _gathered(directory, "zero_rtt").filter(path_title="1 % loss").row(0, named=True)
    assert row["algorithm"] == "cubic"
    assert row["zero_rtt_alpha_pct"] == pytest.approx(100 * (row["tcp"] - row["zero_rtt"]) / row["tcp"])
    assert (row["quic"], row["quic_alpha_pct"]) == (None, None)
    assert (row["accepted"], row["offered"]) == (9, 9)


def test_a_resumed_session_is_no_full_handshake(directory: Path, tmp_path: Path) -> None:
    """Nor is one over TCP what 0-RTT is held against."""
    study = _copy(directory, tmp_path)
    resolved = json.loads((study / "resolved.json").read_text(encoding="utf-8"))
    assert _gathered(study, "zero_rtt").height
    for arm in resolved["arms"]:
        if arm["protocol"] != "h3":
            arm["client"] = {**arm.get("client", {}), "knobs": {"session": "resumed"}}
    (study / "resolved.json").write_text(json.dumps(resolved), encoding="utf-8")
    assert _gathered(study, "zero_rtt").is_empty()


def test_a_study_without_early_data_has_no_such_table(tmp_path: Path) -> None:
    """Nothing to show, and no error."""
    study = write_study(tmp_path, SHAPE)
    assert _gathered(study, "zero_rtt").is_empty()


def test_the_players_metrics_have_a_row_each(directory: Path) -> None:
    """Rates in Mbit/s; spread over nine trials."""
    data = _gathered(directory, "video_quality").filter(path_title="1 % loss", arm="h3")
    told = {row["heading"]: (row["median"], row["trials"]) for row in data.iter_rows(named=True)}
    assert told["mean quality, Mbit/s"] == (2.5, 9)
    assert told["loaded, % of the video"] == (40.0, 9)


def test_jains_index_begins_a_second_after_the_last_download(directory: Path) -> None:
    """Of 30 and 10 KB: 40² / (2 · 1000) = 0.8; background traffic does not count."""
    data = _gathered(directory, "fairness").filter(arm="h2")
    index = data.drop_nulls("jain")
    assert index["x_ms"].min() == 1200.0
    assert set(index["jain"].round(9)) == {0.8}
    assert data.filter(flow="udp-1")["background"].all()
    assert data.filter(flow="measured")["mbit_per_s"][0] == pytest.approx(2.4)


def test_every_arm_is_held_against_the_best_of_its_cell(directory: Path) -> None:
    """Over the path with loss h3 is the best and h2 significantly behind, in per cent of the best."""
    data = _gathered(directory, "against_best").filter(path_title="1 % loss")
    best, behind = data.filter("best").row(0, named=True), data.filter(~pl.col("best")).row(0, named=True)
    assert (best["arm"], best["cell_text"]) == ("h3", "best")
    (comparison,) = [c for c in analyse_study(directory).comparisons if c.path == "loss"]
    ratio = 1 + (comparison.difference_pct or 0) / 100  # of h3 to h2: the other way round it is its inverse
    assert behind["behind_pct"] == pytest.approx(100 * (1 / ratio - 1))
    assert (best["conclusion"], behind["conclusion"]) == ("", "different")
    assert behind["significant"]
    assert behind["cell_text"].startswith("+")


def test_blocks_lie_over_each_other(directory: Path) -> None:
    """Three blocks of two arms, each told apart."""
    data = _gathered(directory, "bytes_acknowledged", block=0, overlaid=(1, 2))
    assert set(data.select("arm", "trial").unique().rows()) == {
        (arm, f"block {block}") for arm in ("h2", "h3") for block in (0, 1, 2)
    }


def test_the_report_gets_what_the_study_has_something_for(directory: Path) -> None:
    """With one arm beside the baseline the best of two is the map again; the data lie beside the page."""
    drawn = [each.name for each in study_figures(read_study(directory), analyse_study(directory))]
    known = ["factor", "first_loss", "main_image", "zero_rtt", "video_quality", "stall_reduction"]
    assert [name for name in drawn if name in known] == known
    assert "against_best" not in drawn
    for name in drawn:
        assert pl.read_csv(directory / "report" / "data" / f"{name}.csv").height


def test_the_main_image_is_drawn_for_every_cell(directory: Path) -> None:
    """Both networks, and the data beside tells them apart."""
    sections = {each.name: each for each in study_figures(read_study(directory), analyse_study(directory))}
    assert [part.title for part in sections["main_image"].parts] == ["nothing added, 1 MB", "1 % loss, 1 MB"]
    data = pl.read_csv(directory / "report" / "data" / "main_image.csv")
    assert dict(data.group_by("cell_id").len().rows()) == {"1 MB/clean": 18, "1 MB/loss": 18}


def _copy(directory: Path, to: Path) -> Path:
    """The files that rates are made of."""
    for name in ("metrics.parquet", "tables/trials.parquet"):
        (to / name).parent.mkdir(exist_ok=True)
        (to / name).write_bytes((directory / name).read_bytes())
    resolved = json.loads((directory / "resolved.json").read_text(encoding="utf-8"))
    (to / "resolved.json").write_text(json.dumps(resolved), encoding="utf-8")
    return to


def _set_stalls(study: Path, counts: dict[tuple[str, str], float]) -> None:
    metrics = pl.read_parquet(study / "metrics.parquet")
    trials = pl.read_parquet(study / "tables" / "trials.parquet")
    for (cell, arm), count in counts.items():
        here = trials.filter(cell_id=cell, arm=arm)["trial_id"].to_list()
        counted = (pl.col("name") == "stalls") & pl.col("trial_id").is_in(here)
        metrics = metrics.with_columns(value=pl.when(counted).then(pl.lit(count)).otherwise(pl.col("value")))
    metrics.write_parquet(study / "metrics.parquet")
