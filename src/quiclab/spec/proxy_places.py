# SPDX-License-Identifier: Apache-2.0
"""Check that every path of the study has the places where arms want their proxies."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.spec.model import Arm, Path
from quiclab.spec.nodes import Node, closest


def check_proxy_places(arms: Sequence[Node], paths: Sequence[Path]) -> None:
    """Report every `proxy_at` that some path has no node for: all arms run over all paths."""
    for arm in arms:
        place = arm.value.get("proxy_at") if isinstance(arm.value, dict) else None
        if not isinstance(place, str) or place == Arm.proxy_at:
            continue
        for path in paths:
            behind = [link.name for link in path.links[:-1]]
            if place in behind:
                continue
            if place == path.links[-1].name:
                problem = f'"{place}" is the last link of path "{path.name}"; write "{Arm.proxy_at}"'
            elif not behind:
                problem = f'path "{path.name}" has one link only; describe several by [[path.link]]'
            else:
                known = [Arm.proxy_at, *behind]
                problem = f'path "{path.name}" has no node behind a link "{place}"; {closest(place, known, "places")}'
            if place == "client":
                problem += "; a proxy near the client stands behind a short first link, so that both legs have packets"
            arm.child("proxy_at").report(problem)
            break
