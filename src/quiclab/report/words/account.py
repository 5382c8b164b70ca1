# SPDX-License-Identifier: Apache-2.0
"""Sentences and tables about why two arms' times to the last byte differ."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich import get_console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from quiclab import wording
from quiclab.accounting import Of, What, Why
from quiclab.analysis.accounts import LEAST_MOVED_PCT, Step, Waterfall
from quiclab.analysis.model import Conclusion, StudyAnalysis

_SMALL_PCT = 3.0
"""Share of what moved in all below which a sentence leaves a category out."""
_MB = 1e6
_MOST = 3
"""Categories that a sentence names where none is decided."""
_NARROW_LABEL, _NARROW_NUMBER = 30, 10
"""Columns of a reason and of a number in a table that has to be narrow."""
_CANCELS = 0.25
"""Share of the gains that losses must reach (or the reverse) for the two to be told as cancelling."""
_PHRASES = {
    Why.LINK_BUSY: "the bottleneck is busy {} ({} against {} on the wire)",
    Why.REQUEST: "the request and the server's first answer take {}",
    Why.BROWSER: "the browser itself takes {}",
    Why.PLAYER: "the player itself takes {}",
    Why.SET_UP: "the set-up takes {}",
    Why.CHANGE_OF_ADDRESS: "until the body goes on after the change of address it takes {}",
    Why.AMPLIFICATION_LIMIT: "the limit of three times what had come from a new address costs {}",
    Why.SET_UP_LOSS: "losses in the set-up cost {}",
    Why.LAST_FLIGHT: "the last flight takes {}",
    Why.ANSWER: "the server's answer to the upload takes {}",
    Why.UNEXPLAINED: "time without an explanation is {}",
}
_WAITING = {
    Why.ORIGIN: "the proxy's origin",
    Why.SLOW_START: "a window still growing in slow start",
    Why.WINDOW_AFTER_LOSS: "a window that a loss had reduced",
    Why.WINDOW_AFTER_EXIT: "a window that had left slow start without a loss",
    Why.WINDOW: "a full congestion window",
    Why.STREAM_CREDIT: "credit of the stream",
    Why.CONNECTION_CREDIT: "credit of the connection",
    Why.LATER_REQUEST: "the next object to be asked for",
    Why.STREAM_LIMIT: "a limit on the number of streams",
    Why.RECEIVE_WINDOW: "TCP's receive window",
    Why.SEND_BUFFER: "the sender's own send buffer",
    Why.CONTESTED: "window and credit at once",
    Why.LOSS_DETECTION: "a loss to be noticed",
    Why.AWAITING_ACKS: "ACKs or credit (no log says for what)",
    Why.LOSS_TIMER: "a loss timer",
    Why.PROBE_TIMER: "a probe timer",
    Why.PACING: "pacing",
    Why.NAGLE: "an ACK that Nagle's algorithm asks for",
    Why.CORK: "a corked socket",
    Why.KEPT_IN_KERNEL: "the sender's kernel, which does not pace (Nagle's algorithm, a cork or small queues)",
    Why.APPLICATION: "the sender's application",
    Why.SCHEDULING: "another stream's turn",
    Why.PACING_OR_PROGRAM: "pacing or the sender's program (no log says which)",
    Why.PROCESSOR: "a program that got no processor",
    Why.LABORATORY: "the laboratory itself (packets that its link wrote late)",
}

_LEAST_MS = 0.1
"""Difference below which no number is given for what is left."""
_TOLD = frozenset({*_PHRASES, *_WAITING})
"""Reasons that have a phrase: the round trips of a set-up are told as one."""


def leaning(total: Step, alpha: float) -> str:
    """Say that the pairs lean one way, where they do though nothing is shown of the mean; else empty."""
    if not total.leans(alpha) or total.p_adjusted is None:
        return ""
    return f", though the pairs lean one way (p {wording.p_sign(total.p_adjusted)})"


def because(waterfall: Waterfall, alpha: float) -> str:
    """Say in a sentence or two by how much the other arm's mean time differs, and for which reasons."""
    if not waterfall.pairs:
        return "no pair has an account of its time."
    comparison = waterfall.comparison
    if comparison.conclusion is Conclusion.NOT_JUDGED:
        return f"not judged. {comparison.why}"
    large = sorted(
        (step for step in waterfall.steps if step.differs(alpha) and not _small(step, waterfall)),
        key=lambda step: -abs(step.difference_ms),
    )
    total = waterfall.total
    other, interval = comparison.other.arm, f" ({_interval(total)})" if total.interval_ms else ""
    told = (
        f"{other} takes {longer(total.difference_ms)} on average{interval}"
        if total.differs(alpha)
        else f"the mean times are not shown to differ ({_open(total)}){leaning(total, alpha)}"
    )
    pairs = wording.counted(waterfall.pairs, "pair")
    if not large:
        most = sorted(_undecided(waterfall, alpha), key=lambda step: -abs(step.difference_ms))[:_MOST]
        named = [_named(step) for step in most if step.label]
        largest = f" Largest on average, and not decided: {wording.listed(named)}." if named else ""
        verb = "does" if waterfall.pairs == 1 else "do"
        reasons = wording.counted(waterfall.tested, "reason")
        return f"{told}; corrected for {reasons}, {pairs} {verb} not show that one of them differs.{largest}"
    parts = wording.listed([_phrase(step, waterfall) for step in large])
    told = f"{told}: {parts}.{_cancelling(large)}"
    open_parts = [step.label.heading for step in _undecided(waterfall, alpha) if step.label]
    rest = [abs(step.difference_ms) for step in waterfall.steps if step not in large]
    if open_parts:
        return f"{told} Not decided by {pairs}: {'; '.join(open_parts)}."
    beyond = max(rest, default=0.0)
    bound = f"more than {_ms(beyond)}" if beyond >= _LEAST_MS else f"as much as {_ms(_LEAST_MS)}"
    return f"{told} Nothing else differs by {bound}."


