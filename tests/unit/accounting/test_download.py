# SPDX-License-Identifier: Apache-2.0
"""Accounts of transfers that were written by hand, packet by packet."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from unit.metrics.scenes import Scene, quic_scene, tcp_scene

from quiclab.accounting import Part, account_of_download, account_table
from quiclab.accounting.download import Stretch
from quiclab.decoders import decode_trial
from quiclab.metrics import Evidence, Unknown, evidence_of
from quiclab.tables import TABLES

_Parts = list[tuple[Part, float]]


def _evidence(scene: Scene, folder: Path) -> Evidence:
    trial = scene.lay_out(folder)
    return evidence_of(decode_trial(folder).tables, trial)


def _parts(stretches: list[Stretch]) -> _Parts:
    """Part and ms of each stretch; those without a length (packets that take no time to serve) left out."""
    lengths = [(each.part, (each.until_ns - each.from_ns) / 1e6) for each in stretches]
    return [(part, ms) for part, ms in lengths if ms]


def test_tcp_to_the_nanosecond(tmp_path: Path) -> None:
    """The SYN is lost and belongs to the set-up; ACKs reach the server at 1071, 1072 and 1074."""
    assert _parts(account_of_download(_evidence(tcp_scene(), tmp_path))) == [
        (Part.SET_UP, 1041),
        (Part.REQUEST, 10),
        (Part.IDLE_AWAITING, 1),  # the segment of 1052 leaves 1 ms after the request came
        (Part.IDLE_UNPROMPTED, 2),  # that of 1053 is lost before the bottleneck, that of 1054 leaves 3 ms after it
        (Part.IDLE_AWAITING_AFTER_LOSS, 20),
        (Part.LAST_FLIGHT, 10),
    ]


def test_quic_to_the_nanosecond(tmp_path: Path) -> None:
    """The client's logs of whole milliseconds only say which packet completes the response."""
    assert _parts(account_of_download(_evidence(quic_scene(), tmp_path))) == [
        (Part.SET_UP, 21),
        (Part.REQUEST, 11),
        (Part.IDLE_AWAITING, 1),
        (Part.IDLE_UNPROMPTED, 2),
        (Part.IDLE_UNPROMPTED, 1),
        (Part.IDLE_AWAITING_AFTER_LOSS, 22),
        (Part.LAST_FLIGHT, 10),
    ]


@pytest.mark.parametrize("scene", [tcp_scene, quic_scene])
def test_stretches_leave_no_gap_and_end_with_the_metric(scene: Any, tmp_path: Path) -> None:
    """Each begins where the one before it ends, from the client's first packet to ttlb_ms."""
    made = scene()
    stretches = account_of_download(_evidence(made, tmp_path))
    assert all(before.until_ns == after.from_ns for before, after in pairwise(stretches))
    total_ms = (stretches[-1].until_ns - stretches[0].from_ns) / 1e6
    assert total_ms == made.metrics(tmp_path)["ttlb_ms"].value


def _delayed(evidence: Evidence, after_ns: int, by_ns: int) -> Evidence:
    """Delay everything that happened after an instant, in all tables and in the client's own account."""
    tables = {
        name: table.with_columns(
            pl.when(pl.col(column) > after_ns).then(pl.col(column) + by_ns).otherwise(pl.col(column)).alias(column)
            for column in TABLES[name].instants
            if column in table.columns
        )
        for name, table in evidence.tables.items()
    }
    client = evidence.trial["client"]
    request = {
        key: value + by_ns if key.endswith("_ns") and value > after_ns else value
        for key, value in client["requests"][0].items()
    }
    return Evidence(tables, {**evidence.trial, "client": {**client, "requests": [request]}})


@pytest.mark.parametrize("scene", [tcp_scene, quic_scene])
def test_a_delay_lengthens_the_part_in_which_it_falls_and_no_other(scene: Any, tmp_path: Path) -> None:
    """Metamorphic: 7 ms within any stretch make that stretch 7 ms longer and leave the others as they are."""
    evidence = _evidence(scene(), tmp_path)
    before = [each for each in account_of_download(evidence) if each.until_ns > each.from_ns]
    for at, stretch in enumerate(before):
        middle_ns = stretch.until_ns - 1 if stretch.part is Part.SET_UP else (stretch.from_ns + stretch.until_ns) // 2
        after = account_of_download(_delayed(evidence, middle_ns, 7_000_000))
        lengths = [each.until_ns - each.from_ns for each in after if each.until_ns > each.from_ns]
        wanted = [each.until_ns - each.from_ns for each in before]
        wanted[at] += 7_000_000
        assert lengths == wanted, stretch


@pytest.mark.parametrize(
    ("extra", "kind"),
    [
        ({"expected": {"direction": "upload"}}, "an upload"),
        ({"expected": {"objects": [{}, {}]}}, "several objects"),
        ({"expected": {"page": {"document": "a"}}}, "a page"),
        ({"address_change": {"old_address": "10.0.0.1", "changed_ns": None}}, "a change of address"),
        ({"proxy": {"address": "10.0.0.3"}}, "a proxy"),
    ],
)
def test_what_is_not_covered_is_named(extra: dict[str, Any], kind: str, tmp_path: Path) -> None:
    """No number is made up for a kind of transfer whose time passes by other rules; its table has no row."""
    scene = tcp_scene()
    evidence = _evidence(scene, tmp_path)
    other = Evidence(evidence.tables, {**evidence.trial, **extra})
    with pytest.raises(Unknown, match=f"{kind} is not accounted for"):
        account_of_download(other)
    assert account_table(other).is_empty()


def test_without_the_links_log_there_is_no_account(tmp_path: Path) -> None:
    """A capture alone does not tell when the bottleneck was busy."""
    evidence = _evidence(tcp_scene(), tmp_path)
    without = {name: table for name, table in evidence.tables.items() if name != "link_packets"}
    with pytest.raises(Unknown, match="no log of its link"):
        account_of_download(Evidence(without, evidence.trial))
