# SPDX-License-Identifier: Apache-2.0
"""One nftables table that translates and filters what a probe forwards, spoken to the kernel directly (netlink).

It needs nothing but the kernel, not even `nft`, and the table is *owned* (NFT_TABLE_F_OWNER, Linux 5.12): the kernel
removes it when the socket that made it is closed, however its process ends.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address

from quiclab.model.errors import HostError

# linux/netfilter/nfnetlink.h and nf_tables.h
_SUBSYSTEM = 10
_BATCH_BEGIN, _BATCH_END = 0x10, 0x11
_NEW_TABLE, _DELETE_TABLE, _NEW_CHAIN, _NEW_RULE = 0, 2, 3, 6
_OWNER = 0x2
_DROP, _ACCEPT = 0, 1
_EQUAL, _NOT_EQUAL = 0, 1
_INPUT_DEVICE, _OUTPUT_DEVICE = 6, 7
_SOURCE_OFFSET, _DESTINATION_OFFSET = 12, 16
_NETWORK_HEADER = 1
_REGISTER = 1
_VERDICT_REGISTER = 0

# linux/netfilter.h and netfilter_ipv4.h: where a packet that is forwarded passes.
_FORWARD, _FORWARD_PRIORITY = 2, 0
_POSTROUTING, _SOURCE_NAT_PRIORITY = 4, 100

# linux/netlink.h
_REQUEST, _ACK, _CREATE, _APPEND = 0x1, 0x4, 0x400, 0x800
_ERROR = 2
_NESTED = 0x8000
_MESSAGE, _FAMILY = struct.Struct("=IHHII"), struct.Struct("=BBH")
_LONGEST_ANSWER = 1 << 16
_PATIENCE_S = 10

Expression = bytes
Rule = Sequence[Expression]


def device(index: int, name: str, *, equal: bool = True) -> Rule:
    """The packet came in by (`INPUT`), or goes out by (`OUTPUT`), the device of that name, or by any but that."""
    padded = name.encode().ljust(16, b"\0")
    return _expression("meta", _number(1, _REGISTER) + _number(2, index)), _compare(padded, equal=equal)


INPUT, OUTPUT = _INPUT_DEVICE, _OUTPUT_DEVICE


def destination(address: str) -> Rule:
    """The packet goes to this IPv4 address."""
    return _address(_DESTINATION_OFFSET, address)


def source(address: str) -> Rule:
    """The packet comes from this IPv4 address."""
    return _address(_SOURCE_OFFSET, address)


def accept() -> Rule:
    """The packet may pass, as far as this table is concerned."""
    return (_verdict(_ACCEPT),)


def drop() -> Rule:
    """The packet ends here."""
    return (_verdict(_DROP),)


def masquerade() -> Rule:
    """The packet leaves under this machine's own address, and answers come back to the sender."""
    return (_expression("masq", b""),)


class OwnedTable:
    """A table of the calling thread's network namespace. It exists from `add` until `close` or the process's end."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._socket: socket.socket | None = None

    def add(self, forward: Iterable[Sequence[Rule]], leaving: Iterable[Sequence[Rule]]) -> None:
        """Make the table in one step: rules for packets that are forwarded, and (source NAT) for those that leave.

        A rule is a sequence of conditions and one action. Raises HostError where the kernel refuses.
        """
        table = _text(1, self.name)
        messages = [(_NEW_TABLE, _CREATE, table + _number(2, _OWNER))]
        for chain, kind, hook, priority, rules in (
            ("forward", "filter", _FORWARD, _FORWARD_PRIORITY, forward),
            ("leaving", "nat", _POSTROUTING, _SOURCE_NAT_PRIORITY, leaving),
        ):
            place = _nested(4, _number(1, hook) + _number(2, priority))
            messages.append((_NEW_CHAIN, _CREATE, table + _text(3, chain) + place + _text(7, kind)))
            for rule in rules:
                listed = b"".join(_nested(1, expression) for part in rule for expression in part)
                content = table + _text(2, chain) + _nested(4, listed)
                messages.append((_NEW_RULE, _CREATE | _APPEND, content))
        connection = _connect()
        try:
            _transact(connection, messages)
        except OSError as error:
            connection.close()
            hint = "as root: modprobe -a nf_tables nft_masq nft_chain_nat; quiclab probe needs Linux 5.12 or newer"
            raise HostError(f"this kernel refuses the nftables table {self.name}: {error.strerror}", hint) from error
        self._socket = connection

    def close(self) -> None:
        """Remove the table."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def remove_table(name: str) -> bool:
    """Remove a table that a process left; False if there is none, or if a process that lives owns it."""
    with _connect() as connection:
        try:
            _transact(connection, [(_DELETE_TABLE, 0, _text(1, name))])
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EPERM):
                return False
            raise HostError(f"cannot remove the nftables table {name}: {error.strerror}") from error
    return True


