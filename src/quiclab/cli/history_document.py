# SPDX-License-Identifier: Apache-2.0
"""The JSON document of `quiclab history`."""

from __future__ import annotations

from dataclasses import dataclass

from quiclab.cli.documents import ReportDocument
from quiclab.study.history.changes import HistoryFindings


@dataclass(frozen=True)
class HistoryDocument:
    """A history of releases: which of them changed the time."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of its study."""
    exit_code: int
    """Exit code of the command."""
    question: str
    """The question in a sentence."""
    go_on: str
    """The command that goes on with the search."""
    result: HistoryFindings
    """What was found."""
    report: ReportDocument
    """Document of `quiclab report --json`: every release against the oldest."""
