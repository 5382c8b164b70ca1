# SPDX-License-Identifier: Apache-2.0
"""A sender that had nothing to send, by its packets: written by hand, and by a twin that loses some."""

from __future__ import annotations

from typing import Any

import pytest
from golden_twin import built

from quiclab.model.cause import Why
from quiclab.why.account.unprompted import Emptied


def _emptied(silent: int, roomy: int, others: int = 0) -> Emptied:
    """Numbers of packets behind a cut one: 0, 1, … are silent, the next ones roomy."""
    cut = range(silent + roomy + others)
    return Emptied(frozenset(cut), frozenset(cut[:silent]), frozenset(cut[silent : silent + roomy]))


def test_a_packet_that_nothing_prompted_needs_silence_or_room() -> None:
    """A cut packet alone shows nothing: the window may have been full just then."""
    found = _emptied(1, 1, others=1)
    assert [found.shows(position) for position in range(4)] == [True, True, False, False]
    assert not found.shows_prompted(1), "one silence may be chance"


@pytest.mark.parametrize(("silent", "others", "shown"), [(3, 2, True), (2, 0, False), (3, 3, False)])
def test_a_packet_that_was_prompted_needs_a_program_that_writes_in_pieces(
    silent: int, others: int, shown: bool
) -> None:
    """Three silences, and half of all packets behind a cut one."""
    found = _emptied(silent, 1, others)
    assert found.shows_prompted(silent) is shown
    assert not found.shows_prompted(0), "silence and a packet that came exclude each other"


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_a_window_that_losses_reduced_is_no_programs_wait(protocol: str) -> None:
    """A program writes pieces of 16 KB at once, over a path that loses 2 %: what captures give it is its own time, or
    less."""
    case: dict[str, Any] = {
        "protocol": protocol,
        "body_bytes": 600_000,
        "delay_ns": 30_000_000,
        "rate_down": 20_000_000,
        "loss_down": 0.02,
        "pause_at": 16_000,
        "pause_every": 16_000,
        "pause_ns": 2_000_000,
    }
    for run in built().runs([case | {"seed": seed} for seed in range(1, 5)], logs="captures"):
        assert run.shares()[Why.APPLICATION] <= run.truth[Why.APPLICATION] + run.total_ns / 100, run.case
