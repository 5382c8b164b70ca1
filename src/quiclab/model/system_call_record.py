# SPDX-License-Identifier: Apache-2.0
"""System calls of an arm's programs, as a file below STUDY/system-calls has them."""

from __future__ import annotations

import msgspec

from quiclab.model.link_account import Number


class ProgramCalls(msgspec.Struct, frozen=True):
    """System calls of one program over its whole life."""

    program: str | None = None
    unsupported: str | None = None
    """Reason why there are no counts."""
    total: int = 0
    calls_per_mb: Number = 0
    """Calls per megabyte of body."""
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    """Call → count, the most frequent first."""


class SystemCalls(msgspec.Struct, frozen=True):
    """System calls of an arm's programs in one trial that was not timed."""

    unsupported: str | None = None
    """Reason why they could not be counted at all."""
    workload: str | None = None
    path: str | None = None
    body_bytes: int | None = None
    body_right: bool | None = None
    """True if the body was the right one."""
    problem: str | None = None
    """Reason why the transfer went wrong."""
    roles: dict[str, ProgramCalls] = msgspec.field(default_factory=dict)
