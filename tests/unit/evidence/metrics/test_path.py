# SPDX-License-Identifier: Apache-2.0
"""The path as measured, from packet logs that were written by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from decoders import writers
from trial_records import record
from unit.evidence.metrics import scenes

from quiclab.evidence.metrics import Evidence, MetricRow, Unknown
from quiclab.evidence.metrics.path import trials_at_once

SERVICE_NS = 1_200_000


def metrics_of(records: list[bytes], folder: Path) -> dict[str, MetricRow]:
    """Metrics of a trial of which only the packet log exists."""
    scene = scenes.Scene("h2", log=records)
    return scene.metrics(folder)


def test_queue_drops_are_lost_packets_but_not_path_loss(tmp_path: Path) -> None:
    """The loss in per cent compares with the loss that was asked for; the count holds every drop."""
    drops = [
        writers.record("down", index, 5, action=1, reason=reason) for index, reason in enumerate([1, 2, 2, 3, 4, 5, 6])
    ]
    kept = [writers.record("down", 7, 5, 10), writers.record("down", 2**32 - 1, 5, 10, action=2)]
    metrics = metrics_of([*drops, *kept], tmp_path)
    assert metrics["lost_packets_down"].value == 7
    assert metrics["path_loss_down_pct"].value == pytest.approx(100 * 4 / 8)
    assert metrics["lost_packets_up"].note == "the packet log holds no packet going up"


def test_rtt_is_the_shortest_way_up_plus_the_shortest_down(tmp_path: Path) -> None:
    """Queued packets do not lengthen it."""
    records = [
        writers.record("up", 0, 0, 10_000_000),
        writers.record("up", 1, 0, 12_000_000),
        writers.record("down", 0, 100, 30_000_100),
    ]
    assert metrics_of(records, tmp_path)["path_rtt_min_ms"].value == pytest.approx(40)


def busy(index: int, left_ns: int, queue_packets: int, *, reason: int = 0, size_bytes: int = 1500) -> bytes:
    """A packet that met a queue of so many packets and left at a given instant (0: it was lost)."""
    return writers.record(
        "down",
        index,
        0,
        left_ns,
        queue=(1500 * queue_packets, queue_packets),
        service_ns=SERVICE_NS,
        action=1 if reason else 0,
        reason=reason,
        size_bytes=size_bytes,
    )


def test_rate_counts_only_gaps_in_which_the_bottleneck_was_busy(tmp_path: Path) -> None:
    """An idle second between two bursts does not lower it; a full queue's drops have no part in it."""
    bursts = [
        busy(0, SERVICE_NS, 0),
        busy(1, 2 * SERVICE_NS, 1),
        busy(2, 0, 2, reason=2),
        busy(3, 10**9, 0),
        busy(4, 10**9 + SERVICE_NS, 1),
    ]
    assert metrics_of(bursts, tmp_path)["path_rate_down_bit_per_s"].value == pytest.approx(10_000_000)


def test_rate_counts_packets_that_were_lost_behind_the_bottleneck(tmp_path: Path) -> None:
    """They took their service time."""
    burst = [busy(0, SERVICE_NS, 0), busy(1, 0, 1, reason=3), busy(2, 3 * SERVICE_NS, 2)]
    assert metrics_of(burst, tmp_path)["path_rate_down_bit_per_s"].value == pytest.approx(10_000_000)


def test_an_idle_bottleneck_has_no_rate(tmp_path: Path) -> None:
    """Null rather than infinite."""
    row = metrics_of([busy(0, 5, 0), busy(1, 9, 0)], tmp_path)["path_rate_down_bit_per_s"]
    assert (row.value, row.note) == (None, "the bottleneck was never busy")


