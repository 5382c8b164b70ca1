# SPDX-License-Identifier: Apache-2.0
"""5 MB at 10 Mbit/s, 10 ms each way, nothing added: the time to the last byte beside the arithmetic minimum.

    minimum = round trips × 20 ms + bytes on the wire × 8 / 10 Mbit/s

HTTP/2: 3 round trips (TCP, TLS 1.3, request). Each DATA frame of at most 16,384 bytes adds 9 bytes (RFC 9113, sections
4.1 and 4.2), each TLS record of at most 16,384 bytes adds 22 (RFC 8446, section 5: header 5, content type 1, tag 16),
and each 1,448 bytes of TCP payload travel in an IPv4 packet of 1,500 (20 IP, 20 TCP, 12 timestamps).

    5,000,000 + 306 × 9 + 306 × 22 = 5,009,486 bytes in 3,460 packets: + 3,460 × 52 = 5,189,406 bytes
    60 ms + 4,151.5 ms = 4,211.5 ms

HTTP/3: 2 round trips (QUIC with TLS 1.3, request). Each DATA frame of at most 32,768 bytes (what the server reads from
its file at once) adds 5 bytes (RFC 9114, section 7.1). Packet sizes are an implementation's choice, so they are as
seen: the most frequent size of a packet of the server's, and the most frequent length of a STREAM frame that the client
received. With 1,391 bytes in packets of 1,464:

    5,000,000 + 153 × 5 = 5,000,765 bytes in 3,596 packets of 1,464: 5,264,544 bytes
    40 ms + 4,211.6 ms = 4,251.6 ms

Left out, which makes the minimum harder to reach: the bytes of the handshake (about 5 ms), header fields, the time at
the edge, smaller packets before path MTU discovery has ended, and whatever slow start and its losses leave idle.
"""

from __future__ import annotations

import math
import statistics
import tempfile
from pathlib import Path

import polars as pl
from _bench import Row, is_quick, print_table
from small_study import quiclab

BODY_BYTES = 5_000_000
RATE_BIT_PER_S = 10_000_000
RTT_MS = 20.0
TARGET = 1.03

SPEC = """
[study]
name = "minimum"
seed = 1
blocks = {blocks}
aa = {{ blocks = 1 }}

# Late by a few milliseconds is nothing here, and a loaded machine must not void the trials.
[limits]
disturbance = "10 %"

[[workload]]
name = "object"
size = "5 MB"

[[path]]
name = "plain"
rate = "10 Mbit/s"
delay = "10 ms"

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = "caddy"
tcp = {{ congestion_control = "reno", initial_window = 32 }}

[[arm]]
name = "h3"
protocol = "h3"
client = "curl-cffi"
server = "caddy"
"""


def minimum_h2_ms() -> float:
    """Least time of HTTP/2 over TLS 1.3 over TCP."""
    framed = BODY_BYTES + 9 * math.ceil(BODY_BYTES / 16384)
    encrypted = framed + 22 * math.ceil(framed / 16384)
    return 3 * RTT_MS + _serialised_ms(encrypted + 52 * math.ceil(encrypted / 1448))


def minimum_h3_ms(packet_bytes: int, stream_bytes: int) -> float:
    """Least time of HTTP/3 whose full packets have `packet_bytes` as IP packets, `stream_bytes` of them the
    response's."""
    framed = BODY_BYTES + 5 * math.ceil(BODY_BYTES / 32768)
    return 2 * RTT_MS + _serialised_ms(math.ceil(framed / stream_bytes) * packet_bytes)


def _serialised_ms(size_bytes: int) -> float:
    return size_bytes * 8e3 / RATE_BIT_PER_S


def full_packet(study: Path, trial_id: str) -> tuple[int, int]:
    """Bytes of the server's most frequent packet, and of the client's most frequent STREAM frame."""
    packets = pl.read_parquet(study / "tables/link_packets" / f"{trial_id}.parquet").filter(
        pl.col("direction") == "down"
    )
    frames = pl.read_parquet(study / "tables/frames" / f"{trial_id}.parquet").filter(
        pl.col("vantage") == "client", pl.col("event") == "received", pl.col("frame_type") == "stream"
    )
    return statistics.mode(packets["size_bytes"]), statistics.mode(frames["length_bytes"])


def rows_of(study: Path) -> list[Row]:
    """One row per protocol: the project's own ttlb_ms of every verified trial."""
    trials = pl.read_parquet(study / "tables/trials.parquet").filter(pl.col("status") == "verified")
    metrics = pl.read_parquet(study / "metrics.parquet").filter(pl.col("name") == "ttlb_ms")
    found = trials.join(metrics, on="trial_id").with_columns(protocol=pl.col("arm").str.slice(0, 2))
    rows = []
    for protocol, name in (("h2", "HTTP/2"), ("h3", "HTTP/3")):
        ours = found.filter(pl.col("protocol") == protocol)
        minimum = minimum_h2_ms() if protocol == "h2" else minimum_h3_ms(*full_packet(study, ours["trial_id"][0]))
        values = ours["value"].to_list()
        ratio = statistics.median(values) / minimum
        against = f"{minimum:.1f} ms, the arithmetic minimum"
        rows.append(Row(f"{name}, {len(values)} trials", values, "ms", against, ratio, f"<= {TARGET}", ratio <= TARGET))
    return rows


def main() -> None:
    """Measure and print."""
    blocks = 1 if is_quick(__doc__) else 3
    with tempfile.TemporaryDirectory() as name:
        spec, study = Path(name, "spec.toml"), Path(name, "study")
        spec.write_text(SPEC.format(blocks=blocks))
        run = quiclab("run", spec, "--out", study, timeout=600)
        if run.returncode != 0:
            raise RuntimeError(f"the study did not run: {run.stdout}{run.stderr}")
        print_table("Time to last byte: 5 MB at 10 Mbit/s, 10 ms each way, nothing added", rows_of(study))


if __name__ == "__main__":
    main()
