# SPDX-License-Identifier: Apache-2.0
"""The parser of every verb: wrong words are told as every other trouble is, with the nearest right one."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, NoReturn

from quiclab.cli.own_name import own_name
from quiclab.model.errors import SpecError, nearest


class Parser(argparse.ArgumentParser):
    """Parser of the command line or of one verb. Raises SpecError for words that it does not know."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Take what argparse takes; texts are laid out by `HelpText`, and an option has its whole name only: the
        beginning of one may be the whole name of another verb's."""
        super().__init__(*arguments, **(options | {"formatter_class": HelpText, "allow_abbrev": False}))
        self.set_defaults(verb=self)
        self.verbs: Mapping[str, Parser] = {}
        """Verbs of the whole command line, as far as they were asked for, each with its parser."""
        self._words: tuple[str, ...] = ()
        self._wrong: list[SpecError] = []
        # argparse takes `-5` for the value of an option, and `-5ms` for an option: no option begins with a digit.
        self._negative_number_matcher = re.compile(r"-\.?[0-9]")

    def error(self, message: str) -> NoReturn:
        """Raise SpecError with what argparse found wrong. An option that there is not comes first: what else is missing
        may be what it was meant to be."""
        takes_a_command = any(action.nargs == argparse.REMAINDER for action in self._actions)
        own = takewhile(lambda word: word != "--" and (word.startswith("-") or not takes_a_command), self._words)
        for word in own:
            self.check_option(word)
        self._raise_wrong()
        raise self._error(message)

    def _error(self, message: str) -> SpecError:
        return SpecError(
            f"{self.word}: {message}" if self.word else message, f"{self.prog} --help shows how it is used"
        )

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

    def _get_values(self, action: argparse.Action, arg_strings: Any) -> Any:
        """Return the value of an option or a word; one that is wrong is kept, to be told with all others."""
        try:
            if action.nargs not in (argparse.REMAINDER, argparse.PARSER):
                self._refuse_empty(action, arg_strings)
            return super()._get_values(action, arg_strings)
        except argparse.ArgumentError as error:
            self._wrong.append(self._error(str(error)))
        except SpecError as error:
            if action.nargs == argparse.PARSER:
                raise
            self._wrong.append(error)
        return action.default

    def _refuse_empty(self, action: argparse.Action, words: Sequence[str]) -> None:
        """Raise SpecError for an empty value: as a path it would be the current directory, and as a name nothing. The
        words of another command are its own."""
        if any(not each.strip() for each in words):
            of = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
            place = f"{self.word}: " if self.word else ""
            raise SpecError(f"{place}the value of {of} is empty", "give it a value, or leave it out")

    def parse_known_args(self, words: Any = None, namespace: Any = None) -> Any:
        """Return what the words ask for, and the words that are left over. Raises SpecError with every wrong value."""
        self._words, self._wrong = tuple(words or ()), []
        known, unknown = super().parse_known_args(words, namespace)
        self._raise_wrong()
        return known, unknown

    def _raise_wrong(self) -> None:
        """Raise what was found wrong so far, in one error."""
        if len(self._wrong) == 1:
            raise self._wrong[0]
        if self._wrong:
            lead, usual = f"{self.word}: " if self.word else "", self._error("").hint
            told = [
                each.message.removeprefix(lead) + (f" ({each.hint})" if each.hint not in ("", usual) else "")
                for each in self._wrong
            ]
            raise SpecError(f"{lead}several values are wrong", usual, tuple(told))

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
            may_miss = action.nargs in (argparse.OPTIONAL, argparse.ZERO_OR_MORE)
            if not may_miss or getattr(known, action.dest) is not action.default:
                continue
            words = list(takewhile(lambda word: not word.startswith("-"), unknown))
            words = words[:1] if action.nargs == argparse.OPTIONAL else words
            if words:
                setattr(known, action.dest, self._get_values(action, words))
                del unknown[: len(words)]

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
