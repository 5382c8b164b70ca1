# SPDX-License-Identifier: Apache-2.0
"""Commands of the user's own at the ends of an emulated link. Must run inside the sandbox."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path

from quiclab.lab.testbed import _libc
from quiclab.lab.testbed.backend import choose_backend
from quiclab.lab.testbed.control_socket import ControlSocket
from quiclab.lab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, Backend, Link, LinkSettings, usable_versions
from quiclab.lab.testbed.listening import ListeningPorts
from quiclab.lab.testbed.namespace import NetworkNamespace, RouteMetrics
from quiclab.lab.testbed.process import Process, kill_everything_else
from quiclab.lab.testbed.process_cost import ProcessCosts
from quiclab.lab.testbed.run_delay import TURN
from quiclab.lab.testbed.sampler import counters
from quiclab.lab.testbed.tcp_settings import sysctls
from quiclab.lab.testbed.way_out import NAME_SERVER, WayOut
from quiclab.model import study
from quiclab.model.errors import HostError
from quiclab.model.host_findings import ProgramCost
from quiclab.model.link_account import LinkAccount
from quiclab.model.units import Duration
from quiclab.spec.ecn import tcp_on
from quiclab.spec.link import lateness_bounds, link_config
from quiclab.spec.live_path import LivePath
from quiclab.store.record_form import as_record

_LISTEN_PATIENCE_S = 5.0
LEAST_TOLD = Duration(5_000_000)
"""Shortest wait for a processor that is worth reporting: about a turn of another program."""


@dataclass(frozen=True)
class UserCommands:
    """The commands at both ends, and the link between them."""

    client: Sequence[str]
    server: str | None
    """Shell command at the server's end."""
    path: study.Path
    seed: int
    congestion_control: str
    """Congestion control of TCP at both ends."""
    backend: Backend | None
    """Backend of the link; None takes the one that this machine can use."""
    log_dir: Path | None
    """Folder for packet log, captures and summary; None keeps nothing."""
    user_id: int
    """Uid that the commands see; 0 leaves them root of the sandbox."""


@dataclass(frozen=True)
class Control:
    """Means to change the link while it runs."""

    socket: ControlSocket
    path: LivePath
    """The link's path as it is written."""


def run_user_commands(commands: UserCommands, way_out: WayOut | None, control: Control | None = None) -> int:
    """Run the commands until the client ends; return its exit code, or 128 + signal. Raises HostError when the link
    cannot run."""
    tcp = tcp_on(commands.path, study.Tcp(commands.congestion_control))
    route = RouteMetrics(tcp.congestion_control, tcp.initial_window)
    settings = LinkSettings(
        backend=_backend(commands.backend),
        mtu=commands.path.mtu,
        model=link_config(commands.path, commands.seed),
        route=route,
        work_dir=commands.log_dir,
        lateness_p99_ns=[bound.ns for bound in lateness_bounds(commands.path)],
    )
    name_the_ends()
    try:
        with ExitStack() as stack:
            places = [stack.enter_context(NetworkNamespace()) for _ in range(len(commands.path.links) + 1)]
            for namespace in places:
                namespace.write_sysctls(sysctls(tcp))
            client, *nodes, server = places
            link = stack.enter_context(Link(settings, client, server, nodes))
            if way_out is not None:
                way_out.open(client, server, route)
                use_name_server(NAME_SERVER)
            costs = stack.enter_context(ProcessCosts())
            if commands.server is not None:
                # The terminal is the client's: its input, and its Ctrl-C.
                argv = ["setsid", "sh", "-c", f"exec </dev/null\n{commands.server}"]
                far = stack.enter_context(_process("the server", argv, server, commands.user_id))
                costs.watch("server", far.pid)
                _wait_until_listening(far, server, commands.server)
            # Ctrl-C goes to the whole foreground group, and is for the client alone, from its first instant. A handler,
            # which exec(2) takes away; a signal that is ignored would be ignored by the client too.
            signal.signal(signal.SIGINT, lambda *_: None)
            near = stack.enter_context(_process("the client", commands.client, client, commands.user_id))
            costs.watch("client", near.pid)
            costs.begin()
            with control.socket.serve(link, control.path) if control else nullcontext():
                code = near.wait(None)
            if near.usage is not None:
                costs.ended("client", near.usage, near.waited)
            costs.end()
            account = as_record(link.stop(), LinkAccount)
            thrown_away = {"client": _thrown_away(client), "server": _thrown_away(server)}
    finally:
        kill_everything_else()
    used = {role: as_record(cost, ProgramCost) for role, cost in costs.summary().items()}
    told = closing_account(account, thrown_away, used, by_root=commands.user_id == 0)
    for line in (*_lateness(account, commands.path), *told):
        print(f"quiclab: {line}", file=sys.stderr)
    return code if code is not None and code >= 0 else 128 - (code or 0)


def _lateness(account: LinkAccount, path: study.Path) -> Iterator[str]:
    """Sentence about the latest packet, if it was beyond the bound: the verdict rests on p99, which a short stop does
    not affect."""
    bounds = lateness_bounds(path)
    for link, bound, told in zip(path.links, bounds, account.each_link, strict=True):
        lateness = told.lateness
        if lateness["max_ns"] > bound.ns:
            name = "the link" if len(path.links) == 1 else f"the link {link.name}"
            latest, most, nearly_all = (f"{lateness[key] / 1e6:.3g} ms" for key in ("max_ns", "p999_ns", "p99_ns"))
            yield (
                f"{name} was late by up to {latest} (of {lateness['count']} packets 99 % by no more than {nearly_all}, "
                f"99.9 % by no more than {most}): your command's longest times may be longer by that"
            )


