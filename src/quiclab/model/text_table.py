# SPDX-License-Identifier: Apache-2.0
"""A table of the page whose cells are text already."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """A small table of text; without rows, `empty` says why."""

    title: str
    note: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str
    data: str = ""
    """File beside the report that holds its numbers; empty where there is none."""
