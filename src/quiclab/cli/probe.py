# SPDX-License-Identifier: Apache-2.0
"""`quiclab probe`: HTTP/3 against HTTP/2 to a real server that the user names, through an emulated path here."""

from __future__ import annotations

import argparse
import shutil
import signal
import ssl
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from quiclab.cli.link_options import add_link_options, read_link_options, words_of
from quiclab.cli.neighbours import add_wait, measuring
from quiclab.cli.run_options import add_backend
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import add_quiet
from quiclab.model.errors import RAN, ExitCode, SpecError
from quiclab.model.study import LEAST_TOLERATED, Limits
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.spec.target import Target, read_targets
from quiclab.store.layout import OUT_ELSEWHERE, StudyDir
from quiclab.store.own_files import is_mine
from quiclab.store.study_folder import begin_in
from quiclab.study.probe_order import Order, resolved_order

if TYPE_CHECKING:
    from quiclab.lab.testbed.host_nat import HostNat
    from quiclab.lab.testbed.link import Backend
    from quiclab.study.probe_looks import UrlAnswer

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
    with study_dir.locked(OUT_ELSEWHERE):
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


def _tell_look(look: UrlAnswer) -> None:
    print(f"{'left out: ' if look.problems else ''}{look.sentence()}", flush=True)


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


# The command line of `quiclab probe`: its options, and what they order.
_MOST_PAIRS = 1000
Quantity = TypeVar("Quantity", Duration, ByteCount, Share)


def add_options(parser: argparse.ArgumentParser) -> None:
    """URLs, the link, bounds, trust."""
    parser.add_argument("urls", nargs="+", metavar="URL", help="https://…, each a workload of the study")
    parser.add_argument("--pairs", type=int, default=10, metavar="N", help="pairs per URL, and of the A/A control (10)")
    parser.add_argument("--out", type=Path, metavar="STUDY", help="study directory (default: studies/probe-HOST)")
    add_link_options(parser)
    bounds = parser.add_argument_group("what the servers are asked to bear, each host by itself")
    bounds.add_argument("--max-requests", type=int, default=100, metavar="N", help="most requests (100)")
    bounds.add_argument("--max-bytes", default="100 MB", metavar="SIZE", help='most bytes of bodies ("100 MB")')
    bounds.add_argument("--pause", default="1 s", metavar="TIME", help='least time between two requests ("1 s")')
    bounds.add_argument("--timeout", default="60 s", metavar="TIME", help='most time for one request ("60 s")')
    trust = parser.add_mutually_exclusive_group()
    trust.add_argument("--ca", type=Path, metavar="FILE", help="PEM file of CAs, instead of this machine's own")
    trust.add_argument("--insecure", action="store_true", help="take any certificate")
    parser.add_argument(
        "--disturbance",
        default=str(LEAST_TOLERATED),
        metavar="PERCENT",
        help="a trial is repeated if this machine added more than this share of its time (default 1 %%)",
    )
    parser.add_argument("--allow-host-nat", action="store_true", help="allow the change to this machine's network")
    parser.add_argument("--yes", action="store_true", help="do not ask before the first packet")
    add_backend(parser)
    add_wait(parser)
    parser.add_argument("--no-report", action="store_true", help="stop after the last trial")


def read_order(arguments: argparse.Namespace) -> Order:
    """Raises SpecError with every offender."""
    problems: list[str] = []
    targets, wrong_urls = read_targets(arguments.urls)
    problems += wrong_urls
    path = None
    try:
        path = read_link_options(arguments)
    except SpecError as error:
        problems += error.problems
    for option, least, most in (("pairs", 1, _MOST_PAIRS), ("max_requests", 1, 10**6)):
        value = getattr(arguments, option)
        if not least <= value <= most:
            problems.append(f"--{option.replace('_', '-')}: {value} is not from {least} to {most}")
    body_bytes = _quantity(ByteCount, "--max-bytes", arguments.max_bytes, problems)
    pause = _quantity(Duration, "--pause", arguments.pause, problems)
    timeout = _quantity(Duration, "--timeout", arguments.timeout, problems)
    disturbance = _quantity(Share, "--disturbance", arguments.disturbance, problems)
    ca = arguments.ca or Path(ssl.get_default_verify_paths().cafile or "/etc/ssl/certs/ca-certificates.crt")
    if not ca.is_file() and not arguments.insecure:
        remedy = "" if arguments.ca else " (apt-get install -y ca-certificates, or --ca FILE)"
        problems.append(f"--ca: there is no file {ca}{remedy}")
    if not problems:
        problems += _too_many(targets, arguments)
    if problems or path is None:
        raise SpecError("probe cannot do what was asked", "quiclab probe --help shows every option", tuple(problems))
    out = arguments.out or Path("studies", f"probe-{targets[0].host}")
    added = words_of(arguments)
    return Order(
        targets,
        replace(path, name="emulated" if added else "plain", title=added or "the path as it is"),
        arguments.pairs,
        arguments.seed,
        out,
        arguments.max_requests,
        body_bytes,
        pause,
        Limits(trial=timeout, disturbance=disturbance),
        ca.resolve(),
        arguments.insecure,
    )


def _too_many(targets: Sequence[Target], arguments: argparse.Namespace) -> list[str]:
    from quiclab.plan.probing import planned_requests

    return [
        f"--max-requests: {host} would get {planned} requests (looks, pairs and the A/A control), and "
        f"{arguments.max_requests} are allowed; allow more, or take fewer --pairs"
        for host, planned in planned_requests(targets, arguments.pairs).items()
        if planned > arguments.max_requests
    ]


def _quantity(unit: type[Quantity], option: str, text: str, problems: list[str]) -> Quantity:
    try:
        return unit.parse(text)
    except ValueError as error:
        problems.append(f"{option}: {error}")
        return unit(0)
