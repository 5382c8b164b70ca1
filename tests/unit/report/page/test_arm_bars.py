# SPDX-License-Identifier: Apache-2.0
"""Bars of arms: one scale for both, the waits of the timeline in its order, and every wait in words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.report.words.test_account import waterfall

from quiclab.model.cause import BarStyle
from quiclab.report.page.arm_bars import arm_bars, fill, legend
from quiclab.why.account import Why
from quiclab.why.accounts import Wait, Waterfall


def of_waits(*waits: Wait) -> Waterfall:
    """Two arms whose whole time these waits are."""
    found = waterfall(0.0)
    baseline, other = sum(each.baseline_ms for each in waits), sum(each.other_ms for each in waits)
    return replace(found, waits=waits, total=replace(found.total, baseline_ms=baseline, other_ms=other))


def test_widths_are_shares_of_the_longer_bar() -> None:
    """So that the difference of the arms is seen; a wait that an arm does not have takes no place in its bar."""
    found = of_waits(Wait(Why.TCP_HANDSHAKE, 20.0, 0.0), Wait(Why.QUIC_HANDSHAKE, 0.0, 20.0), Wait(Why.REQUEST, 80, 30))
    h2, h3 = arm_bars(found)
    assert [(part.name, part.width_pct) for part in h2.segments] == [("TCP handshake", 20.0), ("request", 80.0)]
    assert [(part.name, part.width_pct) for part in h3.segments] == [("QUIC handshake", 20.0), ("request", 30.0)]
    assert (h2.total, h3.total) == ("100 ms", "50.0 ms")
    assert h3.told == "h3: 50.0 ms, of it QUIC handshake: 20.0 ms and request: 30.0 ms"


def test_the_legend_has_what_can_be_seen_in_some_bar() -> None:
    """A wait of less than a hundredth of the longer bar is told on hovering alone."""
    seen = of_waits(Wait(Why.SLOW_START, 0.5, 2.0), Wait(Why.REQUEST, 100.0, 100.0))
    unseen = of_waits(Wait(Why.PACING, 0.5, 0.9), Wait(Why.REQUEST, 100.0, 100.0))
    assert [each.name for each in legend([seen, unseen])] == ["request", "slow start"]
    assert "pacing: 0.500 ms" in arm_bars(unseen)[0].told


def test_nothing_is_drawn_where_no_time_passed() -> None:
    """A video that never stalled."""
    assert arm_bars(of_waits()) == ()


@pytest.mark.parametrize("pattern", sorted({why.style.pattern for why in Why}))
def test_every_pattern_has_a_look_of_its_own(pattern: str) -> None:
    """Neighbours of one hue are told apart, as in the timeline."""
    others = {fill(BarStyle("#123456", each)) for each in {why.style.pattern for why in Why} - {pattern}}
    assert "#123456" in fill(BarStyle("#123456", pattern))
    assert fill(BarStyle("#123456", pattern)) not in others
