# SPDX-License-Identifier: Apache-2.0
"""A path as the spec asks for it, in the words in which it is measured."""

from __future__ import annotations

from typing import Any

from quiclab.report.wording import quantity

MEASURED = {
    "path_rtt_min_ms": ("ms", "smallest RTT"),
    "path_rate_down_bit_per_s": ("bit/s", "rate down"),
    "path_loss_up_pct": ("%", "loss up"),
    "path_loss_down_pct": ("%", "loss down"),
}
"""Metric: its unit and heading."""


def asked(path: dict[str, Any]) -> dict[str, str]:
    """What a resolved path (an entry of `paths` in resolved.json) asks for, by metric of `MEASURED`."""
    up, down = _part(path, "up"), _part(path, "down")
    rate = _part(down, "rate").get("bit_per_s")
    return {
        "path_rtt_min_ms": quantity((_delay_ms(up) + _delay_ms(down)), "ms"),
        "path_rate_down_bit_per_s": "unlimited" if rate is None else quantity(float(rate), "bit/s"),
        "path_loss_up_pct": _loss(up),
        "path_loss_down_pct": _loss(down),
    }


def _delay_ms(direction: dict[str, Any]) -> float:
    return float(_part(direction, "delay").get("ns") or 0) / 1e6


def _loss(direction: dict[str, Any]) -> str:
    loss = direction.get("loss")
    if not loss:
        return "0 %"
    probability = _part(_part(direction, "loss"), "probability").get("value")
    return quantity(float(probability) * 100, "%") if probability is not None else "see the spec"


def _part(value: dict[str, Any], key: str) -> dict[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
