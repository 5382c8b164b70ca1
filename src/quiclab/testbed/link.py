# SPDX-License-Identifier: Apache-2.0
"""The emulated link as a process: `quiclab-link` between two namespaces, its devices configured from here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from quiclab.errors import HostError
from quiclab.testbed.namespace import NetworkNamespace, RouteMetrics, add_veth
from quiclab.testbed.real_time import ask_for_awake_processors, ask_for_real_time

Backend = Literal["tun", "veth"]
End = Literal["client", "server"]

CLIENT_ADDRESSES = {4: "10.77.0.1", 6: "fd77::1"}
NEXT_CLIENT_ADDRESSES = {4: "10.77.0.3", 6: "fd77::3"}
"""Of a client that changes its network."""
SERVER_ADDRESSES = {4: "10.77.0.2", 6: "fd77::2"}
PREFIXES = {4: 24, 6: 64}
_FIRST_HOST = 10
DEVICE = "link0"
"""What programs at either end see of it."""


def host_address(number: int, ip_version: int) -> str:
    """The address of a further host at the server's end; numbers begin at 1."""
    return f"10.77.0.{_FIRST_HOST + number}" if ip_version == 4 else f"fd77::{_FIRST_HOST + number:x}"


@dataclass(frozen=True)
class LinkSettings:
    """What the link process is told, beside its two directions."""

    backend: Backend
    mtu: int
    model: Mapping[str, Any]
    """What the spec says of the link: seed, `up` and `down` (docs/reference/link-config.md)."""
    route: RouteMetrics | None
    work_dir: Path | None
    """Where configuration, packet log, captures and summary are written; None keeps nothing."""
    more_server_addresses: Sequence[str] = ()
    """Beside the server's own, in the same networks."""
    packet_log: bool = True
    captures: bool = True
    snaplen_bytes: int | None = None
    """Bytes of each packet that the captures keep; None keeps all."""
    lateness_p99_ns: int = 100_000
    spin_ns: int | None = None
    program: Sequence[str] = ()
    """What to start instead of quiclab-link: a benchmark compares it with programs that say the same words."""


