# SPDX-License-Identifier: Apache-2.0
"""The least time of a path, against sums by hand."""

from __future__ import annotations

from typing import Any

import pytest
from trial_records import part

from quiclab.compare import least_time
from quiclab.model.resolved_record import ResolvedArm, ResolvedPath, ResolvedWorkload


def least_time_ms(workload: dict[str, Any], path: dict[str, Any], arm: dict[str, Any]) -> float | None:
    """Least time of tables with these members."""
    return least_time.least_time_ms(part(workload, ResolvedWorkload), part(path, ResolvedPath), part(arm, ResolvedArm))


def _direction(**changes: Any) -> dict[str, Any]:
    return {"rate_bit_per_s": 10_000_000, "delay_ns": 25_000_000, "overhead_bytes": 0, "schedule": []} | changes


def _path(**changes: Any) -> dict[str, Any]:
    return {"up": _direction(), "down": _direction(), "mtu": 1500, "ip_version": 4, "link_name": "bottleneck"} | changes


def _workload(**changes: Any) -> dict[str, Any]:
    return {"kind": "object", "size_bytes": 1_000_000} | changes


H2 = {"protocol": "h2", "tcp": {"timestamps": True}}
H3 = {"protocol": "h3"}
SERVED_H2_MS = (1_000_000 + 691 * 52) * 8 / 10_000  # 1448 bytes a packet
SERVED_H3_MS = (1_000_000 + 690 * 48) * 8 / 10_000  # 1452 bytes a packet


def test_set_up_request_and_payload() -> None:
    """TCP and TLS take two round trips, QUIC one; then the request's, and the payload with its headers."""
    assert least_time_ms(_workload(), _path(), H2) == pytest.approx(3 * 50 + SERVED_H2_MS, abs=1)
    assert least_time_ms(_workload(), _path(), H3) == pytest.approx(2 * 50 + SERVED_H3_MS, abs=1)


def test_early_data_saves_a_round_trip() -> None:
    """Of both protocols."""
    early = {"client": {"knobs": {"session": "early_data"}}}
    for arm in (H2, H3):
        with_it, without = (least_time_ms(_workload(), _path(), each) for each in (arm | early, arm))
        assert with_it is not None
        assert without is not None
        assert without - with_it == pytest.approx(50)


def test_a_burst_takes_no_time_at_the_rate() -> None:
    """A peak rate gives it the time that it takes at that."""
    burst = _direction(burst_bytes=500_000)
    at_once = least_time_ms(_workload(), _path(down=burst), H2)
    assert at_once == pytest.approx(3 * 50 + SERVED_H2_MS - 400, abs=1)
    whole = _direction(burst_bytes=5_000_000, peak_rate_bit_per_s=20_000_000)
    assert least_time_ms(_workload(), _path(down=whole), H2) == pytest.approx(3 * 50 + SERVED_H2_MS / 2, abs=1)


def test_tls_1_2_takes_a_round_trip_more() -> None:
    """Not of a session that is resumed, nor in a browser, which does not wait for the server's Finished."""
    plain = least_time_ms(_workload(), _path(), H2)
    assert plain is not None

    def extra(client: str, session: str | None) -> float:
        knobs = {"tls_version": "1.2", "session": session}
        found = least_time_ms(_workload(), _path(), H2 | {"client": {"name": client, "knobs": knobs}})
        assert found is not None
        return found - plain

    assert extra("curl", None) == pytest.approx(50)
    assert extra("curl", "resumed") == pytest.approx(0)
    assert extra("chromium", None) == pytest.approx(0)


@pytest.mark.parametrize(
    ("distribution", "shorter_ms"), [("uniform", 10), ("normal", 25), ("pareto", 6.7), ("paretonormal", 14.2)]
)
def test_jitter_shortens_the_delay(distribution: str, shorter_ms: float) -> None:
    """By as much as the link can draw, on the side that has it, never below nothing: normal would take 36.7 of 25."""
    jittery = _direction(jitter={"distribution": distribution, "scale_ns": 10_000_000})
    plain, shaken = (least_time_ms(_workload(), _path(**sides), H3) for sides in ({}, {"up": jittery}))
    assert plain is not None
    assert shaken is not None
    assert plain - shaken == pytest.approx(2 * shorter_ms)


def test_many_objects() -> None:
    """One at a time each costs a round trip; all at once they cost one, and their bytes."""
    many = _workload(size_bytes=1000, count=10)
    at_once, in_turn = (least_time_ms(many | extra, _path(), H3) for extra in ({}, {"concurrency": 1}))
    assert at_once == pytest.approx(50 + 50 + 10_224 * 8 / 10_000, abs=0.1)
    assert in_turn == pytest.approx(50 + 10 * 50 + 10_224 * 8 / 10_000, abs=0.1)


def test_the_slowest_link_and_all_delays() -> None:
    """Of links in a row delays add up and one is the bottleneck; a proxy on the way shortens the set-up."""
    far = {"name": "far", "up": _direction(delay_ns=5_000_000), "down": _direction(rate_bit_per_s=5_000_000)}
    path = _path(more_links=[far])
    plain = least_time_ms(_workload(), path, H3)
    assert plain == pytest.approx(2 * 80 + 2 * SERVED_H3_MS, abs=1)
    near = least_time_ms(_workload(), path, H3 | {"proxy": {"name": "x"}, "proxy_at": "bottleneck"})
    assert near == pytest.approx(50 + 80 + 2 * SERVED_H3_MS, abs=1)


def test_an_upload_takes_the_other_direction() -> None:
    """The rate is that of the direction in which the bytes go."""
    path = _path(up=_direction(rate_bit_per_s=1_000_000))
    up, down = (least_time_ms(_workload(direction=way), path, H3) for way in ("upload", "download"))
    assert up == pytest.approx(2 * 50 + 10 * SERVED_H3_MS, abs=1)
    assert down == pytest.approx(2 * 50 + SERVED_H3_MS, abs=1)


def test_what_changes_counts_at_its_best() -> None:
    """The highest rate and the shortest delay of a schedule; a trace's or an unlimited rate counts for nothing."""
    faster = _direction(schedule=[{"rate_bit_per_s": 20_000_000, "delay_ns": 5_000_000}])
    assert least_time_ms(_workload(), _path(down=faster), H3) == pytest.approx(2 * 30 + SERVED_H3_MS / 2, abs=1)
    for unknown in (_direction(rate_bit_per_s=None), _direction(trace="a.trace")):
        assert least_time_ms(_workload(), _path(down=unknown), H3) == pytest.approx(2 * 50)


@pytest.mark.parametrize(
    "workload",
    [_workload(kind="page"), _workload(kind="video"), _workload(competition={"flows": []}), {"kind": "object"}],
)
def test_what_has_no_least_time(workload: dict[str, Any]) -> None:
    """A page's depends on its own structure, a video's on its player, and others take their share of a rate."""
    assert least_time_ms(workload, _path(), H3) is None
