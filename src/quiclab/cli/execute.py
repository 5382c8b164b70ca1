# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec`: any command inside an emulated path."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.link_options import add_link_options, read_link_options
from quiclab.errors import ExitCode, HostError, QuiclabError, SpecError

if TYPE_CHECKING:
    from quiclab.spec import model
    from quiclab.testbed.namespace import NetworkNamespace

_DESCRIPTION = """\
Run a command behind an emulated link. It sees a network with one other host, the far end of the link.

  quiclab exec --rate 10mbit --delay 50ms --loss 1% -- sh -c 'ping -c 5 $QUICLAB_SERVER'
  quiclab exec --rate 100mbit --delay 10ms --server 'iperf3 -s' --client 'iperf3 -c $QUICLAB_SERVER'

A lone COMMAND runs at the client's end. QUICLAB_SERVER and QUICLAB_CLIENT hold the addresses of the ends
(QUICLAB_SERVER6, QUICLAB_CLIENT6 for IPv6). It ends when the client ends, with the client's exit code.
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "exec",
        help="run any command inside an emulated path",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_link_options(parser)
    parser.add_argument("--server", metavar="CMD", help="shell command at the server's end, started first")
    parser.add_argument("--client", metavar="CMD", help="shell command at the client's end, in place of COMMAND")
    parser.add_argument(
        "--tcp", metavar="NAME", help="TCP congestion control at both ends (default: this machine's own)"
    )
    parser.add_argument(
        "--log", type=Path, metavar="DIR", help="keep packet log, captures and the link's summary there"
    )
    parser.add_argument(
        "--backend", choices=("tun", "veth"), help="how packets reach the link (default: tun if it opens)"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check everything that can be wrong before anything starts, then enter the sandbox."""
    from quiclab.testbed.sandbox import run_in_sandbox

    path = read_link_options(arguments)
    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if bool(argv) == bool(arguments.client):
        raise SpecError("exec needs one command for the client's end", "give it after --, or as a string with --client")
    argv = argv or ["sh", "-c", arguments.client]
    congestion_control = arguments.tcp or Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    if arguments.log is not None:
        try:
            arguments.log.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(
                f"cannot write {arguments.log}: {error.strerror}", "choose another folder for --log"
            ) from error
    caller = os.geteuid()

    def inside() -> int:
        from quiclab.cli.main import tell

        try:
            return _run(arguments, path, argv, congestion_control, caller)
        except QuiclabError as error:
            tell(error)
            return error.exit_code
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED

    return run_in_sandbox(inside)


def _run(arguments: argparse.Namespace, path: model.Path, argv: list[str], congestion_control: str, caller: int) -> int:
    from quiclab.spec.link import link_config
    from quiclab.spec.model import Tcp
    from quiclab.testbed.backend import choose_backend
    from quiclab.testbed.link import CLIENT_ADDRESSES, SERVER_ADDRESSES, Link, LinkSettings
    from quiclab.testbed.namespace import NetworkNamespace, RouteMetrics
    from quiclab.testbed.process import Process, kill_everything_else
    from quiclab.testbed.tcp_settings import sysctls

    tcp = Tcp(congestion_control)
    settings = LinkSettings(
        backend=arguments.backend or choose_backend()[0],
        mtu=path.mtu,
        model=link_config(path, arguments.seed),
        route=RouteMetrics(tcp.congestion_control, tcp.initial_window),
        work_dir=arguments.log.resolve() if arguments.log else None,
    )
    environment = dict(os.environ) | {
        "QUICLAB_SERVER": SERVER_ADDRESSES[4],
        "QUICLAB_CLIENT": CLIENT_ADDRESSES[4],
        "QUICLAB_SERVER6": SERVER_ADDRESSES[6],
        "QUICLAB_CLIENT6": CLIENT_ADDRESSES[6],
    }

    def start(name: str, command: list[str], namespace: NetworkNamespace) -> Process:
        return Process(
            name, command, environment, namespace, work_dir=Path.cwd(), output=None, ordinary_id=caller or None
        )

    try:
        with ExitStack() as stack:
            client, server = (stack.enter_context(NetworkNamespace()) for _ in range(2))
            for namespace in (client, server):
                namespace.write_sysctls(sysctls(tcp))
            link = stack.enter_context(Link(settings, client, server))
            if arguments.server:
                far = stack.enter_context(start("the server", ["sh", "-c", arguments.server], server))
                _wait_until_listening(far, server)
            near = stack.enter_context(start("the client", argv, client))
            code = near.wait(None)
            summary = link.stop()
    finally:
        kill_everything_else()
    if not summary["sound"]:
        print(f"quiclab: the link was not true to its model: {'; '.join(summary['unsound_reasons'])}", file=sys.stderr)
    return code if code is not None and code >= 0 else 128 - (code or 0)


def _wait_until_listening(process: object, namespace: NetworkNamespace, patience_s: float = 5.0) -> None:
    """Until anything listens at the server's end; one that listens to nothing is given the patience, no more."""
    from quiclab.testbed.process import Process

    assert isinstance(process, Process)
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        code = process.poll()
        if code is not None:
            raise HostError(f"the server ended at start with exit code {code}: {shlex.join(process.argv)}")
        tables = {kind: namespace.read(kind).splitlines()[1:] for kind in ("tcp", "tcp6", "udp", "udp6")}
        if any(
            line.split()[3] == ("0A" if kind.startswith("tcp") else "07")
            for kind, lines in tables.items()
            for line in lines
        ):
            return
        time.sleep(0.01)
