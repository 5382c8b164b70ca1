# SPDX-License-Identifier: Apache-2.0
"""A way out of the sandbox that crosses the emulated link.

    client ─ link ─ server's end, which forwards ─ tap ─ user-mode stack ─ ordinary sockets in the caller's network

The stack (pasta or slirp4netns) is a process of the sandbox that stayed in the caller's network: it is started before
the sandbox leaves that network, waits until the server's end exists, and ends with the sandbox as every process in it.
It talks to the client under the client's own address, so nothing on the way translates addresses. IPv4 only.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.model.errors import HostError

_TAP = "tap0"
_NETWORK, _TAP_ADDRESS, _GATEWAY = "10.78.0.0/24", "10.78.0.1", "10.78.0.2"
NAME_SERVER = "10.78.0.3"
"""Address of the name server. slirp4netns has gateway and name server at these addresses of its network; pasta is told
to."""

_NETNS = "$netns"
"""Stand-in for the path of the network namespace in a command line."""

_RTNH_F_ONLINK = 4
_PATIENCE_S = 5.0


def _pasta(mtu: int) -> list[str]:
    """Command line of pasta. `--runas 0`: root here is merely the caller, and must remain able to enter the server's
    end."""
    return [
        *("pasta", "--foreground", "--quiet", "--runas", "0", "--no-netns-quit", "--ipv4-only", "--no-map-gw"),
        *("--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none"),
        *("--mtu", str(mtu), "--ns-ifname", _TAP, "--address", CLIENT_ADDRESSES[4], "--gateway", _GATEWAY),
        *("--dns-forward", NAME_SERVER, "--netns", _NETNS),
    ]


def _slirp4netns(mtu: int) -> list[str]:
    return [
        *("slirp4netns", "--disable-host-loopback", f"--mtu={mtu}", f"--cidr={_NETWORK}"),
        *("--netns-type=path", _NETNS, _TAP),
    ]


_STACKS: dict[str, Callable[[int], list[str]]] = {"pasta": _pasta, "slirp4netns": _slirp4netns}
"""Command lines of the stacks, by program."""


def find_stack() -> str:
    """The user-mode stack that is installed. Raises HostError."""
    for name in _STACKS:
        if shutil.which(name) is not None:
            return name
    raise HostError("a way out needs a user-mode network stack: pasta or slirp4netns", "apt-get install -y passt")


class WayOut:
    """Context manager, to be entered in the caller's network; `open` connects a link's ends to it."""

    def __init__(self, stack: str, mtu: int) -> None:
        """Prepare the way; `stack` is a name from `find_stack`, `mtu` is the link's."""
        self._name = stack
        self._mtu = mtu

    def __enter__(self) -> Self:
        # The shell waits for a path and becomes the stack. Its own mount namespace keeps the caller's resolv.conf.
        words = " ".join('"$netns"' if word == _NETNS else shlex.quote(word) for word in _STACKS[self._name](self._mtu))
        self._words = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", f"read -r netns && exec {words}"],
            stdin=subprocess.PIPE,
            stdout=self._words,
            stderr=self._words,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._words.close()

    def open(self, client: NetworkNamespace, server: NetworkNamespace, route: RouteMetrics) -> None:
        """Connect the far end of an open link, and route the client's packets for the rest of the world that way.

        Raises HostError when the stack cannot run, for example because the caller has no network itself.
        """
        server.run(self._attach)
        server.write_sysctls({"net.ipv4.ip_forward": "1", f"net.ipv4.conf.{_TAP}.proxy_arp": "1"})
        server.configure(_TAP, mtu=self._mtu, addresses={_TAP_ADDRESS: 24}, route=None)
        server.run(lambda: default_route(_GATEWAY))
        metrics = {"initcwnd": route.initial_window, "cc_algo": route.congestion_control}
        client.run(lambda: default_route(SERVER_ADDRESSES[4], metrics=metrics))

    def _attach(self) -> None:
        """Let the stack into the namespace of this thread, and wait until its device is there."""
        # pasta has dropped most capabilities when it opens the path: it may not look at a thread that has more.
        _libc.drop_capabilities()
        assert self._process.stdin is not None
        self._process.stdin.write(f"/proc/{threading.get_native_id()}/ns/net\n".encode())
        self._process.stdin.flush()
        deadline = time.monotonic() + _PATIENCE_S
        while f"{_TAP}:" not in Path("/proc/thread-self/net/dev").read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                hint = "it needs an IPv4 default route on this machine (`ip route`) and /dev/net/tun"
                raise HostError(f"{self._name} provides no way out: {self._last_words()}", hint)
            time.sleep(0.005)

    def _last_words(self) -> str:
        self._words.seek(0)
        lines = [line.strip() for line in self._words.read().decode(errors="replace").splitlines()]
        return " | ".join([line for line in lines if line and "syslog" not in line][-3:]) or "it says nothing"


def default_route(gateway: str, **settings: Any) -> None:
    """Add a default route by `gateway`, on the device that leads there."""
    from pyroute2 import IPRoute

    with IPRoute() as ip:
        device = ip.route("get", dst=gateway)[0].get_attr("RTA_OIF")
        ip.route("add", dst="default", gateway=gateway, oif=device, flags=_RTNH_F_ONLINK, **settings)
