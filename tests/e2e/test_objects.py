# SPDX-License-Identifier: Apache-2.0
"""Several objects on one connection, with real programs over the emulated link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from by_night import by_night
from small_study import main_only, quiclab, trials, write_spec
from stack_study import need, run_arms, spec_text

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_OTHER = 'protocol = "h2"\nclient = "curl-cffi"\nserver = "caddy"'
"""A study compares: this arm only stands beside the one that is looked at."""


def _most_at_once(trial: dict[str, Any]) -> int:
    requests = trial["client"]["requests"]
    return max(sum(a["start_ns"] <= b["start_ns"] < a["last_byte_ns"] for a in requests) for b in requests)


@pytest.mark.nightly
def test_twenty_objects_of_libcurl(tmp_path: Path) -> None:
    """On one connection of either protocol, all at once; the metrics come from the packets."""
    spec = write_spec(tmp_path, size='50 KB"\ncount = "twenty')  # an offender first: nothing runs
    assert quiclab("run", spec, "--out", tmp_path / "none").returncode == 2
    spec.write_text(spec.read_text().replace('"twenty"', "20"))
    study = tmp_path / "study"
    done = quiclab("run", main_only(spec), "--out", study)
    assert done.returncode == 0, done.stdout + done.stderr
    for trial in trials(study):
        if trial["status"] != "verified":
            continue
        assert len(trial["proof"]["client_sockets"]) == 1
        assert len({request["sha256"] for request in trial["client"]["requests"]}) == 20
        assert _most_at_once(trial) == 20
        assert trial["expected"]["body_bytes"] == 1_000_000
    metrics = pl.read_parquet(study / "metrics.parquet").filter(pl.col("name").str.contains("object"))
    assert metrics["note"].null_count() == metrics.height, metrics["note"].to_list()
    at_once = metrics.filter(pl.col("name") == "objects_at_once")["value"]
    interleaved = pl.read_parquet(study / "metrics.parquet").filter(pl.col("name") == "interleaved_pct")["value"]
    assert interleaved.is_between(1, 100).all(), interleaved.to_list()
    runs = pl.read_parquet(study / "tables" / "object_runs" / "*.parquet")
    assert runs["object"].n_unique() == 20
    # Over QUIC the first request may leave a flight before the others, and be answered before the last of them.
    assert at_once.is_between(10, 20).all(), at_once.to_list()


@pytest.mark.parametrize(
    ("client", "protocol"),
    [
        ("curl-cffi", "h2"),
        ("aioquic", "h3"),
        *by_night(("curl-cffi", "h3"), ("curl", "h2"), ("curl", "h3"), ("quinn", "h3"), ("quiche", "h3")),
        *by_night(("quic-go", "h2"), ("quic-go", "h3")),
    ],
)
def test_mixed_objects_two_at_once(tmp_path: Path, client: str, protocol: str) -> None:
    """Each arrives whole, an empty one too, in the order of the spec as places become free."""
    need(("client", client))
    workload = 'sizes = ["10 KB", "300 KB", "0 B", "50 KB"]\nconcurrency = 2'
    asked = f'protocol = "{protocol}"\nclient = "{client}"\nserver = "caddy"'
    trial = run_arms(tmp_path, {"asked": asked, "other": _OTHER}, size=None, workload=workload)["asked"]
    assert trial["status"] == "verified", trial["reason"]
    requests = trial["client"]["requests"]
    assert [request["body_bytes"] for request in requests] == [10_000, 300_000, 0, 50_000]
    assert requests[2]["start_ns"] >= min(request["last_byte_ns"] for request in requests[:2])
    assert _most_at_once(trial) == 2


def test_a_command_of_which_only_the_whole_is_known(tmp_path: Path) -> None:
    """ngtcp2's client does not tell of each object; the packets do."""
    need(("client", "ngtcp2"))
    spec = tmp_path / "spec.toml"
    asked = 'protocol = "h3"\nclient = "ngtcp2"\nserver = "caddy"'
    spec.write_text(spec_text({"asked": asked, "other": _OTHER}, "50 KB", workload="count = 5"))
    done = quiclab("run", main_only(spec), "--out", tmp_path / "study", "--no-report", timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    trial = next(t for t in trials(tmp_path / "study") if t["row"]["arm"] == "asked" and t["status"] != "void")
    assert trial["status"] == "verified", trial["reason"]
    requests = trial["client"]["requests"]
    assert len({request["sha256"] for request in requests}) == 5
    assert len({(request["start_ns"], request["last_byte_ns"]) for request in requests}) == 1
    metrics = pl.read_parquet(tmp_path / "study" / "tables" / "metrics" / f"{trial['trial_id']}.parquet")
    slowest = metrics.row(by_predicate=pl.col("name") == "slowest_object_ms", named=True)
    assert slowest["note"] is None
    assert 0 < slowest["value"] < (requests[0]["last_byte_ns"] - requests[0]["start_ns"]) / 1e6


def test_several_objects_in_0rtt(tmp_path: Path) -> None:
    """All that are asked for at once go in 0-RTT data; where the server leaves these, all are asked for again."""
    need(("client", "quic-go"), ("server", "quic-go"))
    told = 'protocol = "h3"\nclient = {{ name = "quic-go", session = "early_data" }}\n'
    told += 'server = {{ name = "quic-go", early_data = {} }}'
    arms = {answer: told.format(value) for answer, value in (("accepted", "true"), ("rejected", "false"))}
    kept = run_arms(tmp_path, arms, size="20 KB", workload="count = 5\nconcurrency = 4")
    for answer, trial in kept.items():
        assert trial["status"] == "verified", trial["reason"]
        assert trial["proof"]["early_data"] == answer
        requests = trial["client"]["requests"]
        assert {request["early_data"] for request in requests} == {answer}
        assert len({request["sha256"] for request in requests}) == 5
        assert trial["proof"]["early_data_bytes"] > 4 * 10, "four requests, not one"


def test_a_client_that_cannot_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """With those that can."""
    spec = write_spec(tmp_path, size='50 KB"\ncount = 20\ncontent = "random', client='"wget2"')
    done = quiclab("run", spec, "--out", tmp_path / "study")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "arm 'h2': the client wget2 cannot fetch the 20 objects of object on one connection" in done.stderr
    assert trials(tmp_path / "study") == []
