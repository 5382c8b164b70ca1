# SPDX-License-Identifier: Apache-2.0
"""A server of TCP that pauses in a body, with and without a window that begins anew after an idle time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from accounts import account_of, sums_ms
from pausing_server import PROGRAM, WORDS
from stack_study import need, run_arms

pytestmark = [pytest.mark.e2e, pytest.mark.netns, pytest.mark.alone]

_TRIP_MS = 80.0


def test_a_window_begins_anew_after_an_idle_time_where_the_kernel_is_asked_to(tmp_path: Path) -> None:
    """600 KB after two seconds from 10 packets take three round trips that a kept window does not. A pause that
    is shorter than any timeout changes nothing."""
    need(("client", "curl"))

    def arm(pause_s: float, *, restarts: bool) -> str:
        argv = f'["{sys.executable}", "-I", "{PROGRAM}", "{pause_s}", {WORDS}]'
        tcp = f'tcp = {{ congestion_control = "cubic", slow_start_after_idle = {str(restarts).lower()} }}'
        return f'protocol = "h1"\nclient = "curl"\nserver = {{ argv = {argv}, ready = "tcp" }}\n{tcp}'

    arms = {"kept": arm(2, restarts=False), "restarts": arm(2, restarts=True), "short": arm(0.1, restarts=True)}
    told = {}
    for name, trial in run_arms(tmp_path, arms, "1200 KB", delay=f"{_TRIP_MS / 2} ms").items():
        assert trial["status"] == "verified", trial["reason"]
        told[name] = sums_ms(account_of(tmp_path / "study", trial), "mechanism")
    assert told["restarts"]["slow_start_after_idle"] > 3 * _TRIP_MS
    assert not {"slow_start_after_idle"} & {*told["kept"], *told["short"]}
