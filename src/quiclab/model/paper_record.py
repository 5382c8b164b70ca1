# SPDX-License-Identifier: Apache-2.0
"""Claims of a paper, as paper.json of a study has them. `quiclab.spec.paper_json` writes it."""

from __future__ import annotations

import msgspec

from quiclab.model.link_account import Number


class ExpectedRecord(msgspec.Struct, frozen=True):
    """Finding of the paper: a direction, or a number with its bounds."""

    text: str
    direction: str | None = None
    low: Number | None = None
    high: Number | None = None
    unit: str | None = None
    margin: str | None = None
    range: bool = False


class ClaimRecord(msgspec.Struct, frozen=True):
    """One sentence of the paper."""

    id: str
    section: str
    text: str
    kind: str
    testable: bool
    why: str
    metric: str
    statistic: str
    arms: tuple[str, ...]
    workloads: tuple[str, ...]
    paths: tuple[str, ...]
    expected: ExpectedRecord | None
    second_metric: str | None = None


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
