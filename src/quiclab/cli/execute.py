# SPDX-License-Identifier: Apache-2.0
"""`quiclab exec`: any command inside an emulated path."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.link_options import add_link_options, link_table, problems_beside_path, read_link_options
from quiclab.cli.run_options import add_backend
from quiclab.lab.testbed.link_files import LINK_CONFIG, LINK_SUMMARY, link_files
from quiclab.model.errors import HostError, SpecError
from quiclab.spec.live_path import LivePath
from quiclab.spec.path_file import read_path_of
from quiclab.store.disk import shown_names
from quiclab.store.own_files import is_own_file, read_own

if TYPE_CHECKING:
    from quiclab.model import study

_DESCRIPTION = """\
Run a command behind an emulated link. It sees a network with one other host, the far end of the link.

A lone COMMAND runs at the client's end. The ends are called `client` and `server` (`client6` and `server6` over
IPv6), and QUICLAB_CLIENT, QUICLAB_SERVER, QUICLAB_CLIENT6 and QUICLAB_SERVER6 hold their addresses. It ends when the
client ends, with the client's exit code: 128 + signal when a signal ended it, 127 when there is no such command.
"""

_EPILOG = """\
examples:
  quiclab exec --rate 10mbit --delay 50ms --loss 1% -- ping -c 5 server
  quiclab exec --rate 100mbit --server 'iperf3 -s' --client 'iperf3 -c server'
  quiclab exec --down-rate 2mbit --delay 300ms --internet -- bash
  quiclab exec --profile lte --aqm "fq_codel ecn" --block udp -- COMMAND
  quiclab exec --path spec.toml:lossy -- COMMAND
"""

_COMMAND_NOT_EXECUTABLE, _COMMAND_NOT_FOUND = 126, 127
"""Exit codes of a command that cannot be started, as shells use them."""
_DEBIAN_PACKAGES = {
    "curl": "curl",
    "iperf3": "iperf3",
    "nc": "netcat-openbsd",
    "ping": "iputils-ping",
    "tcpdump": "tcpdump",
}
"""Debian packages of commands that are often run over a link."""
_PACKET_LOG_BEGINS = b"QLPKTLOG"
"""First bytes of a packet log (docs/reference/packet-log.md)."""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "exec",
        help="run any command inside an emulated path",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add_link_options(parser)
    parser.add_argument(
        "--path",
        metavar="FILE[:NAME]",
        help="a [[path]] of a spec, or of a file with paths alone, in place of all options of the link but --seed: "
        "with its schedule, addressed packets and several links",
    )
    parser.add_argument(
        "--server", metavar="CMD", help="shell command at the server's end: the client starts when it listens"
    )
    parser.add_argument("--client", metavar="CMD", help="shell command at the client's end, in place of COMMAND")
    parser.add_argument(
        "--internet",
        action="store_true",
        help="give COMMAND a name server and, across the link, a way out through this machine's network "
        "(needs pasta or slirp4netns; IPv4)",
    )
    parser.add_argument(
        "--tcp", metavar="NAME", help="TCP congestion control at both ends (default: this machine's own)"
    )
    parser.add_argument(
        "--log", type=Path, metavar="DIR", help="keep packet log, captures and the link's summary there"
    )
    parser.add_argument(
        "--control",
        type=Path,
        metavar="SOCKET",
        help="open a socket there, of yours alone, by which `quiclab link` shows and changes the link while it runs",
    )
    add_backend(parser)
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check everything that can be wrong before anything starts, then enter the sandbox."""
    from quiclab.cli.trouble import code_of
    from quiclab.lab.testbed.control_socket import ControlSocket
    from quiclab.lab.testbed.sandbox import leave_network, run_in_sandbox
    from quiclab.lab.testbed.terminal import terminal_restored
    from quiclab.lab.testbed.user_commands import Control, UserCommands, run_user_commands
    from quiclab.lab.testbed.way_out import WayOut, find_stack
    from quiclab.plan.cut_jitter import jitter_warnings

    path, written, argv = _read(arguments)
    congestion_control = _congestion_control(arguments.tcp)
    way_out = WayOut(find_stack(), path.mtu) if arguments.internet else None
    if arguments.log is not None:
        check_log_folder(arguments.log)
    if (code := _why_not_executable(argv[0])) is not None:
        return code
    if way_out is not None:
        print(
            "quiclab: with --internet TCP ends at this machine: timings against UDP are not comparable", file=sys.stderr
        )
    for told in jitter_warnings(path):
        print(f"quiclab: {told}", file=sys.stderr)
    commands = UserCommands(
        client=argv,
        server=arguments.server,
        path=path,
        seed=arguments.seed,
        congestion_control=congestion_control,
        backend=arguments.backend,
        log_dir=arguments.log.resolve() if arguments.log else None,
        user_id=os.geteuid(),
    )

    def inside() -> int:
        with ExitStack() as stack:
            if way_out is not None:
                stack.enter_context(way_out)
                leave_network()
            return run_user_commands(commands, way_out, control)

    with ExitStack() as opened:
        control = None
        if arguments.control is not None:
            control = Control(opened.enter_context(ControlSocket(arguments.control)), written)
        opened.enter_context(terminal_restored())
        return run_in_sandbox(lambda: code_of(inside), own_network=way_out is None)


