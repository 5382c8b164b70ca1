# SPDX-License-Identifier: Apache-2.0
"""`address_change`: the client changes from one network to another in the middle of a transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, Node, ReportedError, build
from quiclab.units import ByteCount, Duration


@dataclass(frozen=True)
class AddressChange:
    """The client's address goes, and another takes its place on the same link. What the client does then is the arm's:
    its knob `on_address_change`. A workload without it is the control."""

    after: ByteCount | None = None
    """Happens when so many bytes of the body have reached the client program, which says so: by the next piece that its
    library hands it (over HTTP/2 at most 16 KiB). A body that ends before fails the trial."""
    at: Duration | None = None
    """Happens so long after the client was told to begin: instead of `after`."""
    notice: Literal["told", "reset", "timeout"] = "told"
    """How the client learns of it: it is told at once, as an operating system does; its sockets are destroyed, so that
    they fail; or not at all, so that it must wait until nothing has come for `timeout`."""
    timeout: Duration | None = None
    """With `notice = "timeout"`: how long nothing must have come, from the first byte of the body on."""


MIGRATIONS: Mapping[str | None, Literal["active", "rebinding"]] = {"migrate": "active", "rebind": "rebinding"}
"""What a client does on a change of address → how its QUIC connection moves then."""

ADDRESS_CHANGE_KEYS: Mapping[str, Kind[Any]] = {
    "after": kinds.SIZE,
    "at": kinds.TIMEOUT,
    "notice": kinds.choice(("told", "reset", "timeout")),
    "timeout": kinds.TIMEOUT,
}


def _read(node: Node) -> AddressChange:
    change = build(AddressChange, node, ADDRESS_CHANGE_KEYS)
    problems = []
    if (change.after is None) == (change.at is None):
        problems.append('it happens after so many bytes or at a time: write either "after" or "at"')
    if (change.notice == "timeout") != (change.timeout is not None):
        problems.append('notice = "timeout" and "timeout" need each other')
    for problem in problems:
        node.report(problem)
    if problems:
        raise ReportedError
    return change


ADDRESS_CHANGE: Kind[AddressChange] = Kind('a table such as {after = "2 MB"}', _read)
