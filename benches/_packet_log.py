# SPDX-License-Identifier: Apache-2.0
"""A reader of the packet log of its own (docs/reference/packet-log.md), so that no decoder is trusted here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

HEADER_BYTES = 64
RECORD = np.dtype(
    [
        ("arrival_ns", "<u8"),
        ("due_ns", "<u8"),
        ("lateness_ns", "<i4"),
        ("queue_bytes", "<u4"),
        ("index", "<u4"),
        ("source_burst", "<u4"),
        ("flow", "<u4"),
        ("size_bytes", "<u2"),
        ("queue_packets", "<u2"),
        ("direction", "u1"),
        ("action", "u1"),
        ("reason", "u1"),
        ("flags", "u1"),
        ("service_ns", "<u4"),
    ]
)
UP, DOWN = 0, 1
DELIVERED = 0


def delivered(path: Path, direction: int) -> npt.NDArray[np.void]:
    """Records of the packets of the workload that were written in this direction, in the order of their due times."""
    records = np.fromfile(path, RECORD, offset=HEADER_BYTES)
    chosen = records[(records["direction"] == direction) & (records["action"] == DELIVERED)]
    return chosen[np.argsort(chosen["due_ns"], kind="stable")]


def written_ns(records: npt.NDArray[np.void]) -> npt.NDArray[np.int64]:
    """The actual instants at which packets were written."""
    return records["due_ns"].astype(np.int64) + records["lateness_ns"]
