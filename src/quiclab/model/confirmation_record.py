# SPDX-License-Identifier: Apache-2.0
"""Results of runs without a cause, as the files of a confirming study have them: verdict.json, and of a run without
several causes declared-together.json and together.json."""

from __future__ import annotations

import msgspec

from quiclab.model.link_account import Number


class KeptInterval(msgspec.Struct, frozen=True):
    """A confidence interval; an end that is None is infinite."""

    confidence: Number
    low: Number | None = None
    high: Number | None = None


class KeptCheck(msgspec.Struct, frozen=True):
    """One check of a run."""

    name: str
    state: str
    blocks: int
    median: Number | None = None
    interval: KeptInterval | None = None


class KeptEffect(msgspec.Struct, frozen=True):
    """An effect that a run measured."""

    name: str
    blocks: int
    ms: Number | None = None
    interval: KeptInterval | None = None


class KeptVerdict(msgspec.Struct, frozen=True):
    """The verdict on a cause, with what it stands on."""

    sha256: str
    """Hash of the declaration."""
    verdict: str
    checks: tuple[KeptCheck, ...]
    effects: tuple[KeptEffect, ...]
    blocks: int
    lacking: int
    limits_next_ms: Number
    limits_next: str | None = None
    """Mechanism that limits next, once the cause is gone."""


class DeclaredRun(msgspec.Struct, frozen=True):
    """Members of a declaration that a reader needs."""

    cell: str
    arm: str
    spec_sha256: str


class DeclaredTogether(msgspec.Struct, frozen=True):
    """Declaration of a run without several causes."""

    sha256: str
    declared: DeclaredRun


class Milliseconds(msgspec.Struct, frozen=True):
    """A time; None where it is not known."""

    ms: Number | None = None


class PartOfCause(msgspec.Struct, frozen=True):
    """Share of one of several causes in what their absence changes."""

    cause: str
    decided: bool
    part: Milliseconds


class TogetherResult(msgspec.Struct, frozen=True):
    """Result of a run without several causes."""

    sha256: str
    """Hash of the declaration."""
    blocks: int
    whole: Milliseconds
    """Time by which the whole falls without all of them."""
    parts: tuple[PartOfCause, ...]
