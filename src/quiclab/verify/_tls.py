# SPDX-License-Identifier: Apache-2.0
"""The hellos of a TLS handshake, which are always sent in clear (RFC 8446 section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from quiclab.verify._cursor import Cursor
from quiclab.verify._tls_names import cipher_suite_name, group_name, version_name

_ALERT, _HANDSHAKE, _APPLICATION_DATA = 21, 22, 23
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_SERVER_NAME, _SUPPORTED_GROUPS, _ALPN = 0, 10, 16
_PRE_SHARED_KEY, _EARLY_DATA, _SUPPORTED_VERSIONS, _KEY_SHARE = 41, 42, 43, 51
_QUIC_TRANSPORT_PARAMETERS = 57  # RFC 9001 section 8.2
# A ServerHello with this random is a HelloRetryRequest (RFC 8446 section 4.1.3).
_RETRY_RANDOM = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")

T = TypeVar("T")


@dataclass(frozen=True)
class ClientHello:
    """What the client offered."""

    server_name: str | None
    alpn: tuple[str, ...]
    groups: tuple[str, ...]
    key_shares: tuple[str, ...]
    pre_shared_key: bool
    early_data: bool
    quic_transport_parameters: bytes


@dataclass(frozen=True)
class ServerHello:
    """What the server chose. `group` is None in TLS 1.2, and where a pre-shared key stands alone."""

    retry_request: bool
    version: str
    cipher_suite: str
    group: str | None
    pre_shared_key: bool


@dataclass(frozen=True)
class Hellos:
    """The first ClientHello, the ServerHello that is no HelloRetryRequest, and whether there was one of those."""

    client: ClientHello | None = None
    server: ServerHello | None = None
    retry_request: bool = False


def read_hellos(client: bytes | bytearray, server: bytes | bytearray) -> Hellos:
    """The hellos in the first handshake messages of each side; those not yet complete are None."""
    offer = next((_client_hello(body) for kind, body in _messages(client) if kind == _CLIENT_HELLO), None)
    answers = [_server_hello(body) for kind, body in _messages(server) if kind == _SERVER_HELLO]
    choice = next((answer for answer in answers if not answer.retry_request), None)
    return Hellos(offer, choice, any(answer.retry_request for answer in answers))


def handshake_messages(stream: bytes | bytearray) -> tuple[bytes, str | None]:
    """The handshake messages in the clear records of a TCP stream (RFC 8446 section 5.1), and what broke them off."""
    messages = bytearray()
    at = 0
    while at + 5 <= len(stream):
        kind, fragment = stream[at], stream[at + 5 : at + 5 + int.from_bytes(stream[at + 3 : at + 5])]
        if stream[at + 1] != 3 or not _ALERT - 1 <= kind <= _APPLICATION_DATA:
            return bytes(messages), "sent something that is not TLS"
        if kind == _ALERT and len(fragment) == 2:  # An encrypted alert is longer.
            return bytes(messages), f"sent TLS alert {fragment[1]}"
        if kind == _APPLICATION_DATA:
            break
        if kind == _HANDSHAKE:
            messages += fragment
        at += 5 + len(fragment)
    return bytes(messages), None


def _messages(stream: bytes | bytearray) -> Iterator[tuple[int, bytes]]:
    """Type and body of each complete handshake message (RFC 8446 section 4)."""
    at = 0
    while at + 4 <= len(stream):
        end = at + 4 + int.from_bytes(stream[at + 1 : at + 4])
        if end > len(stream):
            return
        yield stream[at], bytes(stream[at + 4 : end])
        at = end


def _client_hello(body: bytes) -> ClientHello:
    """RFC 8446 section 4.1.2."""
    hello = Cursor(body, "ClientHello")
    hello.take(2 + 32)  # legacy_version and random
    hello.vector(1)  # legacy_session_id
    hello.vector(2)  # cipher_suites
    hello.vector(1)  # legacy_compression_methods
    found = _extensions(hello)
    # Each name is a type, of which only host_name (0) was ever defined, and a vector (RFC 6066 section 3).
    names = _list(found, _SERVER_NAME, lambda name: (name.number(1), _text(name.vector(2)))[1])
    return ClientHello(
        server_name=names[0] if names else None,
        alpn=_list(found, _ALPN, lambda protocol: _text(protocol.vector(1))),
        groups=_list(found, _SUPPORTED_GROUPS, lambda group: group_name(group.number(2))),
        key_shares=_list(found, _KEY_SHARE, lambda share: (group_name(share.number(2)), share.vector(2))[0]),
        pre_shared_key=_PRE_SHARED_KEY in found,
        early_data=_EARLY_DATA in found,
        quic_transport_parameters=found.get(_QUIC_TRANSPORT_PARAMETERS, b""),
    )


def _server_hello(body: bytes) -> ServerHello:
    """RFC 8446 section 4.1.3."""
    hello = Cursor(body, "ServerHello")
    legacy_version = hello.number(2)
    random = hello.take(32)
    hello.vector(1)  # legacy_session_id_echo
    cipher_suite = hello.number(2)
    hello.take(1)  # legacy_compression_method
    found = _extensions(hello)
    version, share = found.get(_SUPPORTED_VERSIONS), found.get(_KEY_SHARE)
    return ServerHello(
        retry_request=random == _RETRY_RANDOM,
        version=version_name(legacy_version if version is None else Cursor(version, "supported_versions").number(2)),
        cipher_suite=cipher_suite_name(cipher_suite),
        group=None if share is None else group_name(Cursor(share, "key_share").number(2)),
        pre_shared_key=_PRE_SHARED_KEY in found,
    )


def _extensions(hello: Cursor) -> dict[int, bytes]:
    """Extension type to its data; the whole field may be absent before TLS 1.3."""
    block = Cursor(hello.vector(2) if hello else b"", "extensions")
    found: dict[int, bytes] = {}
    while block:
        kind = block.number(2)
        found[kind] = block.vector(2)
    return found


def _list(found: dict[int, bytes], kind: int, read: Callable[[Cursor], T]) -> tuple[T, ...]:
    """The items of an extension that is one list with a length of two bytes; none if it is absent."""
    if kind not in found:
        return ()
    items = Cursor(Cursor(found[kind], f"TLS extension {kind}").vector(2), f"TLS extension {kind}")
    values = []
    while items:
        values.append(read(items))
    return tuple(values)


def _text(name: bytes) -> str:
    return name.decode("ascii", "backslashreplace")
