# SPDX-License-Identifier: Apache-2.0
"""Mapping from one clock to another, found from packets that both saw.

A packet passes the sender's log, the sender's capture, the receiver's capture and the receiver's log in this order. So
every packet that two sources saw bounds the offset between their clocks from one side: the offset lies between the
highest lower and the lowest upper bound, and half the distance between them is the uncertainty. This is the interval of
Marzullo 1984, as NTP uses it (RFC 5905 section 11.2.1), with many samples in place of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]

_MOST_DRIFT = 1e-3
"""Largest drift: clocks of machines differ by some 1e-5; beyond this bound the packets were joined wrongly."""
_MOST_BOUNDS = 2000
"""Most bounds that a fit with drift looks at: the tightest one of each of as many stretches of time."""


@dataclass(frozen=True)
class Placement:
    """Maps instants of one clock to another: `time + offset_ns + drift · (time − zero_ns)`."""

    offset_ns: int
    drift: float
    """Fraction by which the source's clock runs slower."""
    zero_ns: int
    uncertainty_ns: int
    joined_packets: int

    @property
    def drift_ppm(self) -> float:
        """Drift in 1e-6: how much faster the source's clock runs than the study's."""
        return -self.drift * 1e6


def fit_clock(times: Int64s, others: Int64s, earlier: npt.NDArray[np.bool_], step_ns: int) -> Placement | None:
    """Map the clock of `times` to that of `others`, which saw the same packets; None without a packet.

    `earlier` says for each packet whether the first clock's source stands before the other's on the packet's way.
    `step_ns` is the sum of the steps of both clocks, which rounding may add to any bound.
    """
    if not times.size:
        return None
    gaps = others - times
    upper, lower = gaps[earlier], gaps[~earlier]
    zero = int(times.min())
    if not upper.size or not lower.size:
        # Bounded from one side only: the spread of the gaps says how far off the bound may be.
        bound = int(upper.min()) if upper.size else int(lower.max())
        spread = abs(int(np.median(gaps)) - bound)
        return Placement(bound, 0.0, zero, spread + step_ns, times.size)
    highest, lowest = int(lower.max()), int(upper.min())
    if highest <= lowest + 2 * step_ns:
        middle = (highest + lowest) // 2
        return Placement(middle, 0.0, zero, max(lowest - highest, 0) // 2 + step_ns, times.size)
    return _with_drift(times - zero, gaps, earlier, zero, step_ns)


def _with_drift(
    since: Int64s, gaps: Int64s, earlier: npt.NDArray[np.bool_], zero: int, step_ns: int
) -> Placement | None:
    """The line between both kinds of bounds with the widest margin; None if a clock would have to drift absurdly."""
    base = int(np.median(gaps))
    x_upper, upper = _tightest(since[earlier], gaps[earlier] - base, np.minimum)
    x_lower, lower = _tightest(since[~earlier], gaps[~earlier] - base, np.maximum)
    # Unknowns: offset, drift per ms, margin. offset + drift·x + margin ≤ upper; offset + drift·x − margin ≥ lower.
    rows = np.vstack(
        [
            np.column_stack([np.ones_like(x_upper), x_upper / 1e6, np.ones_like(x_upper)]),
            np.column_stack([-np.ones_like(x_lower), -x_lower / 1e6, np.ones_like(x_lower)]),
        ]
    )
    from scipy.optimize import linprog  # imported late: it takes as long as a small report, and few clocks drift

    most = _MOST_DRIFT * 1e6
    bounds = [(None, None), (-most, most), (None, None)]
    solved = linprog([0, 0, -1], A_ub=rows, b_ub=np.concatenate([upper, -lower]), bounds=bounds)
    if not solved.success:
        return None
    offset, drift_per_ms, margin = solved.x
    if abs(drift_per_ms) >= most * 0.999:
        return None
    uncertainty = int(abs(margin)) + step_ns
    return Placement(base + round(offset), drift_per_ms / 1e6, zero, uncertainty, since.size)


def _tightest(since: Int64s, gaps: Int64s, keep: np.ufunc) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The tightest bound of each of many stretches of time, with its instant."""
    span = int(since.max()) + 1
    stretch = since * _MOST_BOUNDS // span
    order = np.lexsort((gaps if keep is np.minimum else -gaps, stretch))
    first = np.unique(stretch[order], return_index=True)[1]
    chosen = order[first]
    return since[chosen].astype(np.float64), gaps[chosen].astype(np.float64)
