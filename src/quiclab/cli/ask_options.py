# SPDX-License-Identifier: Apache-2.0
"""The options of `quiclab ask`, in the words of the spec and read by the spec's own readers."""

from __future__ import annotations

import argparse
import pathlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from quiclab.model.errors import SpecError
from quiclab.spec.lines import KeyPath
from quiclab.spec.nodes import Node, Source, read_keys, read_or_report

if TYPE_CHECKING:
    from quiclab.model.study import Role
    from quiclab.spec.nodes import Kind, Values
    from quiclab.spec.toml_text import Toml
    from quiclab.study.contenders import ProgramChoice
    from quiclab.study.question import Question

USUAL_RATE = "50 Mbit/s"
"""Rate of the bottleneck where neither an option nor a profile says another."""
USUAL_MINUTES = 3.0
_MOST_MINUTES = 10_000.0
_HINT = "quiclab ask --size 300KB --rtt 40ms"
_TITLES = {"rtt": "RTT {}", "loss": "{} loss"}
"""Words of what a title of a path has beside its rate."""


def add_question(parser: argparse.ArgumentParser) -> None:
    """Teach a verb the words of a question."""
    add_transfer(parser)
    programs = parser.add_argument_group(
        "between which programs",
        "Without these: a client and a server for both protocols, in the newest build here, with CUBIC on both sides "
        "if there is one.",
    )
    programs.add_argument("--client", metavar="NAME", help="client of both arms; quiclab doctor lists them")
    programs.add_argument("--server", metavar="NAME", help="server of both arms")
    for arm in ("h2", "h3"):
        programs.add_argument(f"--{arm}", metavar="CLIENT/SERVER", help=f"programs of the HTTP/{arm[1]} arm")


def add_transfer(parser: argparse.ArgumentParser) -> None:
    """Teach a verb the words for one transfer over one network, by which `read_question` reads them; it names no
    programs."""
    parser.set_defaults(client=None, server=None, h2=None, h3=None)
    what = parser.add_argument_group("what is transferred")
    what.add_argument("--size", metavar="SIZE", help='size of the object, "300KB"')
    what.add_argument("--count", metavar="N", help="so many objects of that size, on one connection")
    what.add_argument("--upload", action="store_true", help="upload in place of a download")
    what.add_argument("--page", metavar="HAR", help="a page, as a HAR file recorded it, in a browser")
    network = parser.add_argument_group("over which network")
    network.add_argument("--rtt", metavar="TIME", help='round-trip time, "40ms"')
    network.add_argument("--loss", metavar="SHARE", help='random loss of packets, each way, "0.5%%" (default: none)')
    network.add_argument(
        "--rate", metavar="RATE", help=f'rate of the bottleneck, each way, "50mbit" (default: {USUAL_RATE})'
    )
    network.add_argument(
        "--profile", metavar="NAME", help="begin with a named path, which the others override; quiclab paths lists them"
    )


def read_question(arguments: argparse.Namespace, hint: str = _HINT) -> Question:
    """Read the question. Raises SpecError with every wrong option at once, and a verb that is right as its `hint`."""
    from quiclab.model.units import ByteCount
    from quiclab.spec import kinds
    from quiclab.spec.paths import RTT
    from quiclab.spec.profiles import profiles
    from quiclab.spec.workloads import MOST_OBJECTS, WORKLOAD
    from quiclab.study.question import Question, usable_name

    readers: Mapping[str, Kind[Any]] = {
        "size": kinds.quantity(ByteCount, "a size", "300 KB", ByteCount(1), ByteCount(10**12)),
        "count": kinds.whole(1, MOST_OBJECTS),
        "page": kinds.file("the name of a HAR file, such as a browser saves of a page"),
        "rtt": RTT,
        "loss": kinds.SHARE,
        "rate": kinds.RATE,
        "profile": kinds.choice(tuple(profiles()), "the name of a profile such as lte; quiclab paths lists them"),
    }
    given = {key: _number(getattr(arguments, key)) if key == "count" else getattr(arguments, key) for key in readers}
    table = {key: value for key, value in given.items() if value is not None}
    options = _Options(table, {}, pathlib.Path.cwd())
    found = read_keys(Node(table, (), options), readers)
    for told in _contradictions(arguments):
        options.report((), told)
    workload = {} if options.problems else _workload(found, arguments)
    asked = read_or_report(Node(workload, (), options), WORKLOAD) if workload else None
    if options.problems or asked is None:
        verb = " ".join(hint.split()[:2])
        raise SpecError("the question cannot be asked like this", f"such as {hint}; {verb} --help", options.problems)
    path: Toml = {key: str(found[key]) for key in ("rate", "rtt", "loss") if key in found}
    if "profile" in found:
        path = {"profile": found["profile"], **path}
    else:
        path = {"rate": USUAL_RATE, **path}
        if found.get("loss") is not None and not found["loss"].value:
            del path["loss"]
    named = [path.get("profile", ""), path.get("rtt", "").replace(" ", "")]
    title = ", ".join(_TITLES.get(key, "{}").format(path[key]) for key in ("rate", "rtt", "loss") if key in path)
    if "profile" in path:
        title = f"{profiles()[path['profile']].title}{', but ' if title else ''}{title}"
    name = usable_name("-".join(filter(None, named)))
    return Question(asked, workload, {"name": name, "title": title, **path})


