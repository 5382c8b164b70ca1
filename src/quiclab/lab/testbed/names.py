# SPDX-License-Identifier: Apache-2.0
"""Results of name lookups by programs of the sandbox. Must run inside it: its mounts are visible nowhere else."""

from __future__ import annotations

from pathlib import Path

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES

_NAME_SERVICES = ("/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket")
"""Sockets through which the C library asks the machine's own name services, past any emulated link."""

_STAGE = "/tmp"  # noqa: S108 - a folder that every system has, covered for an instant


def name_the_ends() -> None:
    """Put the names `client`, `server`, and for IPv6 `client6` and `server6`, before those of the machine's
    /etc/hosts."""
    hosts = Path("/etc/hosts")
    if hosts.exists():
        names = {"client": CLIENT_ADDRESSES[4], "server": SERVER_ADDRESSES[4]}
        names |= {"client6": CLIENT_ADDRESSES[6], "server6": SERVER_ADDRESSES[6]}
        _cover(hosts, "".join(f"{address} {name}\n" for name, address in names.items()) + hosts.read_text())


def use_name_server(address: str) -> None:
    """Ask the name server at `address` and no other. Raises HostError where there is no /etc/resolv.conf."""
    _cover(Path("/etc/resolv.conf"), f"nameserver {address}\n")
    for socket in _NAME_SERVICES:
        if Path(socket).exists():
            _libc.mount("/dev/null", socket, None, _libc.MS_BIND)


def _cover(file: Path, text: str) -> None:
    """Let `file` read as `text`, which is in memory only, so that nothing is left of it whatever happens."""
    _libc.mount("tmpfs", _STAGE, "tmpfs", _libc.MS_NOSUID | _libc.MS_NODEV, "mode=0755")
    try:
        cover = Path(_STAGE, file.name)
        cover.write_text(text)
        _libc.mount(str(cover), str(file), None, _libc.MS_BIND)
    finally:
        _libc.unmount(_STAGE)
