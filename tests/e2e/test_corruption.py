# SPDX-License-Identifier: Apache-2.0
"""A path that turns bits over: what arrives damaged is told, counts for nothing, and hides nothing."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from stack_study import need, run_arms

from quiclab.logs.decoders import decode_trial

pytestmark = [pytest.mark.e2e, pytest.mark.netns]


@pytest.mark.nightly
def test_every_packet_that_the_link_damaged_is_known(tmp_path: Path) -> None:
    """By its checksums, in both captures; the rest of the connection is read to its end, and is the trial's proof."""
    need(("client", "curl-cffi"), ("server", "caddy"))
    arms = {name: f'protocol = "{name}"\nclient = "curl-cffi"\nserver = "caddy"' for name in ("h2", "h3")}
    found = run_arms(tmp_path, arms, "1 MB", path='corrupt = "2 %"\n')
    damaged = pl.col("name") == "damaged_packet"
    for name, trial in found.items():
        assert trial["status"] == "verified", trial["reason"]
        assert trial["proof"]["tls_version"] == "TLS 1.3"
        (response,) = trial["proof"]["http_responses"]
        assert (response["status"], response["body_bytes"], response["ended"]) == (200, 1_000_000, True)
        decoded = decode_trial(tmp_path / "study" / "trials" / trial["trial_id"])
        stats, packets = decoded.stats, decoded.tables["link_packets"]
        counts = dict(stats.filter(damaged).select("source", "count").iter_rows())
        # The link's own count has those too that were still on their way at the end, which no end ever saw.
        arrived = packets.filter(pl.col("corrupted"), pl.col("action") == "delivered")
        down, up = (arrived.filter(pl.col("direction") == way).height for way in ("down", "up"))
        assert trial["link"]["down"]["corrupted"] >= down > 3, name
        assert counts.get("raw/client.pcapng", 0) == down
        assert counts.get("raw/server.pcapng", 0) == up
        losses = stats.filter(
            pl.col("severity").is_in(["data_loss", "error"]), pl.col("source").str.ends_with("pcapng")
        )
        assert losses.is_empty(), losses.rows()
