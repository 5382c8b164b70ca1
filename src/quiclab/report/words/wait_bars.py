# SPDX-License-Identifier: Apache-2.0
"""Mean time of two arms as stacked bars for a terminal, by the waits that sentences about them name."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from quiclab.model import number_text
from quiclab.report.words.account import time_text
from quiclab.why.account import Why
from quiclab.why.accounts import Waterfall

_LEAST_COLUMNS, _LEAST_REST_MS = 20, 0.05
_MARKS = "█▓▒░"
"""Fill of the waits one after the other: neighbours are told apart without colours, too."""


@dataclass(frozen=True)
class _Wait:
    """A wait with its time in both arms, in ms, and its columns in their bars."""

    why: Why
    times: tuple[float, float]
    columns: tuple[int, int]


class WaitBars:
    """Two bars of one scale, the baseline above, and a legend with the time of each wait that has a column."""

    def __init__(self, waterfall: Waterfall) -> None:
        """Take the means of a cell."""
        self._waterfall = waterfall

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw them in the width that there is; nothing in one that is too narrow."""
        total, comparison = self._waterfall.total, self._waterfall.comparison
        totals = (total.baseline_ms, total.other_ms)
        pairs = number_text.counted(self._waterfall.pairs, "pair")
        names = (comparison.baseline.arm, comparison.other.arm)
        ends = [f" {time_text(each)}" for each in totals]
        heading = max(map(len, names)) + 1
        width = options.max_width - heading - max(map(len, ends))
        if width < _LEAST_COLUMNS or max(totals) <= 0:
            return
        waits = self._waits([round(width * each / max(totals)) for each in totals])
        marks = {each.why: _MARKS[number % len(_MARKS)] for number, each in enumerate(waits)}
        yield Text(f"Mean time of {pairs}:", no_wrap=True, overflow="ellipsis")
        for arm, name in enumerate(names):
            bar = Text(f"{name:{heading}}", no_wrap=True)
            for each in waits:
                bar.append(marks[each.why] * each.columns[arm], style=each.why.style.colour)
            yield bar.append(ends[arm])
        for each in waits:
            legend = Text("  ", no_wrap=True, overflow="ellipsis")
            legend.append(marks[each.why] * 2, style=each.why.style.colour)
            times = ", ".join(f"{name} {time_text(time)}" for name, time in zip(names, each.times, strict=True))
            yield legend.append(f" {each.why.heading}: {times}")
        rest = [round(whole - sum(each.times[arm] for each in waits), 3) for arm, whole in enumerate(totals)]
        if max(rest) >= _LEAST_REST_MS:
            times = ", ".join(f"{name} {time_text(time)}" for name, time in zip(names, rest, strict=True))
            yield Text(f"     too short to be drawn: {times}", no_wrap=True, overflow="ellipsis")

    def _waits(self, widths: list[int]) -> list[_Wait]:
        """The waits that have a column in either bar, in the order of the timeline; as one what sentences sum up."""
        found = [
            (step.label, step.baseline_ms, step.other_ms)
            for step in self._waterfall.steps
            if isinstance(step.label, Why)
        ]
        times = ([first for _, first, _ in found], [second for _, _, second in found])
        shared = [shared_out(each, width) for each, width in zip(times, widths, strict=True)]
        waits = [
            _Wait(why, (first, second), (shared[0][place], shared[1][place]))
            for place, (why, first, second) in enumerate(found)
        ]
        return [each for each in waits if any(each.columns)]


def shared_out(times: list[float], width: int) -> list[int]:
    """Share out columns among times, by their largest remainders: they add up to the width."""
    whole = sum(times)
    if whole <= 0:
        return [0] * len(times)
    exact = [width * each / whole for each in times]
    found = [int(each) for each in exact]
    by_rest = sorted(range(len(times)), key=lambda place: exact[place] - found[place], reverse=True)
    for place in by_rest[: width - sum(found)]:
        found[place] += 1
    return found
