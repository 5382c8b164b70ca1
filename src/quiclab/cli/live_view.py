# SPDX-License-Identifier: Apache-2.0
"""The view of a run in a terminal: a bar, what runs, what went wrong, how busy the machine is, and each arm so far.

Where output is no terminal only the bar is written, once it is over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from quiclab.cli.tally import Line, Place, Tally
from quiclab.evidence.verify.disturbed import PREFIX
from quiclab.model import number_text
from quiclab.model.terminal_escape import plain

_PER_SECOND = 1
"""Drawing takes a processor, for which trials wait."""
_LEAST_CELL, _OTHER_COLUMNS = 14, 34
"""Columns that the name of a cell has at least, and about how many the others take, medians apart."""
_NOW = 32
"""Columns for the name of what runs, where there is room."""
_LABEL = len("waited for in 10 s")
_MOST_RUNNING, _MOST_WRONG, _MOST_LINES = 4, 3, 12
_OTHER_ROWS = 6
"""Rows of a terminal that the arms are not to take: the bar, the headings, some for what is printed above."""


class _Now(ProgressColumn):
    """The field `now` of a task: what gives way where a terminal has no room for all."""

    def render(self, task: Task) -> RenderableType:
        return _Name(task.fields["now"])


@dataclass(frozen=True)
class _Name:
    """A name with the same room whatever its length, so that the bar behind it stands still."""

    name: str

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, min(_NOW, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.name, no_wrap=True, overflow="ellipsis")


class _Left(ProgressColumn):
    """The time left, as it is whenever the bar is drawn: the field `left` of its task returns it."""

    def __init__(self) -> None:
        super().__init__(Column(no_wrap=True))

    def render(self, task: Task) -> Text:
        return Text(task.fields["left"]())


class LiveProgress(Progress):
    """Rich's progress bar with a view of `tally` below it while it is drawn in a terminal."""

    def __init__(self, console: Console, pressure: Callable[[], Mapping[str, float]]) -> None:
        self.tally: Tally | None = None
        """Counts to show; nothing before it is set, and nothing once it is None again."""
        self.medians: tuple[str, Mapping[Place, str]] | None = None
        """Name of a metric, and the median so far of each arm in each cell; None where they are not to be seen."""
        self._pressure = pressure
        super().__init__(
            _Now(),
            BarColumn(None, table_column=Column(max_width=40)),
            TextColumn("{task.fields[trials]}"),
            TimeElapsedColumn(Column(no_wrap=True)),
            _Left(),
            console=console,
            refresh_per_second=_PER_SECOND,
        )

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar, and what is below it."""
        yield from super().get_renderables()
        if self.tally is not None and self.console.is_terminal:
            room = self.console.size.height - _OTHER_ROWS
            # The last columns stay free: the terminal writes ^C there.
            below = _below(self.tally, self._pressure(), self.medians, room, self.console.width)
            yield Padding(below, (0, 4, 0, 2))


def _below(
    tally: Tally,
    pressure: Mapping[str, float],
    medians: tuple[str, Mapping[Place, str]] | None,
    room: int,
    width: int,
) -> RenderableType:
    told = Table.grid(padding=(0, 2, 0, 0))
    told.add_column(style="dim", no_wrap=True, min_width=_LABEL)
    told.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
    running = [f"{row.cell_id} {row.arm} {row.block}" for row in tally.under_way]
    if len(running) > _MOST_RUNNING:
        running[_MOST_RUNNING - 1 :] = [f"{len(running) - _MOST_RUNNING + 1} more"]
    told.add_row("under way", Text(", ".join(running) or "–"))
    if pressure:
        shares = ", ".join(f"{name} {share:.0f} %" for name, share in pressure.items())
        told.add_row("waited for in 10 s", Text(shares))
    for number, status, latest in tally.wrong[:_MOST_WRONG]:
        told.add_row(f"{number} × {'disturbed' if status == 'void' else status}", Text(latest.removeprefix(PREFIX)))
    shown = tally.lines(max(0, min(_MOST_LINES, room - told.row_count)))
    whole = Table.grid()
    whole.add_row(told)
    if shown:
        whole.add_row(_arms(shown, medians, width))
    if left_out := tally.places - len(shown):
        whole.add_row(Text(f"{number_text.counted(left_out, 'line')} more: `quiclab status` has all", style="dim"))
    return whole


def _arms(lines: Iterable[Line], medians: tuple[str, Mapping[Place, str]] | None, width: int) -> Table:
    longest = max(_LEAST_CELL, width - (_OTHER_COLUMNS if medians is None else 2 * _OTHER_COLUMNS))
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for heading in ("cell", "arm", "over", "redo", *(() if medians is None else (f"median {medians[0]} so far",))):
        table.add_column(heading, justify="left" if heading in ("cell", "arm") else "right", no_wrap=True)
    for line in lines:
        cell, arm = line.place
        row = [plain(cell, longest - 2), arm, f"{line.over}/{line.planned}", str(line.void or "–")]
        if medians is not None:
            row.append(medians[1].get(line.place, "–"))
        table.add_row(*map(Text, row))
    return table
