# SPDX-License-Identifier: Apache-2.0
"""Interface of endpoints: one program in one file, which says what it can do and makes the command for its role.

An endpoint never starts a process and never reads a log. `probe` is handed a bounded runner; `command` is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from quiclab.model.address_change import AddressChange
from quiclab.model.study import OCTETS, Knobs, Program, Role, Tcp, Video, Workload
from quiclab.model.study import Protocol as HttpProtocol
from quiclab.model.units import ByteCount

__all__ = ["Knobs", "Role"]  # so that an endpoint's file needs one import

Ability = Literal[
    "keylog", "qlog", "resumption", "early_data", "migration", "ack_frequency", "content_type", "objects", "ranges",
    "pages", "think_time", "cacheable", "upload", "video", "first_visit",
]  # fmt: skip
"""Ability of an endpoint besides its knobs, for docs/reference/endpoints.md and the conformance page. `ack_frequency`:
it does what its peer asks for by ACK_FREQUENCY frames (draft-ietf-quic-ack-frequency); `content_type`: it serves an
object with the type that the spec gives it; `objects`: it downloads several objects on one connection, as many at once
as it is told, and reports each; `ranges`: it serves parts of a file (RFC 9110 section 14); `pages`: a client loads a
page with everything on it, and a server serves files under several names, each at an address of its own, with types by
the files' endings; `think_time`: a server of pages waits before it answers, as long as it is told for each file;
`cacheable`: a server of pages lets a browser keep resources in its HTTP cache (`http_cache`);
`upload`: a client sends objects by PUT, or a server keeps them; `video`: a client plays one; `first_visit`: a client
whose sessions no other process can keep makes the first visit itself, to pages only."""

OwnValues = Mapping[str, str | int | float | bool]
"""Knob → value, as a spec writes it."""
BoundedRun = Callable[[Sequence[str]], str | None]
"""Function that runs a short command and returns what it printed, or None if it failed or took too long."""


@dataclass(frozen=True)
class Available:
    """The program is here."""

    version: str
    path: str = ""


@dataclass(frozen=True)
class Unsupported:
    """The program is not here, or cannot do it; a result and not an error."""

    reason: str
    install: str
    """Command line that installs the program."""


@dataclass(frozen=True)
class Origin:
    """Server behind a proxy, which the proxy asks over TLS under the same name and authority."""

    address: str
    port: int
    protocol: HttpProtocol

    @property
    def authority(self) -> str:
        """Address and port as a socket address."""
        return _authority(self.address, self.port)


@dataclass(frozen=True)
class ServedHost:
    """One of the names under which a page is served."""

    name: str
    address: str
    protocols: tuple[HttpProtocol, ...]
    certificate: Path
    key: Path


@dataclass(frozen=True)
class PageContext:
    """Facts about a page, in addition to what a context has for all workloads."""

    document: str
    """Path of the document below `/` on the first host."""
    hosts: tuple[ServedHost, ...]
    """Hosts of the page, which all serve the same files. The first has the context's own address."""
    resources: int
    """Number of resources that are known to exist, including the document; 1 where only the browser can tell."""
    limit_s: float
    """Time after which the client gives up, and writes down how far it got."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """Servers: nanoseconds for which they think before they answer, by path below `/`."""
    cacheable: bool = False
    """Servers: True if a browser may keep the resources, all but the document."""


@dataclass(frozen=True)
class Foreign:
    """Rules for a client of a server that is not the laboratory's."""

    most_bytes: int
    """Most bytes of the body: the client gives up if there are more."""
    user_agent: str
    insecure: bool = False
    """True if to accept any certificate."""


@dataclass(frozen=True)
class Context:
    """Everything that a command may be made of. Paths are absolute."""

    program: Program
    protocols: tuple[HttpProtocol, ...]
    """Clients: protocols to request with, once with each. Servers and proxies: protocols to serve. The one under test
    comes first."""
    ip_version: Literal[4, 6]
    address: str
    """The server's IP address."""
    port: int
    host: str
    """The server's name, which the certificate carries and every client resolves from this context."""
    object_name: str
    """Path of the object below `/` on the server, or of the first of several."""
    work_dir: Path
    """The trial's directory: HOME, TMPDIR and every file of this endpoint live below it."""
    root: Path
    """Folder of the server's files."""
    certificate: Path
    key: Path
    ca: Path
    qlog_dir: Path | None
    """Folder for qlogs; None switches qlog off."""
    keylog: Path | None
    output: Path
    """File for the account of a client of ours (client.json)."""
    session_file: Path
    """Clients: file that keeps the session ticket of the first visit for the measured one."""
    content_type: str = OCTETS
    """Servers: media type that is declared for the objects."""
    other_objects: tuple[str, ...] = ()
    """Clients: objects that are requested after the first one on the same connection, in this order."""
    concurrency: int = 1
    """Clients: how many objects may be under way at once."""
    video: Video | None = None
    """Clients: the video, if the object is one to be played."""
    uploads: Path | None = None
    """Clients: folder with the objects to be sent, each under its name; None means a download."""
    received: Path | None = None
    """Servers: folder for uploads, each under its name; None means that there are none."""
    address_change: AddressChange | None = None
    """Clients: change of their address in this trial."""
    priming: bool = False
    """Clients: whether this is the first visit, which only fetches the ticket."""
    origin: Origin | None = None
    """Proxies: the server behind them."""
    foreign: Foreign | None = None
    """Clients: rules for a server that is not the laboratory's."""
    page: PageContext | None = None
    """The page, if one is loaded or served."""
    kept: Path | None = None
    """Clients: the study's folder for files that take long to make, are the same in all trials, and know no server."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the server at its own address: a page's document may come from another name than the warm-up."""
        return (
            tuple(dict.fromkeys([self.host, *(each.name for each in self.page.hosts[:1])]))
            if self.page
            else (self.host,)
        )

    @property
    def other_hosts(self) -> tuple[ServedHost, ...]:
        """Hosts of a page other than the first."""
        return self.page.hosts[1:] if self.page else ()

    @property
    def reached(self) -> Path:
        """Pipe for clients whose address is to change: they write a line with a number into it when that many bytes of
        the body have arrived. They read that the address has changed as a line on stdin."""
        return self.work_dir / "reached"

    @property
    def protocol(self) -> HttpProtocol:
        """The protocol under test."""
        return self.protocols[0]

    @property
    def knobs(self) -> Knobs:
        """Knobs that the spec sets on the program."""
        return self.program.knobs

    @property
    def url(self) -> str:
        """The URL of the (first) object; the port is left out where it is 443."""
        return self._url(self.object_name)

    @property
    def urls(self) -> tuple[str, ...]:
        """URLs of all objects, in the order in which they are requested."""
        return self.url, *(self._url(name) for name in self.other_objects)

    def _url(self, name: str) -> str:
        port = "" if self.port == 443 else f":{self.port}"
        return f"https://{self.host}{port}/{name}"

    @property
    def authority(self) -> str:
        """Address and port as a socket address."""
        return _authority(self.address, self.port)


