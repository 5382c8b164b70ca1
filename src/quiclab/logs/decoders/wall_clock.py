# SPDX-License-Identifier: Apache-2.0
"""Place sources without common packets by CLOCK_REALTIME, which they share with a source that is placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quiclab.logs.decoders._api import End, Finding
from quiclab.logs.decoders.clocks import Placement
from quiclab.logs.decoders.placing import Source

_OF_BROWSERS = ("har", "netlog", "trace_events", "player")
"""Formats that clients write, whatever their files are called."""
_ONE_MACHINE_NS = 10**9
"""Bound of the difference in offsets on one machine: those of two machines hardly ever agree this well by chance."""
_SYNCHRONISED_NS = 100_000_000
"""Accuracy to which time servers on the Internet keep a machine, with some room: no log tells it."""
_TICKS_NS = 500_000
"""Uncertainty of a NetLog's offset: it is in whole milliseconds, and the decoder takes the middle."""


def align_other_machines(sources: Sequence[Source], realtime_minus_monotonic_ns: int | None) -> list[Source]:
    """Bring sources by CLOCK_MONOTONIC that tell its offset to the study's clock even if they are of another machine.

    The study's clock is that of the machine whose offset is given, or else that of the first source that tells one.
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
    """Place sources by CLOCK_REALTIME that are not placed yet, by the best source whose relation to that clock is
    known.

    At the same end both clocks are the same; otherwise they are assumed to be as close as time servers keep them.
    """
    return [_placed(source, sources) for source in sources]


def _placed(source: Source, sources: Sequence[Source]) -> Source:
    if source.placement is not None or source.clock != "realtime":
        return source
    end = _end(source)
    found = []
    for other in sources:
        if (known := _realtime_placement(other)) is not None:
            is_here = end is not None and _end(other) == end
            error_ns = known.uncertainty_ns + source.resolution_ns // 2 + (0 if is_here else _SYNCHRONISED_NS)
            found.append((error_ns, other.name, known))
    if not found:
        return source
    error_ns, _, known = min(found, key=lambda each: each[:2])
    return replace(
        source, placed_by="shared_realtime", placement=replace(known, uncertainty_ns=error_ns, joined_packets=0)
    )


def _realtime_placement(source: Source) -> Placement | None:
    """Mapping from CLOCK_REALTIME of a source's machine to the study's clock; None if it is unknown."""
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
    """Findings about the sources that only CLOCK_REALTIME places."""
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
