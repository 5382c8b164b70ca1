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
    more = path.get("more_links")
    links = [path, *(link for link in more if isinstance(link, dict))] if isinstance(more, list) else [path]
    up, down = ([_part(link, side) for link in links] for side in ("up", "down"))
    return {
        "path_rtt_min_ms": quantity(sum(map(_delay_ns, [*up, *down])) / 1e6, "ms"),
        "path_rate_down_bit_per_s": _rate_of(down),
        "path_loss_up_pct": _loss_of(up),
        "path_loss_down_pct": _loss_of(down),
    }


def _rate_of(directions: list[dict[str, Any]]) -> str:
    """Of several links the slowest; one that is drawn by chance is told beside it."""
    drawn = [direction for direction in directions if _part(direction, "rate")]
    fixed = [direction for direction in directions if direction.get("rate_bit_per_s") is not None]
    slowest = sorted(fixed, key=lambda direction: float(direction["rate_bit_per_s"]))[:1]
    return " and ".join(map(_rate, [*drawn, *slowest])) or "unlimited"


def _rate(direction: dict[str, Any]) -> str:
    """One that is drawn by chance has two bounds."""
    drawn, rate = _part(direction, "rate"), direction.get("rate_bit_per_s")
    if drawn:
        least, most = (quantity(float(drawn[f"{bound}_bit_per_s"]), "bit/s") for bound in ("least", "most"))
        return f"{least} to {most}"
    return "unlimited" if rate is None else quantity(float(rate), "bit/s")


def _delay_ns(direction: dict[str, Any]) -> float:
    return float(direction.get("delay_ns") or 0)


def _loss_of(directions: list[dict[str, Any]]) -> str:
    """Independent losses have one number, which those of several links make together; other models are named."""
    losses = [loss for direction in directions if (loss := _part(direction, "loss"))]
    kept, names = 1.0, []
    for loss in losses:
        probability = loss.get("probability_pct")
        if probability is None:
            names.append(str(loss.get("model", "see the spec")))
        else:
            kept *= 1 - float(probability) / 100
    own = [quantity(100 * (1 - kept), "%")] if len(names) < len(losses) else []
    return " and ".join([*own, *names]) or "0 %"


def _part(value: dict[str, Any], key: str) -> dict[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
