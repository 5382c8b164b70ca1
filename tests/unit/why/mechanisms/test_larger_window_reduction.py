# SPDX-License-Identifier: Apache-2.0
"""Reductions of a window below what CUBIC leaves, by hand and over the golden twin."""

from __future__ import annotations

from typing import Any

import pytest
from golden_twin import Run, built
from unit.why.mechanisms.cases import _halved as halved
from unit.why.mechanisms.scenes import Case, facts, named, ns

from quiclab.why.mechanisms import TRIAL, with_mechanisms

_PATH: dict[str, Any] = {
    "rate_down": 20_000_000, "delay_ns": 30_000_000, "body_bytes": 2_000_000, "loss_down": 0.005, "seed": 5,
}  # fmt: skip


def test_the_part_is_told_and_the_edges_stay_those_of_the_loss() -> None:
    found = facts(halved(), "larger_window_reduction")
    assert (found["part_of_loss_on_the_path"], found["window_left_by_them_at_most"]) == (20, 50)
    assert named(halved())["loss_on_the_path"] == 20
    assert facts(halved(), TRIAL)["window_left_by_a_reduction"] == 50


@pytest.mark.parametrize("left", [14, 2, 17])
def test_no_other_reduction_is_a_larger_one(left: int) -> None:
    """CUBIC's, one to the least window, and one by less."""
    assert "larger_window_reduction" not in named(halved(left))


@pytest.mark.parametrize("control", ["bbr", "bbr3", "reno"])
def test_a_window_by_a_model_of_the_path_has_other_reasons(control: str) -> None:
    """The socket says which congestion control it has; no spec need name one."""
    case = Case(halved().edges, "h2", threshold=20).window((0, 20), (20, 12), metric="tcp_info")
    before, after = case.packet("down", 5, 1, "loss_entry").rows["tcp_info"]
    before |= {"delivered": 100, "congestion_control": control}
    after |= {"time_ns": ns(10), "snd_cwnd": 10, "snd_ssthresh": 10, "delivered": 101, "congestion_control": control}
    case.rows["tcp_info"] = [before, after]
    assert bool(facts(case, "larger_window_reduction")) == (control == "reno")


@pytest.mark.parametrize("protocol", ["h2", "h3"])
def test_the_twin_has_it_with_reno_and_not_with_cubic(protocol: str) -> None:
    """QUIC's log shows it, and the kernel's samples do."""
    reno, cubic = built().runs([{**_PATH, "protocol": protocol, "control": each} for each in ("reno", "cubic")])
    assert _own_ms(cubic) == 0
    assert _own_ms(reno) > 0.1 * reno.total_ns / 1e6


def _own_ms(run: Run) -> float:
    numbers = with_mechanisms(run.evidence, run.account)[1]
    rows = numbers.select("mechanism", "fact", "value").iter_rows()
    return sum(value for name, fact, value in rows if (name, fact) == ("larger_window_reduction", "time"))