def clauses(waterfall: Waterfall) -> list[tuple[str, Why]]:
    """The clauses that `because` may have, each with the reason whose numbers are in it."""
    return [
        (clause, step.label)
        for step in waterfall.steps
        if isinstance(step.label, Why)
        for clause in (_named(step), *([_phrase(step, waterfall)] if step.label in _TOLD else []))
    ]


def _named(step: Step) -> str:
    return f"{step.label.heading if step.label else ''} ({_decimal(step.difference_ms, signed=True)} ms)"


def _open(total: Step) -> str:
    ends = f", {_ends(total)}" if total.interval_ms else ""
    return f"{_decimal(total.difference_ms, signed=True)} ms{ends}"


def _cancelling(large: Sequence[Step]) -> str:
    """Say so where gains and losses are both large: their sum alone would hide them."""
    losses = sum(step.difference_ms for step in large if step.difference_ms > 0)
    gains = -sum(step.difference_ms for step in large if step.difference_ms < 0)
    if min(gains, losses) < _CANCELS * max(gains, losses) or not min(gains, losses):
        return ""
    return f" These work against each other: {_ms(losses)} more, {_ms(gains)} less."


def parting(waterfall: Waterfall, alpha: float) -> str:
    """Say in which role of the transfer the arms first part; "" where no role is shown to differ."""
    first = next((step for step in waterfall.roles if step.differs(alpha) and not _small(step, waterfall)), None)
    if first is None or first.label is None:
        return ""
    return f"The arms part first in the {first.label.heading}: {longer(first.difference_ms)}."


def _small(step: Step, waterfall: Waterfall) -> bool:
    return abs(step.difference_ms) * 100 < _SMALL_PCT * waterfall.gross_ms


def _undecided(waterfall: Waterfall, alpha: float) -> list[Step]:
    """Categories that differ much on average, and that the pairs do not show to differ."""
    return [step for step in waterfall.steps if not step.differs(alpha) and not _small(step, waterfall)]


def _phrase(step: Step, waterfall: Waterfall) -> str:
    if not isinstance(step.label, Why):
        raise TypeError("only reasons have a phrase")
    unit, scale = ("MB", 1e6) if max(waterfall.served_bytes) >= _MB else ("kB", 1e3)
    sizes = (f"{each / scale:.{2 if unit == 'MB' else 1}f} {unit}" for each in reversed(waterfall.served_bytes))
    if step.label in _WAITING:
        return f"waiting for {_WAITING[step.label]} takes {longer(step.difference_ms)}"
    told = _PHRASES[step.label].format(longer(step.difference_ms), *sizes)
    others = next((each for each in waterfall.floor if each.label is What.OTHER_FLOW), None)
    if step.label is not Why.LINK_BUSY or others is None or not max(others.baseline_ms, others.other_ms):
        return told
    return f"{told}, where other flows' packets take {longer(others.difference_ms)}"


def longer(difference_ms: float) -> str:
    """Return a difference without its sign: `12 ms longer`, `12 ms less`."""
    return f"{_ms(abs(difference_ms))} {'longer' if difference_ms > 0 else 'less'}"


def _ms(value: float) -> str:
    return wording.quantity(value, "ms")


def account_table(waterfall: Waterfall, alpha: float, width: int | None = None) -> Table:
    """Return one row for each reason and one for their sum: means of both arms in ms, difference, interval, p, and the
    tables that decided it; within a width, these stand below the reason where they have no place beside it."""
    narrow = width is not None and _natural_width(account_table(waterfall, alpha)) > width
    table = _table(waterfall, "why: mean, ms", narrow=narrow)
    if not narrow:
        table.add_column("decided by")
    for step in (*waterfall.steps, waterfall.total):
        heading, *rest = _cells(step, alpha, waterfall.of)
        decided = Text(_evidence(step, waterfall), style="dim")
        if narrow and decided.plain:
            heading = Text("\n  ").join((heading, decided))
        table.add_row(heading, *rest, *(() if narrow else (decided,)))
    return table


def floor_table(waterfall: Waterfall, alpha: float, width: int | None = None) -> Table:
    """Return one row for each thing that passes the time, those of less than 0.05 ms in both arms left out."""
    narrow = width is not None and _natural_width(floor_table(waterfall, alpha)) > width
    table = _table(waterfall, "what: mean, ms", narrow=narrow)
    for step in waterfall.floor:
        if max(step.baseline_ms, step.other_ms) >= 0.05:
            table.add_row(*_cells(step, alpha, waterfall.of))
    return table


