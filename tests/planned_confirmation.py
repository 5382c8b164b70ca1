# SPDX-License-Identifier: Apache-2.0
"""Studies with stored accounts that were written by hand, and plans of confirming runs from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.spec.read import read_study
from quiclab.study.confirm.plan import Asked, Plan, plan_confirmation
from quiclab.why.mechanisms import SENT_BY, TRIAL

SPEC = """\
[study]
name = "s"
seed = 1
blocks = 4

[[workload]]
name = "1MB"
size = "1 MB"

[[path]]
name = "p"
rate = "20 Mbit/s"
delay = "50 ms"
{path}

[[arm]]
name = "h2"
protocol = "h2"
client = "curl-cffi"
server = {h2}
tcp = {{congestion_control = "cubic", initial_window = 10}}

[[arm]]
name = "h3"
protocol = "h3"
client = {client}
server = {h3}
"""
Times = Mapping[str, Mapping[str, float]]
"""Arm → mechanism → ms in each trial; the name "" is time of none."""
BUFFER: Times = {"h2": {"": 800.0}, "h3": {"": 600.0, "send_buffer_limited": 1000.0}}


def write(
    folder: Path,
    times: Times = BUFFER,
    *,
    blocks: int = 8,
    path: str = "",
    spec: str = SPEC,
    own_senders: bool = True,
    **programs: str,
) -> Path:
    """A study with a spec and accounts: a trial of each arm in each block. With `own_senders` nothing follows from
    anything else."""
    values = {"client": '"curl-cffi"', "h2": '"nginx"', "h3": '"nginx"'} | programs
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text(spec.format(path=path, **values))
    rows, metrics = [], []
    for number, (arm, mechanisms) in enumerate(times.items()):
        for block in range(blocks):
            trial = f"{number:x}{block:x}"
            began = f"2026-01-01T00:{block:02}:{10 * number:02}+00:00"
            rows.append({"trial_id": trial, "kind": "main", "cell_id": "1MB/p", "workload": "1MB", "path": "p"})
            rows[-1] |= {"arm": arm, "baseline_arm": "h2", "block": block, "attempt": 1, "status": "verified"}
            rows[-1] |= {"began_utc": began}
            metrics.append({"trial_id": trial, "name": "ttlb_ms", "value": sum(mechanisms.values())})
            totals = [
                {
                    "of": "ttlb",
                    "why": "link_busy" if not name else "send_buffer",
                    "what": "payload",
                    "evidence": "link_packets",
                }
                | {"mechanism": name or None, "total_ns": int((ms + block) * 1e6), "edges": 1, "size_bytes": 1}
                for name, ms in mechanisms.items()
            ]
            file = folder / "tables" / "account_totals" / f"{trial}.parquet"
            facts = folder / "tables" / "mechanism_facts" / file.name
            for each in (file, facts):
                each.parent.mkdir(parents=True, exist_ok=True)
            pl.DataFrame(totals, TABLES["account_totals"].schema()).write_parquet(file)
            # A number of the trial that says that the arms have different senders: nothing follows from anything.
            sender = [(TRIAL, f"{SENT_BY}{arm if own_senders else 'one'}", 1.0, "", "")]
            pl.DataFrame(sender, TABLES["mechanism_facts"].schema(), orient="row").write_parquet(facts)
    pl.DataFrame(rows, OF_STUDY["trials"].schema()).write_parquet(folder / "tables" / "trials.parquet")
    pl.DataFrame(metrics, OF_STUDY["metrics"].schema()).write_parquet(folder / "metrics.parquet")
    return folder


def plan(study: Path, cause: str | None = None, arm: str | None = None, cell: str = "1MB/p") -> Plan:
    """The plan of a written study."""
    return plan_confirmation(Asked(study, cell, cause, arm), read_study(study / "spec.toml"))
