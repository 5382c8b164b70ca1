# SPDX-License-Identifier: Apache-2.0
"""Annotations of single trials, as a study's remarks.json has them."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["note", "exclusion"]


class Remark(msgspec.Struct, frozen=True):
    """One annotation of one trial."""

    trial_id: str
    kind: str
    """`note` or `exclusion`; another one, of a later version, is kept as it is."""
    text: str
    """Text of a note, or the reason for an exclusion."""
    said_utc: str
    undone_utc: str | None = None
    """Time at which it was taken back; None while it holds."""


class Remarks(msgspec.Struct, frozen=True, kw_only=True):
    """All annotations of a study, in the order in which they were made."""

    version: int = 1
    remarks: tuple[Remark, ...]
