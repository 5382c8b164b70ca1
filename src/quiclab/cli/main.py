# SPDX-License-Identifier: Apache-2.0
"""The `quiclab` command: one file per verb, one way to report trouble."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

from quiclab import __version__
from quiclab.cli.completion import complete_if_asked
from quiclab.cli.parser import Parser
from quiclab.cli.streams import ended_in_order, patient_streams
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import words_where_asked
from quiclab.model.errors import ExitCode
from quiclab.model.terminal_escape import guard_terminal

_EPILOG = """\
a first answer:
  quiclab ask --size 300KB --rtt 40ms --loss 0.5%

the usual way:
  quiclab plan spec.toml     what would run, for how long, and whether it can decide
  quiclab run spec.toml      run it, or go on with it, and write report.html
  quiclab run demo           run a study that comes with quiclab; `quiclab studies` lists them

to meet the link by itself:
  quiclab exec --rate 10mbit --delay 50ms --loss 1% -- COMMAND

`quiclab VERB --help` has examples of each verb.

exit codes:
  0 all done                              1 some trials failed
  2 wrong spec or command line            3 this machine cannot
  4 unreadable log or study               5 another run holds the study
  6 a change beyond its bound             7 decoded, but some input was lost
  8 not every cell of a gate was judged   70 a bug in quiclab   130 interrupted
"""


_MODULES = {
    **{
        verb: verb
        for verb in (
            "ask",
            "plan",
            "run",
            "paper",
            "status",
            "merge",
            "report",
            "explain",
            "causes",
            "tune",
            "history",
            "compare",
            "figure",
        )
    },
    **{verb: verb for verb in ("methods", "view", "sql", "decode", "export", "trial", "bundle", "verify")},
    "note": "remark",
    "exclude": "remark",
    "exec": "execute",
    "link": "link",
    **{verb: verb for verb in ("studies", "paths", "probe", "doctor", "conformance", "clean", "completion")},
}
"""Verb → module of this package that teaches it, in the order of the help."""


def parser(first_word: str | None = None) -> Parser:
    """The whole command line; where its first word is known, and a verb, only that verb: the imports of all of them
    take longer than most verbs do. They are imported here, so that Ctrl-C meanwhile is told as at any other time."""
    top = Parser(
        prog="quiclab",
        description="Over this network, for this work: is HTTP/3 on QUIC faster or slower than HTTP/2 on TCP?",
        epilog=_EPILOG,
    )
    top.add_argument("--version", action="version", version=f"quiclab {__version__}")
    verbs = top.add_subparsers(metavar="VERB", required=True)
    wanted = [_MODULES[first_word]] if first_word in _MODULES else _MODULES.values()
    for module in dict.fromkeys(() if first_word == "--version" else wanted):
        import_module(f"quiclab.cli.{module}").add_parser(verbs)
    top.verbs = verbs.choices
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; every trouble of a user's making is one clear message and a documented exit code."""
    patient_streams()
    guard_terminal()
    with ended_in_order():
        return code_of(lambda: _run(argv))


def _run(argv: Sequence[str] | None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    completes = "_ARGCOMPLETE" in os.environ
    top = parser(words[0] if words and not completes else None)
    complete_if_asked(top)
    if not words:
        top.print_help()
        return ExitCode.SPEC
    arguments = top.parse_args(words)
    with words_where_asked(arguments):
        code = int(arguments.run(arguments))
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
