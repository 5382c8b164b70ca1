# SPDX-License-Identifier: Apache-2.0
"""0-RTT data by the client's own qlog, where its early traffic secret is not among the keys: Go's TLS never logs it.

The capture shows how many 0-RTT packets there were. A log that lists exactly as many is believed about what they held.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import polars as pl

from quiclab.evidence.metrics.intervals import IntervalSet

_CLIENTS_LOGS = "raw/client-qlog/"
_SENT_EARLY = (pl.col("packet_type") == "0RTT", pl.col("event") == "sent")
_IS_CUT = pl.any_horizontal(pl.col("stream_id", "length_bytes").is_null())
"""Matches STREAM frames whose stream or length the log does not give."""


def early_data_bytes_by_log(tables: Mapping[str, pl.DataFrame], packets: int) -> int | None:
    """STREAM data sent in 0-RTT packets, each byte once; None if no log lists that many packets with their frames."""
    of_logs = pl.col("source").str.starts_with(_CLIENTS_LOGS)
    sent, frames = (tables[name].filter(of_logs, *_SENT_EARLY) for name in ("packets", "frames"))
    for source, listed in sent.group_by("source", maintain_order=True).len().iter_rows():
        told = frames.filter(pl.col("source") == source)
        streams = told.filter(pl.col("frame_type") == "stream")
        if listed == packets and told.height and streams.filter(_IS_CUT).is_empty():
            return bytes_once(streams)
    return None


def bytes_once(frames: pl.DataFrame) -> int:
    """Bytes that STREAM frames carry, each once however often it was sent; rows of the table `frames`."""
    sent: defaultdict[int, IntervalSet] = defaultdict(IntervalSet)
    spans = frames.select("stream_id", pl.col("offset").fill_null(0), pl.col("length_bytes").fill_null(0)).iter_rows()
    return sum(sent[stream_id].add_length(offset, offset + length) for stream_id, offset, length in spans)
