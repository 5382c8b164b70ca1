# SPDX-License-Identifier: Apache-2.0
"""Arrivals at one end of a path: the rate at which the path served them, and when each was served.

A packet cannot be served before those in front of it, and may be recorded later than it came (a busy machine, several
packets in one read). So a rate is possible if few packets come sooner after those before them than it allows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_LATE_SHARE = 0.05
"""Share of the packets that may seem to be recorded late."""
_STEPS = 50
_SLOWEST, _FASTEST = 1e3, 1e12
_BATCH = 64
"""Packets of a stretch whose own highest rate is looked at."""
_LATE_NS, _LATE_LEAST_NS, _LATE_MOST_NS = 100_000, 50_000, 1_000_000
"""Time after which a packet counts as recorded late: for the rate, for the highest and for the lowest that is thought
possible. The step of the times comes on top, as programs read late, too."""
_LATE_SERVICES, _LATE_LEAST_SERVICES = 0.25, 0.05
"""Services of the largest packet that the first two of these times are at most: a fast path's packets are near."""
_REGULAR_SHARE, _NEAR_SHARE = 0.2, 0.1
"""Least share of packets that must come one service after another, and how exactly, for a rate to be believed."""
_ABOUT_SHARE, _MOSTLY = 0.5, 0.6
"""Distance from a service up to which a time counts as about that long, and the least share of them that are as near as
a service is: packets that a program was late to read follow on each other as fast as it reads, faster or slower."""
_LEAST_SERVICE_NS = 20_000
"""Service of the largest packet below which nothing tells a path's rate from the speed of reading: 600 Mbit/s."""
_EXACT = 0.001
"""Relative error of a rate at best."""
_IN_TRAIN_NS = 1_000
"""Time between two services up to which the second follows on the first."""


@dataclass(frozen=True)
class Arrivals:
    """Packets in the order in which they came to one end."""

    at_ns: Int64s
    size_bytes: Int64s

    def served_ns(self, bit_per_s: float) -> Floats:
        """The latest possible end of service of each packet, seen from this end, at one rate."""
        total: Floats = np.cumsum(self._service(bit_per_s), dtype=np.float64)
        slack: Floats = np.subtract(self.at_ns, total, dtype=np.float64)[::-1]
        earliest: Floats = np.minimum.accumulate(slack)[::-1]
        return np.add(total, earliest)

    def _service(self, bit_per_s: float) -> Floats:
        service: Floats = np.multiply(self.size_bytes, 8e9 / bit_per_s, dtype=np.float64)
        return service

    def service_ns(self, bit_per_s: float) -> float:
        """Time that all packets take at one rate."""
        return float(self._service(bit_per_s).sum())

    def rate(self, resolution_ns: int) -> float:
        """The rate in bit/s at which the path served, as far as times with a step of `resolution_ns` show it."""
        near_ns = _LATE_SERVICES * self._longest_ns(self._lowest(_LATE_NS + 2 * resolution_ns))
        return self._lowest(min(_LATE_NS, near_ns) + 2 * resolution_ns)

    def _longest_ns(self, bit_per_s: float) -> float:
        return float(self.size_bytes.max()) * 8e9 / bit_per_s

    def service_range_ns(self, resolution_ns: int) -> tuple[float, float]:
        """Least and most time that all packets took, by the rates that the arrivals allow.

        The most allows for a path that becomes slower: each stretch has its own highest rate. A sender that paces
        looks like that, too. It is infinite where packets were read in bunches, which show no rate.
        """
        near_ns = _LATE_LEAST_SERVICES * self._longest_ns(self.rate(resolution_ns))
        late_ns = min(_LATE_LEAST_NS, near_ns) + resolution_ns / 4
        highest = self._lowest(late_ns)
        # A rate that is too low by this share makes no more packets seem late than may be.
        unsure = min(1.0, _EXACT + late_ns / max(self._measured_ns(highest), 1.0))
        least = self.service_ns(highest) * (1 - unsure)
        if not self.show_a_rate(resolution_ns):
            return least, float("inf")
        rate = self._lowest(_LATE_MOST_NS + 4 * resolution_ns)
        most = 0.0
        for each in np.array_split(np.arange(len(self.at_ns)), max(1, len(self.at_ns) // _BATCH)):
            stretch = Arrivals(self.at_ns[each], self.size_bytes[each])
            most += stretch.service_ns(min(rate, stretch.rate(resolution_ns)))
        return least, most * (1 + _EXACT)

    def _measured_ns(self, bit_per_s: float) -> float:
        """Time from a packet to the end of its train, of the packet whose lateness decides about a rate.

        In trains of two packets, as a sender that paces sends them, little time measures the rate.
        """
        served = self.served_ns(bit_per_s)
        begins = np.append((served - self._service(bit_per_s))[1:], np.inf)
        ends = np.where(begins - served > _IN_TRAIN_NS, served, np.inf)
        to_end = np.minimum.accumulate(ends[::-1])[::-1] - served
        return float(np.sort(to_end)[::-1][int(_LATE_SHARE * len(to_end))])

    def show_a_rate(self, resolution_ns: int) -> bool:
        """True if packets came one service after another: read in bunches, or over a path that is too fast for the
        clock, they do not."""
        rate = self.rate(resolution_ns)
        service = self._service(rate)[1:]
        off = np.abs(np.diff(self.at_ns) - service)
        near = off <= _NEAR_SHARE * service + resolution_ns / 2
        about = off <= _ABOUT_SHARE * service + resolution_ns / 2
        is_regular = near.mean() >= _REGULAR_SHARE and near.sum() >= _MOSTLY * about.sum()
        return bool(is_regular) and self._longest_ns(rate) >= _LEAST_SERVICE_NS

    def _lowest(self, late_ns: float) -> float:
        """The lowest rate at which no more than a twentieth of the packets seem to be recorded late."""
        low, high = _SLOWEST, _FASTEST
        allowed = int(_LATE_SHARE * len(self.at_ns))
        for _ in range(_STEPS):
            middle = (low * high) ** 0.5
            late = int((self.at_ns - self.served_ns(middle) > late_ns).sum())
            low, high = (low, middle) if late <= allowed else (middle, high)
        return high
