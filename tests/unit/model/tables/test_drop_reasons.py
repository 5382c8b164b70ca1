# SPDX-License-Identifier: Apache-2.0
"""Reasons of drops: the same in Rust and Python, each of one kind, in accounts of any version."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers

from quiclab.logs.decoders import Context, _core
from quiclab.model.tables.drop_reasons import DROP_REASONS, DropKind, Stage, dropped_by, reasons_at, reasons_of
from quiclab.report.figures import losses


def test_packet_logs_know_these_reasons_and_no_others(tmp_path: Path) -> None:
    """Rust and Python have the same reasons, by number and name."""
    records = [writers.record("down", number, 5, action=1, reason=number) for number in range(1, 256)]
    path = tmp_path / "log"
    path.write_bytes(writers.packet_log(records))
    packets = _core.decode("packet_log", path, Context(), None).tables["link_packets"]
    known = dict(packets.select("index", "reason").iter_rows())
    assert known == {reason.number: reason.name for reason in DROP_REASONS}


def test_every_kind_has_reasons_and_a_lane() -> None:
    """Nothing that is dropped is left out, nor drawn as something else."""
    assert sorted(reasons_of(*DropKind)) == sorted([*(reason.name for reason in DROP_REASONS), "corrupted"])
    assert losses.LANES_BY_KIND.keys() == set(DropKind)
    assert len(set(losses.LANES_BY_KIND.values())) == len(DropKind)
    assert sorted(reasons_at(*Stage)) == sorted(reason.name for reason in DROP_REASONS)


@pytest.mark.parametrize(
    "account", [{"loss": 2, "queue": 3, "policed": 4}, {"loss_entry": 2, "queue_full": 3, "policed": 4}]
)
def test_accounts_of_earlier_versions_are_read(account: dict[str, int]) -> None:
    """Former names are those of today; kinds choose among them."""
    assert dropped_by(account) == {"loss_entry": 2, "queue_full": 3, "policed": 4}
    assert dropped_by(account, DropKind.QUEUE, DropKind.BLOCK) == {"queue_full": 3}
    assert dropped_by({}) == {}
