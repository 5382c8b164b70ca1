# SPDX-License-Identifier: Apache-2.0
"""`quiclab probe`: HTTP/3 against HTTP/2 to a real server that the user names, through an emulated path here."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from quiclab.cli.probe_options import Order, add_options, read_order
from quiclab.cli.trouble import code_of
from quiclab.errors import ExitCode, HostError, SpecError
from quiclab.spec.model import Limits
from quiclab.spec.model import Path as LinkPath
from quiclab.spec.target import Target
from quiclab.store.identity import conflicts
from quiclab.store.layout import StudyDir, read_object, write_atomically
from quiclab.units import Duration

if TYPE_CHECKING:
    from quiclab.testbed.host_nat import HostNat

_DESCRIPTION = """\
Compare HTTP/3 with HTTP/2 to real servers, through an emulated path at the client's side, in randomised pairs with
the statistics and the report of every study.

  quiclab probe --allow-host-nat https://www.example.com/
  quiclab probe --allow-host-nat --delay 50ms --loss 1% --pairs 20 https://www.example.com/ https://example.org/big

It asks servers that are not yours: GET only, so many requests and bytes a host and no more, one at a time, with a
pause between them. It says what it will send first, and asks. One look at each URL comes first: a server without
HTTP/3 is told at once.

It needs root and --allow-host-nat, because packets must be forwarded through this machine's own network: one nftables
table, one device, and forwarding on the uplink, all taken back at the end (after kill -9: quiclab clean). The same
command continues a probe that was interrupted.
"""
_LOOK_LIMIT = Duration(15 * 10**9)
_UNHURRIED = Duration(5 * 10**9)
"""A look measures nothing: a late link does not void it."""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "probe",
        help="compare HTTP/3 with HTTP/2 to real servers on the Internet",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Check, announce, ask, run in the sandbox, take the change back, report."""
    from quiclab.testbed.host_nat import HostNat, why_not

    order = read_order(arguments)
    if (refusal := why_not(allowed=arguments.allow_host_nat)) is not None:
        raise refusal
    study_dir = StudyDir(order.out.resolve())
    study_dir.create()
    with study_dir.locked():
        order = replace(order, targets=_resolve(order.targets, _kept(study_dir)))
        if not order.targets:
            raise SpecError("of these URLs nothing can be compared, as the first look showed", "choose another --out")
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)  # what was changed is taken back first
        addresses = [target.address for target in order.targets]
        with HostNat(study_dir.root.name, addresses, study_dir.host_nat) as nat:
            _announce(order, nat)
            if not arguments.yes and sys.stdin.isatty() and not _confirmed():
                print("nothing was sent", file=sys.stderr)
                return ExitCode.INTERRUPTED
            code = _in_sandbox(order, study_dir, arguments.backend, nat)
        shutil.rmtree(study_dir.root / ".work", ignore_errors=True)
        if code not in (ExitCode.OK, ExitCode.TRIALS_FAILED) or not study_dir.resolved.exists():
            return code
        from quiclab.cli.analyse import analyse

        if not arguments.no_report and any(study_dir.root.glob("trials/*/trial.json")):
            analyse(study_dir)
        return code


def _in_sandbox(order: Order, study_dir: StudyDir, backend: Any, nat: HostNat) -> int:
    from quiclab.testbed.sandbox import run_in_sandbox

    def inside() -> int:
        told = "interrupted: finished trials are kept; the same command continues"
        return code_of(lambda: _looks_and_trials(order, study_dir, backend), told)

    return run_in_sandbox(inside, connect=nat.connect)


