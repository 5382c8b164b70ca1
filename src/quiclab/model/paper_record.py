# SPDX-License-Identifier: Apache-2.0
"""Claims of a paper, as paper.json of a study has them. `quiclab.spec.paper_json` writes it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from quiclab.model import number_text
from quiclab.model.link_account import Number

Side = str | tuple[str, ...]
"""An arm, or several whose mean within a block is the value of that block."""


def side_name(side: Side) -> str:
    """Return the name of a side in tables: `mean of h3-curl and h3-quiche`; of a single arm its own."""
    return side if isinstance(side, str) else f"mean of {number_text.listed(list(side))}"


def arms_in(sides: Iterable[Side]) -> tuple[str, ...]:
    """Return the names of the arms of all sides, each once."""
    names = (name for side in sides for name in ((side,) if isinstance(side, str) else side))
    return tuple(dict.fromkeys(names))


class ExpectedRecord(msgspec.Struct, frozen=True):
    """Finding of the paper: a direction, or a number with its bounds."""

    text: str
    direction: str | None = None
    low: Number | None = None
    high: Number | None = None
    unit: str | None = None
    margin: str | None = None
    range: bool = False
    cells: int = 0
    """Cells of the paper, of a share of them; 0 where it gives a share alone."""
    above: bool = False
    """True if the share is greater than `low`."""


class CountedRecord(msgspec.Struct, frozen=True):
    """Condition of the cells that a count counts: a direction, or bounds of one arm."""

    text: str
    direction: str | None = None
    low: Number | None = None
    high: Number | None = None
    unit: str | None = None


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence of the paper; the keys of docs/reference/paper.md."""

    id: str
    section: str
    text: str
    kind: str
    testable: bool
    why: str
    metric: str
    statistic: str
    arms: tuple[Side, ...]
    """Sides that the claim is about, each of them an arm or several."""
    workloads: tuple[str, ...]
    paths: tuple[str, ...]
    second_metric: str = ""
    """Metric with which a correlation is."""
    counted: CountedRecord | None = None
    """Condition of the cells that a count counts."""


class ClaimRecord(Sentence, frozen=True, kw_only=True):
    """A sentence with its finding as the file has it."""

    expected: ExpectedRecord | None


class PaperRecord(msgspec.Struct, frozen=True):
    """A paper and its claims."""

    authors: str
    title: str
    venue: str
    year: int
    caution: str
    changed: dict[str, dict[str, tuple[str, ...]]]
    """Axis → name → keys in which the study differs from the one that the claims were written for."""
    claims: tuple[ClaimRecord, ...]
