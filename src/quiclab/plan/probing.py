# SPDX-License-Identifier: Apache-2.0
"""The study behind a probe: a workload for every URL, one path, HTTP/2 against HTTP/3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from quiclab.model.study import AaControl, Arm, Limits, Path, Program, Study, Tcp, Workload
from quiclab.model.units import ByteCount
from quiclab.plan.arms import ArmsSummary
from quiclab.spec.target import Target

LOOKS = 2
"""Requests for each URL before the study: one over each protocol."""
_ARMS = 2


def probe_study(
    name: str,
    targets: Sequence[Target],
    path: Path,
    client: str,
    *,
    pairs: int,
    seed: int,
    limits: Limits,
    sizes: Mapping[str, int],
) -> Study:
    """Make the study. `sizes` has the lengths of the bodies by name, as far as they are known. The A/A control has as
    many pairs."""
    # The congestion control is that of our own end, which sends only requests.
    arms = tuple(
        Arm(name=protocol, protocol=protocol, client=Program(client), server=Program("foreign"), tcp=Tcp("reno"))
        for protocol in ("h2", "h3")
    )
    workloads = tuple(Workload(each.name, ByteCount(sizes.get(each.name, 0))) for each in targets)
    smallest = min(workloads, key=lambda workload: workload.total)
    return Study(
        name=name,
        seed=seed,
        blocks=pairs,
        workloads=workloads,
        paths=(path,),
        arms=arms,
        baseline=arms[0].name,
        aa=AaControl(smallest.name, path.name, pairs),
        question="Over this path, is HTTP/3 or HTTP/2 to these servers faster?",
        limits=limits,
    )


def planned_requests(targets: Sequence[Target], pairs: int) -> dict[str, int]:
    """Most requests that each host gets if no trial is run again; any of the URLs may be the one of the A/A control."""
    urls = Counter(target.authority for target in targets)
    control = _ARMS * 2 * pairs
    return {host: count * (LOOKS + _ARMS * pairs) + control for host, count in urls.items()}


def describe_probe(targets: Sequence[Target], client: str) -> ArmsSummary:
    """Summary of the arms, and of what cannot be known about them here."""
    listed = ", ".join(f"{target.url} ({target.address})" for target in targets)
    unknown = "congestion control, initial window, packet size and pacing"
    return {
        "text": f"h2 (HTTP/2) against h3 (HTTP/3) to {listed}. Equal: client {client}, the servers' addresses. They "
        f"differ in {unknown}, which are the servers' own and not known here.",
        "differences": [f"{unknown}: the servers' own, not known"],
    }
