# SPDX-License-Identifier: Apache-2.0
"""Limits of a probe: a server that leaves no logs, and bodies that need not be the same."""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from quiclab.compare.study import Study, read_record


def probe_notes(study: Study) -> list[str]:
    """Sentences for the report; none for a study with servers of its own."""
    probe = study.spec.probe
    if probe is None:
        return []
    urls = {str(each.name): str(each.url) for each in probe.targets}
    return [
        "The servers are not the laboratory's: they leave no logs and no TCP_INFO. What only these tell (bytes "
        "retransmitted, congestion control, the server's CPU) is left empty.",
        "Behind the emulated path lies the real one, which no seed repeats: the A/A control shows how much it varies.",
        *_lengths(study, urls),
    ]


def _lengths(study: Study, urls: dict[str, str]) -> list[str]:
    """Notes on bodies that differ in length: their times are not of the same work."""
    found: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    verified = study.trials.filter(pl.col("status") == "verified")
    for trial_id, workload, arm in verified.select("trial_id", "workload", "arm").rows():
        for request in read_record(study.directory / "trials" / trial_id).requests:
            found[workload][arm.partition("#")[0]].add(request.body_bytes or 0)
    return [
        f"The bodies of {urls.get(workload, workload)} differ in length: "
        + "; ".join(f"{arm} {_range(lengths)}" for arm, lengths in sorted(arms.items()))
        + ". Its times are not of the same work."
        for workload, arms in found.items()
        if len(set().union(*arms.values())) > 1
    ]


def _range(lengths: set[int]) -> str:
    least, most = min(lengths), max(lengths)
    return f"{least} bytes" if least == most else f"{least} to {most} bytes"
