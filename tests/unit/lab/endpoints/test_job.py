# SPDX-License-Identifier: Apache-2.0
"""The job files and the account that programs in three languages read and write: one golden file of each.

The programs' own tests parse the same files: `crates/stack-quiche`, `crates/stack-quinn` and `programs/quic-go`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from contexts import CONTEXT

from quiclab.lab.endpoints import Context
from quiclab.lab.endpoints._job import client_job, server_job
from quiclab.lab.runner.account import account_problem
from quiclab.model.study import Knobs, Program
from quiclab.model.units import ByteCount

GOLDEN = Path(__file__).parents[3] / "golden"
KNOBS = Knobs(
    congestion_control="reno",
    connection_window=ByteCount(1_500_000),
    stream_window=ByteCount(1_000_000),
    groups=("x25519", "secp256r1"),
    max_payload=1350,
)
"""What all of these programs have."""


def context(knobs: Knobs) -> Context:
    """Where the program sits, and what it is told."""
    return replace(CONTEXT, program=Program("any", knobs=knobs))


def as_written(job: dict[str, object]) -> dict[str, object]:
    """A job as its file has it."""
    read: dict[str, object] = json.loads(json.dumps(job))
    return read


def golden(name: str) -> dict[str, object]:
    """One of the files."""
    read: dict[str, object] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    return read


def test_a_clients_job_is_the_golden_one() -> None:
    """Three objects, two at a time; a key that is added here must be known to every program that is to have it."""
    several = replace(context(KNOBS), other_objects=("2MB", "3MB"), concurrency=2)
    assert as_written(client_job(several)) == golden("job-client.json")


def test_a_servers_job_is_the_golden_one() -> None:
    """With the two knobs that servers alone have."""
    knobs = replace(KNOBS, max_streams=100, scheduler="round_robin")
    assert as_written(server_job(context(knobs))) == golden("job-server.json")


def test_the_golden_account_is_accepted() -> None:
    """As long as its instants are the trial's."""
    account = golden("client.json")
    assert account_problem(account, 1_000, 5_000) is None
    assert "CLOCK_MONOTONIC" in str(account_problem(account, 1_001, 5_000))


@pytest.mark.parametrize(
    "member", ["url", "http_version", "sha256", "status", "body_bytes", "start_ns", "last_byte_ns"]
)
def test_every_needed_member_stands_in_the_golden_account(member: str) -> None:
    """Without any of them it cannot be used."""
    account = golden("client.json")
    (request,) = account["requests"]  # type: ignore[misc]
    del request[member]
    assert member in str(account_problem(account, 0, 10_000))
