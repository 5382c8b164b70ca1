# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is among the responses of a page, as its bytes arrive."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_study import quiclab, trials
from stack_study import need, spec_text
from trial_records import record

from quiclab.evidence.metrics import compute_trial
from quiclab.logs.decoders.trial import decode_trial

pytestmark = [pytest.mark.e2e, pytest.mark.netns]

_PAGE = 'kind = "page"\npage = { html = "4 KB", resources = [{type = "image", size = "300 KB", count = 4}] }'
_ARMS = {
    f"{protocol}-{scheduler}": f'protocol = "{protocol}"\nclient = "chromium"\n'
    f'server = {{ name = "quic-go", scheduler = "{scheduler}", priorities = false }}'
    for protocol, scheduler in (("h2", "fifo"), ("h3", "round_robin"))
}


@pytest.mark.nightly
def test_images_come_one_after_the_other_or_side_by_side(tmp_path: Path) -> None:
    """As the server was told, by the frames that reached the browser."""
    need(("client", "chromium"), ("server", "quic-go"))
    spec = tmp_path / "spec.toml"
    spec.write_text(spec_text(_ARMS, None, workload=_PAGE).replace("[study]", '[study]\ncaptures = "whole"'))
    found = {}
    for arm in _ARMS:
        out = tmp_path / arm
        done = quiclab("trial", spec, "--cell", "object/quiet", "--arm", arm, "--out", out, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        (trial,) = trials(out)
        folder = next(out.glob(f"trials/{trial['trial_id']}*"))
        values = {each.name: each.value for each in compute_trial(folder, decode_trial(folder).tables, record(trial))}
        found[arm] = values["interleaved_pct"]
    assert found["h2-fifo"] is not None
    assert found["h3-round_robin"] is not None
    assert found["h2-fifo"] < 30
    assert found["h3-round_robin"] > 60
