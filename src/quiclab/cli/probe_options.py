# SPDX-License-Identifier: Apache-2.0
"""The command line of `quiclab probe`: its options, and what they order."""

from __future__ import annotations

import argparse
import ssl
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from quiclab.cli.link_options import add_link_options, read_link_options, words_of
from quiclab.cli.neighbours import add_wait
from quiclab.cli.run_options import add_backend
from quiclab.model.errors import SpecError
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.spec.model import LEAST_TOLERATED, Limits
from quiclab.spec.target import Target, read_targets
from quiclab.study.probe_order import Order

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
