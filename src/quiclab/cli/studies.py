# SPDX-License-Identifier: Apache-2.0
"""`quiclab studies`: the studies that come with quiclab, by the names that `quiclab run` takes."""

from __future__ import annotations

import argparse
import tomllib

from quiclab.model.errors import ExitCode, HostError

_EPILOG = """\
examples:
  quiclab studies
  quiclab plan yb-delay-small          what it would run, and for how long
  quiclab run demo                     run it: the report is studies/demo/report.html
"""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Teach the command line this verb."""
    parser = verbs.add_parser(
        "studies",
        help="list the studies that come with quiclab, each with its question",
        description="Studies that come with quiclab: quiclab plan NAME, quiclab run NAME. NAME-small is a variant of "
        "the study of a paper that takes minutes. The last line says where their specs lie, to be copied and changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(_arguments: argparse.Namespace) -> int:
    """Print them all. Raises HostError where they were not installed."""
    from quiclab.project import SET_UP, SUPPLIES, studies

    known = studies()
    if not known:
        raise HostError(f"{SUPPLIES / 'experiments'} has no studies", SET_UP)
    width = max(map(len, known))
    for name, spec in known.items():
        print(f"{name:{width}}  {tomllib.loads(spec.read_text(encoding='utf-8'))['study'].get('question', '')}")
    print(f"in {SUPPLIES / 'experiments'}")
    return ExitCode.OK