def _natural_width(table: Table) -> int:
    """Columns that a table takes where no line of it is broken."""
    console = get_console()  # measures only, nothing is printed
    return Measurement.get(console, console.options.update(max_width=10_000), table).maximum


def _table(waterfall: Waterfall, title: str, *, narrow: bool) -> Table:
    base, other = waterfall.comparison.baseline.arm, waterfall.comparison.other.arm
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column(title, width=_NARROW_LABEL if narrow else None, no_wrap=not narrow)
    difference = f"{other} − {base}"
    for heading in (base, other, difference, "interval", "p"):
        name = "difference" if narrow and heading == difference else heading
        folds = narrow and heading == "interval"
        table.add_column(_folded(name) if narrow else name, justify="right", no_wrap=not folds)
    return table


def _folded(name: str) -> str:
    """An arm's name in lines that are no wider than a number."""
    return "\n".join(textwrap.wrap(name, _NARROW_NUMBER))


def _cells(step: Step, alpha: float, of: Of) -> list[Text]:
    heading = step.label.heading if step.label else of.heading
    strong = "bold" if step.label is None or step.differs(alpha) else ""
    return [
        Text(heading, style=strong),
        *(Text(_decimal(each)) for each in (step.baseline_ms, step.other_ms)),
        Text(_decimal(step.difference_ms, signed=True), style=strong),
        Text(_ends(step), style="dim"),
        Text(wording.p_text(step.p_adjusted), style="dim"),
    ]


def _evidence(step: Step, waterfall: Waterfall) -> str:
    """The tables, once where both arms have the same."""
    first, second = (", ".join(each) for each in step.evidence)
    if first == second or not first or not second:
        return first or second
    return f"{waterfall.comparison.baseline.arm}: {first}; {waterfall.comparison.other.arm}: {second}"


def _ends(step: Step) -> str:
    if step.interval_ms is None:
        return ""
    return " … ".join(_decimal(end, signed=True) for end in (step.interval_ms.low, step.interval_ms.high))


def _interval(total: Step) -> str:
    """The interval of a difference, in the unit in which a sentence has the difference."""
    if total.interval_ms is None:
        return ""
    seconds = abs(total.difference_ms) >= 1000
    ends = (total.interval_ms.low, total.interval_ms.high)
    told = [f"{end / 1000:+.2f}".replace("-", "−") if seconds else _decimal(end, signed=True) for end in ends]
    return " … ".join(told) + (" s" if seconds else " ms")


def _decimal(value: float, *, signed: bool = False) -> str:
    text = f"{value:+.1f}" if signed else f"{value:.1f}"
    return text.replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def left_out(waterfall: Waterfall, reason: str) -> str:
    """Say how many pairs the account lacks, and why the first of them has none."""
    return f"{wording.counted(waterfall.without, 'pair')} without an account: {reason}."


def of_another_time(metric: str, of: Of, study: str | None) -> str:
    """Say that accounts are of another time than the metric that is compared, and which command shows them, where a
    study's name is given; "" where they are not of another time."""
    if metric == of.metric:
        return ""
    named = "the time to the last byte" if of is Of.TTLB else f"the {of.heading}"
    told = f"The reasons are those of `{of.metric}`, {named}, and not of `{metric}`"
    shown = f" See `quiclab explain {study}`." if study else ""
    if metric == "upload_ms":
        return f"{told}: without the row `answer` they are.{shown}"
    if metric == "ttfb_ms":
        shown = f" See `quiclab explain {study}` for these; in" if study else " In"
        return f"{told}.{shown} Python, `account_of_transfer(evidence, 'ttfb_ms')` has those of one trial."
    return f"{told}.{shown}"


def of_one_look(analysis: StudyAnalysis) -> str:
    """Say that tests of reasons are those of a single look, where the answer allows for several; "" elsewhere."""
    if not analysis.sequential:
        return ""
    return (
        "The answer allows for looks before the end; the reasons do not: their intervals and p are those of a single "
        "look, and miss more often than they say. Take them as a description, and the verdict from the answer."
    )


def limits(waterfalls: Sequence[Waterfall], alpha: float) -> str:
    """Say what intervals and p are of, and what the account does not tell."""
    pairs = [each.pairs for each in waterfalls]
    least = f"{min(pairs)} to {max(pairs)} pairs" if min(pairs) < max(pairs) else wording.counted(max(pairs), "pair")
    return (
        f"Means over {least}. Of the rows that are bold, at most {100 * alpha:g} % are expected to "
        "be false alarms or to have an interval that misses (Benjamini–Hochberg over the rows of a table; exact "
        f"signed-rank test; a row without p has less than {LEAST_MOVED_PCT:g} % of what moves within "
        "pairs, and is not tested). Reasons, causes and stages of the transfer are each corrected for their own "
        "number, so that one kind may show what another does not. The account says what the packets and the logs show "
        "of each wait."
    )
