# SPDX-License-Identifier: Apache-2.0
"""Programs that have something to do and get no processor: what of a wait that explains, and what it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from decoders import writers
from trial_records import changed
from unit.evidence.metrics.scenes import ns
from unit.why.account.stories import Quic, Tcp, evidence_of_scene, metrics_row, sums

from quiclab.evidence.metrics import Evidence
from quiclab.why.account import What, Why, account_of_transfer
from quiclab.why.account.edges import Edge, Reason, gaps
from quiclab.why.account.links import path_of
from quiclab.why.account.processor import name_processor_edges

FULL = [metrics_row(32, 2500, 0), metrics_row(33, 2500, 2480)]


def look(role: str, since: float, until: float, longest: float) -> dict[str, Any]:
    """One look at an endpoint's threads, in ms."""
    return {
        "source": "raw/run-delay.jsonl", "role": role, "since_ns": ns(since), "time_ns": ns(until),
        "waited_ns": round(longest * 1e6), "longest_ns": round(longest * 1e6), "threads": 1, "uncertainty_ns": 0,
    }  # fmt: skip


def late_acknowledgment() -> Quic:
    """Two packets fill the window and come at 43; their acknowledgment leaves at 93."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(93, writers.ack((0, 1)))
    story.down(103, 2400)
    story.down(103, 3600, fin=True)
    return story


@pytest.mark.parametrize(
    ("longest", "processor", "window"),
    [(60, 50, 20), (40, 40, 30), (20, None, 70)],
    ids=["all the time", "the last part of it", "less than half"],
)
def test_a_client_without_a_processor_acknowledges_late(
    longest: float, processor: float | None, window: float, tmp_path: Path
) -> None:
    """Its part of the wait is the processor's; the ways there and back are the window's."""
    rows: dict[str, Any] = {"transport_metrics": FULL, "run_delays": [look("client", 60, 110, longest)]}
    edges = account_of_transfer(evidence_of_scene(late_acknowledgment().end(113, 4800), tmp_path, **rows))
    found = sums(edges)
    assert (found.get("processor"), found["slow_start"]) == (processor, window)
    assert not any(gaps(edges))
    assert {str(each.what) for each in edges if each.reason.why == "processor"} == (
        {"ack_held"} if processor else set()
    )


def test_a_look_at_another_time_or_at_the_other_end_explains_nothing(tmp_path: Path) -> None:
    """The wait must have ended about when the endpoint went on."""
    elsewhere = [look("client", 0, 50, 45), look("server", 60, 110, 60)]
    rows: dict[str, Any] = {"transport_metrics": FULL, "run_delays": elsewhere}
    evidence = evidence_of_scene(late_acknowledgment().end(113, 4800), tmp_path, **rows)
    assert "processor" not in sums(account_of_transfer(evidence))


def test_a_kernel_acknowledges_without_its_program(tmp_path: Path) -> None:
    """A delayed acknowledgment of TCP is the kernel's own."""
    story = Tcp()
    story.down(52, 0)
    story.ack(102, 1)
    story.down(112, 1)
    rows: dict[str, Any] = {"run_delays": [look("client", 70, 120, 60)]}
    assert "processor" not in sums(account_of_transfer(evidence_of_scene(story.end(122, 2), tmp_path, **rows)))


@pytest.mark.parametrize(("role", "processor"), [("proxy", 29), ("server", None)])
def test_behind_the_link_is_the_proxy_where_there_is_one(role: str, processor: float | None, tmp_path: Path) -> None:
    """The program that waits for a processor at the far end of the client's link, not its origin."""
    story = Quic()
    story.down(33, 0)
    story.down(33, 1200)
    story.up(43, writers.ack((0, 1)))
    story.down(82, 2400)
    story.down(82, 3600, fin=True)
    story.scene.extra["proxy"] = {"name": "caddy"}
    rows: dict[str, Any] = {"transport_metrics": FULL, "run_delays": [look(role, 50, 100, 29)]}
    edges = account_of_transfer(evidence_of_scene(story.end(92, 4800), tmp_path, **rows))
    assert sums(edges).get("processor") == processor


def test_time_of_the_origin_stays_the_origins(tmp_path: Path) -> None:
    """It is another program, on another path: the proxy's looks say nothing of it."""
    rows = {"run_delays": [look("proxy", 50, 100, 40)]}
    evidence = evidence_of_scene(late_acknowledgment().end(113, 4800), tmp_path, **rows)
    evidence = Evidence(evidence.tables, changed(evidence.trial, proxy={"name": "caddy"}))
    edge = Edge(What.SERVER, ns(50), ns(90), reason=Reason(Why.ORIGIN, "link_packets"))
    assert name_processor_edges(evidence, path_of(evidence, None), [edge]) == [edge]
