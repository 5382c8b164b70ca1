# SPDX-License-Identifier: Apache-2.0
"""The page as text: what it says, what it escapes, and that nothing missing breaks it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from by_night import by_night
from synthetic_study import Shape, write_study

from quiclab.report.page.write import write_report

SMALL = replace(Shape(), workloads=("100 KB",), paths=("loss",), failures=frozenset(), voids=frozenset())
NASTY = "<script>alert('1')</script>&{{ 7*7 }}"


def page_of(directory: Path) -> str:
    """The page without plotly's own code, which is one long script."""
    html = write_report(directory).read_text(encoding="utf-8")
    return re.sub(r"<script>/\*\*.*?</script>", "", html, count=1, flags=re.DOTALL)


def test_the_first_line_says_what_is_compared(tmp_path: Path) -> None:
    """The name of the study, the networks in numbers and the arms, before the answer; all differences after it."""
    html = page_of(write_study(tmp_path, SMALL))
    body = html[html.index("<body>") :]
    assert "<h1>synthetic</h1>" in body
    order = ["<h1>", "10 Mbit/s, 20 ms round trip, 1 % loss each way", "HTTP/2 over TCP",
             "differ in more than the protocol", "The answer", "h2 = Caddy + curl"]  # fmt: skip
    assert [body.index(text) for text in order] == sorted(body.index(text) for text in order)


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    """No address of another host, and a policy that forbids loading; plotly is there once."""
    html = write_report(write_study(tmp_path, SMALL)).read_text(encoding="utf-8")
    assert "default-src 'none'" in html
    assert not re.search(r"<(script|link|img|iframe)[^>]*(src|href)=[\"'](?!data:)", html)
    assert html.count("plotly.js (cartesian - minified) v") == 1


def test_the_data_lie_beside_the_page(tmp_path: Path) -> None:
    """Each figure has its file, and the files hold every cell, trial and ACK."""
    write_report(write_study(tmp_path, SMALL))
    data = tmp_path / "report" / "data"
    assert pl.read_csv(data / "differences.csv")["kind"].to_list() == ["main", "aa", "aa"]
    assert pl.read_csv(data / "distributions.csv").height == 18 + 36
    assert pl.read_parquet(data / "bytes_acknowledged.parquet")["trial_id"].n_unique() == 18


def test_the_same_study_has_the_same_report(tmp_path: Path) -> None:
    """Bit for bit, whatever the order in which its tables are joined."""
    shape = replace(SMALL, paths=("loss", "far"), blocks=4, aa_blocks=0)
    once = write_report(write_study(tmp_path, shape))
    kept = {file: file.read_bytes() for file in (once, *once.with_suffix("").rglob("*")) if file.is_file()}
    write_report(tmp_path)
    assert [file for file, content in kept.items() if file.read_bytes() != content] == []


def test_names_reasons_and_specs_are_escaped(tmp_path: Path) -> None:
    """Markup from a spec or a log is shown as text wherever it occurs."""
    shape = replace(SMALL, workloads=(NASTY,), paths=(NASTY,), failures=frozenset({(f"{NASTY}/{NASTY}", "h2", 1)}))
    write_study(tmp_path, shape)
    (tmp_path / "spec.toml").write_text(NASTY, encoding="utf-8")
    resolved = json.loads((tmp_path / "resolved.json").read_text())
    resolved |= {"name": NASTY, "arms_summary": {"text": NASTY, "differences": [NASTY]}, "question": NASTY}
    (tmp_path / "resolved.json").write_text(json.dumps(resolved))
    html = page_of(tmp_path)
    assert "<script>alert" not in html
    assert "</script>&{{" not in html
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", html, re.DOTALL)[0]
    assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;{{ 7*7 }}" in html


PIECES = [
    "resolved.json", "spec.toml", "host.json", "metrics.parquet", "trials",
    "tables/trials.parquet", "tables/bytes_acknowledged", "tables/decode_stats",
]  # fmt: skip


@pytest.mark.parametrize("piece", [*PIECES[::3], *by_night(*PIECES[1::3], *PIECES[2::3])])
def test_a_missing_piece_is_said_and_the_rest_is_shown(tmp_path: Path, piece: str) -> None:
    """Whatever one file or directory is gone, there is a page with a caution and the other sections."""
    path = write_study(tmp_path, SMALL) / piece
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    html = page_of(tmp_path)
    assert "caution" in html[html.index("<body>") :]
    assert "Run it again" in html


def test_an_empty_study_has_a_page(tmp_path: Path) -> None:
    """Nothing at all is there: the page says so, section by section."""
    html = page_of(tmp_path)
    for sentence in (
        "resolved.json is missing.",
        "There is nothing to compare.",
        "No trial has a result.",
        "spec.toml is missing.",
    ):
        assert sentence in html


@pytest.mark.parametrize(("keep", "says"), [(1, "1 cell, 0 pairs"), (2, "1 cell, 1 pair;")])
def test_one_or_two_trials_have_a_page(tmp_path: Path, keep: int, says: str) -> None:
    """A study that was interrupted early is shown as far as it went: the lone trial has its distribution."""
    trials = write_study(tmp_path, SMALL) / "tables" / "trials.parquet"
    pl.read_parquet(trials).head(keep).write_parquet(trials)
    html = page_of(tmp_path)
    assert says in html
    assert 'data-figure="cell-1"' in html


def test_only_voids_have_a_page(tmp_path: Path) -> None:
    """A laboratory that was too slow for every trial says so."""
    study = write_study(tmp_path, replace(SMALL, aa_blocks=0))
    trials = pl.read_parquet(study / "tables" / "trials.parquet")
    void = trials.with_columns(status=pl.lit("void"), reason=pl.lit("the link: late"))
    void.write_parquet(study / "tables" / "trials.parquet")
    pl.read_parquet(study / "metrics.parquet").head(0).write_parquet(study / "metrics.parquet")
    assert "the link: late" in page_of(study)


def test_only_failures_have_a_page(tmp_path: Path) -> None:
    """Every trial of both arms failed: counted, shown, and no number invented."""
    everything = frozenset(("loss/100 KB", arm, block) for arm in ("h2", "h3") for block in range(9))
    html = page_of(write_study(tmp_path, replace(SMALL, failures=everything, aa_blocks=0)))
    assert "9 × client reached its time limit of 60 s" in html
    assert "Every trial of both arms failed." in html


def test_a_value_that_is_not_a_number_has_a_page(tmp_path: Path) -> None:
    """NaN and infinity in the metrics are unknown values, not a broken page."""
    metrics = write_study(tmp_path, SMALL) / "metrics.parquet"
    frame = pl.read_parquet(metrics)
    odd = pl.when(pl.int_range(pl.len()) % 3 == 0).then(float("nan")).when(pl.int_range(pl.len()) % 3 == 1)
    frame.with_columns(value=odd.then(float("inf")).otherwise("value")).write_parquet(metrics)
    html = page_of(tmp_path)
    assert "No time to last byte of " in html
    assert "NaN" not in "".join(re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL))