def _connect() -> socket.socket:
    connection = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 12)
    connection.bind((0, 0))
    connection.settimeout(_PATIENCE_S)
    return connection


def _transact(connection: socket.socket, messages: Iterable[tuple[int, int, bytes]]) -> None:
    """Send one batch, which takes effect whole or not at all. Raises OSError with the kernel's first objection."""
    batch = [_message(_BATCH_BEGIN, _REQUEST, 0, socket.AF_UNSPEC, _SUBSYSTEM, b"")]
    for number, (kind, flags, content) in enumerate(messages, 1):
        wanted = _REQUEST | _ACK | flags
        batch.append(_message(_SUBSYSTEM << 8 | kind, wanted, number, socket.AF_INET, 0, content))
    count = len(batch) - 1
    batch.append(_message(_BATCH_END, _REQUEST, count + 1, socket.AF_UNSPEC, _SUBSYSTEM, b""))
    connection.send(b"".join(batch))
    trouble = 0
    while count:
        answer = connection.recv(_LONGEST_ANSWER)
        at = 0
        while at + _MESSAGE.size <= len(answer):
            length, kind, _, number, _ = _MESSAGE.unpack_from(answer, at)
            if kind == _ERROR:
                code = -struct.unpack_from("=i", answer, at + _MESSAGE.size)[0]
                trouble = trouble or code
                count = 0 if code and not number else count - 1
            at += (max(length, _MESSAGE.size) + 3) & ~3
        if trouble:
            raise OSError(trouble, os.strerror(trouble))


def _message(kind: int, flags: int, number: int, family: int, resource: int, content: bytes) -> bytes:
    body = _FAMILY.pack(family, 0, socket.htons(resource)) + content
    return _MESSAGE.pack(_MESSAGE.size + len(body), kind, flags, number, 0) + body


def _attribute(kind: int, content: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(content), kind) + content + bytes(-len(content) % 4)


def _nested(kind: int, content: bytes) -> bytes:
    return _attribute(kind | _NESTED, content)


def _number(kind: int, value: int) -> bytes:
    return _attribute(kind, struct.pack(">I", value))


def _text(kind: int, value: str) -> bytes:
    return _attribute(kind, value.encode() + b"\0")


def _expression(name: str, content: bytes) -> Expression:
    return _text(1, name) + _nested(2, content)


def _compare(value: bytes, *, equal: bool) -> Expression:
    operation = _EQUAL if equal else _NOT_EQUAL
    data = _nested(3, _attribute(1, value))
    return _expression("cmp", _number(1, _REGISTER) + _number(2, operation) + data)


def _address(offset: int, address: str) -> Rule:
    place = _number(2, _NETWORK_HEADER) + _number(3, offset) + _number(4, 4)
    return _expression("payload", _number(1, _REGISTER) + place), _compare(IPv4Address(address).packed, equal=True)


def _verdict(code: int) -> Expression:
    return _expression("immediate", _number(1, _VERDICT_REGISTER) + _nested(2, _nested(2, _number(1, code))))