def _looks_and_trials(order: Order, study_dir: StudyDir, wanted: Any) -> int:
    """Inside the sandbox."""
    from quiclab.cli.probe_look import comparable, look_at
    from quiclab.cli.trials import run_trials
    from quiclab.plan.probing import describe_probe, planned_requests, probe_study
    from quiclab.runner.allowance import Allowance, Bounds
    from quiclab.runner.probe import Probe, lend_ca, open_laboratory_for_probe, run_probe_trial
    from quiclab.runner.probe_transfer import CLIENT
    from quiclab.spec.resolved import resolved_json
    from quiclab.testbed.backend import choose_backend
    from quiclab.testbed.forwarded import ForwardedWay

    def study_of(targets: Sequence[Target], path: LinkPath, limits: Limits, sizes: dict[str, int]) -> Any:
        name = study_dir.root.name
        return probe_study(name, targets, path, CLIENT, pairs=order.pairs, seed=order.seed, limits=limits, sizes=sizes)

    look_limits = Limits(trial=min(_LOOK_LIMIT, order.limits.trial), lateness_p99=_UNHURRIED)
    look_study = study_of(order.targets, LinkPath(name="look", mtu=order.path.mtu), look_limits, {})
    laboratory = open_laboratory_for_probe(look_study, study_dir.root, wanted or choose_backend()[0])
    bounds = Bounds(order.requests, order.body_bytes, order.pause)
    allowance = Allowance(study_dir.root / "requests.json", bounds)
    targets = {target.name: target for target in order.targets}
    probe = Probe(laboratory, targets, ForwardedWay(), allowance, lend_ca(laboratory, order.ca), order.insecure)
    kept = _kept(study_dir)
    if kept is None:
        share = order.body_bytes.bytes // max(planned_requests(order.targets, order.pairs).values())
        looks = [look_at(replace(probe, most_bytes=share), look_study, target) for target in order.targets]
        used = comparable(looks)
        for look in looks:
            print(f"{'left out: ' if look.problems else ''}{look.told()}", flush=True)
        kept = {
            "targets": [asdict(look.target) | {"looks": look.body_bytes} for look in used],
            "left_out": {look.target.url: look.problems for look in looks if look.problems},
            "any_certificate": order.insecure,
        }
    sizes = {each["name"]: max(each["looks"].values()) for each in kept["targets"]}
    used_targets = [targets[name] for name in sizes]
    study = study_of(used_targets, order.path, order.limits, sizes)
    resolved = resolved_json(study) | {"arms_summary": describe_probe(used_targets, CLIENT), "probe": kept}
    _keep(study_dir, resolved)
    ready = replace(probe, laboratory=replace(laboratory, study=study))
    return run_trials(
        study,
        study_dir,
        wanted,
        lambda *_: (ready.laboratory, lambda row, attempt: run_probe_trial(ready, row, attempt)),
    )


def _keep(study_dir: StudyDir, resolved: dict[str, Any]) -> None:
    if study_dir.resolved.exists():
        before = read_object(study_dir.resolved)
        found = conflicts(before, resolved)
        ways = [each["paths"][0]["title"] for each in (before, resolved)]
        if ways[0] != ways[1]:
            found = (*found, f"the link: was {ways[0]!r}, is {ways[1]!r}")
        if found:
            hint = "a study may grow, but not change: choose another directory with --out"
            raise SpecError(f"{study_dir.root} was probed with other options", hint, found)
    write_atomically(study_dir.resolved, json.dumps(resolved, indent=1))


def _kept(study_dir: StudyDir) -> dict[str, Any] | None:
    """What the looks of an earlier run of this probe found."""
    if not study_dir.resolved.exists():
        return None
    kept: dict[str, Any] | None = read_object(study_dir.resolved).get("probe")
    if kept is None:
        raise SpecError(f"{study_dir.root} is another study and no probe", "choose another directory with --out")
    return kept


def _resolve(targets: Sequence[Target], kept: dict[str, Any] | None) -> tuple[Target, ...]:
    """The one address that all trials ask: that of the looks, where these were taken. Raises HostError."""
    known = {each["url"]: each["address"] for each in kept["targets"]} if kept else {}
    if kept is not None:
        unknown = tuple(each.url for each in targets if each.url not in {*known, *kept["left_out"]})
        if unknown:
            raise SpecError("these URLs are not in the study", "choose another directory with --out", unknown)
        targets = [target for target in targets if target.url in known]
    found = []
    for target in targets:
        address = known.get(target.url)
        if address is None:
            try:
                address = socket.getaddrinfo(target.host, target.port, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
            except OSError as error:
                hint = "a probe forwards IPv4 only: the name needs an A record"
                raise HostError(f"{target.host} has no IPv4 address: {error.strerror or error}", hint) from error
        found.append(replace(target, address=str(address)))
    return tuple(found)


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