def closing_account(
    account: LinkAccount, thrown_away: Mapping[str, int], costs: Mapping[str, ProgramCost], *, by_root: bool
) -> Iterator[str]:
    """Sentences about what made the commands' times and losses differ from the model's."""
    if not account.sound:
        yield (
            f"the link was not true to its model, and your command's results are not those of the path that you asked "
            f"for: {'; '.join(account.unsound_reasons)}. {_remedy(account, by_root=by_root)}; `quiclab doctor` "
            "tests how punctual it is here"
        )
    for end, count in thrown_away.items():
        if count:
            yield (
                f"the {end}'s UDP sockets were full for {count} datagrams that the link had delivered: "
                "what read them was too slow, or had no processor"
            )
    for role, cost in costs.items():
        turns = cost.run_delay.longest_turns or 0
        waited_ns = (cost.run_delay.longest_ns or 0) - turns * TURN.ns
        if waited_ns > LEAST_TOLD.ns:
            yield (
                f"the {role}'s command waited {waited_ns / 1e6:.0f} ms in all for a processor (the thread that waited "
                f"longest, {turns} times): the sum of its times is at most that much too long"
            )


def _remedy(account: LinkAccount, *, by_root: bool) -> str:
    """Remedies that were not applied."""
    if account.gave_way_ns is not None:
        return (
            "Repeat it over a slower path, or on a machine with three processors: with fewer, a link that hardly "
            "sleeps gives up its precedence, so that the commands have one"
        )
    if by_root:
        return "Repeat it while nothing else runs, or over a slower or longer path"
    return (
        "Repeat it while nothing else runs, over a slower or longer path, or as root (which gives the link real-time "
        "priority)"
    )


def _thrown_away(namespace: NetworkNamespace) -> int:
    """Datagrams for which a UDP socket had no room, over IPv4 and IPv6."""
    over_ipv4 = counters(namespace)["UdpRcvbufErrors"]
    if 6 not in usable_versions(1280):
        return over_ipv4
    over_ipv6 = dict(line.split() for line in namespace.read("snmp6").splitlines())
    return over_ipv4 + int(over_ipv6["Udp6RcvbufErrors"])


def _backend(asked: Backend | None) -> Backend:
    possible, reason = choose_backend()
    if asked == "tun" and possible != "tun":
        raise HostError(f"the link cannot use TUN: {reason}", "leave --backend away: the link then uses veth")
    return asked or possible


def _process(name: str, argv: Sequence[str], namespace: NetworkNamespace, user_id: int) -> Process:
    environment = os.environ | {
        "QUICLAB_CLIENT": CLIENT_ADDRESSES[4],
        "QUICLAB_SERVER": SERVER_ADDRESSES[4],
        "QUICLAB_CLIENT6": CLIENT_ADDRESSES[6],
        "QUICLAB_SERVER6": SERVER_ADDRESSES[6],
    }
    return Process(name, argv, environment, namespace, work_dir=Path.cwd(), output=None, ordinary_id=user_id or None)


def _wait_until_listening(server: Process, namespace: NetworkNamespace, command: str) -> None:
    """Wait until anything listens at the server's end; a server that never listens gets the whole patience, and no
    error."""
    deadline = time.monotonic() + _LISTEN_PATIENCE_S
    with ListeningPorts(namespace) as listening:
        while not listening.sockets("tcp") | listening.sockets("udp"):
            code = server.poll()
            if code is not None:
                raise HostError(f"the server ended at start with exit code {code}: {command}")
            if time.monotonic() > deadline:
                print(f"quiclab: nothing listens at the server's end after {_LISTEN_PATIENCE_S:g} s", file=sys.stderr)
                return
            time.sleep(0.01)


# Results of name lookups by programs of the sandbox. Must run inside it: its mounts are visible nowhere else.
_NAME_SERVICES = ("/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket")
"""Sockets through which the C library asks the machine's own name services, past any emulated link."""

_STAGE = "/tmp"  # noqa: S108 - a folder that every system has, covered for an instant


def name_the_ends() -> None:
    """Put the names `client`, `server`, and for IPv6 `client6` and `server6`, before those of the machine's
    /etc/hosts."""
    hosts = Path("/etc/hosts")
    if hosts.exists():
        names = {"client": CLIENT_ADDRESSES[4], "server": SERVER_ADDRESSES[4]}
        names |= {"client6": CLIENT_ADDRESSES[6], "server6": SERVER_ADDRESSES[6]}
        _cover(hosts, "".join(f"{address} {name}\n" for name, address in names.items()) + hosts.read_text())


def use_name_server(address: str) -> None:
    """Ask the name server at `address` and no other. Raises HostError where there is no /etc/resolv.conf."""
    _cover(Path("/etc/resolv.conf"), f"nameserver {address}\n")
    for socket in _NAME_SERVICES:
        if Path(socket).exists():
            _libc.mount("/dev/null", socket, None, _libc.MS_BIND)


def _cover(file: Path, text: str) -> None:
    """Let `file` read as `text`, which is in memory only, so that nothing is left of it whatever happens."""
    _libc.mount("tmpfs", _STAGE, "tmpfs", _libc.MS_NOSUID | _libc.MS_NODEV, "mode=0755")
    try:
        cover = Path(_STAGE, file.name)
        cover.write_text(text)
        _libc.mount(str(cover), str(file), None, _libc.MS_BIND)
    finally:
        _libc.unmount(_STAGE)
