# SPDX-License-Identifier: Apache-2.0
"""What a figure is."""

from __future__ import annotations

from typing import Any, Protocol

import polars as pl


class Figure(Protocol):
    """Draws one table. It reads no files and chooses no colours."""

    @property
    def name(self) -> str:
        """Short name, also of the file with its data."""

    @property
    def question(self) -> str:
        """The question that it answers."""

    @property
    def tables(self) -> tuple[str, ...]:
        """Files of a study that its data come from."""

    @property
    def columns(self) -> dict[str, str]:
        """Each column that `draw` needs, with its meaning and unit."""

    def draw(self, data: pl.DataFrame) -> Any:
        """A plotly figure without fonts or backgrounds: the page's theme adds those."""
