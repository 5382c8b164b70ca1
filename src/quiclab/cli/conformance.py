# SPDX-License-Identifier: Apache-2.0
"""`quiclab conformance`: every client against every server and proxy over a quiet path, to see what works together.

Besides two objects per protocol it tries 0-RTT and active migration wherever both ends claim them, and checks which
logs are really written. Trials and verdicts are those of `quiclab run`.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from quiclab.cli.voice import add_quiet
from quiclab.model.errors import ExitCode, QuiclabError, SpecError
from quiclab.store.disk import disk_errors, shown_names, write_atomically

if TYPE_CHECKING:
    from quiclab.model.conformance_record import CaseResult
    from quiclab.study.conformance_cases import Case

LAST_RESULT = "conformance.json"
"""File with what was found, in the folder that is named; when everything was tried, beside the programs, too."""
_PAGE = "conformance.md"
_MARK = ".quiclab-conformance"
"""Empty file in the folder of a run, by which the folder of one that was killed is known, too."""
_LEFT_BEHIND = frozenset({LAST_RESULT, _PAGE, _MARK, ".work", "failed", "tls"})
"""Names of everything that a run leaves in its folder."""

_EPILOG = """\
examples:
  quiclab conformance
  quiclab conformance --clients curl,ngtcp2 --servers caddy,nginx --out tried
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "conformance",
        help="try every client with every server and proxy that is here",
        description="Download 1 KB and 1 MB with every client from every server and through every proxy (Caddy stands "
        "behind it), with each protocol that both speak, over a quiet path; try 0-RTT and migration where both claim "
        "them. Prints one line per trial and writes DIR/conformance.json and a page. What fails is shown with its "
        "reason, and its logs stay in DIR.",
        epilog=_EPILOG,
    )
    parser.add_argument("--clients", metavar="NAMES", help="only these clients, separated by commas")
    parser.add_argument("--servers", metavar="NAMES", help="only these servers and proxies")
    parser.add_argument("--out", type=Path, default=Path("conformance"), metavar="DIR", help="default: conformance")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where the page goes (default: DIR/conformance.md)")
    add_quiet(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Find out what is here, run in the sandbox, write the page; exit code 1 when something failed."""
    from quiclab.lab.testbed.neighbours import announced
    from quiclab.lab.testbed.sandbox import run_in_sandbox
    from quiclab.project import stacks_folder

    _refuse_foreign(arguments.out)
    clients = _chosen(arguments.clients, ("client",))
    fronts = _chosen(arguments.servers, ("server", "proxy"))
    folder: Path = arguments.out.resolve()
    with disk_errors(folder, "nothing was tried"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / _MARK).write_text("")

    def trials() -> int:
        from quiclab.cli.trouble import tell

        try:
            from quiclab.study.conformance import try_all

            return ExitCode.OK if try_all(folder, clients, fronts, _tell) else ExitCode.TRIALS_FAILED
        except QuiclabError as error:
            tell(error)
            return error.exit_code
        except KeyboardInterrupt:
            return ExitCode.INTERRUPTED

    try:
        with announced():
            code = run_in_sandbox(trials)
    finally:
        shutil.rmtree(folder / ".work", ignore_errors=True)
    from quiclab.cli.conformance_page import page
    from quiclab.model.conformance_record import ConformanceResults
    from quiclab.store.record_form import as_record

    results = folder / LAST_RESULT
    if results.exists():
        target: Path = arguments.page or folder / _PAGE
        document = as_record(json.loads(results.read_text()), ConformanceResults)
        write_atomically(target, page(document), option="--page" if arguments.page else "--out")
        print(f"written: {results} and {target}")
        if arguments.clients is None and arguments.servers is None and stacks_folder().is_dir():
            shutil.copy(results, stacks_folder() / LAST_RESULT)  # for `quiclab doctor`
    return code


def _refuse_foreign(folder: Path) -> None:
    """Raise SpecError for a folder that is replaced and holds anything but what an earlier run of this verb left."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is no folder", "name a new or an empty folder with --out")
    held = {each.name for each in folder.iterdir()} if folder.is_dir() else set()
    # Names alone do not make files ours: without results of this verb nothing here is known to be.
    is_ours = (folder / _MARK).is_file() or _is_ours(folder / LAST_RESULT)
    foreign = sorted(held - _LEFT_BEHIND if is_ours else held)
    failed = folder / "failed"
    if not foreign and failed.is_dir():
        kept = sorted(each for each in failed.iterdir() if not (each / "trial.json").is_file())
        foreign = [f"failed/{each.name}" for each in kept if not each.name.startswith(".incoming-")]
    if foreign:
        raise SpecError(
            f"{folder} is not replaced, since these in it are not known to be of an earlier `quiclab conformance`",
            "name a new or an empty folder with --out, or move them away",
            shown_names(foreign),
        )


def _is_ours(results: Path) -> bool:
    """True if a file has what a run of this verb writes."""
    try:
        document = json.loads(results.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(document, dict) and isinstance(document.get("results"), list) and "fronts" in document


def _chosen(names: str | None, roles: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """(role, name) → version of the programs that are wanted and here. Raises SpecError for a name that is unknown."""
    from quiclab.lab.endpoints import ENDPOINTS, Available
    from quiclab.lab.testbed.host import bounded_run

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


def _tell(number: int, of: int, case: Case, result: CaseResult) -> None:
    outcome = result.outcome + (f": {result.reason}" if result.reason else "")
    print(f"[{number}/{of}] {case.arm.name} {case.what}: {outcome}", flush=True)
