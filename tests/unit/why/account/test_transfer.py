# SPDX-License-Identifier: Apache-2.0
"""Accounts as a whole: gapless, exact, in the order of cause and effect, and refused where nothing carries one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trial_records import changed
from unit.evidence.metrics.scenes import quic_scene, tcp_scene
from unit.why.account.stories import Quic, evidence_of_scene, metrics_row, sums

from quiclab.evidence.metrics import Evidence, Unknown
from quiclab.model.tables import TABLES
from quiclab.store.record_form import as_json
from quiclab.why.account import account_of_transfer, account_table, account_totals
from quiclab.why.account.edges import gaps


def test_tcp_to_the_nanosecond(tmp_path: Path) -> None:
    """The SYN is lost; ACKs reach the server at 1071, 1072 and 1074."""
    edges = account_of_transfer(evidence_of_scene(tcp_scene(), tmp_path))
    assert sums(edges) == {
        "set_up_loss": 1000,
        "tcp_handshake": 20,
        "tls_round_trip": 21,
        "request": 10,
        "awaiting_acks": 1,  # the segment of 1052 leaves 1 ms after the request came
        "pacing_or_program": 2,  # that of 1053 is lost before the bottleneck, that of 1054 leaves 3 ms after it
        "loss_detection": 20,
        "last_flight": 10,
    }
    assert sums(edges, "what") == {
        "timer": 1000,
        "propagation_up": 40,
        "propagation_down": 40,
        "client": 1,
        "server": 3,
    }


def test_quic_to_the_nanosecond(tmp_path: Path) -> None:
    """The client's logs of whole milliseconds only say which packet completes the response."""
    assert sums(account_of_transfer(evidence_of_scene(quic_scene(), tmp_path))) == {
        "quic_handshake": 21,
        "request": 12,  # until the response's first packet with data
        "pacing_or_program": 3,
        "loss_detection": 22,
        "last_flight": 10,
    }


@pytest.mark.parametrize("scene", [tcp_scene, quic_scene])
def test_edges_leave_no_gap_and_end_with_the_metric(scene: Any, tmp_path: Path) -> None:
    """Each begins where the one before it ends, from the client's first packet to ttlb_ms; both sums are exact."""
    made = scene()
    evidence = evidence_of_scene(made, tmp_path)
    edges = account_of_transfer(evidence)
    assert not any(gaps(edges))
    total_ms = (edges[-1].until_ns - edges[0].from_ns) / 1e6
    assert total_ms == made.metrics(tmp_path)["ttlb_ms"].value
    totals = account_totals(account_table(evidence))
    assert totals["total_ns"].sum() == edges[-1].until_ns - edges[0].from_ns
    assert totals["edges"].sum() == len(edges)


def _delayed(evidence: Evidence, after_ns: int, by_ns: int) -> Evidence:
    """Delay everything that happened after an instant, in all tables and in the client's own account."""
    tables = {
        name: table.with_columns(
            pl_later(column, after_ns, by_ns) for column in TABLES[name].instants if column in table.columns
        )
        for name, table in evidence.tables.items()
    }
    request = {
        key: value + by_ns if key.endswith("_ns") and isinstance(value, int) and value > after_ns else value
        for key, value in as_json(evidence.trial.first_request).items()
    }
    return Evidence(tables, changed(evidence.trial, client={"requests": [request]}))


def pl_later(column: str, after_ns: int, by_ns: int) -> Any:
    """A column with what lies after an instant moved."""
    import polars as pl

    return pl.when(pl.col(column) > after_ns).then(pl.col(column) + by_ns).otherwise(pl.col(column)).alias(column)


