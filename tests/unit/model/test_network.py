# SPDX-License-Identifier: Apache-2.0
"""Effects of a link in words."""

from __future__ import annotations

import pytest

from quiclab.model.network import Oversize
from quiclab.model.study import (
    Bernoulli,
    Block,
    Bursts,
    CoDel,
    DropList,
    GilbertElliott,
    Loss,
    Police,
    RandomRate,
    Step,
)
from quiclab.model.units import Bitrate, ByteCount, Duration, Share


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (Bernoulli(Share(0.01)), "1 %"),
        (GilbertElliott(Share(0.01), Share(0.2)), "bursts, 1 % in, 20 % out per packet"),
        (Bursts(Duration(10**9), Duration(20_000_000)), "bursts, 20 ms every 1 s"),
        (DropList((1, 2)), "2 listed packets"),
    ],
)
def test_every_loss_model_has_a_short_text(loss: Loss, text: str) -> None:
    """Short enough for a table."""
    assert str(loss) == text


@pytest.mark.parametrize(
    ("effect", "text"),
    [
        (Block("udp"), "udp blocked"),
        (Police("udp", Bitrate(10**6), ByteCount(30_000)), "udp policed to 1 Mbit/s with bursts of 30 KB"),
        (Oversize(ByteCount(1300)), "packets above 1300 B lost"),
        (Oversize(ByteCount(1536), Share(0.04)), "4 % of packets above 1536 B lost"),
        (CoDel(), "queue under CoDel, target 5 ms, interval 100 ms, drops"),
        (Step(), "ECT(1) marked after 1 ms in the queue"),
        (
            RandomRate(Bitrate(10**6), Bitrate(2 * 10**6), Duration(10**9)),
            "drawn between 1 Mbit/s and 2 Mbit/s every 1 s",
        ),
    ],
)
def test_an_effect_says_what_it_does(effect: object, text: str) -> None:
    """As a plan shows it."""
    assert str(effect) == text
