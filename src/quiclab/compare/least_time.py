# SPDX-License-Identifier: Apache-2.0
"""The time that the path itself needs, however good the protocol: docs/explanation/least-time.md has the formula.

Both arms can be far from it: the difference between them then says little about either.
"""

from __future__ import annotations

import math

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
from quiclab.model.resolved_record import (
    ResolvedArm,
    ResolvedDirection,
    ResolvedJitter,
    ResolvedPath,
    ResolvedProgram,
    ResolvedWorkload,
)
from quiclab.model.text_table import TextTable

METRIC = "ttlb_ms"
_IP_BYTES = {4: 20, 6: 40}
_TCP_BYTES, _TIMESTAMPS_BYTES = 20, 12
_QUIC_BYTES = 8 + 1 + 1 + 16 + 2
"""Smallest headers of a QUIC packet with data: UDP; the short header without a connection id (RFC 9000 17.3.1) and a
packet number of one byte; the AEAD's tag (RFC 9001 5.3); a STREAM frame's type and stream id."""
_SETUP_ROUND_TRIPS = {"h1": 2, "h2": 2, "h3": 1}
"""Round trips before the request, by protocol: TCP and TLS 1.3 take one each, QUIC one for both."""

_EARLIEST_SCALES = {"uniform": 1.0, "normal": 3.67, "pareto": 0.67, "paretonormal": 1.42}
"""Multiples of its scale by which jitter can shorten a delay: the lowest quantile that the link draws, rounded up."""
_FALSE_STARTERS = {"chromium", "firefox"}
"""Clients that send the request with their Finished message in TLS 1.2 (TLS False Start, RFC 7918)."""


def least_time_ms(workload: ResolvedWorkload, path: ResolvedPath, arm: ResolvedArm) -> float | None:
    """Return the time before which no transfer of this workload can end; None unless it is of plain objects of known
    size, over links that are known."""
    size, count = workload.size_bytes, workload.count or 1
    sizes = workload.sizes_bytes
    if workload.kind != "object" or workload.competition or (size is None and not sizes):
        return None
    count, total = (len(sizes), float(sum(sizes))) if sizes else (count, float(size or 0) * count)
    if not all(link.up and link.down for link in path.links):
        return None
    both_ways = zip(path.directions("up"), path.directions("down"), strict=True)
    delays_ms = [_delay_ms(up) + _delay_ms(down) for up, down in both_ways]
    round_trip = sum(delays_ms)
    way = path.directions("up" if workload.direction == "upload" else "down")
    serving = max(_serialisation_ms(total, path, direction, arm) for direction in way)
    at_once = workload.concurrency or count
    rounds = math.ceil(count / at_once)
    setup = _setup_round_trips(arm) * sum(delays_ms[: _links_to_front(arm, path)])
    if at_once == 1:
        return setup + rounds * round_trip + serving
    return setup + max(rounds * round_trip, round_trip + serving)


def least_time_table(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Every arm in every main cell beside the least; none where no cell has one, or another metric is compared."""
    if analysis.metric.name != METRIC:
        return []
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for comparison in analysis.comparisons:
        for arm in (comparison.baseline, comparison.other):
            workload, path = study.workloads.get(comparison.workload), study.paths.get(comparison.path)
            runs = study.arms.get(arm.arm)
            least = None if not (workload and path and runs) else least_time_ms(workload, path, runs)
            if least is not None:
                place = comparison_words.cell_name(comparison, analysis)
                rows[comparison.cell_id, arm.arm] = (place, arm.arm, *_beside(arm, least))
    if not rows:
        return []
    return [
        TextTable(
            "Beside the lower bound of the path",
            "The lower bound is the time of the round trips for handshake and request and of the payload, with "
            "the smallest headers, at the bottleneck's rate. Slow start, losses and the programs' own time come on "
            "top. Where both arms take many times as long, neither uses the path well, whichever is faster.",
            ("cell", "arm", "lower bound", "median", "above it", "times the bound"),
            tuple(rows.values()),
            "",
        )
    ]


def _beside(arm: ArmResult, least: float) -> tuple[str, ...]:
    middle = arm.median
    if middle is None or not math.isfinite(middle):
        return number_text.quantity(least, "ms"), number_text.quantity(middle, "ms"), "–", "–"
    times = f"{middle / least:.2f}" if least > 0 else "–"
    return (
        number_text.quantity(least, "ms"),
        number_text.quantity(middle, "ms"),
        number_text.quantity(middle - least, "ms"),
        times,
    )


def _setup_round_trips(arm: ResolvedArm) -> int:
    client = arm.client or ResolvedProgram()
    trips = _SETUP_ROUND_TRIPS.get(str(arm.protocol), 1)
    if "1.2" in (client.knobs.tls_version, arm.front.knobs.tls_version):
        # A full handshake of TLS 1.2 takes two (RFC 5246 section 7.3), and no early data.
        full = client.knobs.session not in ("resumed", "early_data")
        return trips + 1 if full and client.name not in _FALSE_STARTERS else trips
    return trips - 1 if client.knobs.session == "early_data" else trips


def _links_to_front(arm: ResolvedArm, path: ResolvedPath) -> int:
    """Return how many links lie between the client and the program that answers it."""
    if arm.proxy and arm.proxy_at not in (None, "server"):
        names = [link.name for link in path.links]
        return names.index(arm.proxy_at) + 1 if arm.proxy_at in names else 0
    return len(path.links)


def _delay_ms(direction: ResolvedDirection) -> float:
    """Return the shortest delay that the direction ever has, jitter included."""
    delays = [float(direction.delay_ns or 0)]
    delays += [float(change.delay_ns) for change in direction.schedule if change.delay_ns is not None]
    jitters = [direction.jitter, *(change.jitter for change in direction.schedule)]
    return max(0.0, min(delays) - max(_earlier_ns(jitter) for jitter in jitters)) / 1e6


def _earlier_ns(jitter: ResolvedJitter | str | None) -> float:
    if not isinstance(jitter, ResolvedJitter):  # none, or a change that ends it
        return 0.0
    return _EARLIEST_SCALES.get(str(jitter.distribution), math.inf) * float(jitter.scale_ns or 0)


def _serialisation_ms(size: float, path: ResolvedPath, direction: ResolvedDirection, arm: ResolvedArm) -> float:
    """Return the time of the payload with headers at the direction's highest rate, less a burst that a token bucket
    lets through; 0 where that rate is not known."""
    if direction.rate_bit_per_s is None or direction.trace or any(change.rate for change in direction.schedule):
        return 0.0
    rates = [change.rate_bit_per_s for change in direction.schedule if change.rate_bit_per_s is not None]
    headers = _IP_BYTES.get(path.ip_version or 4, 20)
    if arm.protocol == "h3":
        headers += _QUIC_BYTES
    else:
        headers += _TCP_BYTES + (_TIMESTAMPS_BYTES if arm.tcp and arm.tcp.timestamps else 0)
    payload = (path.mtu or 1500) - headers
    if payload <= 0:
        return 0.0
    packets = math.ceil(size / payload)
    framing = direction.overhead_bytes or 0
    sent = float(size + packets * (headers + framing))
    at_rate = max(0.0, sent - (direction.burst_bytes or 0)) / float(max((direction.rate_bit_per_s, *rates)))
    peak = direction.peak_rate_bit_per_s
    return max(at_rate, sent / float(peak) if peak else 0.0) * 8000
