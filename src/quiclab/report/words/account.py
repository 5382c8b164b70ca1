# SPDX-License-Identifier: Apache-2.0
"""Sentences and a table about where two arms' times to the last byte differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from quiclab import wording
from quiclab.accounting import Part
from quiclab.analysis.accounts import Step, Waterfall

_SMALL_PCT = 3.0
"""Share of what moved in all below which a sentence leaves a part out."""
_PHRASES = {
    Part.SET_UP: "set-up takes {}",
    Part.REQUEST: "the request takes {}",
    Part.BUSY: "the bottleneck is busy {} ({} against {} on the wire)",
    Part.IDLE_AWAITING: "the bottleneck is idle {} awaiting ACKs before any loss",
    Part.IDLE_AWAITING_AFTER_LOSS: "the bottleneck is idle {} awaiting ACKs after a loss",
    Part.IDLE_UNPROMPTED: "the bottleneck is idle {} until the server sends unprompted (pacing, timer or program)",
    Part.LAST_FLIGHT: "the last flight takes {}",
}


def because(waterfall: Waterfall, alpha: float) -> str:
    """Say in a sentence or two by how much the other arm's mean time differs, and in which parts."""
    if not waterfall.pairs:
        return "no pair has an account of its time."
    large = sorted(
        (step for step in waterfall.steps if step.differs(alpha) and not _small(step, waterfall)),
        key=lambda step: -abs(step.difference_ms),
    )
    total = waterfall.total
    other, interval = waterfall.comparison.other.arm, f" ({_ends(total)} ms)" if total.interval_ms else ""
    told = (
        f"{other} takes {_longer(total.difference_ms)} on average{interval}"
        if total.differs(alpha)
        else f"the mean times are not shown to differ ({_decimal(total.difference_ms, signed=True)} ms, {_ends(total)})"
    )
    pairs = wording.counted(waterfall.pairs, "pair")
    if not large:
        return f"{told}; {pairs} do not show that any part of the time differs."
    parts = wording.listed([_phrase(step, waterfall) for step in large])
    open_parts = [step.part.heading for step in _undecided(waterfall, alpha) if step.part]
    rest = [abs(step.difference_ms) for step in waterfall.steps if step not in large]
    if open_parts:
        return f"{told}: {parts}. Not decided by {pairs}: {'; '.join(open_parts)}."
    return f"{told}: {parts}. No other part differs by more than {_ms(max(rest, default=0.0))}."


def _small(step: Step, waterfall: Waterfall) -> bool:
    return abs(step.difference_ms) * 100 < _SMALL_PCT * waterfall.gross_ms


def _undecided(waterfall: Waterfall, alpha: float) -> list[Step]:
    """Parts that differ much on average, and that the pairs do not show to differ."""
    return [step for step in waterfall.steps if not step.differs(alpha) and not _small(step, waterfall)]


def _phrase(step: Step, waterfall: Waterfall) -> str:
    if step.part is None:
        raise ValueError("the whole time is no part of itself")
    sizes = (f"{each / 1e6:.2f} MB" for each in reversed(waterfall.served_bytes))
    return _PHRASES[step.part].format(_longer(step.difference_ms), *sizes)


def _longer(difference_ms: float) -> str:
    return f"{_ms(abs(difference_ms))} {'longer' if difference_ms > 0 else 'less'}"


def _ms(value: float) -> str:
    return wording.quantity(value, "ms")


def account_table(waterfall: Waterfall, alpha: float) -> Table:
    """Return one row for each part and one for their sum: means of both arms in ms, difference, interval, p."""
    base, other = waterfall.comparison.baseline.arm, waterfall.comparison.other.arm
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("mean, ms")
    for heading in (base, other, f"{other} − {base}", "interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    for step in (*waterfall.steps, waterfall.total):
        heading = step.part.heading if step.part else "time to last byte"
        strong = "bold" if step.part is None or step.differs(alpha) else ""
        table.add_row(
            Text(heading, style=strong),
            *(Text(_decimal(each)) for each in (step.baseline_ms, step.other_ms)),
            Text(_decimal(step.difference_ms, signed=True), style=strong),
            Text(_ends(step), style="dim"),
            Text(wording.p_text(step.p), style="dim"),
        )
    return table


def _ends(step: Step) -> str:
    if step.interval_ms is None:
        return ""
    return " … ".join(_decimal(end, signed=True) for end in (step.interval_ms.low, step.interval_ms.high))


def _decimal(value: float, *, signed: bool = False) -> str:
    text = f"{value:+.1f}" if signed else f"{value:.1f}"
    return text.replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def left_out(waterfall: Waterfall, reason: str) -> str:
    """Say how many pairs the account lacks, and why the first of them has none."""
    return f"{wording.counted(waterfall.without, 'pair')} without an account: {reason}."


def limits(waterfalls: Sequence[Waterfall], alpha: float) -> str:
    """Say what intervals and p are of, and what the account does not tell."""
    pairs = [each.pairs for each in waterfalls]
    least = f"{min(pairs)} to {max(pairs)}" if min(pairs) < max(pairs) else f"{max(pairs)}"
    level = wording.level(1 - alpha)
    return (
        f"Means over {least} pairs. Intervals: {level} for the whole time and, at once, for all parts of a cell. "
        "A part is bold where its interval excludes 0 and the exact signed-rank test (p) agrees. The account says "
        "where the time went by the packets; it does not prove why."
    )
