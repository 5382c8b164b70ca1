# SPDX-License-Identifier: Apache-2.0
"""Code that the proxies share: whether their connection to the origin is open before the transfer.

Left to themselves they differ: Envoy keeps it, nginx closes it after each request, HAProxy hands it on to some clients
only. Unless a spec says otherwise it is warm, like that of a proxy in service.
"""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.model.study import Knobs, Protocol

KNOB = "origin_connection"


def with_origin_knob(knobs: Mapping[Protocol, frozenset[str]]) -> Mapping[Protocol, frozenset[str]]:
    """Add the knob for every protocol towards the client."""
    return {protocol: names | {KNOB} for protocol, names in knobs.items()}


def is_cold(knobs: Knobs) -> bool:
    """True if the transfer opens a connection of its own."""
    return knobs.origin_connection == "cold"


def origin_facts(knobs: Knobs) -> dict[str, str]:
    """Facts about the connection to the origin, for the comparison of arms."""
    return {KNOB: "opened by the transfer" if is_cold(knobs) else "there before the transfer"}
