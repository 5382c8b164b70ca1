# SPDX-License-Identifier: Apache-2.0
"""The form of resolved.json: what everything relies on that reads it. `quiclab.spec.resolved` writes it."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from pathlib import Path

from quiclab.model.errors import DecodeError
from quiclab.model.resolved_record import KeptLooks, ResolvedSpec
from quiclab.store.forms import NotEmpty, Number, misfit
from quiclab.store.record_form import as_record, form_of

_SPEC_OF_PROBE = {
    "name!": str,
    "seed!": Number,
    "workloads!": [{"name!": str}],
    "paths!": NotEmpty({"name!": str, "title!": str}),
    "arms!": [{"name!": str}],
}
"""Members of the spec around the looks of a probe."""


def read_spec(resolved: Mapping[str, object], file: Path) -> ResolvedSpec:
    """Read a resolved spec. Raises DecodeError, naming the first member that is not of its form."""
    found = misfit(resolved, form_of(ResolvedSpec))
    if found is None and resolved and not resolved.keys() & set(ResolvedSpec.__struct_fields__):
        found = "it has no member of one"
    if found is not None:
        raise DecodeError(
            f"{file} is not a resolved spec: {found}",
            "put it back from a copy of the study; without it the report names cells by the trials alone",
        )
    return as_record(resolved, ResolvedSpec)


def read_kept_looks(resolved: Mapping[str, object], file: Path, *, whole: bool = False) -> KeptLooks:
    """Read the looks of a probe. Raises DecodeError where they are not as a run keeps them, with the first member that
    is not; with `whole`, also for the spec around them."""
    form = {**form_of(ResolvedSpec), **(_SPEC_OF_PROBE if whole else {}), "probe": form_of(KeptLooks)}
    found = misfit(resolved, form)
    looks = None if found else as_record(resolved["probe"], KeptLooks)
    if looks is None or (found := _no_target(looks)):
        raise DecodeError(
            f"{file} is not that of a probe: {found}", "put it back from a copy, or choose another directory with --out"
        )
    return looks


def _no_target(looks: KeptLooks) -> str | None:
    for number, target in enumerate(looks.targets):
        place = f"probe.targets[{number}]"
        if not target.looks:
            return f"{place}.looks is empty"
        try:
            ipaddress.IPv4Address(target.address)
        except ValueError:
            return f"{place}.address is no IPv4 address"
    return None
