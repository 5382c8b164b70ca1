# SPDX-License-Identifier: Apache-2.0
"""Sources that no packet places, on one clock by CLOCK_REALTIME, which they share with a source that is placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quiclab.decoders._api import End, Finding
from quiclab.decoders.clocks import Placement
from quiclab.decoders.placing import Source

_OF_BROWSERS = ("har", "netlog", "trace_events", "player")
"""Formats that clients write, whatever their files are called."""
_ONE_MACHINE_NS = 10**9
"""Clocks of one machine agree better on when it was started; those of two hardly ever do by chance."""
_SYNCHRONISED_NS = 100_000_000
"""What time servers on the Internet keep a machine within, with some room: no log tells it."""
_TICKS_NS = 500_000
"""A NetLog tells its offset in whole milliseconds; the middle of that is what its decoder gives."""


def of_other_machines(sources: Sequence[Source], realtime_minus_monotonic_ns: int | None) -> list[Source]:
    """Sources by CLOCK_MONOTONIC that tell its offset, on the study's clock even if they are of another machine.

    The study's clock is the machine's whose offset is given, else that of the first source that tells one.
    """
    study = realtime_minus_monotonic_ns
    result = []
    for source in sources:
        own = source.realtime_minus_monotonic_ns
        if study is None:
            study = own
        if own is None or study is None or abs(own - study) < _ONE_MACHINE_NS or source.placement is None:
            result.append(source)
            continue
        uncertainty_ns = source.placement.uncertainty_ns + _TICKS_NS + _SYNCHRONISED_NS
        moved = Placement(own - study, 0.0, 0, uncertainty_ns, 0)
        result.append(replace(source, placed_by="shared_realtime", placement=moved))
    return result


def by_realtime(sources: Sequence[Source]) -> list[Source]:
    """Those by CLOCK_REALTIME that are not placed, placed as the best of those is whose relation to it is known.

    At the same end both clocks are one; else they are as close as time servers keep them, which is assumed.
    """
    return [_placed(source, sources) for source in sources]


def _placed(source: Source, sources: Sequence[Source]) -> Source:
    if source.placement is not None or source.clock != "realtime":
        return source
    end = _end(source)
    found = []
    for other in sources:
        if (known := _of_realtime(other)) is not None:
            is_here = end is not None and _end(other) == end
            error_ns = known.uncertainty_ns + source.resolution_ns // 2 + (0 if is_here else _SYNCHRONISED_NS)
            found.append((error_ns, other.name, known))
    if not found:
        return source
    error_ns, _, known = min(found, key=lambda each: each[:2])
    return replace(
        source, placed_by="shared_realtime", placement=replace(known, uncertainty_ns=error_ns, joined_packets=0)
    )


def _of_realtime(source: Source) -> Placement | None:
    """How CLOCK_REALTIME of a source's machine maps to the study's clock; None where nothing says so."""
    placement, offset_ns = source.placement, source.realtime_minus_monotonic_ns
    if placement is None or source.connection is not None:
        return None
    if source.clock == "realtime" and source.placed_by != "shared_realtime":
        return placement
    if source.clock == "monotonic" and offset_ns is not None and source.placed_by == "same_clock":
        return Placement(placement.offset_ns - offset_ns, 0.0, 0, placement.uncertainty_ns + _TICKS_NS, 0)
    return None


def _end(source: Source) -> End | None:
    return "client" if source.format in _OF_BROWSERS else source.vantage


def taken_as_synchronised(sources: Sequence[Source]) -> list[tuple[str, Finding]]:
    """What the reader should know of the sources that only CLOCK_REALTIME places."""
    advice = (
        "no packet places it: its times are right only if its machine's clock was set as well as assumed "
        f"({_SYNCHRONISED_NS // 10**6} ms), which no log tells"
    )
    return [
        (source.name, Finding("clock_taken_as_set", "notice", 1, advice))
        for source in sources
        if source.placed_by == "shared_realtime"
        and source.placement is not None
        and source.placement.uncertainty_ns >= _SYNCHRONISED_NS
    ]
