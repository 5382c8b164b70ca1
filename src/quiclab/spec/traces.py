# SPDX-License-Identifier: Apache-2.0
"""Mahimahi rate traces: one line for each 1500-byte delivery opportunity, with its instant in whole milliseconds.

The trace repeats after its last instant (Netravali et al., "Mahimahi", USENIX ATC 2015, section 3.2).
"""

from __future__ import annotations

import io
import pathlib

from quiclab.model.units import Bitrate
from quiclab.store.own_files import read_named

OPPORTUNITY_BYTES = 1500


def mean_rate(path: pathlib.Path) -> Bitrate:
    """Mean rate of a trace: bytes of all opportunities over its length.

    Raises ValueError with the line that makes the file no trace.
    """
    last = count = 0
    try:
        with io.TextIOWrapper(io.BytesIO(read_named(path)), encoding="ascii") as lines:
            for number, line in enumerate(lines, start=1):
                instant = line.strip()
                if not instant:
                    continue
                if not instant.isdigit() or int(instant) < last:
                    raise ValueError(f'"{path}" is not a Mahimahi trace: line {number} is not a whole number of '
                                     "milliseconds that is at least the one before")  # fmt: skip
                last, count = int(instant), count + 1
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f'"{path}" cannot be read as a Mahimahi trace: {error}') from error
    if last == 0:
        raise ValueError(f'"{path}" is not a Mahimahi trace: it is empty or ends at 0 ms')
    return Bitrate(count * OPPORTUNITY_BYTES * 8 * 1000 // last)
