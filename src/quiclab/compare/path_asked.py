# SPDX-License-Identifier: Apache-2.0
"""A path as the spec asks for it, in the words in which it is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from quiclab.model.number_text import quantity


def asked(path: Mapping[str, object]) -> dict[str, str]:
    """Values that a resolved path (an entry of `paths` in resolved.json) asks for, by the metric that measures them."""
    return {
        "path_rtt_min_ms": quantity(rtt_ms(path), "ms"),
        "path_rate_down_bit_per_s": _rate_of(directions(path, "down")),
        "path_loss_up_pct": _loss_of(directions(path, "up")),
        "path_loss_down_pct": _loss_of(directions(path, "down")),
    }


def directions(path: Mapping[str, Any], side: str) -> list[dict[str, Any]]:
    """Effects of every link of a resolved path on packets `up` or `down`, the client's link first."""
    more = path.get("more_links")
    links = [path, *(link for link in more if isinstance(link, dict))] if isinstance(more, list) else [path]
    return [_part(link, side) for link in links]


def rtt_ms(path: Mapping[str, object]) -> float:
    """Base round-trip time: the delays of all links in both directions."""
    return sum(map(_delay_ns, [*directions(path, "up"), *directions(path, "down")])) / 1e6


def rate_bit_per_s(path: Mapping[str, object], side: str) -> float | None:
    """The least rate of the links in one direction; None where there is none, or one that changes."""
    here = directions(path, side)
    if any(_part(each, "rate") or each.get("trace") is not None or _changes(each, "rate_bit_per_s") for each in here):
        return None
    return min((float(each["rate_bit_per_s"]) for each in here if each.get("rate_bit_per_s") is not None), default=None)


def rate_text(path: Mapping[str, object], side: str) -> str:
    """The rate in one direction: `10 Mbit/s`, `unlimited`, `2 to 8 Mbit/s` of one that is drawn, or that it changes."""
    here = directions(path, side)
    if any(each.get("trace") is not None or _changes(each, "rate_bit_per_s") for each in here):
        return "changing rate"
    return _rate_of(here)


def loss_pct(path: Mapping[str, object], side: str) -> float | None:
    """Losses of the links in one direction combined; None where one has no single probability, or changes."""
    here = directions(path, side)
    models = [loss for each in here if (loss := _part(each, "loss"))]
    if any(loss.get("probability_pct") is None for loss in models) or any(_changes(each, "loss") for each in here):
        return None
    kept = math.prod(1 - float(loss["probability_pct"]) / 100 for loss in models)
    return round(100 * (1 - kept), 9)  # 4 is 4, not 4.0000000000000036


def _changes(direction: Mapping[str, Any], key: str) -> bool:
    """True if its schedule sets this anew during the trial."""
    changes = direction.get("schedule") or ()
    return any(isinstance(change, Mapping) and change.get(key) is not None for change in changes)


def _rate_of(here: list[dict[str, Any]]) -> str:
    """Return the rate of the slowest of several links, beside a rate that is drawn by chance."""
    drawn = [direction for direction in here if _part(direction, "rate")]
    fixed = [direction for direction in here if direction.get("rate_bit_per_s") is not None]
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


def _loss_of(here: list[dict[str, object]]) -> str:
    """Independent losses have one number, which those of several links make together; other models are named."""
    losses = [loss for direction in here if (loss := _part(direction, "loss"))]
    kept, names = 1.0, []
    for loss in losses:
        probability = loss.get("probability_pct")
        if probability is None:
            names.append(str(loss.get("model", "see the spec")))
        else:
            kept *= 1 - float(probability) / 100
    own = [quantity(100 * (1 - kept), "%")] if len(names) < len(losses) else []
    return " and ".join([*own, *names]) or "0 %"


def _part(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = value.get(key)
    return part if isinstance(part, dict) else {}
