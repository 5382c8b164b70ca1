# SPDX-License-Identifier: Apache-2.0
"""A run without the losses of a path: which key of it goes, and what stays."""

from __future__ import annotations

import tomllib
from pathlib import Path

import polars as pl
import pytest
from planned_confirmation import Times, plan, write

from quiclab.cli.confirm import _plan_lines
from quiclab.model.tables import TABLES
from quiclab.model.tables.drop_reasons import DROP_REASONS, DropKind, reasons_of
from quiclab.study.confirm.path_losses import LOST_BY
from quiclab.why.mechanisms._trial import OF_THE_PATH

_LOST: Times = {"h2": {"": 800.0}, "h3": {"": 600.0, "loss_on_the_path": 1000.0}}
_PATH = 'loss = "1 %"\ncorrupt = "2 %"\noversize = {above = "1400 B"}'


def _study(folder: Path, *reasons: str, path: str = _PATH) -> Path:
    """A study in each of whose trials of h3 a link lost a packet going down for each reason, and one going up."""
    study = write(folder, _LOST, path=path)
    trials = pl.read_parquet(study / "tables" / "trials.parquet")
    (study / "tables" / "link_packets").mkdir()
    schema = TABLES["link_packets"].schema()
    for trial in trials["trial_id"]:
        lost = [(each, "down") for each in reasons] + [("blocked", "up")]
        rows = [
            dict.fromkeys(schema)
            | {"direction": way, "corrupted": reason == "corrupted"}
            | ({"action": "delivered"} if reason == "corrupted" else {"action": "dropped", "reason": reason})
            for reason, way in lost
        ]
        pl.DataFrame(rows, schema=schema).write_parquet(study / "tables" / "link_packets" / f"{trial}.parquet")
    return study


@pytest.mark.parametrize(
    ("reasons", "key", "stays"),
    [
        (("loss_exit", "loss_entry"), "loss", ""),
        (("corrupted",), "corrupt", ""),
        (("oversize",), "oversize", ""),
        (("corrupted", "corrupted", "loss_exit"), "corrupt", "loss (8 packets) stays in the path, and corrupt (16 "),
        (("queue_full",), "loss", ""),
        ((), "loss", ""),
    ],
)
def test_the_key_that_lost_the_packets_goes(tmp_path: Path, reasons: tuple[str, ...], key: str, stays: str) -> None:
    """The one that lost most of them; what the queue dropped is none of the path's."""
    planned = plan(_study(tmp_path / "s", *reasons), "loss_on_the_path")
    assert (planned.declared.table, planned.declared.key) == ("path", key)
    first, without = tomllib.loads(planned.spec)["path"]
    assert first.keys() - without.keys() == {key}
    assert planned.stays.startswith(stays)
    assert bool(planned.stays) is bool(stays)
    assert any(line.startswith("Only a part goes: ") for line in _plan_lines((planned, 30.0))) is bool(stays)


def test_a_key_that_the_path_has_no_more_is_passed_over(tmp_path: Path) -> None:
    """The packets of the trials were lost by another spec's keys: the next key that the path has goes."""
    planned = plan(_study(tmp_path / "s", "oversize", "oversize", "loss_exit", path='loss = "1 %"'), "loss_on_the_path")
    assert planned.declared.key == "loss"
    assert "the path p has no oversize that could be taken away" in " ".join(planned.not_possible)


def test_each_loss_of_the_path_has_a_key() -> None:
    """A kind that is added later has one too, but for a NAT's, which is no effect of a direction."""
    known = {reason for reasons in LOST_BY.values() for reason in reasons}
    assert known == {*reasons_of(*OF_THE_PATH)} - {*reasons_of(DropKind.NAT)}
    queues = {each.name for each in DROP_REASONS if each.kind in (DropKind.QUEUE, DropKind.AQM, DropKind.POLICER)}
    assert not known & queues
