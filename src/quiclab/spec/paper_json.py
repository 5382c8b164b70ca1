# SPDX-License-Identifier: Apache-2.0
"""A paper's claims as JSON, as `paper.json` of a study keeps them for its report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from quiclab.spec.claim_values import CellShare, Counted, PerCent, Range, plain
from quiclab.spec.paper import Claim, Paper

FORMAT = 1
_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))")
_OF_AN_ADVANTAGE = 2
"""Arms of a claim whose number is the second one's advantage."""
_AXES = ("arms", "workloads", "paths")


def paper_json(paper: Paper, changed: Mapping[str, Mapping[str, list[str]]], caution: str = "") -> dict[str, object]:
    """The paper with its claims. `changed` is `changes(…)` from the spec that the claims were written for.

    `caution` is a sentence that the report shows above the claims.
    """
    return {
        "version": FORMAT,
        "authors": paper.authors,
        "title": paper.title,
        "venue": paper.venue,
        "year": paper.year,
        "caution": caution,
        "changed": changed,
        "claims": [_claim(claim) for claim in paper.claims],
    }


def changes(full: Mapping[str, Any], variant: Mapping[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Keys in which a variant's arm, workload or path differs from the one of that name in `full`, by axis and name.
    Both are resolved specs. Something that only one of them has is no change.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for axis in _AXES:
        known = {item["name"]: item for item in full[axis]}
        for item in variant[axis]:
            name = item["name"]
            keys = {*item, *known[name]} if name in known else set()
            differing = sorted(key for key in keys if item.get(key) != known[name].get(key))
            if differing:
                found.setdefault(axis, {})[name] = differing
    return found


def _claim(claim: Claim) -> dict[str, object]:
    keys = ("id", "section", "text", "kind", "testable", "why", "metric", "statistic")
    return {
        **{key: getattr(claim, key) for key in keys},
        **({"second_metric": claim.second_metric} if claim.second_metric else {}),
        **({"counted": _counted(claim.counted)} if claim.counted else {}),
        "arms": [side if isinstance(side, str) else list(side) for side in claim.arms],
        "workloads": list(claim.workloads),
        "paths": list(claim.paths),
        "expected": None if claim.expected is None else _expected(claim),
    }


def _counted(counted: Counted) -> dict[str, object]:
    ends = {name: plain(end) for name, end in (("low", counted.low), ("high", counted.high)) if end is not None}
    return {
        "text": counted.text,
        "direction": counted.direction,
        **{name: number for name, (number, _) in ends.items()},
        "unit": next((unit for _, unit in ends.values()), None),
    }


def _share(expected: CellShare, claim: Claim) -> dict[str, object]:
    around = claim.margin_value if isinstance(claim.margin_value, float) else 0.0
    return {
        "text": claim.written,
        "value": (expected.low + expected.high) / 2,
        "low": round(expected.low - around, 9),
        "high": round(expected.high + around, 9),
        "unit": "share",
        "margin": claim.margin,
        "range": expected.is_range,
        "cells": expected.cells,
        "above": expected.is_above,
    }


def _expected(claim: Claim) -> dict[str, object]:
    """A direction, or a quantity with the range of values that are the paper's: to within its margin, or all that would
    be printed so: "15 s" is 14.5 to 15.5 s."""
    expected = claim.expected
    assert expected is not None
    if isinstance(expected, str):
        return {"text": expected, "direction": expected}
    if isinstance(expected, CellShare):
        return _share(expected, claim)
    if isinstance(expected, Range):
        (low, unit), (high, _) = plain(expected.low), plain(expected.high)
        return {"text": claim.written, "value": (low + high) / 2, "low": low, "high": high, "unit": unit, "range": True}
    value, unit = plain(expected)
    around = _half_digit(value, claim.written) if claim.margin_value is None else _around(value, claim)
    return {
        "text": claim.written,
        "value": value,
        "low": round(value - around, 9),
        "high": round(value + around, 9),
        "unit": unit,
        "margin": claim.margin,
    }


def _half_digit(value: float, written: str) -> float:
    number = Decimal(_NUMBER.match(written)[1])  # type: ignore[index]  # it has been read as a quantity
    return abs(value) * float(Decimal(5).scaleb(int(number.as_tuple().exponent) - 1) / abs(number)) if number else 0.0


def _around(value: float, claim: Claim) -> float:
    """The margin in the number's unit: of an advantage, per cent are points; elsewhere they are a share of it."""
    margin = claim.margin_value
    if isinstance(margin, PerCent):
        of_advantage = claim.kind == "number" and len(claim.arms) == _OF_AN_ADVANTAGE
        return margin.value if of_advantage else abs(value) * margin.value / 100
    assert margin is not None
    assert not isinstance(margin, float)
    return plain(margin)[0]