def read_programs(arguments: argparse.Namespace) -> tuple[ProgramChoice, ProgramChoice]:
    """Return the programs of both arms, as `read_question` found them."""
    from quiclab.study.contenders import ProgramChoice

    h2, h3 = (
        ProgramChoice(arguments.client, arguments.server) if pair is None else ProgramChoice(*pair.split("/"))
        for pair in (arguments.h2, arguments.h3)
    )
    return h2, h3


def read_minutes(text: str) -> float:
    """Read a number of minutes, for argparse."""
    minutes = float(text) if re.fullmatch(r"[0-9]+(\.[0-9]*)?|\.[0-9]+", text) else 0.0
    if not 0 < minutes <= _MOST_MINUTES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes, such as 3 or 0.5")
    return minutes


def _workload(found: Values, arguments: argparse.Namespace) -> Toml:
    from quiclab.study.question import usable_name

    if "page" in found:
        return {"name": usable_name(found["page"].stem), "kind": "page", "page": {"har": str(found["page"])}}
    size = str(found["size"])
    several = found.get("count", 1) > 1
    words = [f"{found['count']}x" if several else "", size.replace(" ", ""), "-upload" if arguments.upload else ""]
    more = ({"count": found["count"]} if several else {}) | ({"direction": "upload"} if arguments.upload else {})
    return {"name": "".join(words), "size": size, **more}


def _contradictions(arguments: argparse.Namespace) -> list[str]:
    """Say what is missing, and what does not go together."""
    told = []
    if arguments.size is None and arguments.page is None:
        told.append("say what is transferred: --size 300KB, or --page FILE.har")
    if arguments.rtt is None and arguments.profile is None:
        told.append("say over which network: --rtt 40ms, or --profile NAME")
    for arm in ("h2", "h3"):
        pair = getattr(arguments, arm)
        if pair is not None and not re.fullmatch("[^/]+/[^/]+", pair):
            told.append(f"--{arm}: {pair} is not two programs: write CLIENT/SERVER, such as curl/nginx")
    told += _unknown_programs(arguments)
    if arguments.page is not None:
        beside = [f"--{key}" for key in ("size", "count", "upload") if getattr(arguments, key)]
        told += [f"{option} is for objects, and --page asks for a page: leave one of them out" for option in beside]
    if arguments.h2 is not None and arguments.h3 is not None:
        told += [
            f"--{key} is for both arms, which --h2 and --h3 name: leave it out"
            for key in ("client", "server")
            if getattr(arguments, key) is not None
        ]
    return told


def _unknown_programs(arguments: argparse.Namespace) -> list[str]:
    """Say which programs that are named there are not."""
    from quiclab.lab.endpoints import find

    named: list[tuple[str, Role, str]] = []
    for arm in ("h2", "h3"):
        client, slash, server = (getattr(arguments, arm) or "").partition("/")
        named += [(arm, "client", client), (arm, "server", server)] if slash and client and server else []
    named += [("client", "client", arguments.client or ""), ("server", "server", arguments.server or "")]
    told = []
    for option, role, name in named:
        try:
            if name:
                find(role, name)
        except SpecError as error:
            told.append(f"--{option}: {error.message}; {error.hint.partition('? ')[0]}")
    return told


def _number(text: str | None) -> int | str | None:
    """A whole number, or what was written: it is reported together with all other offenders."""
    return int(text) if text is not None and re.fullmatch(r"-?[0-9]{1,18}", text) else text


class _Options(Source):
    """Reports problems by option instead of by line."""

    def report(self, path: KeyPath, text: str) -> None:
        self._note(0, f"--{path[0]}: {text}" if path else text)