@pytest.mark.parametrize("scene", [tcp_scene, quic_scene])
def test_a_delay_lengthens_one_label_of_each_kind_and_no_other(scene: Any, tmp_path: Path) -> None:
    """Metamorphic: 7 ms within any edge make one *what* and one *why* 7 ms longer, and leave all others."""
    evidence = evidence_of_scene(scene(), tmp_path)
    before = account_of_transfer(evidence)
    tried = 0
    for edge in before:
        if edge.what not in ("propagation_down", "propagation_up", "timer"):
            continue  # at an endpoint 7 ms more are another label: no longer prompted
        after = account_of_transfer(_delayed(evidence, edge.until_ns - 1, 7_000_000))
        for label in ("what", "why"):
            old, new = sums(before, label), sums(after, label)
            grown = {name: new.get(name, 0) - old.get(name, 0) for name in {*old, *new}}
            assert [ms for ms in grown.values() if abs(ms) > 1e-9] == [pytest.approx(7)], (edge, grown)
        tried += 1
    assert tried >= 4


@pytest.mark.parametrize("scene", [tcp_scene, quic_scene])
def test_causes_come_before_effects(scene: Any, tmp_path: Path) -> None:
    """No edge ends before it begins, and none begins before the client's first packet."""
    evidence = evidence_of_scene(scene(), tmp_path)
    edges = account_of_transfer(evidence)
    assert all(edge.length_ns > 0 for edge in edges)
    assert edges[0].from_ns == evidence.zero_ns


def test_what_is_not_covered_is_named(tmp_path: Path) -> None:
    """No number is made up for a kind of transfer whose time passes by other rules; its table has no row."""
    evidence = evidence_of_scene(tcp_scene(), tmp_path)
    other = Evidence(evidence.tables, changed(evidence.trial, expected={"video": {"name": "a"}}))
    with pytest.raises(Unknown, match="none of a transfer"):
        account_of_transfer(other)
    assert account_table(other).is_empty()
    assert account_totals(account_table(other)).is_empty()


def test_without_the_links_log_there_is_no_account(tmp_path: Path) -> None:
    """A capture alone does not tell when the bottleneck was busy."""
    evidence = evidence_of_scene(tcp_scene(), tmp_path)
    without = {name: table for name, table in evidence.tables.items() if name != "link_packets"}
    with pytest.raises(Unknown, match="no log of its link"):
        account_of_transfer(Evidence(without, evidence.trial))


_PACKET_BYTES = 1268
"""Size of a packet with 1,200 bytes of the response, IP header included."""
_WINDOW, _TRIP_MS = 50_000, 20.0
_PACED_MS = _PACKET_BYTES * _TRIP_MS / (1.25 * _WINDOW)


@pytest.mark.parametrize(
    ("gaps", "window", "why"),
    [
        ([1.0] * 12, _WINDOW, "pacing"),
        ([0.3, 1.7] * 6, _WINDOW, "pacing"),
        ([0.0, 0.0, 3.0] * 4, _WINDOW, "pacing"),
        ([1.3] * 12, _WINDOW, "pacing_or_program"),
        ([0.7] * 12, _WINDOW, "pacing_or_program"),
        ([1.0] * 5, _WINDOW, "pacing_or_program"),
        ([1.0] * 12, None, "pacing_or_program"),
    ],
    ids=["its rate", "late and making up", "in bursts", "slower", "faster", "too few packets", "no window in the log"],
)
def test_waits_at_the_rate_of_a_pacer(gaps: list[float], window: int | None, why: str, tmp_path: Path) -> None:
    """RFC 9002 section 7.7: 1.25 windows in a round trip. No packet of the client comes in between."""
    story, sent_ms = Quic(), 33.0
    story.down(sent_ms, 0)
    for number, gap in enumerate(gaps, start=1):
        sent_ms += gap * _PACED_MS
        story.down(sent_ms, 1200 * number, fin=number == len(gaps))
    row = metrics_row(32, window or 0, 0) | {"smoothed_rtt_ms": _TRIP_MS}
    rows = [row if window else row | {"cwnd_bytes": None}]
    scene = story.end(sent_ms + 10, 1200 * (len(gaps) + 1))
    found = sums(account_of_transfer(evidence_of_scene(scene, tmp_path, transport_metrics=rows)))
    assert found[why] == pytest.approx(sent_ms - 33)
    assert {"pacing", "pacing_or_program"} - {why} - found.keys()
