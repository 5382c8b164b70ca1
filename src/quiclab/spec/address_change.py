# SPDX-License-Identifier: Apache-2.0
"""The client changes from one network to another in the middle of a transfer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from quiclab.spec.network import Link, Path
from quiclab.units import ByteCount, Duration


@dataclass(frozen=True)
class AddressChange:
    """The client's address goes, and another takes its place in a second network, which has a link of its own. What the
    client does then is the arm's: its knob `on_address_change`. A workload without it is the control."""

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
    link: Link | None = None
    """The client's link in its second network, which ends where its first one does. None is one that does the same as
    the first link of the path, with draws of its own. Its clock begins with its first packet."""

    def path_after(self, path: Path) -> Path:
        """The path that packets take once the client is in its second network."""
        link = self.link or path.links[0]
        return replace(path, link_name=second_link_name(path), up=link.up, down=link.down)


def second_link_name(path: Path) -> str:
    """Of the client's link in its second network: no link of a spec can have it."""
    return f"after {path.link_name}"


MIGRATIONS: Mapping[str | None, Literal["active", "rebinding"]] = {"migrate": "active", "rebind": "rebinding"}
"""What a client does on a change of address → how its QUIC connection moves then."""
