# SPDX-License-Identifier: Apache-2.0
"""Mean time of two arms as stacked bars of waits for a terminal, in the order, colours and names of the timeline."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from quiclab.report.words.account import time_text
from quiclab.why.account import Why
from quiclab.why.accounts import Step, Waterfall

_LEAST_COLUMNS = 20
_MARKS = "█▓▒░"
"""Fill of the waits one after the other: they are told apart without colours, too."""


class WaitBars:
    """Two bars of one scale, the baseline above, and a legend with the time of each wait in both arms."""

    def __init__(self, waterfall: Waterfall) -> None:
        self._waterfall = waterfall
        self._steps = [each for each in waterfall.steps if isinstance(each.label, Why)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self._waterfall
        names = [found.comparison.baseline.arm, found.comparison.other.arm]
        totals = [found.total.baseline_ms, found.total.other_ms]
        ends = [f" {time_text(total)}" for total in totals]
        width = options.max_width - max(map(len, names)) - 1 - max(map(len, ends))
        if width < _LEAST_COLUMNS or not max(totals):
            return
        used: set[Why] = set()
        for name, total, end in zip(names, totals, ends, strict=True):
            bar = Text(f"{name:{max(map(len, names))}} ", no_wrap=True)
            times = [step.baseline_ms if name == names[0] else step.other_ms for step in self._steps]
            for step, cells in zip(self._steps, columns(times, round(width * total / max(totals))), strict=True):
                if cells and isinstance(step.label, Why):
                    used.add(step.label)
                    bar.append(self._mark(step) * cells, style=step.label.style.colour)
            yield bar.append(end)
        for step in self._steps:
            if isinstance(step.label, Why) and step.label in used:
                legend = Text("  ", no_wrap=True, overflow="ellipsis")
                legend.append(self._mark(step) * 2, style=step.label.style.colour)
                times_text = f"{names[0]} {time_text(step.baseline_ms)}, {names[1]} {time_text(step.other_ms)}"
                yield legend.append(f" {step.label.heading}: {times_text}")

    def _mark(self, step: Step) -> str:
        return _MARKS[self._steps.index(step) % len(_MARKS)]


def columns(times: list[float], width: int) -> list[int]:
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