class Link:
    """Context manager: between `with` and its end, packets flow from `client` to `server` and back."""

    def __init__(self, settings: LinkSettings, client: NetworkNamespace, server: NetworkNamespace) -> None:
        self._settings = settings
        self._ends = {"client": client, "server": server}
        self._stack = ExitStack()
        self._process: subprocess.Popen[str] | None = None
        self._real_time = False
        self._awake = False
        self.summary: dict[str, Any] = {}
        """The link's own account, once `stop` was called."""
        self.ready: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _start(self) -> None:
        settings = self._settings
        ends: dict[str, dict[str, Any]] = {
            end: {"netns": f"/proc/self/fd/{namespace.fd}", "device": DEVICE, "mtu": settings.mtu}
            for end, namespace in self._ends.items()
        }
        namespaces = list(self._ends.values())
        if settings.backend == "veth":
            middle = self._stack.enter_context(NetworkNamespace())
            namespaces.append(middle)
            middle.write_sysctls({"net.ipv6.conf.default.disable_ipv6": "1"})
            for end, namespace in self._ends.items():
                add_veth(namespace, DEVICE, middle, f"to-{end}", (_mac(end, "end"), _mac(end, "near")))
                middle.configure(f"to-{end}", mtu=settings.mtu, addresses={}, route=None)
                ends[end] |= {"near_netns": f"/proc/self/fd/{middle.fd}", "near_device": f"to-{end}"}
                ends[end] |= {"mac": _mac(end, "link"), "peer_mac": _mac(end, "end")}
        config = {
            **settings.model,
            "backend": settings.backend,
            "ends": ends,
            "log": {**self._log_files(), "snaplen_bytes": settings.snaplen_bytes, "buffer_bytes": 256 << 20},
            "void": {"lateness_p99_ns": settings.lateness_p99_ns, "one_way_delay_share": 0.02},
            "timer": {"spin_ns": settings.spin_ns},
        }
        text = json.dumps(config, indent=1)
        if settings.work_dir is not None:
            (settings.work_dir / "link-config.json").write_text(text)
        config_fd = os.memfd_create("link-config")
        try:
            os.write(config_fd, text.encode())
            self._process = subprocess.Popen(
                [*(settings.program or [link_binary()]), f"/proc/self/fd/{config_fd}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                pass_fds=(config_fd, *(namespace.fd for namespace in namespaces)),
                start_new_session=True,
            )
        finally:
            os.close(config_fd)
        self._stack.callback(self._reap)
        if settings.backend == "veth":
            # The devices are there already, and the link needs as long to open its own side.
            self._configure_ends()
        self.ready = self._message("ready")
        self._real_time = self.ready.get("real_time", False) or ask_for_real_time(self._process.pid, deadline=True)
        self._awake = ask_for_awake_processors(self._process.pid)
        if settings.backend == "tun":
            self._configure_ends()

    def _configure_ends(self) -> None:
        settings = self._settings
        for end, namespace in self._ends.items():
            own, far = (CLIENT_ADDRESSES, SERVER_ADDRESSES) if end == "client" else (SERVER_ADDRESSES, CLIENT_ADDRESSES)
            namespace.configure(
                DEVICE,
                mtu=settings.mtu,
                addresses={own[version]: PREFIXES[version] for version in usable_versions(settings.mtu)},
                route=settings.route,
            )
            more = settings.more_server_addresses
            if end == "server" and more:
                namespace.add_addresses(DEVICE, more)
            if settings.backend == "veth":
                seen = [far[version] for version in usable_versions(settings.mtu)]
                for address in (*seen, *(more if end == "client" else ())):
                    namespace.neighbour(DEVICE, address, _mac(end, "link"))

    def replace_client_address(self, version: int, when: Callable[[], bool]) -> int | None:
        """The client is in another network from the instant that is returned, over the same link."""
        assert self._settings.route is not None
        old, new = CLIENT_ADDRESSES[version], NEXT_CLIENT_ADDRESSES[version]
        if self._settings.backend == "veth":
            self._ends["server"].neighbour(DEVICE, new, _mac("server", "link"))
        client, prefix = self._ends["client"], PREFIXES[version]
        return client.replace_address(DEVICE, old, new, prefix, self._settings.route, when)

    def _log_files(self) -> dict[str, str | None]:
        folder, settings = self._settings.work_dir, self._settings
        files = {
            "packet_log": ("link.qplog", settings.packet_log),
            "capture_client": ("client.pcapng", settings.captures),
            "capture_server": ("server.pcapng", settings.captures),
            "summary": ("link.json", True),
        }
        return {key: str(folder / name) if folder and wanted else None for key, (name, wanted) in files.items()}

    @property
    def pid(self) -> int:
        """Of the link's process."""
        return self._require().pid

    def stop(self) -> dict[str, Any]:
        """Close the link and return its summary; packets still inside are counted there."""
        process = self._require()
        if process.stdin is not None and not process.stdin.closed:
            process.stdin.close()
            self.summary = self._message("summary") | {
                "real_time": self._real_time,
                "awake_processors": self._awake,
            }
        return self.summary

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _reap(self) -> None:
        process = self._require()
        # After its summary it ends by itself, and nobody needs to watch it.
        if not self.summary:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()

    def _require(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise RuntimeError("the link was not started")
        return self._process

    def _message(self, event: str) -> dict[str, Any]:
        """The next line of the link process, which must be `event`."""
        process = self._require()
        line = process.stdout.readline() if process.stdout else ""
        try:
            message: dict[str, Any] = json.loads(line)
        except json.JSONDecodeError:
            raise HostError(f"the link process ended without a word (exit code {process.poll()})") from None
        if message.get("event") != event:
            raise HostError(f"the link cannot run: {message.get('message', line)}", message.get("hint", ""))
        return message


def _mac(end: str, of: Literal["end", "link", "near"]) -> str:
    """The Ethernet address of an end, of the link as this end sees it, or of the near device of the pair to it.

    The link reads what an end sends before it goes through the pair. To the device there it is addressed to somebody
    else, so that the kernel drops it as soon as it sees it.
    """
    return f"02:00:00:00:0{1 if end == 'client' else 2}:0{('end', 'link', 'near').index(of) + 1}"


def link_binary() -> str:
    """Path of `quiclab-link`, which is installed beside this Python. Raises HostError."""
    beside = Path(sys.executable).with_name("quiclab-link")
    found = str(beside) if beside.exists() else shutil.which("quiclab-link")
    if found is None:
        raise HostError("the link emulator quiclab-link is not built", "run: make setup")
    return found


def usable_versions(mtu: int) -> tuple[int, ...]:
    """IP versions that a link of this MTU carries and this kernel speaks (RFC 8200 section 5: IPv6 needs 1280)."""
    has_ipv6 = mtu >= 1280 and Path("/proc/sys/net/ipv6").exists()
    return (4, 6) if has_ipv6 else (4,)
