# SPDX-License-Identifier: Apache-2.0
"""What an endpoint is: one program in one file that says what it can do and which command plays its role.

An endpoint never starts a process and never reads a log. `probe` is handed a bounded runner; `command` is pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from quiclab.spec.address_change import AddressChange
from quiclab.spec.model import OCTETS, Knobs, Program, Role, Tcp, Video, Workload
from quiclab.spec.model import Protocol as HttpProtocol

__all__ = ["Knobs", "Role"]  # so that an endpoint's file needs one import

Ability = Literal[
    "keylog", "qlog", "resumption", "early_data", "migration", "ack_frequency", "content_type", "objects", "ranges",
    "pages", "think_time", "upload", "video", "first_visit",
]  # fmt: skip
"""What an endpoint can do beside its knobs, for docs/reference/endpoints.md and the conformance page. `ack_frequency`:
it does what its peer asks for by ACK_FREQUENCY frames (draft-ietf-quic-ack-frequency); `content_type`: it serves an
object under the type that the spec gives it; `objects`: it downloads several objects on one connection, as many at once
as it is told, and tells of each; `ranges`: it serves parts of a file (RFC 9110 section 14); `pages`: of a client, it
loads a page with all that it shows; of a server, it serves files under several names, each at an address of its own,
and tells their types by their endings; `think_time`: of a server of pages, it waits before it answers, as long as it is
told for each file; `upload`: it sends what it is given by PUT, or keeps what is sent to it; `video`: it plays one;
`first_visit`: of a client whose sessions nobody else can keep, it makes the first visit itself, which it can to
pages."""

BoundedRun = Callable[[Sequence[str]], str | None]
"""Runs a short command and returns what it printed, or None when it failed or took too long."""


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
    """The one line that adds it."""


@dataclass(frozen=True)
class Origin:
    """Where a proxy gets what it is asked for: TLS under the same name and authority."""

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
    """A page, beside what a context has for all workloads."""

    document: str
    """Path below `/` on the first host."""
    hosts: tuple[ServedHost, ...]
    """All serve the same files. The first has the context's own address."""
    resources: int
    """How many it surely has, with its document; 1 where only the browser can tell."""
    limit_s: float
    """After that the client gives up, and writes down how far it came."""
    waits: Mapping[str, int] = field(default_factory=dict)
    """Servers: path below `/` → nanoseconds for which they think before they answer."""


@dataclass(frozen=True)
class Foreign:
    """What a client does where the server is not the laboratory's."""

    most_bytes: int
    """Of the body: it gives up when there are more."""
    user_agent: str
    insecure: bool = False
    """Take any certificate."""


@dataclass(frozen=True)
class Context:
    """Everything that a command may be made of. Paths are absolute."""

    program: Program
    protocols: tuple[HttpProtocol, ...]
    """Clients: what to ask with, once for each. Servers and proxies: what to serve. The one under test comes first."""
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
    """The server's files."""
    certificate: Path
    key: Path
    ca: Path
    qlog_dir: Path | None
    """None switches qlog off."""
    keylog: Path | None
    output: Path
    """Where a client of ours writes its own account (client.json)."""
    session_file: Path
    """Clients: where the session ticket of the first visit is kept for the measured one."""
    content_type: str = OCTETS
    """Servers: what the objects are said to be."""
    other_objects: tuple[str, ...] = ()
    """Clients: what is asked for after it on the same connection, in this order."""
    concurrency: int = 1
    """Clients: how many objects may be under way at once."""
    video: Video | None = None
    """Clients: what the object is, where it is a video to be played."""
    uploads: Path | None = None
    """Clients: the folder with what is to be sent, each under its name; None: everything is downloaded."""
    received: Path | None = None
    """Servers: the folder where uploads are to be kept, each under its name; None: there are none."""
    address_change: AddressChange | None = None
    """Clients: what becomes of their address in this trial."""
    priming: bool = False
    """Clients: this is the first visit, which only fetches the ticket."""
    origin: Origin | None = None
    """Proxies: who stands behind."""
    foreign: Foreign | None = None
    """Clients: the server is a stranger's."""
    page: PageContext | None = None
    """What is loaded or served is a page."""
    kept: Path | None = None
    """Clients: the study's folder for what takes long to make, is the same in all trials, and knows no server."""

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
        """Of a page: all but the first."""
        return self.page.hosts[1:] if self.page else ()

    @property
    def reached(self) -> Path:
        """Clients whose address is to change: the pipe into which they write a line, with a number, when so many bytes
        of the body have come. That the address has changed they read as a line on stdin."""
        return self.work_dir / "reached"

    @property
    def protocol(self) -> HttpProtocol:
        """The protocol under test."""
        return self.protocols[0]

    @property
    def knobs(self) -> Knobs:
        """What the spec sets on the program."""
        return self.program.knobs

    @property
    def url(self) -> str:
        """The URL of the (first) object; the port is left out where it is 443."""
        return self._url(self.object_name)

    @property
    def urls(self) -> tuple[str, ...]:
        """Of all objects, in the order in which they are asked for."""
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
    """How to start the program for one trial."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Path, str] = field(default_factory=dict)
    """Files to write before the start."""
    sockets: tuple[Literal["tcp", "udp"], ...] = ()
    """Servers: ready when these listen on the port; a kind that is named twice, at two addresses."""
    waits_for_go: bool = False
    """Clients: may be started early; begins at a line on stdin, so that its own start-up is not measured."""
    ready_file: Path | None = None
    """Clients that wait for "go": this file appears once they are warm. None: they are at once, or nearly."""
    first_visit_file: Path | None = None
    """Clients that resume a session which only the process that fetched it has: a first line on stdin, before "go",
    makes them visit the server once; this file appears when they have closed every connection of that visit."""
    finishing_s: float = 0.0
    """Clients that keep the trial's time limit themselves: how much longer they may take to write down why."""
    reports: bool = False
    """Clients: writes client.json by itself. Without it only the start and the end of the program are known."""


class Endpoint(Protocol):
    """One program in one role."""

    @property
    def name(self) -> str:
        """Name in specs and in `quiclab doctor`."""
        ...

    @property
    def role(self) -> Role:
        """Client, server or proxy."""
        ...

    @property
    def protocols(self) -> frozenset[HttpProtocol]:
        """Versions of HTTP that it speaks; of a proxy, towards the client."""
        ...

    @property
    def knobs(self) -> Mapping[HttpProtocol, frozenset[str]]:
        """Per protocol, the names of the knobs that really change it; the others are refused when a plan is made."""
        ...

    @property
    def abilities(self) -> frozenset[Ability]:
        """What else it can do."""
        ...

    def probe(self, run: BoundedRun, prefix: str | None = None) -> Available | Unsupported:
        """Whether the program is here (or below `prefix`), and which version."""
        ...

    def unsupported(self, program: Program, protocol: HttpProtocol) -> str | None:
        """Why a value that the spec sets cannot be had, or None; that it has the knob at all is known by then."""
        ...

    def facts(self, program: Program, protocol: HttpProtocol, tcp: Tcp) -> Mapping[str, str]:
        """What decides its speed, in words.

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
        """Why it cannot fetch the objects of this workload as asked, or None; that there are several is known."""
        ...


@runtime_checkable
class Proxy(Endpoint, Protocol):
    """A program that stands before a server."""

    @property
    def origin_protocols(self) -> frozenset[HttpProtocol]:
        """Versions of HTTP that it speaks to the server."""
        ...
