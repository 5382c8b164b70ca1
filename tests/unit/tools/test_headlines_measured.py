# SPDX-License-Identifier: Apache-2.0
"""Difference of a spec from the one that was measured: of paths, workloads and arms, by what each of them sets."""

from __future__ import annotations

import pathlib
import shutil

import pytest
from headlines_check import read_all
from headlines_measured import changed
from headlines_results import CELLS, read_results

SPEC = CELLS / "kak-cellular" / "spec.toml"
LTE = '[[path]]\nname = "verizon-lte"\nprofile = "verizon-lte"\n'


@pytest.mark.parametrize(
    ("old", "new", "since"),
    [
        ("seed = 149", "seed = 150", ""),
        (LTE, LTE + 'title = "LTE"\n', ""),
        (LTE, LTE + 'loss = "1 %"\n', "`loss.model` was not set, is bernoulli; `loss.pro"),
        (LTE, LTE.replace('name = "verizon-lte"', 'name = "lte"'), "its spec has no path verizon-lte any more"),
        ('size = "200 KB"', 'size = "100 KB"', "`size_bytes` was 200000, is 100000"),
        ('name = "quic-go", tls_version = "1.2"', 'name = "quic-go"', "`client.knobs.tls_version` was 1.2, is not set"),
    ],
)
def test_what_counts_is_what_a_trial_meets(old: str, new: str, since: str, tmp_path: pathlib.Path) -> None:
    """A seed and a title are no change of it."""
    text = SPEC.read_text()
    assert old in text
    now = tmp_path / "spec.toml"
    now.write_text(text.replace(old, new))
    found = changed(SPEC, now).since("200KB", "verizon-lte", ["h2-tls12", "h3-0rtt"])
    assert found.startswith(since) if since else not found


def test_a_draw_by_super_packets_is_told_in_words(tmp_path: pathlib.Path) -> None:
    """Once for all links and both directions; a path without losses is as it was."""
    now = CELLS / "liu-setup" / "spec.toml"
    before = tmp_path / "spec.toml"
    before.write_text(now.read_text().replace('loss_by = "super-packet"\n', ""))
    found = changed(before, now)
    told = (
        "`loss_by` was index, each packet by itself, is super-packet, all that the sender's offload has joined at once"
    )
    assert found.since("0KB", "loss-4-delay-50", ["direct-h2-curl"]) == told
    assert not found.since("0KB", "loss-0-delay-50", ["direct-h2-curl"])
    assert found.was_there("0KB", "loss-4-delay-50")
    assert not found.was_there("0KB", "by-packet")


def test_rows_of_another_path_are_marked(tmp_path: pathlib.Path) -> None:
    """Rows of a path that changes in the spec after a run say so, and those of others do not."""
    folder = pathlib.Path(shutil.copytree(CELLS, tmp_path / "headlines"))
    spec = folder / "kak-cellular" / "spec.toml"
    spec.write_text(spec.read_text().replace(LTE, LTE + 'loss = "1 %"\n'))
    rows = read_results("kak-cellular", folder).claims
    marked = {row["path"]: bool(row["changed"]) for claim in rows.values() for row in claim}
    assert marked == {"verizon-lte": True, "sprint-lte": False, "verizon-3g": False, "sprint-3g": False}
    assert read_all(folder)[1]["kak-cellular"].rows("lte", before=False)[0]["path"] == "sprint-lte"


def test_a_claim_over_a_path_that_was_not_there_is_lacking(tmp_path: pathlib.Path) -> None:
    """An added path is no lost row: nothing has been measured over it yet."""
    folder = pathlib.Path(shutil.copytree(CELLS, tmp_path / "headlines"))
    cell = folder / "kak-cellular"
    spec, paper = cell / "spec.toml", cell / "paper.toml"
    spec.write_text(spec.read_text().replace(LTE, LTE + LTE.replace('name = "verizon-lte"', 'name = "other"')))
    paper.write_text(paper.read_text().replace('paths = ["verizon-lte", ', 'paths = ["other", "verizon-lte", '))
    found = read_all(folder)[1]["kak-cellular"]
    assert found.lacking == {"lte"}
    assert len(found.claims["lte"]) == 2
