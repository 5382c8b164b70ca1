# SPDX-License-Identifier: Apache-2.0
"""Sentences and a table about two recordings from elsewhere: where their times differ, and how sure that is."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from quiclab.model import number_text
from quiclab.why.account.levels import Level, Part
from quiclab.why.account.one_end import OneEnd
from quiclab.why.recordings import RecordedStep, Recordings

_SMALL = 0.03
"""Share of what moved in all below which a sentence leaves a part out."""
_PHRASES = {
    Part.SET_UP: "the set-up takes {}",
    Part.REQUEST: "the way from the request to the answer takes {}",
    Part.ARRIVING: "data arrive for {} ({} against {})",
    Part.ANSWER: "the answer takes {} from its first byte to its last",
    Part.WAITS: "waits in which nothing arrives take {}",
    Part.WINDOW_FULL: "waits for a full congestion window take {}",
    Part.CREDIT_USED_UP: "waits for credit take {}",
    Part.OTHER_WAITS: "other waits take {}",
}


def difference_told(found: Recordings) -> str:
    """Say by how much the second transfer took longer, and in which parts."""
    total = found.total.difference.ms
    ends = f"{_ms(found.second.total.ms)} against {_ms(found.first.total.ms)}"
    told = f"{found.names[1]} took {_longer(total)} than {found.names[0]} ({ends})"
    large = [step for step in found.steps if step.has_clear_sign and abs(step.difference.ms) >= _SMALL * found.gross_ms]
    large.sort(key=lambda step: -abs(step.difference.ms))
    unsure = [step for step in found.steps if not step.has_clear_sign]
    parts = number_text.listed([_phrase(step, found) for step in large])
    told = f"{told}: {parts}." if large else f"{told}. No part differs by more than the recordings leave unsure."
    if large and unsure:
        named = number_text.listed([step.part.heading for step in unsure if step.part])
        told = f"{told} The recordings are not exact enough to tell a difference in: {named}."
    return told


def _phrase(step: RecordedStep, found: Recordings) -> str:
    sizes = _sizes(*(int(each.seen.arrivals.size_bytes.sum()) for each in (found.second, found.first)))
    return _PHRASES[step.part].format(_longer(step.difference.ms), *sizes) if step.part else ""


def _sizes(*sizes: int) -> list[str]:
    unit, scale, digits = ("MB", 1e6, 2) if max(sizes) >= 1e6 else ("kB", 1e3, 1)
    return [f"{each / scale:.{digits}f} {unit}" for each in sizes]


def _longer(difference_ms: float) -> str:
    return f"{_ms(abs(difference_ms))} {'longer' if difference_ms > 0 else 'less'}"


def _ms(value: float) -> str:
    return number_text.quantity(value, "ms")


def evidence(name: str, account: OneEnd) -> str:
    """Say what one account was made from, and what else the recording shows."""
    seen = account.seen
    round_trip = seen.round_trip_ns / 1e6
    long = account.long_waits_ms
    rate = f"the path served at {number_text.quantity(account.rate_bit_per_s, 'bit/s')}"
    waits = f"{number_text.counted(len(long), 'wait')} of half of that or more, {_ms(float(long.sum()))} in all"
    told = [
        f"{name}: {account.level}, {account.level.recorded}",
        rate if account.rate_bit_per_s else "packets came in bunches, which show no rate of the path",
        f"the first round trip took {_ms(round_trip)}",
        waits if len(long) else "no wait of half of that or more",
    ]
    if seen.level is Level.E2:
        told.append(f"the answer's packets have {_sizes(int(seen.arrivals.size_bytes.sum()))[0]}")
    if account.missing_ms:
        missing = _ms(account.missing_ms)
        told.append(f"for {missing} bytes had come that could not be read, as earlier ones were missing")
    return "; ".join(told) + "."


def limits(found: Recordings) -> str:
    """Say what two recordings do not show."""
    told = (
        "One transfer each is no test: the numbers are of these two, without an interval and without a verdict. The "
        "column `unsure` has what the recordings leave open. The path's rate and delay are taken for constant."
    )
    levels = {found.first.level, found.second.level}
    if Level.E2 in levels:
        told += " Without keys the answer's beginning and end are told by the sizes of packets."
    if not (found.first.end_is_shown and found.second.end_is_shown):
        told += (
            " No packet of QUIC shows without keys that the answer ended: a capture that stopped early, or a transfer "
            "that was given up, looks like a whole one. The keys tell."
        )
    if Level.E4 in levels:
        told += " A server's log tells when its program read a packet, which may be later than it came."
    return told


def parts_table(found: Recordings) -> Table:
    """Return a row for each part and one for the whole: both times, the difference and what is unsure of it, in ms."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("part: ms")
    first, second = found.names
    for heading in (first, second, f"{second} − {first}\n+ is longer", "unsure"):
        table.add_column(heading, justify="right", no_wrap=True)
    for step in (*found.steps, found.total):
        strong = "bold" if step.part is None else ""
        difference = step.difference
        ends = " … ".join(_decimal(end, signed=True) for end in (difference.low_ms, difference.high_ms))
        table.add_row(
            Text(step.part.heading if step.part else "time to last byte", style=strong),
            *(Text(_decimal(span.ms), style=strong) for span in (step.first, step.second)),
            Text(_decimal(difference.ms, signed=True), style=strong),
            Text(ends, style="dim"),
        )
    return table


def _decimal(value: float, *, signed: bool = False) -> str:
    text = f"{value:+.1f}" if signed else f"{value:.1f}"
    return text.replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")
