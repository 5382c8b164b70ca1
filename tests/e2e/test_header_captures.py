# SPDX-License-Identifier: Apache-2.0
"""Captures of headers, the default of large studies: what they lose for an account of time, on real trials."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from cut_captures import cut_trial
from stack_study import need, run_arms
from trial_records import record

from quiclab.evidence.metrics import evidence_of
from quiclab.logs.decoders import decode_trial
from quiclab.why.account import account_table

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_WINDOW_BYTES = 65_536


def _account(trial: Path) -> dict[str, float]:
    """Why → ms."""
    told = json.loads((trial / "trial.json").read_text())
    edges = account_table(evidence_of(decode_trial(trial).tables, record(told)))
    ms = (pl.col("until_ns") - pl.col("from_ns")).sum() / 1e6
    return dict(edges.group_by("why").agg(ms).iter_rows())


def _without_credit(account: dict[str, float]) -> dict[str, float]:
    """Put what may be a wait for credit together."""
    known = {why: ms for why, ms in account.items() if why not in ("application", "awaiting_acks")}
    return known | {"either": sum(account.values()) - sum(known.values())}


@pytest.mark.nightly
def test_all_is_there_but_how_much_of_http2_credit_is_used(tmp_path: Path) -> None:
    """Of both protocols every reason is the same to the nanosecond. Where HTTP/2's window is small, waits for it are no
    longer told from waits for acknowledgments; they are not taken for a program that has nothing to send."""
    need(("client", "quic-go"), ("server", "caddy"))
    programs = f'server = "caddy"\nclient = {{ name = "quic-go", stream_window = "{_WINDOW_BYTES} B" }}'
    arms = {
        "free": 'protocol = "h2"\nserver = "caddy"\nclient = "quic-go"',
        "small": f'protocol = "h2"\n{programs}',
        "h3": f'protocol = "h3"\n{programs}',
    }
    found = run_arms(tmp_path, arms, size="600 KB", delay="20 ms")
    both = {}
    for name, trial in found.items():
        kept = tmp_path / "study" / "trials" / trial["trial_id"]
        cut = tmp_path / name
        shutil.copytree(kept, cut)
        cut_trial(cut / "raw")
        assert (cut / "raw" / "client.pcapng").stat().st_size < (kept / "raw" / "client.pcapng").stat().st_size
        both[name] = _account(kept), _account(cut)
    assert both["h3"][1] == pytest.approx(both["h3"][0])
    whole, headers = map(_without_credit, both["free"])
    assert headers == pytest.approx(whole)
    whole, headers = both["small"]
    assert sum(headers.values()) == pytest.approx(sum(whole.values()))
    assert whole["stream_credit"] > 50
    assert headers.get("application", 0) <= whole.get("application", 0) + 1
    assert headers["awaiting_acks"] > 0.5 * whole["stream_credit"]
