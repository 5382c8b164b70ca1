# SPDX-License-Identifier: Apache-2.0
"""Names of two arms at the heads of a table's columns, which lists of programs make long: `h3-nginx-quiche`."""

from __future__ import annotations

from collections.abc import Callable

from rich import get_console
from rich.measure import Measurement
from rich.table import Table

from quiclab.model.name_lines import longest_word, name_lines

NUMBER_COLUMNS = 10
"""Columns of a number in a table that has to be narrow."""
_ROLES = ("baseline", "other")
"""Heads of columns that are too narrow for a word of an arm's name."""


def natural_width(table: Table) -> int:
    """Return the columns that a table takes where no line of it is broken."""
    console = get_console()  # measures only, nothing is printed
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def narrow_heads(baseline: str, other: str) -> tuple[tuple[str, str], str]:
    """Return heads that are no wider than a number, and lines that say which arm is which where the heads do not: a
    name is broken between its words, and stands in these lines where one of them is too long."""
    if max(map(longest_word, (baseline, other))) <= NUMBER_COLUMNS:
        return (name_lines(baseline, NUMBER_COLUMNS), name_lines(other, NUMBER_COLUMNS)), ""
    return _ROLES, f"{_ROLES[0]}: {baseline}\n{_ROLES[1]}: {other}"


def fitting(width: int, wide: Table, narrow: Callable[[], Table]) -> Table:
    """Return the wide table where it fits into `width`, else the narrow one."""
    return wide if natural_width(wide) <= width else narrow()
