# SPDX-License-Identifier: Apache-2.0
"""Packets that a path addresses and no arm can send: QUIC's where none uses it, TCP's where all do."""

from __future__ import annotations

from collections.abc import Sequence

from quiclab.model.study import Arm, Path, Study
from quiclab.plan.blocked import transport

_OF = {"initial": "udp", "handshake": "udp", "syn": "tcp", "segment": "tcp"}
"""Transport of the packets that an address means."""
_SENDERS = {"udp": "h3", "tcp": "h2"}


def address_warnings(study: Study) -> list[str]:
    """Say which addresses of `drop` and `spare` no packet can meet, a sentence for each path and transport.

    Behind a proxy, and beside flows that compete, there may be any transport, so there nothing is said.
    """
    if any(arm.proxy is not None for arm in study.arms) or any(each.competition for each in study.workloads):
        return []
    return [told for path in study.paths for told in _unmet_on_path(path, study.arms)]


def _unmet_on_path(path: Path, arms: Sequence[Arm]) -> list[str]:
    sent = {transport(arm) for arm in arms}
    directions = [direction for link in path.links for direction in (link.up, link.down)]
    asked = [kind for each in directions for kind, _ in (*(each.drop or ()), *(each.spare or ()))]
    unmet = {kind: _OF[kind] for kind in asked if kind in _OF and _OF[kind] not in sent}
    return [
        f"Path {path.name} addresses packets that no arm sends: {', '.join(kinds)}. Add an arm over "
        f"{_SENDERS[of]}, or address large, byte or packet."
        for of in sorted(set(unmet.values()))
        if (kinds := [kind for kind in unmet if unmet[kind] == of])
    ]
