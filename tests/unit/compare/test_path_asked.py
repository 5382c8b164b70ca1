# SPDX-License-Identifier: Apache-2.0
"""The path as the spec asks for it."""

from __future__ import annotations

from typing import Any

from trial_records import part

from quiclab.compare import path_asked
from quiclab.model.resolved_record import ResolvedPath


def asked(path: dict[str, Any]) -> dict[str, str]:
    """What a path of these members asks for."""
    return path_asked.asked(part(path, ResolvedPath))


def test_both_directions_add_to_the_rtt_and_loss_stays_apart() -> None:
    """10 ms up and 15 ms down are 25 ms of RTT; loss is told for each direction."""
    path = {
        "up": {"delay_ns": 10_000_000, "loss": None},
        "down": {
            "delay_ns": 15_000_000,
            "rate_bit_per_s": 10_000_000,
            "loss": {"model": "bernoulli", "probability_pct": 1.0},
        },
    }
    assert asked(path) == {
        "path_rtt_min_ms": "25.0 ms",
        "path_rate_down_bit_per_s": "10.0 Mbit/s",
        "path_loss_up_pct": "0 %",
        "path_loss_down_pct": "1.00 %",
    }


def test_what_has_no_single_number_is_named() -> None:
    """Bursts and lists are not one probability; no rate is unlimited."""
    told = asked({"down": {"loss": {"model": "bursts", "mean_good_ns": 1}}})
    assert told["path_loss_down_pct"] == "bursts"
    assert told["path_rate_down_bit_per_s"] == "unlimited"


def test_several_links_make_one_path() -> None:
    """Delays add up, the slowest rate counts, and each link's loss takes its share of what the one before left."""
    link = {
        "up": {"delay_ns": 5_000_000},
        "down": {
            "delay_ns": 5_000_000,
            "rate_bit_per_s": 2_000_000,
            "loss": {"model": "bernoulli", "probability_pct": 10.0},
        },
    }
    assert asked({**link, "more_links": [link]}) == {
        "path_rtt_min_ms": "20.0 ms",
        "path_rate_down_bit_per_s": "2.00 Mbit/s",
        "path_loss_up_pct": "0 %",
        "path_loss_down_pct": "19.0 %",
    }
