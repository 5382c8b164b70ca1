# SPDX-License-Identifier: Apache-2.0
"""The one place where quiclab changes the network of its caller: a way out that forwards IP packets.

    sandbox ─ veth ─ caller's network: forwarded, source address translated ─ uplink ─ Internet

The caller's network gets a device with a route to the client's address, an nftables table, and forwarding on for the
uplinks that lead to the servers. Before any of it the change is recorded in the study, so that `undo` can take it back
after `kill -9`; device and table then disappear by themselves, with the sandbox and the socket that own them.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from quiclab.lab.testbed import nf_tables as nft
from quiclab.lab.testbed.link import CLIENT_ADDRESSES
from quiclab.model.errors import BusyError, DecodeError, HostError
from quiclab.model.json_trouble import json_trouble
from quiclab.store.disk import write_atomically
from quiclab.store.forms import Each, misfit
from quiclab.store.own_files import read_mine

INNER_DEVICE = "uplink"
"""Name of the sandbox's end of the pair."""
INNER_MAC, OUTER_MAC = "02:00:00:00:03:01", "02:00:00:00:03:02"

REFUSED = (
    "probe needs a way out that forwards IP packets: user-mode stacks (pasta, slirp4netns) end TCP on this machine and "
    "would compare QUIC to the server with TCP to ourselves"
)
HINT = (
    "as root: quiclab probe --allow-host-nat URL…  It adds one nftables table, one device and forwarding on the uplink "
    "to this machine's network, and takes all of it back at the end (docs/how-to/probe.md)"
)

_LOCK = b"\0quiclab-host-nat"
"""Abstract socket, which belongs to one network: the process that has it bound may change that network."""
_TAP = 2
_NUD_PERMANENT = 0x80
_LONGEST_NAME = 60


@dataclass(frozen=True)
class Change:
    """Record of what is changed in the caller's network, and how it was before."""

    boot_id: str
    """Id of this boot of the machine; after another boot nothing is left of the change."""
    network: int
    """Inode of the caller's network namespace."""
    table: str
    device: str
    ip_forward: str
    """Value of `net.ipv4.ip_forward`, which stays as it was: only the uplinks below start to forward."""
    forwarding: dict[str, str]
    """Earlier values of `net.ipv4.conf.UPLINK.forwarding`, by uplink."""


_FIELDS = {field.name for field in fields(Change)}
_RECORD = {
    **dict.fromkeys(("boot_id!", "table!", "device!", "ip_forward!"), str),
    "network!": int,
    "forwarding!": Each(str),
}
_OURS = {"table": re.compile(r"quiclab-[A-Za-z0-9_.-]{0,52}"), "device": re.compile(r"ql-[0-9a-f]{8}")}
"""Names that `HostNat` gives: whatever else a record names is nothing that a probe has made."""
_UPLINK = re.compile(r"(?!\.)[A-Za-z0-9_.:@-]{1,15}")
"""Name of a device (Linux: 15 characters at most, no slash), which becomes part of a path below /proc/sys."""
_NO_DEVICES = ("all", "default")
"""Folders beside those of devices, which set more than one of them."""


def why_not(*, allowed: bool) -> HostError | None:
    """Reason why this caller may not change its network, or None; nothing is tried."""
    if os.geteuid() == 0 and allowed:
        return None
    lacking = "it needs --allow-host-nat" if os.geteuid() == 0 else "it needs root and --allow-host-nat"
    return HostError(f"{REFUSED}: {lacking}", HINT)


class HostNat:
    """Context manager of the caller, to be left when the sandbox has ended."""

    def __init__(self, study: str, addresses: Sequence[str], record: Path) -> None:
        """Prepare the way. Only the servers' `addresses` can be reached; `record` is the file in which the change is
        written down."""
        self._addresses = tuple(dict.fromkeys(addresses))
        self._record = record
        self._lock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._table = nft.OwnedTable(table_name(study))
        self._device = f"ql-{hashlib.sha256(str(record).encode()).hexdigest()[:8]}"

    @property
    def table(self) -> str:
        """Name of the table in `nft list tables`."""
        return self._table.name

    @property
    def device(self) -> str:
        """Name of the caller's end of the pair."""
        return self._device

    def __enter__(self) -> Self:
        """Take back what a killed probe of this study left, and check the way; nothing else is changed."""
        _bind(self._lock)
        try:
            undo(self._record, locked=True)
            self.change = Change(
                boot_id=_boot_id(),
                network=_network(),
                table=self._table.name,
                device=self._device,
                ip_forward=Path("/proc/sys/net/ipv4/ip_forward").read_text().strip(),
                forwarding={uplink: _forwarding(uplink) for uplink in _uplinks(self._addresses)},
            )
        except BaseException:
            self._lock.close()
            raise
        return self

    def connect(self, pid: int) -> None:
        """Connect the network of a process of the sandbox. Raises HostError when the kernel refuses."""
        from pyroute2 import IPRoute

        write_atomically(self._record, json.dumps(asdict(self.change), indent=1), mode=0o600)
        inward, client = (nft.device(nft.INPUT, self._device),), CLIENT_ADDRESSES[4]
        forward: list[Sequence[nft.Rule]] = [
            *((*inward, nft.destination(address), nft.accept()) for address in self._addresses),
            (*inward, nft.drop()),
        ]
        # A machine that did not forward before becomes a router for no other host.
        forward += [
            (nft.device(nft.INPUT, uplink), nft.device(nft.OUTPUT, self._device, equal=False), nft.drop())
            for uplink, before in self.change.forwarding.items()
            if before == "0"
        ]
        self._table.add(forward, [(nft.source(client), nft.masquerade())])
        with IPRoute() as ip:
            far = {"ifname": INNER_DEVICE, "address": INNER_MAC, "net_ns_pid": pid}
            ip.link("add", ifname=self._device, kind="veth", address=OUTER_MAC, peer=far)
            index = ip.link_lookup(ifname=self._device)[0]
            with suppress(OSError):
                Path(f"/proc/sys/net/ipv6/conf/{self._device}/disable_ipv6").write_text("1")
            ip.link("set", index=index, state="up")
            ip.neigh("add", dst=client, lladdr=INNER_MAC, ifindex=index, state=_NUD_PERMANENT)
            ip.route("add", dst=f"{client}/32", oif=index, scope="link")
        for device in (self._device, *self.change.forwarding):
            _forwarding_file(device).write_text("1")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._table.close()
        undo(self._record, locked=True)
        self._lock.close()


