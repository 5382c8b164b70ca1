# SPDX-License-Identifier: Apache-2.0
"""Properties and abilities of this machine: facts for `host.json`, and findings for `quiclab doctor`."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from quiclab.lab.testbed import nf_tables as nft
from quiclab.lab.testbed.backend import tun_problem
from quiclab.lab.testbed.link_process import link_binary
from quiclab.lab.testbed.namespace import NetworkNamespace
from quiclab.lab.testbed.timekeeping import keep_time
from quiclab.lab.testbed.way_out import find_stack
from quiclab.model.errors import HostError, VoidError
from quiclab.processes import NO_HOME
from quiclab.project import SET_UP

State = Literal["ok", "limited", "missing"]


@dataclass(frozen=True)
class Finding:
    """One row of the table."""

    name: str
    state: State
    detail: str
    remedy: str = ""
    """Command line that adds what is missing, or what else would help; empty if nothing is missing."""
    numbers: Mapping[str, int | float | str] = field(default_factory=dict)
    """Measured numbers, with the unit in the name; empty where nothing was measured."""
    optional: bool = False
    """True if no study needs it."""


def host_facts() -> dict[str, str | int]:
    """Facts that the numbers of a study depend on."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "cpus": os.cpu_count() or 0,
        "cpu_model": _cpu_model(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "clock_source": _read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "tcp_available_congestion_control": _read("/proc/sys/net/ipv4/tcp_available_congestion_control"),
        "net_core_rmem_max": _read("/proc/sys/net/core/rmem_max"),
        "net_core_rmem_default": _read("/proc/sys/net/core/rmem_default"),
    }


def inside_findings() -> list[Finding]:
    """Findings that only the sandbox can tell. Must run inside it; the first finding is that it runs at all."""
    found = [Finding("namespaces", "ok", "user, mount, PID, IPC and network namespaces")]
    problem = tun_problem()
    if problem is None:
        found.append(Finding("link on TUN", "ok", "/dev/net/tun opens"))
    else:
        remedy = "as root: chmod 0666 /dev/net/tun (or run as root); until then the link uses veth"
        found.append(Finding("link on TUN", "limited", f"/dev/net/tun: {problem}; veth is used instead", remedy))
    found.append(_receive_buffer())
    found += [_congestion_control(name) for name in ("reno", "cubic", "bbr")]
    link = _link_binary()
    found.append(link)
    if link.state == "ok":
        found.append(_keeps_time())
    found += [_netem(), _forwarding()]
    return found


def outside_findings() -> list[Finding]:
    """Findings that need no namespaces."""
    return [_processors(), _way_out()]


def bounded_run(argv: Sequence[str], *, pass_fds: Sequence[int] = ()) -> str | None:
    """Run a short command for a probe: return what it printed, or None if it failed or took longer than 20 s."""
    environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": NO_HOME}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", timeout=20, env=environment, check=False,
            pass_fds=pass_fds,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _processors() -> Finding:
    cpus = os.cpu_count() or 1
    if cpus < 2:
        remedy = "use a machine with 2 or more"
        return Finding("processors", "limited", "1: endpoints and link disturb each other", remedy)
    return Finding("processors", "ok", f"{cpus}, {_cpu_model()}")


def _way_out() -> Finding:
    try:
        return Finding("way out", "ok", f"{find_stack()}, for quiclab exec --internet", optional=True)
    except HostError as error:
        told = f"needed by quiclab exec --internet alone: {error.message}"
        return Finding("way out", "limited", told, f"as root: {error.hint}", optional=True)


def _congestion_control(name: str) -> Finding:
    """Check a congestion control by setting it on a route, as every trial does."""

    def attempt() -> str | None:
        import socket

        from pyroute2 import IPRoute
        from pyroute2.netlink.exceptions import NetlinkError

        with IPRoute() as ip:
            lo = ip.link_lookup(ifname="lo")[0]
            try:
                ip.route("add", dst="192.0.2.0/24", oif=lo, metrics={"cc_algo": name})
            except NetlinkError as error:
                return str(error.args[1] if len(error.args) > 1 else error)
            route = ip.get_routes(dst="192.0.2.0/24", family=socket.AF_INET)
            return None if route else "the route was not kept"

    with NetworkNamespace() as namespace:
        problem = namespace.run(attempt)
    if problem is None and name in _read("/proc/sys/net/ipv4/tcp_available_congestion_control").split():
        return Finding(f"TCP {name}", "ok", "can be pinned per namespace")
    remedy = f"as root: modprobe tcp_{name}"
    return Finding(f"TCP {name}", "missing", f"unsupported: {problem or 'not loaded in this kernel'}", remedy)


def _keeps_time() -> Finding:
    try:
        measured = keep_time()
    except (HostError, VoidError) as error:
        return Finding("keeps time", "limited", f"the link could not be tried: {error.message}", error.hint or "again")
    state: State = "ok" if measured.for_every_path else "limited"
    return Finding("keeps time", state, measured.summary, measured.remedy, asdict(measured))


def _netem() -> Finding:
    def attempt() -> str | None:
        from pyroute2 import IPRoute
        from pyroute2.netlink.exceptions import NetlinkError

        with IPRoute() as ip:
            try:
                ip.tc("add", "netem", ip.link_lookup(ifname="lo")[0], "1:", delay=1000)
            except NetlinkError as error:
                return str(error.args[1] if len(error.args) > 1 else error)
        return None

    with NetworkNamespace() as namespace:
        problem = namespace.run(attempt)
    if problem is None:
        return Finding("netem", "ok", "present (not used: quiclab has a link of its own)", optional=True)
    return Finding("netem", "ok", "not in this kernel (not needed: quiclab has a link of its own)", optional=True)


def _forwarding() -> Finding:
    """Make the table that a probe needs, in a namespace of its own."""

    def attempt() -> str | None:
        table = nft.OwnedTable("quiclab-doctor")
        try:
            table.add([], [(nft.source("192.0.2.1"), nft.masquerade())])
        except HostError as error:
            return error.message
        table.close()
        return None

    with NetworkNamespace() as namespace:
        problem = namespace.run(attempt)
    if problem is not None:
        remedy = "as root: modprobe -a nf_tables nft_masq nft_chain_nat"
        return Finding("forwarding", "limited", f"needed by quiclab probe alone: {problem}", remedy, optional=True)
    return Finding("forwarding", "ok", "nftables; quiclab probe also needs root and --allow-host-nat", optional=True)


def _receive_buffer() -> Finding:
    size = int(_read("/proc/sys/net/core/rmem_max") or 0)
    if size >= 4 << 20:
        return Finding("UDP buffers", "ok", f"net.core.rmem_max {size}")
    remedy = "as root: sysctl -w net.core.rmem_max=8388608"
    return Finding("UDP buffers", "limited", f"net.core.rmem_max {size}: QUIC may drop above some 100 Mbit/s", remedy)


def _link_binary() -> Finding:
    try:
        return Finding("link emulator", "ok", link_binary())
    except HostError as error:
        return Finding("link emulator", "missing", error.message, SET_UP)


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unknown"


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
