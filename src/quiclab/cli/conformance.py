# SPDX-License-Identifier: Apache-2.0
"""`quiclab conformance`: every client against every server and proxy over a quiet path; who works with whom.

Beside two objects per protocol it tries 0-RTT and active migration wherever both ends claim them, and looks which logs
are really written. Trials and verdicts are those of `quiclab run`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quiclab.cli.conformance_page import page
from quiclab.errors import ExitCode, QuiclabError, SpecError

if TYPE_CHECKING:
    from quiclab.endpoints import Endpoint
    from quiclab.spec.model import Arm, Program, Study

OBJECTS = {"1KB": 1000, "1MB": 1_000_000}
LAST_RESULT = "conformance.json"
"""Beside the installed programs: what was found when everything was tried last."""
_LIMIT_S = 20
_TRIES = 3
"""Of a trial that was void: then the laboratory was at fault, which says nothing about the programs."""


@dataclass(frozen=True)
class Case:
    """One thing to try."""

    arm: Arm
    workload: str
    what: str
    """`1KB`, `1MB`, `0-RTT` or `migration`."""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "conformance",
        help="try every client with every server and proxy that is here",
        description="Download 1 KB and 1 MB with every client from every server and through every proxy (Caddy stands "
        "behind it), with each protocol that both speak, over a quiet path; try 0-RTT and migration where both claim "
        "them. Prints one line per trial and writes DIR/conformance.json and a page. What fails is shown with its "
        "reason, and its logs stay in DIR.",
    )
    parser.add_argument("--clients", metavar="NAMES", help="only these, with commas between them")
    parser.add_argument("--servers", metavar="NAMES", help="only these servers and proxies")
    parser.add_argument("--out", type=Path, default=Path("conformance"), metavar="DIR", help="default: conformance")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where the page goes (default: DIR/conformance.md)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find out what is here, run in the sandbox, write the page; exit code 1 when something failed."""
    from quiclab.endpoints import stacks_folder
    from quiclab.testbed.sandbox import run_in_sandbox

    clients = _chosen(arguments.clients, ("client",))
    fronts = _chosen(arguments.servers, ("server", "proxy"))
    folder: Path = arguments.out.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)

    def trials() -> int:
        from quiclab.cli.trouble import tell

        try:
            return _run_all(folder, clients, fronts)
        except QuiclabError as error:
            tell(error)
            return error.exit_code
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED

    try:
        code = run_in_sandbox(trials)
    finally:
        shutil.rmtree(folder / ".work", ignore_errors=True)
    results = folder / "conformance.json"
    if results.exists():
        target: Path = arguments.page or folder / "conformance.md"
        target.write_text(page(json.loads(results.read_text())))
        print(f"written: {results} and {target}")
        if arguments.clients is None and arguments.servers is None and stacks_folder().is_dir():
            shutil.copy(results, stacks_folder() / LAST_RESULT)  # for `quiclab doctor`
    return code