def _read(arguments: argparse.Namespace) -> tuple[study.Path, LivePath, list[str]]:
    """The path, the same as it is written, and the client's command. Raises SpecError with every offender."""
    problems: list[str] = []
    path, of_file = None, None
    try:
        if arguments.path is None:
            path, written = read_link_options(arguments), LivePath(link_table(arguments), Path.cwd())
        elif not (beside := problems_beside_path(arguments)):
            path, written = read_path_of(arguments.path)
        else:
            problems += beside
    except SpecError as error:
        of_file = error if arguments.path is not None else None
        problems += () if of_file else error.problems
    argv = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if argv and arguments.client is not None:
        problems.append("--client: stands in place of COMMAND; give one of them")
    if not argv and not arguments.client:
        problems.append("COMMAND: there is none; write it after --, or as a string behind --client")
    if arguments.internet and arguments.server is not None:
        problems.append("--internet: the server's end is the way out; it cannot run --server as well")
    if arguments.internet and path is not None and path.more_links:
        problems.append(f"--internet: it takes one link, and the path {path.name} has {len(path.links)}")
    if of_file is not None and not problems:
        raise of_file
    if problems or path is None:
        raise SpecError("exec cannot do what was asked", "quiclab exec --help shows every option", tuple(problems))
    return path, written, argv or ["sh", "-c", arguments.client]


def _congestion_control(asked: str | None) -> str:
    """Name of the TCP congestion control. Raises HostError when this kernel has not loaded it."""
    folder = Path("/proc/sys/net/ipv4")
    available = (folder / "tcp_available_congestion_control").read_text().split()
    if asked is not None and asked not in available:
        raise HostError(
            f"--tcp {asked}: this kernel offers {', '.join(available)}",
            f"if it is a module, as root: modprobe tcp_{asked}",
        )
    return asked or (folder / "tcp_congestion_control").read_text().strip()


def check_log_folder(folder: Path) -> None:
    """Raise SpecError for a folder that has anything in it but the files of an earlier `quiclab exec`, HostError where
    nothing can be written."""
    try:
        there = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
        known = {LINK_SUMMARY, LINK_CONFIG}.union(*(link_files(number).values() for number in range(len(there))))
        if there and not (there <= known and _is_of_a_link(folder)):
            foreign = sorted(there - known) or sorted(there)
            told = f"nothing is written to {folder}, since these in it are not of an earlier `quiclab exec --log`"
            raise SpecError(told, "name a new or an empty folder for --log, or move them away", shown_names(foreign))
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HostError(f"cannot write {folder}: {error.strerror}", "choose another folder for --log") from error


def _is_of_a_link(folder: Path) -> bool:
    """True if a folder has files of its own alone, and among them a packet log."""
    if not all(is_own_file(each, folder) for each in folder.iterdir()):
        return False
    try:
        return read_own(folder / link_files(0)["packet_log"]).startswith(_PACKET_LOG_BEGINS)
    except OSError:
        return False


def _why_not_executable(command: str) -> int | None:
    """Say why a command cannot be run, and the exit code that shells have for it."""
    if shutil.which(command) is not None:
        return None
    if "/" in command and Path(command).exists():
        print(f"quiclab: {command} is not an executable file", file=sys.stderr)
        return _COMMAND_NOT_EXECUTABLE
    print(f"quiclab: there is no command {command}", file=sys.stderr)
    if command in _DEBIAN_PACKAGES:
        print(f"  hint: on Debian, as root: apt-get install -y {_DEBIAN_PACKAGES[command]}", file=sys.stderr)
    return _COMMAND_NOT_FOUND
