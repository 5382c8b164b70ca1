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
    arms: tuple[str, ...]
    workloads: tuple[str, ...]
    paths: tuple[str, ...]
    second_metric: str = ""
    """Metric with which a correlation is."""


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
