# SPDX-License-Identifier: Apache-2.0
"""Neighbouring networks: one quantity of a path halved, doubled or taken away."""

from __future__ import annotations

from typing import Any

import pytest

from quiclab.model.errors import SpecError
from quiclab.spec.scaled_path import Quantity, Scaling, scaled_path


@pytest.mark.parametrize(
    ("path", "quantity", "factor", "found"),
    [
        ({"rtt": "80 ms"}, "rtt", 0.5, {"rtt": "40 ms"}),
        ({"delay": "10.5 ms"}, "rtt", 2.0, {"delay": "21 ms"}),
        ({"delay": "5 ms", "up": {"delay": "9 ms"}}, "rtt", 2.0, {"delay": "10 ms", "up": {"delay": "18 ms"}}),
        ({"rate": "10 Mbit/s", "edge": "none"}, "rate", 0.5, {"rate": "5 Mbit/s", "edge": "none"}),
        (
            {"rate": {"least": "1 Mbit/s", "most": "3 Mbit/s", "every": "1 s"}},
            "rate",
            2.0,
            {"rate": {"least": "2 Mbit/s", "most": "6 Mbit/s", "every": "1 s"}},
        ),
        ({"loss": "0.5 %", "rtt": "1 ms"}, "loss", 2.0, {"loss": "1 %", "rtt": "1 ms"}),
        ({"loss": {"mean_good": "1 s"}, "rtt": "1 ms"}, "loss", 0.0, {"rtt": "1 ms"}),
        (
            {"schedule": [{"at": "1 s", "loss": "2 %"}, {"at": "2 s", "rate": "1 Mbit/s"}], "loss": "1 %"},
            "loss",
            0.0,
            {"schedule": [{"at": "1 s", "loss": "0 %"}, {"at": "2 s", "rate": "1 Mbit/s"}]},
        ),
        (
            {"link": [{"name": "a", "delay": "1 ms"}, {"name": "b", "delay": "2 ms"}]},
            "rtt",
            2.0,
            {"link": [{"name": "a", "delay": "2 ms"}, {"name": "b", "delay": "4 ms"}]},
        ),
    ],
)
def test_a_quantity_is_multiplied_wherever_it_stands(
    path: dict[str, Any], quantity: Quantity, factor: float, found: dict[str, Any]
) -> None:
    """Both directions, all links and later changes have the new value; nothing else is touched."""
    assert scaled_path({"name": "p", **path}, Scaling(quantity, factor)) == {"name": "p", **found}


def test_a_profile_is_written_out() -> None:
    """The quantities of the profile are multiplied, and its name is gone."""
    found = scaled_path({"name": "p", "profile": "lte"}, Scaling("rtt", 2.0))
    assert found["delay"] == "21 ms"
    assert "profile" not in found


@pytest.mark.parametrize(
    ("path", "scaling", "told"),
    [
        ({"rate": "1 Mbit/s"}, Scaling("loss", 2.0), "has no loss"),
        ({"delay": "0 ms"}, Scaling("rtt", 2.0), "has no RTT"),
        ({"trace": "file", "delay": "1 ms"}, Scaling("rate", 2.0), "trace"),
        ({"loss": {"mean_good": "1 s"}}, Scaling("loss", 2.0), "no plain number"),
        ({"loss": "60 %"}, Scaling("loss", 2.0), "50 %"),
    ],
)
def test_what_cannot_be_multiplied(path: dict[str, Any], scaling: Scaling, told: str) -> None:
    """The path is refused, with the reason."""
    with pytest.raises(SpecError, match=told):
        scaled_path({"name": "p", **path}, scaling)


def test_words() -> None:
    """A network is named by what is otherwise in it."""
    scalings = (Scaling("rtt", 2.0), Scaling("rate", 0.5), Scaling("loss", 0.0))
    assert list(map(str, scalings)) == ["twice the RTT", "half the rate", "no loss"]