def undo(record: Path, *, locked: bool = False) -> list[str]:
    """Take back what is left of the change in `record`; return what that was.

    Raises BusyError while a probe uses the network, HostError where the record is of another network, and DecodeError
    for a record that no probe of this user has written: nothing of that is done.
    """
    if not os.path.lexists(record):
        return []
    if os.geteuid() != 0:
        raise HostError(f"{record} records a change to this machine's network", "as root: quiclab clean")
    change = _recorded(record)
    undone = []
    if change.boot_id == _boot_id():
        if change.network != _network():
            raise HostError(f"{record} records a change to another network namespace", "run quiclab clean in that one")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
            if not locked:
                _bind(lock)
            undone = _take_back(change)
    record.unlink()
    return undone


def _recorded(record: Path) -> Change:
    """The change that a probe of this user has recorded. Raises DecodeError for anything else."""
    hint = "look into it, and remove it if no probe has written it"
    try:
        told = json.loads(read_mine(record))
    except (ValueError, RecursionError) as error:
        raise DecodeError(f"{record} is no record of a probe: {json_trouble(error)}", hint) from error
    wrong = misfit(told, _RECORD, "record") or (None if told.keys() == _FIELDS else "it has other members")
    if wrong is None and not all(known.fullmatch(told[name]) for name, known in _OURS.items()):
        wrong = "it names a device or a table that no probe makes"
    if wrong is None and not all(
        _UPLINK.fullmatch(name) and name not in _NO_DEVICES and before in ("0", "1")
        for name, before in told["forwarding"].items()
    ):
        wrong = "it names what is no device, or a value that no switch has"
    if wrong is not None:
        raise DecodeError(f"{record} is no record of a probe: {wrong}", hint)
    return Change(**told)


def _take_back(change: Change) -> list[str]:
    from pyroute2 import IPRoute

    undone = []
    if nft.remove_table(change.table):
        undone.append(f"nftables table {change.table}")
    with IPRoute() as ip:
        for index in ip.link_lookup(ifname=change.device):
            ip.link("del", index=index)
            undone.append(f"device {change.device}")
    for uplink, before in change.forwarding.items():
        with suppress(FileNotFoundError):  # an uplink that is gone
            if _forwarding(uplink) != before:
                _forwarding_file(uplink).write_text(before)
                undone.append(f"net.ipv4.conf.{uplink}.forwarding = {before}")
    return undone


def table_name(study: str) -> str:
    """Name of the table, from the study's name in characters that `nft` accepts."""
    return f"quiclab-{re.sub('[^A-Za-z0-9_.-]', '-', study)}"[:_LONGEST_NAME]


def _uplinks(addresses: Sequence[str]) -> list[str]:
    """The devices that lead to these addresses. Raises HostError where none does, or not by IP forwarding."""
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    found = []
    with IPRoute() as ip:
        for address in addresses:
            try:
                index = ip.route("get", dst=address)[0].get_attr("RTA_OIF")
            except NetlinkError as error:
                raise HostError(f"this machine has no route to {address}", "see: ip route") from error
            link = ip.get_links(index)[0]
            name = str(link.get_attr("IFLA_IFNAME"))
            if name == "lo":
                raise HostError(
                    f"{address} is this machine itself", "for servers of your own write a spec: quiclab run"
                )
            if _is_tap(link):
                raise HostError(
                    f"{REFUSED}: {name}, the way to {address}, is a tap device, as these stacks make them",
                    "run quiclab probe where the machine's real network is",
                )
            found.append(name)
    return list(dict.fromkeys(found))


def _is_tap(link: Any) -> bool:
    info = link.get_attr("IFLA_LINKINFO")
    if info is None or info.get_attr("IFLA_INFO_KIND") != "tun":
        return False
    data = info.get_attr("IFLA_INFO_DATA")
    return data is None or data.get_attr("IFLA_TUN_TYPE") == _TAP


def _bind(lock: socket.socket) -> None:
    try:
        lock.bind(_LOCK)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise BusyError("another quiclab probe is using this machine's network", "wait until it has ended") from None


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _network() -> int:
    return Path("/proc/self/ns/net").stat().st_ino


def _forwarding_file(device: str) -> Path:
    return Path("/proc/sys/net/ipv4/conf", device, "forwarding")


def _forwarding(device: str) -> str:
    return _forwarding_file(device).read_text().strip()
