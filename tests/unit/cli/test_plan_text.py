# SPDX-License-Identifier: Apache-2.0
"""Texts of a plan that need no terminal."""

from __future__ import annotations

import pytest

from quiclab.cli.plan_text import loss_text
from quiclab.model.study import Bernoulli, Bursts, DropList, GilbertElliott, Loss
from quiclab.model.units import Duration, Share


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (None, "none"),
        (Bernoulli(Share(0.01)), "1 %"),
        (GilbertElliott(Share(0.01), Share(0.2)), "bursts, 1 % in, 20 % out per packet"),
        (Bursts(Duration(10**9), Duration(20_000_000)), "bursts, 20 ms every 1 s"),
        (DropList((1, 2)), "2 listed packets"),
    ],
)
def test_every_loss_model_has_a_short_text(loss: Loss | None, text: str) -> None:
    """Short enough for a table."""
    assert loss_text(loss) == text
