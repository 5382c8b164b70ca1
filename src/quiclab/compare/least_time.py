# SPDX-License-Identifier: Apache-2.0
"""The time that the path itself needs, however good the protocol: docs/explanation/least-time.md has the formula.

Both arms can be far from it: the difference between them then says little about either.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from quiclab.compare import comparison_words
from quiclab.compare.model import ArmResult, StudyAnalysis
from quiclab.compare.study import Study
from quiclab.model import number_text
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

Entry = Mapping[str, Any]


def least_time_ms(workload: Entry, path: Entry, arm: Entry) -> float | None:
    """Return the time before which no transfer of this workload can end; None unless it is of plain objects of known
    size, over links that are known."""
    size, count = _number(workload.get("size_bytes")), int(workload.get("count") or 1)
    sizes = workload.get("sizes") or workload.get("sizes_bytes")
    if workload.get("kind") != "object" or workload.get("competition") or (size is None and not sizes):
        return None
    count, total = (len(sizes), float(sum(sizes))) if sizes else (count, (size or 0.0) * count)
    links = [path, *(path.get("more_links") or [])]
    if not all(link.get(side) for link in links for side in ("up", "down")):
        return None
    round_trip = sum(_delay_ms(link[side]) for link in links for side in ("up", "down"))
    side = "up" if workload.get("direction") == "upload" else "down"
    serving = max((_serialisation_ms(total, path, link[side], arm) for link in links), default=0.0)
    at_once = int(workload.get("concurrency") or count)
    rounds = math.ceil(count / at_once)
    setup = _setup_round_trips(arm) * sum(
        _delay_ms(link[side]) for link in links[: _links_to_front(arm, links)] for side in ("up", "down")
    )
    if at_once == 1:
        return setup + rounds * round_trip + serving
    return setup + max(rounds * round_trip, round_trip + serving)


def least_time_table(study: Study, analysis: StudyAnalysis) -> list[TextTable]:
    """Every arm in every main cell beside the least; none where no cell has one, or another metric is compared."""
    if analysis.metric.name != METRIC:
        return []
    named = {axis: {item["name"]: item for item in study.items(axis)} for axis in ("workloads", "paths", "arms")}
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    for comparison in analysis.comparisons:
        for arm in (comparison.baseline, comparison.other):
            entries = (
                named["workloads"].get(comparison.workload),
                named["paths"].get(comparison.path),
                named["arms"].get(arm.arm),
            )
            if None in entries:
                continue
            least = least_time_ms(*(entry or {} for entry in entries))
            if least is not None:
                place = comparison_words.cell_name(comparison, analysis)
                rows[comparison.cell_id, arm.arm] = (place, arm.arm, *_beside(arm, least))
    if not rows:
        return []
    return [
        TextTable(
            "Beside the least time that the path needs",
            "The least time is that of the round trips for set-up and request and of the payload, with the smallest "
            "headers, at the bottleneck's rate. Slow start, losses and the programs' own time come on top. Where both "
            "arms take many times as long, neither uses the path well, whichever is faster.",
            ("cell", "arm", "least", "median", "above it", "times the least"),
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


def _setup_round_trips(arm: Entry) -> int:
    client = arm.get("client") or {}
    knobs, front = client.get("knobs") or {}, (arm.get("proxy") or arm.get("server") or {}).get("knobs") or {}
    trips = _SETUP_ROUND_TRIPS.get(str(arm.get("protocol")), 1)
    if "1.2" in (knobs.get("tls_version"), front.get("tls_version")):
        # A full handshake of TLS 1.2 takes two (RFC 5246 section 7.3), and no early data.
        full = knobs.get("session") not in ("resumed", "early_data")
        return trips + 1 if full and client.get("name") not in _FALSE_STARTERS else trips
    return trips - 1 if knobs.get("session") == "early_data" else trips


def _links_to_front(arm: Entry, links: list[Entry]) -> int:
    """Return how many links lie between the client and the program that answers it."""
    if arm.get("proxy") and arm.get("proxy_at") not in (None, "server"):
        names = [link.get("link_name") or link.get("name") for link in links]
        return names.index(arm["proxy_at"]) + 1 if arm["proxy_at"] in names else 0
    return len(links)


def _delay_ms(direction: Entry) -> float:
    """Return the shortest delay that the direction ever has, jitter included."""
    delays = [_number(direction.get("delay_ns")) or 0.0]
    delays += [delay for change in _schedule(direction) if (delay := _number(change.get("delay_ns"))) is not None]
    jitters = [direction.get("jitter"), *(change.get("jitter") for change in _schedule(direction))]
    return max(0.0, min(delays) - max(_earlier_ns(jitter) for jitter in jitters)) / 1e6


def _earlier_ns(jitter: object) -> float:
    if not isinstance(jitter, Mapping):  # none, or a change that ends it
        return 0.0
    return _EARLIEST_SCALES.get(str(jitter.get("distribution")), math.inf) * (_number(jitter.get("scale_ns")) or 0.0)


def _serialisation_ms(size: float, path: Entry, direction: Entry, arm: Entry) -> float:
    """Return the time of the payload with headers at the direction's highest rate; 0 where that is not known."""
    rates = [
        direction.get("rate_bit_per_s"),
        *(c["rate_bit_per_s"] for c in _schedule(direction) if "rate_bit_per_s" in c),
    ]
    numbers = [rate for each in rates if (rate := _number(each)) is not None]
    changes_otherwise = direction.get("trace") or any(
        "trace" in change and change["trace"] for change in _schedule(direction)
    )
    if not numbers or len(numbers) < len(rates) or changes_otherwise:
        return 0.0
    headers = _IP_BYTES.get(int(path.get("ip_version") or 4), 20)
    if arm.get("protocol") == "h3":
        headers += _QUIC_BYTES
    else:
        headers += _TCP_BYTES + (_TIMESTAMPS_BYTES if (arm.get("tcp") or {}).get("timestamps") else 0)
    payload = int(path.get("mtu") or 1500) - headers
    if payload <= 0:
        return 0.0
    packets = math.ceil(size / payload)
    framing = _number(direction.get("overhead_bytes")) or 0.0
    return (size + packets * (headers + framing)) * 8 / max(numbers) * 1000


def _schedule(direction: Entry) -> list[Entry]:
    return [change for change in direction.get("schedule") or [] if isinstance(change, Mapping)]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
