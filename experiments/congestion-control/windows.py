# SPDX-License-Identifier: Apache-2.0
"""The congestion windows of each arm of this study, as the senders themselves tell them.

usage: python experiments/congestion-control/windows.py STUDY

TCP: snd_cwnd of the server's connection (TCP_INFO). QUIC: the congestion window in the server's qlog; a server that
writes none (HAProxy, Envoy) shows its choice by the time that it took.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

import polars

from quiclab.logs.decoders.tcp_info_tables import read_tcp_info_log


def windows_bytes(study: Path, trial: Path) -> list[int]:
    """Every window that the sender told, in bytes; empty where it tells none."""
    samples = trial / "raw" / "server.tcpinfo"
    if samples.exists():
        # The warm-up before the transfer is a connection of the server's end to itself.
        transfer = read_tcp_info_log(samples).samples.filter(
            polars.col("remote_address") != polars.col("local_address")
        )
        return transfer.select(polars.col("snd_cwnd") * polars.col("snd_mss_bytes")).to_series().to_list()
    table = study / "tables" / "transport_metrics" / f"{trial.name}.parquet"
    if not table.exists():
        return []
    return polars.read_parquet(table).filter(polars.col("vantage") == "server")["cwnd_bytes"].drop_nulls().to_list()


def main() -> None:
    """One row an arm: medians over its trials."""
    study = Path(sys.argv[1])
    rows = defaultdict(list)
    for file in sorted(study.glob("trials/*/trial.json")):
        trial = json.loads(file.read_text())
        request = trial["client"]["requests"][0]
        told = windows_bytes(study, file.parent)
        rows[trial["row"]["arm_name"]].append(
            (
                (request["last_byte_ns"] - request["start_ns"]) / 1e9,
                statistics.median(told) / 1000 if told else None,
                max(told) / 1000 if told else None,
            )
        )
    print("| arm | trials | time | median window | largest window |\n|---|---|---|---|---|")
    for arm, found in rows.items():
        seconds, median, largest = (
            [value for value in column if value is not None] for column in zip(*found, strict=True)
        )
        cells = (f"{statistics.median(values):.0f} KB" if values else "not told" for values in (median, largest))
        print(f"| {arm} | {len(found)} | {statistics.median(seconds):.1f} s | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
