# SPDX-License-Identifier: Apache-2.0
"""The form of resolved.json: what everything relies on that reads it. `quiclab.spec.resolved` writes it."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Any

from quiclab.model.errors import DecodeError
from quiclab.store.forms import Each, NotEmpty, Number, OrText, misfit

_JITTER = {"distribution": str, "scale_ns": Number}
_LOSS = {"model": str, "probability_pct": Number}
_SETTING = {"rate_bit_per_s": Number, "delay_ns": Number, "loss": _LOSS}
_CHANGE = {**_SETTING, "jitter": OrText(_JITTER)}
_ADDRESSED = {"drop": dict, "spare": dict, "loss_by": str}
_DIRECTION = {
    **_SETTING,
    "jitter": _JITTER,
    **_ADDRESSED,
    "rate": dict,
    "overhead_bytes": int,
    "trace": str,
    "schedule": [_CHANGE],
}
_LINK = {"up": _DIRECTION, "down": _DIRECTION}
_PROGRAM = {"name": str, "argv": [str], "prefix": str, "knobs": {"session": str, "tls_version": str}}
_LIMITS = {
    **dict.fromkeys(("trial_ns", "ready_ns", "lateness_p99_ns", "attempts"), int),
    "disturbance_pct": Number,
}
RESOLVED = {
    **dict.fromkeys(("name", "question", "baseline", "metric"), str),
    **dict.fromkeys(("seed", "blocks"), Number),
    **dict.fromkeys(("alpha", "matters_pct"), Number),
    "count_system_calls": bool,
    "only_blocks": [str],
    "workloads": [
        {
            "name!": str,
            **dict.fromkeys(("kind", "direction", "only_for"), str),
            **dict.fromkeys(("size_bytes", "count", "concurrency"), int),
            "sizes": [int],
            "sizes_bytes": [int],
            "video": dict,
            "address_change": dict,
            "competition": {"duration_ns": int},
        }
    ],
    "paths": [
        {
            **_LINK,
            "name!": str,
            **dict.fromkeys(("title", "link_name"), str),
            **dict.fromkeys(("mtu", "ip_version"), int),
            "more_links": [{**_LINK, "name": str}],
        }
    ],
    "arms": [
        {
            "name!": str,
            **dict.fromkeys(("protocol", "proxy_at", "only_for"), str),
            **dict.fromkeys(("client", "server", "proxy"), _PROGRAM),
            "tcp": {"timestamps": bool, "congestion_control": str},
        }
    ],
    "arms_summary": {"text": str, "differences": [str]},
    "limits": _LIMITS,
    "earlier_limits": [_LIMITS],
    "probe": {"targets": [{"name": str, "url": str}], "left_out": Each([str])},
}


_LOOKS = {
    "targets!": [{"name!": str, "url!": str, "address!": str, "looks!": Each(int)}],
    "left_out!": Each((dict, str)),
}
_SPEC_OF_PROBE = {
    "name!": str,
    "seed!": Number,
    "workloads!": [{"name!": str}],
    "paths!": NotEmpty({"name!": str, "title!": str}),
    "arms!": [{"name!": str}],
}


def check_resolved(resolved: dict[str, object], file: Path) -> None:
    """Raise DecodeError, naming the first member that is not as `RESOLVED` has it."""
    if found := misfit(resolved, RESOLVED):
        raise DecodeError(
            f"{file} is not a resolved spec: {found}",
            "put it back from a copy of the study; without it the report names cells by the trials alone",
        )


def check_probe(resolved: dict[str, Any], file: Path, *, whole: bool = False) -> None:
    """Raise DecodeError for looks of a probe that are not as a run keeps them, with the first member that is not; with
    `whole`, also for the spec around them."""
    found = misfit(resolved, {**RESOLVED, **(_SPEC_OF_PROBE if whole else {}), "probe": _LOOKS})
    if found := found or _no_target(resolved["probe"]["targets"]):
        raise DecodeError(
            f"{file} is not that of a probe: {found}", "put it back from a copy, or choose another directory with --out"
        )


def _no_target(targets: list[dict[str, Any]]) -> str | None:
    for number, target in enumerate(targets):
        place = f"probe.targets[{number}]"
        if not target["looks"]:
            return f"{place}.looks is empty"
        try:
            ipaddress.IPv4Address(target["address"])
        except ValueError:
            return f"{place}.address is no IPv4 address"
    return None
