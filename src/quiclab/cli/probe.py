# SPDX-License-Identifier: Apache-2.0
"""`quiclab probe`: HTTP/3 against HTTP/2 to a real server that the user names, through an emulated path here."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from typing import TYPE_CHECKING

from quiclab.cli.neighbours import measuring
from quiclab.cli.probe_options import add_options, read_order
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import add_quiet
from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.store.layout import StudyDir
from quiclab.store.own_files import is_mine
from quiclab.store.study_folder import begin_in
from quiclab.study.probe_order import Order, resolved_order

if TYPE_CHECKING:
    from quiclab.lab.testbed.host_nat import HostNat
    from quiclab.lab.testbed.link import Backend
    from quiclab.study.probe_looks import Look

_DESCRIPTION = """\
Compare HTTP/3 with HTTP/2 to real servers, through an emulated path at the client's side, in randomised pairs with
the statistics and the report of every study.

It sends requests to servers that are not yours: GET only, one at a time, with a pause between them and a bound on the
requests and bytes per host. Before that it says what it will send, and asks you. One look at each URL comes first, so
a server without HTTP/3 is reported at once.

It needs root and --allow-host-nat, because packets must be forwarded through this machine's own network: one nftables
table, one device, and forwarding on the uplink, all taken back at the end (after kill -9: quiclab clean). The same
command continues a probe that was interrupted.
"""

_EPILOG = """\
examples:
  quiclab probe --allow-host-nat https://www.example.com/
  quiclab probe --allow-host-nat --delay 50ms --pairs 20 https://www.example.com/
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "probe",
        help="compare HTTP/3 with HTTP/2 to real servers on the Internet",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add_options(parser)
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, announce, ask, run in the sandbox, take the change back, report."""
    from quiclab.lab.testbed.host_nat import HostNat, why_not

    order = read_order(arguments)
    if (refusal := why_not(allowed=arguments.allow_host_nat)) is not None:
        raise refusal
    study_dir = StudyDir(order.out.resolve())
    if not is_mine(study_dir.root):
        # What it records of this machine's network and of requests would be that user's word.
        raise SpecError(f"{study_dir.root} belongs to another user", "choose another directory with --out")
    begin_in(study_dir)
    with study_dir.locked():
        order = resolved_order(order, study_dir)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)  # what was changed is taken back first
        addresses = [target.address for target in order.targets]
        with HostNat(study_dir.root.name, addresses, study_dir.host_nat) as nat:
            _announce(order, nat)
            if not arguments.yes and sys.stdin.isatty() and not _confirmed():
                print("nothing was sent", file=sys.stderr)
                return ExitCode.INTERRUPTED
            with measuring(arguments):
                code = _in_sandbox(order, study_dir, arguments.backend, nat)
        shutil.rmtree(study_dir.root / ".work", ignore_errors=True)
        if code not in RAN or not study_dir.resolved.exists():
            return code
        from quiclab.cli.analyse import analyse
        from quiclab.cli.ending import code_at_the_end

        result = None
        if not arguments.no_report and any(study_dir.root.glob("trials/*/trial.json")):
            result = analyse(study_dir)
        return code_at_the_end(code, study_dir, result)


def _in_sandbox(order: Order, study_dir: StudyDir, backend: Backend | None, nat: HostNat) -> int:
    from quiclab.lab.testbed.sandbox import run_in_sandbox

    def work() -> int:
        from quiclab.cli.trials import Bar, tell
        from quiclab.study.probe import looks_and_trials

        return tell(looks_and_trials(order, study_dir, backend, looked=_tell_look, observer=Bar(rounds_later=0)))

    told = "interrupted: finished trials are kept; the same command continues"
    return run_in_sandbox(lambda: code_of(work, told), connect=nat.connect)


def _tell_look(look: Look) -> None:
    print(f"{'left out: ' if look.problems else ''}{look.told()}", flush=True)


def _announce(order: Order, nat: HostNat) -> None:
    from quiclab.plan.probing import planned_requests

    print("probe sends GET requests, one at a time, over HTTP/2 and over HTTP/3:")
    for host, planned in planned_requests(order.targets, order.pairs).items():
        mine = [target for target in order.targets if target.authority == host]
        print(
            f"  {host} ({mine[0].address}): {planned} planned and {order.requests} at most, {order.body_bytes} of "
            f"bodies at most, {order.pause} between two"
        )
        for target in mine:
            print(f"    {target.url}")
    forwards = ", ".join(
        f"forwarding on {device}" + (" (as it is already)" if before != "0" else "")
        for device, before in nat.change.forwarding.items()
    )
    print(f"meanwhile this machine has: nftables table {nat.table}, device {nat.device}, {forwards}", flush=True)


def _confirmed() -> bool:
    try:
        return input("go on? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False
