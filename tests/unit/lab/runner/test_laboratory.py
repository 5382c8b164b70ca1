# SPDX-License-Identifier: Apache-2.0
"""What an endpoint cannot do is said before anything runs, every objection at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from quiclab.lab.runner.laboratory import check_supported
from quiclab.model.errors import SpecError
from quiclab.model.study import Knobs, Program
from quiclab.study.specs import load_study

DEMO = Path(__file__).parents[4] / "experiments" / "demo" / "spec.toml"


def test_the_demo_is_supported() -> None:
    """The first thing that a stranger runs."""
    check_supported(load_study(DEMO))


def test_all_objections_at_once() -> None:
    """One per program and arm."""
    study = load_study(DEMO)
    h2, h3 = study.arms
    wrong = (
        replace(h2, server=Program("aioquic")),
        replace(
            h3, server=Program("caddy", knobs=Knobs(congestion_control="bbr", gso=True)), client=Program("command")
        ),
    )
    with pytest.raises(SpecError) as caught:
        check_supported(replace(study, arms=wrong))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["arm 'h2'", "arm 'h3'", "arm 'h3'"]
    assert "caddy has no gso over h3: unsupported; it has compression, congestion_control" in caught.value.problems[2]


def test_a_type_that_a_server_cannot_be_told_is_an_objection() -> None:
    """ngtcp2's server goes by the ends of file names, of which objects have none."""
    study = load_study(DEMO)
    h2, h3 = study.arms
    served = replace(study, workloads=tuple(replace(each, content_type="text/html") for each in study.workloads))
    check_supported(served)
    with pytest.raises(SpecError) as caught:
        check_supported(replace(served, arms=(h2, replace(h3, server=Program("ngtcp2")))))
    assert caught.value.problems == (
        "arm 'h3': the server ngtcp2 cannot be told the content type of an object: unsupported",
    )
