# SPDX-License-Identifier: Apache-2.0
"""0-RTT data by the client's own qlog, where its early traffic secret is not among the keys: Go's TLS never logs it.

The capture shows how many 0-RTT packets there were. A log that lists exactly as many is believed about what they held.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def early_data_bytes_by_log(qlog_dir: Path, packets: int) -> int | None:
    """STREAM data sent in 0-RTT packets, each byte once; None if no log lists that many packets with their frames."""
    for log in sorted(qlog_dir.glob("*.sqlog")):
        sent = list(_sent_early(log))
        if sent and len(sent) == packets:
            frames = [frame for frames in sent for frame in frames if frame.get("frame_type") == "stream"]
            ranges = [_range(frame) for frame in frames]
            if any(sent) and None not in ranges:
                return len({(stream, byte) for stream, part in filter(None, ranges) for byte in part})
    return None


def _sent_early(log: Path) -> Iterator[list[dict[str, Any]]]:
    """The frames of each 0-RTT packet that was sent, from a JSON text sequence (RFC 7464)."""
    with log.open("rb") as records:
        for record in records:
            if b'"0RTT"' not in record:
                continue
            try:
                event = json.loads(record.lstrip(b"\x1e"))
                early = event["data"]["header"]["packet_type"] == "0RTT"
                if early and event["name"].endswith(":packet_sent"):
                    yield [frame for frame in event["data"].get("frames", []) if isinstance(frame, dict)]
            except (ValueError, TypeError, KeyError, AttributeError):
                continue  # A record that was cut, or is of another form.


def _range(frame: dict[str, Any]) -> tuple[int, range] | None:
    """Stream and offsets of a STREAM frame; None if the log does not tell them."""
    raw = frame.get("raw")
    length = raw.get("payload_length") if isinstance(raw, dict) else frame.get("length")
    stream, offset = frame.get("stream_id"), frame.get("offset", 0)
    if not (isinstance(stream, int) and isinstance(offset, int) and isinstance(length, int) and length < 1 << 16):
        return None
    return stream, range(offset, offset + length)
