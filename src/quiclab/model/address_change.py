# SPDX-License-Identifier: Apache-2.0
"""The client changes from one network to another in the middle of a transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from quiclab.model.network import Link, Path
from quiclab.model.units import ByteCount, Duration


@dataclass(frozen=True)
class AddressChange:
    """The client's address goes, and another takes its place in a second network, which has a link of its own. What the
    client does then is the arm's: its knob `on_address_change`. A workload without it is the control."""

    after: ByteCount | None = None
    """The change happens when this many bytes of the body have reached the client program, which reports it with the
    next piece that its library hands it (over HTTP/2 at most 16 KiB). A body that ends earlier fails the trial."""
    at: Duration | None = None
    """Instead of `after`: the change happens this long after the client was told to begin."""
    notice: Literal["told", "reset", "timeout"] = "told"
    """Notice of the change to the client. `told`: at once, as from an operating system. `reset`: its sockets are
    destroyed, so that they fail. `timeout`: not at all, so that it must wait until nothing has arrived for
    `timeout`."""
    timeout: Duration | None = None
    """The silence after which the client acts, counted from the first byte of the body on; for `notice = "timeout"`
    only."""
    link: Link | None = None
    """The client's link in its second network; it ends where the first one does. None is a link that behaves as the
    first link of the path does, with draws of its own. Its clock starts with its first packet."""

    def path_after(self, path: Path) -> Path:
        """The path that packets take once the client is in its second network."""
        link = self.link or path.links[0]
        return replace(path, link_name=second_link_name(path), up=link.up, down=link.down, nat=link.nat)


def second_link_name(path: Path) -> str:
    """Name of the client's link in its second network; no link of a spec can have this name."""
    return f"after {path.link_name}"


MIGRATIONS: Mapping[str | None, Literal["active", "rebinding"]] = {"migrate": "active", "rebind": "rebinding"}
"""Behaviour of a client on a change of address → how its QUIC connection moves then."""
