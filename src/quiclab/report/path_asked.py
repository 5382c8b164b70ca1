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
    return {
        "path_rtt_min_ms": quantity((_delay_ns(up) + _delay_ns(down)) / 1e6, "ms"),
        "path_rate_down_bit_per_s": _rate(down),
        "path_loss_up_pct": _loss(up),
        "path_loss_down_pct": _loss(down),
    }


def _rate(direction: dict[str, Any]) -> str:
    """One that is drawn by chance has two bounds."""
    drawn, rate = _part(direction, "rate"), direction.get("rate_bit_per_s")
    if drawn:
        least, most = (quantity(float(drawn[f"{bound}_bit_per_s"]), "bit/s") for bound in ("least", "most"))
        return f"{least} to {most}"
    return "unlimited" if rate is None else quantity(float(rate), "bit/s")


def _delay_ns(direction: dict[str, Any]) -> float:
    return float(direction.get("delay_ns") or 0)


def _loss(direction: dict[str, Any]) -> str:
    """Independent losses have one number; other models are named."""
    loss = _part(direction, "loss")
    if not loss:
        return "0 %"
    probability = loss.get("probability_pct")
    return quantity(float(probability), "%") if probability is not None else str(loss.get("model", "see the spec"))


def _part(value: dict[str, Any], key: str) -> dict[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
