# SPDX-License-Identifier: Apache-2.0
"""Order for a probe: what to ask, of which servers and at which addresses; trials keep the addresses of the looks."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quiclab.model.errors import HostError, SpecError
from quiclab.model.resolved_record import KeptLooks
from quiclab.model.study import Limits
from quiclab.model.study import Path as LinkPath
from quiclab.model.units import ByteCount, Duration
from quiclab.spec.target import Target
from quiclab.store.disk import read_object
from quiclab.store.layout import StudyDir
from quiclab.store.resolved_form import read_kept_looks


@dataclass(frozen=True)
class Order:
    """One probe, as it is asked for."""

    targets: tuple[Target, ...]
    path: LinkPath
    pairs: int
    seed: int
    out: Path
    requests: int
    body_bytes: ByteCount
    pause: Duration
    limits: Limits
    ca: Path
    insecure: bool


def resolved_order(order: Order, study_dir: StudyDir) -> Order:
    """Return the order with the address of each target, and without the targets that the looks found not comparable.

    Raises SpecError where nothing is left or the study has other targets, HostError for a name without an address.
    """
    targets = _resolve(order.targets, kept_looks(study_dir))
    if not targets:
        raise SpecError("none of these URLs can be compared, as the first look showed", "choose another --out")
    return replace(order, targets=targets)


def kept_looks(study_dir: StudyDir) -> KeptLooks | None:
    """Findings of the looks of an earlier run of this probe. Raises SpecError where the directory holds no probe,
    DecodeError where its resolved.json is not of its form."""
    if not study_dir.resolved.exists():
        return None
    resolved = read_object(study_dir.resolved)
    if resolved.get("probe") is None:
        raise SpecError(f"{study_dir.root} is a study, not a probe", "choose another directory with --out")
    return read_kept_looks(resolved, study_dir.resolved)


def _resolve(targets: Sequence[Target], kept: KeptLooks | None) -> tuple[Target, ...]:
    """The one address that all trials ask: that of the looks, where these were taken. Raises HostError."""
    known = {each.url: each.address for each in kept.targets} if kept else {}
    if kept is not None:
        unknown = tuple(each.url for each in targets if each.url not in {*known, *kept.left_out})
        if unknown:
            raise SpecError("these URLs are not in the study", "choose another directory with --out", unknown)
        targets = [target for target in targets if target.url in known]
    found = []
    for target in targets:
        address = known.get(target.url)
        if address is None:
            try:
                found_here = socket.getaddrinfo(target.host, target.port, socket.AF_INET, socket.SOCK_STREAM)
            except OSError as error:
                hint = "a probe forwards IPv4 only: the name needs an A record"
                raise HostError(f"{target.host} has no IPv4 address: {error.strerror or error}", hint) from error
            address = str(found_here[0][4][0])
        found.append(replace(target, address=address))
    return tuple(found)