def test_a_few_packets_that_were_late_tell_no_rate(tmp_path: Path) -> None:
    """The second left its service time after the first, but the first was written late: 13 Mbit/s of a link of 10."""
    first = writers.record("down", 0, 0, SERVICE_NS, lateness_ns=SERVICE_NS // 4, service_ns=SERVICE_NS)
    row = metrics_of([first, busy(1, 2 * SERVICE_NS, 1)], tmp_path)["path_rate_down_bit_per_s"]
    assert row.value is None
    assert row.note == (
        "the bottleneck was busy for 1 packets, too few beside how late they were written, or how their delay varied"
    )


def test_a_few_packets_under_jitter_tell_no_rate(tmp_path: Path) -> None:
    """The second was due a quarter of its service time after the first, whose delay was longer."""
    first = writers.record("down", 0, 0, SERVICE_NS, service_ns=SERVICE_NS)
    row = metrics_of([first, busy(1, SERVICE_NS + SERVICE_NS // 4, 1)], tmp_path)["path_rate_down_bit_per_s"]
    assert row.value is None


def test_lateness_queue_and_bytes_are_those_of_the_log(tmp_path: Path) -> None:
    """The 99th percentile is a value that occurred; duplicates of the link's own making are not the server's bytes."""
    records = [writers.record("down", index, 0, 9, lateness_ns=1000 * index, size_bytes=1000) for index in range(100)]
    records.append(writers.record("up", 0, 0, 9, queue=(4500, 3), lateness_ns=-5))
    records.append(writers.record("down", 0, 0, 9, flags=1, size_bytes=1000))
    metrics = metrics_of(records, tmp_path)
    assert metrics["lateness_p99_us"].value == pytest.approx(98)
    assert metrics["lateness_max_us"].value == pytest.approx(99)
    assert metrics["queue_max_bytes"].value == 4500
    assert metrics["wire_bytes_down"].value == 100_000


@pytest.mark.parametrize(("link", "trials"), [({"sound": True}, 1), ({"sound": True, "runs_at_once": 4}, 4)])
def test_how_many_trials_ran_side_by_side(link: dict[str, object], trials: int) -> None:
    """One where the link had a process of its own, as in studies of earlier versions."""
    assert trials_at_once(Evidence({}, record({"link": link}))) == trials


def test_without_the_links_account_nobody_knows() -> None:
    """Not that the trial ran alone."""
    with pytest.raises(Unknown, match="no account of itself"):
        trials_at_once(Evidence({}, record({"link": {}})))


def test_several_links_are_taken_together(tmp_path: Path) -> None:
    """RTTs add up, drops too, and what passed behind the proxy before the client's first packet does not count."""
    scene = scenes.tcp_scene()
    way_ns = 10_000_000
    second = [writers.record(way, 0, scenes.ns(-500), scenes.ns(-499)) for way in ("up", "down")]
    second += [writers.record(way, 1, scenes.ns(30), scenes.ns(30) + way_ns) for way in ("up", "down")]
    second += [writers.record("down", 2, scenes.ns(40), 0, action=1, reason=1)]
    alone = scene.metrics(_folder(tmp_path / "one"))
    scene.extra["links"] = [
        {
            "leg": "client",
            "packet_log": "link.qplog",
            "capture_client": "client.pcapng",
            "capture_server": "server.pcapng",
        },
        {"leg": "origin", "packet_log": "link-2.qplog", "capture_client": "a.pcapng", "capture_server": "b.pcapng"},
    ]
    raw = _folder(tmp_path / "two") / "raw"
    raw.mkdir()
    (raw / "link-2.qplog").write_bytes(writers.packet_log(second))
    both = scene.metrics(tmp_path / "two")

    def value(rows: dict[str, MetricRow], name: str) -> float:
        found = rows[name].value
        assert found is not None
        return found

    assert value(both, "path_rtt_min_ms") == pytest.approx(value(alone, "path_rtt_min_ms") + 20)
    assert value(both, "lost_packets_down") == value(alone, "lost_packets_down") + 1
    kept = (1 - value(alone, "path_loss_down_pct") / 100) * 0.5
    assert value(both, "path_loss_down_pct") == pytest.approx(100 * (1 - kept))
    assert value(both, "wire_bytes_down") == value(alone, "wire_bytes_down")


def _folder(path: Path) -> Path:
    path.mkdir()
    return path
