# SPDX-License-Identifier: Apache-2.0
"""What the report says of losses that a study chose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from synthetic_study import Shape, write_study

from quiclab.compare.chosen_losses import chosen_loss_notes
from quiclab.compare.study import read_study

SHAPE = replace(Shape(), workloads=("100 KB",), paths=("clean",), blocks=2, aa_blocks=1, voids=frozenset())


def notes(directory: Path, down: dict[str, Any], links: dict[str, dict[str, Any]]) -> list[str]:
    """Notes of a study whose path has these keys down, with the link's word on each arm's trials."""
    write_study(directory, SHAPE)
    resolved = json.loads((directory / "resolved.json").read_text())
    resolved["paths"][0]["down"] = {**resolved["paths"][0].get("down", {}), **down}
    (directory / "resolved.json").write_text(json.dumps(resolved))
    study = read_study(directory)
    for trial_id, arm in study.trials.select("trial_id", "arm").rows():
        file = directory / "trials" / trial_id / "trial.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"link": links.get(arm.partition("#")[0], {})}))
    return chosen_loss_notes(study)


def test_losses_by_packet_number_need_no_word(tmp_path: Path) -> None:
    """It is the default."""
    assert notes(tmp_path, {"loss_by": "index"}, {}) == []


def test_another_key_is_named(tmp_path: Path) -> None:
    """With the path and what it means."""
    (note,) = notes(tmp_path, {"loss_by": "bytes"}, {})
    assert note.startswith("Losses are drawn by bytes over ")
    assert note.endswith(
        "packets share a draw by the 1500 bytes in which they begin (smaller than 600 bytes: by their number)."
    )


def test_an_address_without_a_packet_is_told(tmp_path: Path) -> None:
    """By arm, with how many trials; what came is not."""
    missed = {"asked": 2, "met": 1, "mattered": 1, "missed": [{"of": "initial", "number": 2}]}
    told = notes(
        tmp_path,
        {"drop": {"initial": [1, 2]}},
        {"h2": {"down": {"drop": missed}}, "h3": {"down": {"drop": {**missed, "missed": []}}}},
    )
    assert len(told) == 1
    assert "trials of h2 over clean the packet to be dropped never came: initial 2 down." in told[0]


def test_links_behind_the_first_are_heard(tmp_path: Path) -> None:
    """An address may stand at any of them."""
    missed = {"missed": [{"of": "syn", "number": 3}]}
    told = notes(tmp_path, {"spare": {"syn": [3]}}, {"h3": {"more_links": [{"up": {"spare": missed}}]}})
    assert "of h3 over clean the packet to be spared never came: syn 3 up." in " ".join(told)
