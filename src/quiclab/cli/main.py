# SPDX-License-Identifier: Apache-2.0
"""The `quiclab` command: one file per verb, one way to report trouble."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any, NoReturn

from quiclab import __version__
from quiclab.cli.completion import complete_if_asked
from quiclab.cli.own_name import own_name
from quiclab.cli.streams import ended_in_order, patient_streams
from quiclab.cli.trouble import code_of
from quiclab.cli.voice import words_where_asked
from quiclab.model.errors import ExitCode, SpecError, nearest
from quiclab.model.terminal_escape import guard_terminal

_EPILOG = """\
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
    **{verb: verb for verb in ("plan", "run", "status", "merge", "report", "explain", "causes", "compare", "figure")},
    **{verb: verb for verb in ("sql", "decode", "export", "trial", "bundle", "verify")},
    "note": "remark",
    "exclude": "remark",
    "exec": "execute",
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


# The parser of every verb: wrong words are told as every other trouble is, with the nearest right one.
class Parser(argparse.ArgumentParser):
    """Parser of the command line or of one verb. Raises SpecError for words that it does not know."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Take what argparse takes; texts are laid out by `HelpText`, and an option has its whole name only: the
        beginning of one may be the whole name of another verb's."""
        super().__init__(*arguments, **(options | {"formatter_class": HelpText, "allow_abbrev": False}))
        self.set_defaults(verb=self)
        self._words: tuple[str, ...] = ()

    def error(self, message: str) -> NoReturn:
        """Raise SpecError with what argparse found wrong. An option that there is not comes first: what else is missing
        may be what it was meant to be."""
        takes_a_command = any(action.nargs == argparse.REMAINDER for action in self._actions)
        own = takewhile(lambda word: word != "--" and (word.startswith("-") or not takes_a_command), self._words)
        for word in own:
            self.check_option(word)
        raise SpecError(f"{self.word}: {message}" if self.word else message, f"{self.prog} --help shows how it is used")

    def format_help(self) -> str:
        """Return the help, with examples as they can be copied."""
        return re.sub(r"(?m)^  quiclab (?=\S)", lambda _: f"  {own_name()} ", super().format_help())

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise SpecError for a verb, or another word of a fixed list, that there is not."""
        if action.choices is not None and value not in action.choices:
            of = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest).lower()
            place = f"{self.word}: " if self.word else ""
            hint = nearest(str(value), [str(each) for each in action.choices], "there are")
            raise SpecError(f"{place}there is no {of} {value!r}", hint)

    def parse_known_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Return what the words ask for, and the words that are left over."""
        self._words = tuple(words or ())
        return super().parse_known_args(words, namespace)

    def parse_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Return what the words ask for. Raises SpecError for an option that the verb does not have."""
        self.check_option(next(iter(words or ()), ""))
        known, unknown = self.parse_known_args(words, namespace)
        for word in unknown:
            known.verb.check_option(word)
        known.verb.fill_later_words(known, unknown)
        if unknown:
            raise SpecError(
                f"{known.verb.word}: {unknown[0]!r} is one word too many", f"{known.verb.prog} --help shows its words"
            )
        return known

    def fill_later_words(self, known: argparse.Namespace, unknown: list[str]) -> None:
        """Take words that follow an option for those of the verb that may be left out: argparse looks for these before
        the option alone."""
        for action in self._get_positional_actions():
            left_out = action.nargs == argparse.OPTIONAL and getattr(known, action.dest) is action.default
            if left_out and unknown and not unknown[0].startswith("-"):
                setattr(known, action.dest, self._get_values(action, [unknown.pop(0)]))

    def check_option(self, word: str) -> None:
        """Raise SpecError for a long option that is not of this verb."""
        option = word.partition("=")[0]
        if option.startswith("--") and option not in self.long_options():
            raise SpecError(
                f"{self.word or self.prog} has no option {option}", nearest(option, self.long_options(), "it has")
            )

    @property
    def word(self) -> str:
        """The verb; empty of the whole command line."""
        return self.prog.removeprefix("quiclab").strip()

    def long_options(self) -> list[str]:
        """Every option by its long name."""
        return [name for name in self._option_string_actions if name.startswith("--")]


class HelpText(argparse.HelpFormatter):
    """Help whose paragraphs fit the terminal; lines that begin with a space, such as examples, stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(self._filled(paragraph, width, indent) for paragraph in paragraphs)

    def _filled(self, paragraph: str, width: int, indent: str) -> str:
        lines = paragraph.splitlines()
        first = next((number for number, line in enumerate(lines) if line.startswith(" ")), len(lines))
        if any(not line.startswith(" ") for line in lines[first:]):
            return "\n".join(indent + line for line in lines)
        told = textwrap.wrap(" ".join(lines[:first]), width, initial_indent=indent, subsequent_indent=indent)
        return "\n".join([*told, *(indent + line for line in lines[first:])])


if __name__ == "__main__":
    sys.exit(main())
