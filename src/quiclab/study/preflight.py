# SPDX-License-Identifier: Apache-2.0
"""Warnings before a study runs: paths, settings and arms that will not do what was meant."""

from __future__ import annotations

from quiclab.lab.endpoints.datagrams import mtu_warnings
from quiclab.lab.endpoints.ecn import ecn_warnings
from quiclab.model.study import Study
from quiclab.plan.blocked import block_warnings
from quiclab.plan.cut_jitter import jitter_warnings
from quiclab.plan.idle_settings import idle_settings
from quiclab.plan.lost_packets import loss_warnings
from quiclab.plan.slow_paths import slow_warnings
from quiclab.plan.unmeasured import unmeasured
from quiclab.plan.unmet_addresses import address_warnings


def foreseen(study: Study) -> list[str]:
    """Say why a study would disappoint, each reason as a sentence with what to do. Looks at the spec alone."""
    of_paths = [
        told
        for path in study.paths
        for told in (
            *loss_warnings(path),
            *jitter_warnings(path),
            *ecn_warnings(study.arms, path),
            *block_warnings(study.arms, path),
            *mtu_warnings(study.arms, path),
        )
    ]
    return [*of_paths, *slow_warnings(study), *address_warnings(study), *unmeasured(study), *idle_settings(study)]
