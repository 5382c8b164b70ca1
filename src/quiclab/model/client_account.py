# SPDX-License-Identifier: Apache-2.0
"""A client's own account of what it did, as client.json has it: the record that is read, and its members.

A member that a client does not tell is None. All instants are CLOCK_MONOTONIC.
"""

from __future__ import annotations

import msgspec


class AddressChangeSeen(msgspec.Struct, frozen=True):
    """A change of the client's address, as its program saw it."""

    last_byte_before_ns: int | None = None
    """The last new byte of the body before anything came to the new address."""
    first_byte_after_ns: int | None = None
    """The first new byte of the body after that."""
    body_bytes_before: int | None = None
    """Bytes of the body that the program had when its address changed."""
    body_bytes_again: int | None = None
    """Bytes of the body that it was given once more."""


class ConnectionAnswer(msgspec.Struct, frozen=True):
    """The answer on one connection of a client that goes on with a transfer on another one."""

    status: int | None = None
    content_range: str | None = None


class ClientRequest(msgspec.Struct, frozen=True):
    """One request by the client's account."""

    url: str | None = None
    http_version: str | None = None
    status: int | None = None
    body_bytes: int | None = None
    """Bytes of the response's body as they came."""
    decoded_bytes: int | None = None
    """Bytes of the body behind its content coding: a browser tells of these."""
    transferred_bytes: int | None = None
    """Bytes of header and body that came over the network by a browser's account: 0 where the HTTP cache had them."""
    sha256: str | None = None
    """Hash of the body, in hexadecimal digits."""
    error: str | None = None
    """Reason why the request failed."""
    start_ns: int | None = None
    first_byte_ns: int | None = None
    last_byte_ns: int | None = None
    close_ns: int | None = None
    redirect: str | None = None
    """URL that the answer of a foreign server sends to."""
    requests_held_back: int | None = None
    """Requests that a browser did not send as soon as the page asked for them."""
    address_change: AddressChangeSeen | None = None
    connections: int | tuple[ConnectionAnswer, ...] | None = None
    """Number of connections by a browser's account; of a client that moved, the answer on each."""
    resumed: bool | None = None
    """True if TLS resumed a session."""
    early_data: str | None = None
    """`not_offered`, `accepted` or `rejected`."""
    migrated: bool | None = None
    """True if the connection went on from a new address."""

    @property
    def answers(self) -> tuple[ConnectionAnswer, ...]:
        """The answer on each of the client's connections; none where it does not tell."""
        return self.connections if isinstance(self.connections, tuple) else ()


class PageLoad(msgspec.Struct, frozen=True):
    """The load of a page by a browser's driver."""

    went_ns: int
    """Instant at which the browser was told to load the page."""


class ClientAccount(msgspec.Struct, frozen=True):
    """The account that a client left of a transfer."""

    requests: tuple[ClientRequest, ...] = ()
    versions: dict[str, object] = msgspec.field(default_factory=dict)
    """Version of each program and library, by its name."""
    close_ns: int | None = None
    """Instant at which the client closed its last connection."""
    page: PageLoad | None = None

    @property
    def first(self) -> ClientRequest:
        """The first request; one of which nothing is known where the client told of none."""
        return self.requests[0] if self.requests else ClientRequest()
