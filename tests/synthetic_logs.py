# SPDX-License-Identifier: Apache-2.0
"""What the logs of a trial would have become: the tables that figures of single trials need, for synthetic studies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from quiclab.model.tables import TABLES
from quiclab.why.account import account_totals

ZERO_NS = 1_000_000_000
PACKET_BYTES = 1_250
QUEUE_BYTES = 60_000


def write_logs(study: Path, trial_id: str, packets: int, seed: int = 0) -> None:
    """Tables of one trial in which the link carried `packets` packets towards the client, 1 ms apart at 10 Mbit/s."""
    rng = np.random.default_rng(seed)
    times = ZERO_NS + 30_000_000 + np.cumsum(rng.integers(900_000, 1_100_000, packets))
    queue = np.abs(np.cumsum(rng.integers(-2, 3, packets)) * PACKET_BYTES) % QUEUE_BYTES
    bytes_done = np.arange(1, packets + 1) * PACKET_BYTES
    every = slice(None, None, 2)
    acks = times[every] + 20_000_000
    down = {
        "arrival_ns": times, "due_ns": times + 10_000_000, "direction": ["down"] * packets, "queue_bytes": queue,
        "size_bytes": np.full(packets, PACKET_BYTES), "service_ns": np.full(packets, PACKET_BYTES * 800),
        "left_ns": times + (queue + PACKET_BYTES) * 800,
        "action": np.where(rng.random(packets) < 0.01, "dropped", "delivered").tolist(),
    }  # fmt: skip
    up = {"arrival_ns": [ZERO_NS], "due_ns": [ZERO_NS + 10_000_000], "direction": ["up"], "queue_bytes": [0],
          "size_bytes": [PACKET_BYTES], "service_ns": [PACKET_BYTES * 800], "left_ns": [ZERO_NS + PACKET_BYTES * 800],
          "action": ["delivered"]}  # fmt: skip
    server = {"source": "raw/server.sqlog", "vantage": "server", "connection": "c", "estimate": False}
    client = {"source": "raw/client.sqlog", "vantage": "client", "connection": "c", "direction": "down"}
    window = 12_000 + (np.arange(acks.size) * 700) % 90_000
    rows = {
        "link_packets": {name: [*up[name], *values] for name, values in down.items()},
        "transport_metrics": server
        | {"time_ns": acks, "cwnd_bytes": window, "bytes_in_flight": window * 3 // 4}
        | {"smoothed_rtt_ms": 20 + queue[every] / 1250, "latest_rtt_ms": rng.integers(20_000, 60_000, acks.size) / 1e3},
        "cc_states": server
        | {"time_ns": ZERO_NS + np.arange(3) * 50_000_000}
        | {"new_state": ["slow_start", "recovery", "congestion_avoidance"]},
        "losses": server | {"time_ns": times[: max(1, packets // 100)], "transport": "quic"},
        "http_requests": client
        | {"url": ["https://server/object"], "time_ns": [ZERO_NS], "send_start_ns": [ZERO_NS + 1_000_000]}
        | {"first_byte_ns": [int(times[0])], "last_byte_ns": [int(times[-1]) + 10_000_000]},
        "frames": client
        | {"time_ns": times + 10_000_000, "frame_type": "stream", "stream_id": np.arange(packets) // 10 % 2 * 4}
        | {"length_bytes": np.full(packets, PACKET_BYTES - 50)},
    }
    write_account(study, trial_id, int(rng.integers(80, 120)))
    for name, columns in rows.items():
        _write(study / "tables" / name / f"{trial_id}.parquet", pl.DataFrame(columns), name)
    curve = pl.DataFrame({"x_ms": (acks - ZERO_NS) / 1e6, "bytes": bytes_done[every]})
    curve.write_parquet(_made(study / "tables" / "bytes_acknowledged" / f"{trial_id}.parquet"))
    raw = study / "trials" / trial_id / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    (raw / "client.json").write_text("{}")


def write_account(study: Path, trial_id: str, slow_start_ms: int) -> None:
    """An account of a set-up, a request, slow start, the busy link and the last flight."""
    lengths_ns = np.array([20, 10, slow_start_ms, 200, 10]) * 1_000_000
    ends = ZERO_NS + np.cumsum(lengths_ns)
    account = pl.DataFrame(
        {
            "of": ["ttlb"] * 5,
            "what": ["propagation_up"] * 3 + ["payload", "propagation_down"],
            "why": ["quic_handshake", "request", "slow_start", "link_busy", "last_flight"],
            "from_ns": ends - lengths_ns,
            "until_ns": ends,
            "evidence": ["handshake", "ip_packets", "transport_metrics", "link_packets", "link_packets"],
            "size_bytes": [None] * 3 + [100_000, None],
            "mechanism": [None, None, "slow_start", "bytes_on_the_wire", None],
        }
    )
    facts = pl.DataFrame(
        {"mechanism": ["slow_start"], "fact": ["first_flight"], "value": [14_000.0], "unit": ["bytes"]}
    )
    tables = {"account": account, "account_totals": account_totals(account), "mechanism_facts": facts}
    for name, table in tables.items():
        _write(study / "tables" / name / f"{trial_id}.parquet", table, name)


def _write(file: Path, frame: pl.DataFrame, table: str) -> None:
    schema = TABLES[table].schema()
    frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(dtype).alias(name)
        for name, dtype in schema.items()
    ).write_parquet(_made(file))


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