def _authority(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@dataclass(frozen=True)
class Command:
    """Command that starts the program for one trial."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Path, str] = field(default_factory=dict)
    """Files to write before the start."""
    sockets: tuple[Literal["tcp", "udp"], ...] = ()
    """Servers: kinds of sockets that must listen on the port for the server to be ready; a kind that is named twice
    must do so at two addresses."""
    waits_for_go: bool = False
    """Clients: whether the program may be started early and begins at a line on stdin, so that its start-up is not
    measured."""
    ready_file: Path | None = None
    """Clients that wait for "go": file that appears once they are warm. None: they are warm at once, or nearly."""
    first_visit_file: Path | None = None
    """Clients that resume a session which only the process that fetched it has: a first line on stdin, before "go",
    makes them visit the server once, and this file appears when they have closed every connection of that visit."""
    finishing_s: float = 0.0
    """Clients that keep the trial's time limit themselves: additional time in which they may write down why they
    failed."""
    reports: bool = False
    """Clients: whether the program writes client.json itself. Without it only the start and the end of the program are
    known."""
    is_ours: bool = False
    """True of a program of quiclab's own around a library, whose files and options nobody else reads."""


class Endpoint(Protocol):
    """One program in one role."""

    @property
    def name(self) -> str:
        """Name in specs and in `quiclab doctor`."""
        ...

    @property
    def role(self) -> Role:
        """Role of the program: client, server or proxy."""
        ...

    @property
    def protocols(self) -> frozenset[HttpProtocol]:
        """Versions of HTTP that the program speaks; a proxy, towards the client."""
        ...

    @property
    def knobs(self) -> Mapping[HttpProtocol, frozenset[str]]:
        """Names of the knobs that really change the program, per protocol; the others are refused when a plan is
        made."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """Further things that the program can do."""
        ...

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Answer whether the program is here (or below `prefix`), and which version."""
        ...

    def unsupported(self, program: Program, protocol: HttpProtocol) -> str | None:
        """Reason why a value that the spec sets is not possible, or None; it is known by then that the program has the
        knob."""
        ...

    def traits(self, program: Program, protocol: HttpProtocol, tcp: Tcp) -> Mapping[str, str]:
        """Describe what decides the program's speed, as it is in the version that `program` has (`_versions.Known`).

        Servers: congestion_control, initial_window, packet_size, pacing. Clients: receive_window.
        """
        ...

    def command(self, context: Context) -> Command:
        """The command for one trial; pure."""
        ...


@runtime_checkable
class LimitedObjects(Endpoint, Protocol):
    """A client that fetches several objects, but not in every way."""

    def unsupported_objects(self, program: Program, workload: Workload) -> str | None:
        """Reason why the client cannot fetch the several objects of this workload as asked, or None."""
        ...


@runtime_checkable
class Proxy(Endpoint, Protocol):
    """A program that stands before a server."""

    @property
    def origin_protocols(self) -> frozenset[HttpProtocol]:
        """Versions of HTTP that the proxy speaks to the server."""
        ...


@runtime_checkable
class SizesDatagrams(Endpoint, Protocol):
    """A QUIC program that is known to begin with datagrams of one size."""

    def first_payload(self, program: Program, ip_version: Literal[4, 6]) -> int:
        """UDP payload in bytes of its first datagrams. Path MTU discovery only finds that more goes through: over a
        path that carries less they never arrive."""
        ...


@runtime_checkable
class KeepsWindow(Endpoint, Protocol):
    """A QUIC server or proxy that does not reduce its window for every loss."""

    def least_window(self, program: Program) -> ByteCount:
        """Window below which no loss reduces it."""
        ...


@runtime_checkable
class SendsByWindow(Endpoint, Protocol):
    """A program whose `stream_window` bounds what it sends, too."""

    @property
    def stream_buffer(self) -> frozenset[HttpProtocol]:
        """Protocols over which no more of a response than `stream_window` is unacknowledged."""
        ...


@runtime_checkable
class KnowsOwnValues(Endpoint, Protocol):
    """A program whose own values of some knobs are known: those that hold where a spec does not set them."""

    def own_values(self, program: Program, protocol: HttpProtocol) -> OwnValues:
        """The program's own values in the version that `program` has, beside what the spec sets on it: setting one
        changes nothing. A window that grows until it is set has none."""
        ...
