# SPDX-License-Identifier: Apache-2.0
"""A figure: one question, the data that answer it, and their drawing."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import polars as pl

from quiclab.report.figures._asked import Asked


class Where(enum.Enum):
    """The place of a figure, beside `quiclab figure`, which draws each of them."""

    STUDY = "a section of the report, with one drawing of the whole study"
    FACTOR = "a section of the report, with a drawing for each factor of the study"
    CELL = "a section of the report, with a drawing for each cell"
    PAIR = "the page of each pair, with one trial of each arm"
    PAGE = "a section of the report that the page makes itself, around the figure or in its place"


class Figure(Protocol):
    """One question with its answer. A figure is a class of its own module, which inherits from this one."""

    name: ClassVar[str]
    """Short name, also of the file with its data."""
    question: ClassVar[str]
    """The question that it answers."""
    where: ClassVar[Where]
    """The place where it stands."""
    tables: ClassVar[tuple[str, ...]]
    """Files of a study that its data come from."""
    columns: ClassVar[Mapping[str, str]]
    """Each column that `draw` needs, with its meaning and unit."""
    overlaid: ClassVar[bool] = False
    """True if it can lay the trials of several blocks over each other, told apart by the column `trial`."""
    of_one_arm: ClassVar[bool] = False
    """True if it shows one of the arms that are compared, `Asked.other`; a report has one of it for each of them."""

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the columns that it declares; no row where the study has nothing of the kind. Raises SpecError."""

    def is_worth_showing(self, asked: Asked, data: pl.DataFrame) -> bool:
        """Return whether `data` says enough for a section of the report."""
        return bool(data.height)

    def draw(self, data: pl.DataFrame) -> Any:
        """Return a plotly figure without fonts or backgrounds: the page's theme adds those."""

    def table(self, data: pl.DataFrame) -> Any:
        """Return a plotly figure that is a table or a map, for LaTeX; of other figures the figure itself."""
        return self.draw(data)
