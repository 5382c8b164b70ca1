# SPDX-License-Identifier: Apache-2.0
"""The errors that a user can meet. Each is a sentence that says what happened, and a hint that says what to do.

Bugs stay ordinary exceptions; "unsupported" is a result and not an error.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Collection


class ExitCode(enum.IntEnum):
    """Exit codes of every `quiclab` command (documented in docs/reference/exit-codes.md)."""

    OK = 0
    """Everything that was asked for was done."""
    TRIALS_FAILED = 1
    """The command finished, but some trials failed, are unproven or damaged, or a check was not met."""
    SPEC = 2
    """The spec or the command line is wrong; the user can correct it."""
    HOST = 3
    """This machine cannot do it (namespaces, disk, permissions, a missing program)."""
    DECODE = 4
    """A log or a study directory cannot be read."""
    BUSY = 5
    """Another run holds this study directory."""
    GATE = 6
    """`quiclab compare --fail-if`: a change is significantly beyond the bound."""
    INPUT_LOST = 7
    """`quiclab decode`: tables were written, but some input was lost or unreadable."""
    NOT_JUDGED = 8
    """Nothing went wrong, but not everything could be judged. `quiclab run`: a cell has neither its planned pairs nor a
    decision, because the laboratory disturbed its trials. `quiclab compare --fail-if`: nothing is beyond a bound, but
    not every cell could be judged. `quiclab explain --confirm`: inconclusive."""
    CRASH = 70
    """A mistake of quiclab's own (EX_SOFTWARE of sysexits.h), or its sandbox was killed from outside."""
    INTERRUPTED = 130
    """Ctrl-C, SIGTERM or SIGHUP: finished trials are kept, the same command continues."""


RAN = frozenset({ExitCode.OK, ExitCode.TRIALS_FAILED, ExitCode.NOT_JUDGED})
"""Codes of a run that tried all its trials: there is something to report."""


def nearest(name: str, known: Collection[str], otherwise: str, shown: Collection[str] | None = None) -> str:
    """A hint about a name that there is not: the nearest one that there is, else `otherwise` and all of them, or those
    to be `shown`."""
    short = {each.lower(): each for each in known}
    if found := difflib.get_close_matches(name.lower(), short, 1):
        return f"did you mean {short[found[0]]}?"
    return f"{otherwise} {', '.join(known if shown is None else shown) or 'none'}"


class QuiclabError(Exception):
    """Base of all errors that the user is told in one sentence, never as a traceback."""

    exit_code: ExitCode = ExitCode.HOST

    def __init__(self, message: str, hint: str = "", problems: tuple[str, ...] = ()) -> None:
        """Keep the sentence and its hint; `problems` has every offender, each with its place."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.problems = problems


class SpecError(QuiclabError):
    """The spec or the command line is wrong."""

    exit_code = ExitCode.SPEC


class HostError(QuiclabError):
    """This machine cannot do what was asked."""

    exit_code = ExitCode.HOST


class BusyError(HostError):
    """Another run holds the study directory."""

    exit_code = ExitCode.BUSY


class TrialError(QuiclabError):
    """One trial failed through its endpoints; it is kept, counted, and the study goes on."""

    exit_code = ExitCode.TRIALS_FAILED


class VoidError(HostError):
    """One trial was spoiled by the laboratory, or from outside: it is void, its block is run again."""


class QueryError(QuiclabError):
    """A query, or the name of a table, is wrong; the study itself can be read."""

    exit_code = ExitCode.SPEC


class DecodeError(QuiclabError):
    """An artefact or a study directory cannot be used."""

    exit_code = ExitCode.DECODE