def _chosen(names: str | None, roles: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """(role, name) → version of the programs that are wanted and here. Raises SpecError for a name that is unknown."""
    from quiclab.endpoints import ENDPOINTS, Available
    from quiclab.testbed.host import bounded_run

    wanted = None if names is None else {name.strip() for name in names.split(",")}
    known = [endpoint for endpoint in ENDPOINTS if endpoint.role in roles and endpoint.name != "command"]
    if wanted is not None and (unknown := wanted - {endpoint.name for endpoint in known}):
        listed = ", ".join(sorted({endpoint.name for endpoint in known}))
        raise SpecError(f"no {' or '.join(roles)} is called {', '.join(sorted(unknown))}", f"known: {listed}")
    here: dict[tuple[str, str], str] = {}
    for endpoint in known:
        if wanted is None or endpoint.name in wanted:
            found = endpoint.probe(bounded_run)
            if isinstance(found, Available):
                here[endpoint.role, endpoint.name] = found.version
            else:
                print(f"{endpoint.role} {endpoint.name}: unsupported: {found.reason} -> {found.install}")
    return here


def cases(clients: list[Endpoint], fronts: list[Endpoint]) -> Iterator[Case]:
    """Everything that can be tried between them."""
    from quiclab.endpoints import objections

    for client in clients:
        for front in fronts:
            for protocol in sorted((client.protocols & front.protocols) - {"h1"}):
                plain = _arm(client, front, protocol)
                for workload in OBJECTS:
                    yield Case(plain, workload, workload)
                if "early_data" in front.abilities and not objections(early := _early(plain, front)):
                    yield Case(early, "1KB", "0-RTT")
                if not objections(migrating := _migrating(plain, client)):
                    yield Case(migrating, "1MB", "migration")


def _arm(client: Endpoint, front: Endpoint, protocol: Any) -> Arm:
    from quiclab.spec.model import Arm, Program, Tcp

    name = f"{client.name}.{front.role}.{front.name}.{protocol}"
    plain = Arm(name, protocol, Program(client.name), Program(front.name), Tcp("cubic"))
    return plain if front.role == "server" else replace(plain, proxy=plain.server, server=Program("caddy"))


def _early(plain: Arm, front: Endpoint) -> Arm:
    """0-RTT asked for, and switched on where that is a switch."""
    from quiclab.spec.model import Knobs

    arm = replace(plain, name=f"{plain.name}.0-RTT", client=_with(plain.client, session="early_data"))
    if "early_data" not in front.knobs.get(plain.protocol, ()):
        return arm
    program = replace(arm.front, knobs=Knobs(early_data=True))
    return replace(arm, proxy=program) if arm.proxy else replace(arm, server=program)


def _migrating(plain: Arm, client: Endpoint) -> Arm:
    from quiclab.units import ByteCount

    knobs: dict[str, Any] = {"migration": "active"}
    if "migrate_at" in client.knobs.get(plain.protocol, ()):
        knobs["migrate_at"] = ByteCount(200_000)
    return replace(plain, name=f"{plain.name}.migration", client=_with(plain.client, **knobs))


def _with(program: Program, **knobs: Any) -> Program:
    return replace(program, knobs=replace(program.knobs, **knobs))


def _study(tried: list[Case]) -> Study:
    from quiclab.spec.model import AaControl, Direction, Limits, Study, Workload
    from quiclab.spec.model import Path as LinkPath
    from quiclab.units import Bitrate, ByteCount, Duration

    quiet = Direction(rate=Bitrate(100_000_000), delay=Duration(5_000_000))
    return Study(
        name="conformance",
        seed=1,
        blocks=1,
        workloads=tuple(Workload(name, ByteCount(size)) for name, size in OBJECTS.items()),
        paths=(LinkPath("quiet", up=quiet, down=quiet),),
        arms=tuple({case.arm.name: case.arm for case in tried}.values()),
        baseline=tried[0].arm.name,
        aa=AaControl("1KB", "quiet", 1),
        # Whether programs understand each other does not depend on how punctual the link is.
        limits=Limits(trial=Duration(_LIMIT_S * 10**9), lateness_p99=Duration(60 * 10**9)),
    )


def _run_all(folder: Path, clients: dict[tuple[str, str], str], fronts: dict[tuple[str, str], str]) -> int:
    from quiclab.cli.conformance_trial import try_case
    from quiclab.endpoints import ENDPOINTS
    from quiclab.runner.laboratory import open_laboratory
    from quiclab.testbed import clock
    from quiclab.testbed.backend import choose_backend

    def those(names: dict[tuple[str, str], str]) -> list[Endpoint]:
        return [endpoint for endpoint in ENDPOINTS if (endpoint.role, endpoint.name) in names]

    tried = list(cases(those(clients), those(fronts)))
    if not tried:
        raise SpecError("there is nothing to try", "`quiclab doctor` lists what is here, `make stacks` installs more")
    laboratory = open_laboratory(_study(tried), folder, choose_backend()[0])
    results = []
    for number, case in enumerate(tried, 1):
        result = try_case(laboratory, folder, case, _digest(case), _TRIES)
        results.append(result)
        outcome = result["outcome"] + (f": {result['reason']}" if result["reason"] else "")
        print(f"[{number}/{len(tried)}] {case.arm.name} {case.what}: {outcome}", flush=True)
        document = {
            "version": 1,
            "ended_utc": clock.read().utc,
            "clients": _listed(clients),
            "fronts": _listed(fronts),
            "results": results,
        }
        (folder / "conformance.json").write_text(json.dumps(document, indent=1))
    # That a server refuses 0-RTT or a migration is a finding, not a failure.
    broken = any(result["outcome"] != "verified" and result["what"] in OBJECTS for result in results)
    return ExitCode.TRIALS_FAILED if broken else ExitCode.OK


def _listed(programs: dict[tuple[str, str], str]) -> list[dict[str, str]]:
    return [{"role": role, "name": name, "version": version} for (role, name), version in programs.items()]


def _digest(case: Case) -> str:
    return hashlib.sha256(f"{case.arm.name} {case.what}".encode()).hexdigest()[:16]
