# SPDX-License-Identifier: Apache-2.0
"""The flows beside the measured one: labels, addresses, ports and starts."""

from __future__ import annotations

import pathlib

from specs import changed, study_of

from quiclab.lab.runner.flows import other_flows, who_cannot_run
from quiclab.lab.testbed.hub import Pair
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES
from quiclab.model.study import Study
from quiclab.plan.make import make_plan


def _study(folder: pathlib.Path, spread: str = "100 ms") -> Study:
    competition = (
        f'{{duration = "10 s", start_spread = "{spread}", competitors = [{{arm = "h2", count = 2, start = "1 s"}}, '
        '{arm = "h3"}], background = [{kind = "udp", rate = "1 Mbit/s"}]}'
    )
    return study_of(folder, changed(('size = "100 KB"', f'size = "20 MB"\ncompetition = {competition}')))


def test_every_flow_has_its_own_addresses_and_port(tmp_path: pathlib.Path) -> None:
    """A port alone tells whose a packet is; the measured pair keeps its own."""
    study = _study(tmp_path)
    flows = other_flows(study, make_plan(study)[0])
    assert [flow.label for flow in flows] == ["h2-1", "h2-2", "h3-1", "udp-1"]
    assert [flow.port for flow in flows] == [444, 445, 446, 447]
    assert [flow.pair.addresses("server")[4] for flow in flows] == [f"10.77.{number}.2" for number in range(1, 5)]
    assert (Pair(0).addresses("client"), Pair(0).addresses("server")) == (CLIENT_ADDRESSES, SERVER_ADDRESSES)
    assert flows[-1].tcp == study.arms[0].tcp


def test_all_trials_of_a_block_meet_the_same_flows(tmp_path: pathlib.Path) -> None:
    """Random starts come from the block's seed: the same for its arms, others for another block."""
    study = _study(tmp_path)
    by_block: dict[str, set[tuple[int, ...]]] = {}
    for row in make_plan(study):
        by_block.setdefault(row.block_id, set()).add(tuple(flow.start.ns for flow in other_flows(study, row)))
    assert all(len(starts) == 1 for starts in by_block.values())
    drawn = set.union(*by_block.values())
    assert len(drawn) == len(by_block)
    assert all(10**9 <= starts[0] < 1.1 * 10**9 and starts[2] < 10**8 for starts in drawn)


def test_a_competitor_that_cannot_run_here_is_a_reason(tmp_path: pathlib.Path) -> None:
    """As is the arm itself; an arm that does not take part is none."""
    study = _study(tmp_path)
    row = next(row for row in make_plan(study) if row.arm_name == "h2")
    flows = other_flows(study, row)
    assert who_cannot_run(row, flows, {"h3": "caddy is missing"}) == "h3-1: caddy is missing"
    assert who_cannot_run(row, flows, {"h2": "curl is missing"}) == "curl is missing"
    assert who_cannot_run(row, flows, {"other": "is missing"}) is None
