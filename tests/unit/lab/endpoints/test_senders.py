# SPDX-License-Identifier: Apache-2.0
"""Reaction of senders to loss, for the estimate of a trial's time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from specs import changed, study_of

from quiclab.lab.endpoints.senders import senders_of
from quiclab.model.study import Arm, Knobs, Program, Study
from quiclab.model.units import ByteCount
from quiclab.plan.duration import OVERHEAD, Sender, expected_duration
from quiclab.plan.make import make_plan

LOSSY = changed(('"100 KB"', '"10 MB"'), ('delay = "10 ms"', 'delay = "50 ms"\nloss = "4 %"'))


def _with(study: Study, name: str, **changes: object) -> Study:
    arms = [replace(arm, **changes) if arm.name == name else arm for arm in study.arms]  # type: ignore[arg-type]
    return replace(study, arms=tuple(arms))


@pytest.mark.parametrize(
    ("server", "sender"),
    [
        (Program("nginx", version="1.26.3"), Sender(least_window=ByteCount(65536))),
        (Program("nginx", version="1.26.3", knobs=Knobs(stream_window=ByteCount(10**6))),
         Sender(least_window=ByteCount(131054))),
        (Program("nginx", version="1.30.6"), Sender(least_window=ByteCount(2400))),
        (Program("quinn"), Sender()),
        (Program("quinn", knobs=Knobs(congestion_control="bbr")), Sender(ignores_loss=True)),
        (Program("quiche", knobs=Knobs(congestion_control="bbr2")), Sender(ignores_loss=True)),
        (Program("caddy"), Sender()),
    ],
    ids=["nginx", "nginx 1 MB", "nginx CUBIC", "quinn", "quinn bbr", "quiche bbr2", "caddy"],
)  # fmt: skip
def test_senders_of_quic(server: Program, sender: Sender, tmp_path: Path) -> None:
    """Facts of the version and knobs decide."""
    assert senders_of(_with(study_of(tmp_path, LOSSY), "h3", server=server))["h3"] == sender


def test_senders_of_tcp(tmp_path: Path) -> None:
    """The kernel's: BBR alone goes on."""
    study = study_of(tmp_path, LOSSY)
    (h2,) = (arm for arm in study.arms if arm.name == "h2")
    bbr: Arm = replace(h2, tcp=replace(h2.tcp, congestion_control="bbr"))
    assert [senders_of(replace(study, arms=(each,)))["h2"].ignores_loss for each in (h2, bbr)] == [False, True]


@pytest.mark.parametrize(("version", "least_s", "most_s"), [("1.26.3", 14, 20), ("1.30.6", 100, 140)])
def test_a_window_that_no_loss_reduces_keeps_its_rate(
    version: str, least_s: float, most_s: float, tmp_path: Path
) -> None:
    """10 MB over 100 ms with 4 % loss take 17 s, as 64 KiB a round trip are under way whatever is lost; and 119 s where
    each loss counts."""
    study = _with(study_of(tmp_path, LOSSY), "h3", server=Program("nginx", version=version))
    row = next(row for row in make_plan(study) if row.arm == "h3")
    study = replace(study, limits=replace(study.limits, trial=replace(study.limits.trial, ns=10**12)))
    assert least_s < expected_duration(row, study, senders_of(study)).s - OVERHEAD.s < most_s
