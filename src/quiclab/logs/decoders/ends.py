# SPDX-License-Identifier: Apache-2.0
"""Decide which end a log belongs to: by its own word, or else by the command line or its name."""

from __future__ import annotations

from collections.abc import Collection

from quiclab.logs.decoders._api import End
from quiclab.logs.decoders.log_files import LogFile
from quiclab.model.errors import SpecError


def end_by(log: LogFile, told: Collection[End]) -> End | None:
    """The end of a log whose rows name the ends `told`; None if they name both, so that there is no single end.

    The file's name is a guess, which the log's own word overrules. Raises SpecError if the command line contradicts it.
    """
    if log.vantage_given and any(end != log.vantage for end in told):
        others = " and the ".join(sorted({f"{end}'s" for end in told}))
        raise SpecError(
            f"{log.name} was given with --{log.vantage}, but says itself that it is the {others}",
            f"give it without --{log.vantage}: what it says counts",
        )
    if len(told) == 1:
        return next(iter(told))
    return None if told else log.vantage
