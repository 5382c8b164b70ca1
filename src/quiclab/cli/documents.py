# SPDX-License-Identifier: Apache-2.0
"""The documents that verbs print with --json, as dataclasses; `as_json` makes JSON of them. What a run says of its
trials is in `status_document`, which imports less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.cli.explain_documents import ConfirmDocument, ExplainDocument, RecordingDocument, RecordingsDocument
from quiclab.cli.explain_losses import LossesDocument
from quiclab.cli.explain_page import PageDocument
from quiclab.cli.paper_document import PaperDocument, PapersDocument
from quiclab.cli.status_document import StatusDocument, TrialCounts
from quiclab.cli.tune_document import TuneDocument
from quiclab.compare.builds.gate import Verdict
from quiclab.compare.builds.two_studies import StudiesCompared
from quiclab.compare.model import StudyAnalysis
from quiclab.study.differences import Difference
from quiclab.study.history.changes import HistoryFindings
from quiclab.study.verification import VerifiedAttempt


@dataclass(frozen=True)
class ReportDocument:
    """Result of a study, by one metric: the numbers of the report."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    report: str
    """File of the report that was written."""
    analysis: StudyAnalysis
    """Comparisons of its cells."""


@dataclass(frozen=True)
class RunDocument:
    """Outcome of a study's trials, and what they show."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    exit_code: int
    """The exit code that the command ends with: 0; 1 where trials failed, are unproven or damaged; 8 where a cell has
    neither its planned pairs nor a decision, since the laboratory disturbed its trials."""
    trials: TrialCounts
    """Numbers of trials by how they ended."""
    result: ReportDocument | None
    """Document of `quiclab report --json`; null with `--no-report`."""


@dataclass(frozen=True)
class AskDocument:
    """Answer to a question of one line."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study behind it."""
    exit_code: int
    """The exit code that the command ends with: as of `quiclab run --json`, and 8 where the answer is not judged."""
    question: str
    """The question in a sentence."""
    arms: Mapping[str, str]
    """Arm → its programs with their versions, congestion control and initial window."""
    unequal: tuple[str, ...]
    """Points that are not equal although they should be, such as congestion control or packet size, with what each arm
    has; none where all are."""
    answer: tuple[str, ...]
    """Sentences: which arm is faster, because of what, what would change it, and how to go on where it is open."""
    go_on: str
    """The command that adds pairs to the study."""
    trials: TrialCounts
    """Numbers of trials by how they ended."""
    result: ReportDocument
    """Document of `quiclab report --json`."""


@dataclass(frozen=True)
class HistoryDocument:
    """A history of releases: which of them changed the time."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of its study."""
    exit_code: int
    """The exit code that the command ends with: as of `quiclab run --json`."""
    question: str
    """The question in a sentence."""
    go_on: str
    """The command that goes on with the search."""
    found: HistoryFindings
    """Changes, and every pair of releases that was compared."""
    result: ReportDocument
    """Document of `quiclab report --json`, in which every release is compared with the oldest."""


@dataclass(frozen=True)
class Judged:
    """One cell against one bound."""

    bound: str
    """The bound as it was given to `--fail-if`."""
    metric: str
    """Name of the metric."""
    workload: str
    """Name of the workload."""
    path: str
    """Name of the path."""
    arm: str
    """Name of the arm."""
    verdict: Verdict
    """Verdict on the bound: the cell keeps within it, goes beyond it, or is not judged."""
    reason: str
    """Reason of the verdict, in a sentence."""
    open_ended: bool
    """True if it passed although the interval reaches beyond the bound."""


@dataclass(frozen=True)
class CompareDocument:
    """Two builds of a program, NEW against OLD."""

    version: int
    """Version of the document's form."""
    exit_code: int
    """The exit code that `quiclab compare` ends with."""
    compared: StudiesCompared
    """Result of comparing them."""
    verdict: Verdict | None
    """Verdict of the gate on all cells together; null without `--fail-if`."""
    judged: tuple[Judged, ...]
    """Every cell against every bound."""


@dataclass(frozen=True)
class FigureEntry:
    """A figure that `quiclab figure NAME STUDY` draws."""

    name: str
    """Name of the figure."""
    question: str
    """The question that it answers."""
    where: str
    """The place where the report shows it."""
    tables: tuple[str, ...]
    """Files of a study that its data come from."""
    columns: Mapping[str, str]
    """Columns of its data, each with its meaning and unit."""


@dataclass(frozen=True)
class FiguresDocument:
    """Every figure."""

    version: int
    """Version of the document's form."""
    figures: tuple[FigureEntry, ...]
    """Entries in the order of the list."""


@dataclass(frozen=True)
class PathEntry:
    """A path that has a name."""

    name: str
    """Name for `profile = "NAME"` and `--profile NAME`."""
    title: str
    """Title of the path in tables and figures."""
    kind: str
    """Sort of source: a preset or a measurement."""
    source: str
    """Source of the numbers."""
    url: str
    """Address of the source."""
    chosen: str
    """Decisions that were made here because the source is silent."""
    keys: Mapping[str, object]
    """Keys of `[[path]]` as a spec has them: quantities are texts with their unit."""


@dataclass(frozen=True)
class PathsDocument:
    """The paths that have a name: all of them, or the one that was asked for."""

    version: int
    """Version of the document's form."""
    paths: tuple[PathEntry, ...]
    """Entries in the order of the list."""


@dataclass(frozen=True)
class PlanDocument:
    """Plan that follows from a spec."""

    version: int
    """Version of the document's form."""
    study: Mapping[str, object]
    """The spec with every default, as `STUDY/resolved.json` keeps it: units are in the names."""
    arms: Mapping[str, object]
    """Description of the arms, and where they differ."""
    links: Mapping[str, object]
    """Configuration of the link for each path (link-config.md)."""
    cells: int
    """Cells, A/A cells included."""
    blocks: int
    """Blocks of all cells, with what `run --until` and `ask` added to a study."""
    trials: int
    """Trials of all cells: those of the spec, with what `run --until` and `ask` added."""
    expected_ns: int
    """Expected time of all trials, one after another."""
    power: Mapping[str, object]
    """Best result that the planned number of blocks can show, and the sentence about it."""
    matters: Mapping[str, object]
    """Numbers of pairs to find a difference that matters."""
    warnings: tuple[str, ...]
    """Reasons why the plan would disappoint, a sentence each."""
    errors: tuple[str, ...]
    """Reasons why an arm cannot run, each with the arm: what its programs cannot do, and programs that are not here."""
    order: tuple[Mapping[str, object], ...]
    """Every trial in the order in which they run, with `expected_ns`."""


@dataclass(frozen=True)
class DoctorDocument:
    """Abilities of a machine."""

    version: int
    """Version of the document's form."""
    machine: tuple[Mapping[str, object], ...]
    """Findings on the machine, each with `state`, `detail` and `remedy`."""
    endpoints: tuple[Mapping[str, object], ...]
    """Every client, server and proxy, with `status`, `version`, `reason` and `install`."""
    releases: tuple[Mapping[str, object], ...]
    """Older releases that a spec can name by `version`, in the same form, in each of their roles."""


@dataclass(frozen=True)
class VerifyDocument:
    """Result of judging a study again."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    exit_code: int
    """The exit code that the command ends with: 0; 1 where something differs; 8 where nothing differs and not all could
    be verified."""
    quiclab: str
    """Version of quiclab that judged it now."""
    run_by: str | None
    """Version of quiclab that ran it; null where nothing says so."""
    other_tables: tuple[str, ...]
    """Versions of quiclab, other than that of now, that made tables of it: what differs may be defined otherwise."""
    attempts: tuple[VerifiedAttempt, ...]
    """Every attempt."""
    differences: tuple[Difference, ...]
    """Differences in the tables of the whole study: `trials` and `metrics`."""
    unchecked: tuple[str, ...]
    """Sentences about everything else that could not be verified."""
    not_checked: str
    """Sentence about everything that no verification tells."""


@dataclass(frozen=True)
class ColumnEntry:
    """One column of a query's answer."""

    name: str
    """Name of the column."""
    type: str
    """Type of its values, by Polars' name."""


@dataclass(frozen=True)
class SqlDocument:
    """Answer to a query."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    columns: tuple[ColumnEntry, ...]
    """Columns of the answer, in their order."""
    rows: tuple[Mapping[str, object], ...]
    """Rows, each an object of the columns' names; points in time and dates are text (ISO 8601), bytes are in
    hexadecimal digits."""


@dataclass(frozen=True)
class SqlTablesDocument:
    """Tables of a study."""

    version: int
    """Version of the document's form."""
    directory: str
    """Directory of the study."""
    tables: Mapping[str, tuple[str, ...]]
    """Name of a table → names of its columns; docs/reference/tables.md says what they hold, and their units."""


DOCUMENTS: Mapping[str, type[Any]] = {
    "ask --size SIZE --rtt TIME --json": AskDocument,
    "plan SPEC --json": PlanDocument,
    "run SPEC --json": RunDocument,
    "paper --list --json": PapersDocument,
    "paper PAPER RESULT --json": PaperDocument,
    "status STUDY --json": StatusDocument,
    "merge STUDY PART… --json": RunDocument,
    "report STUDY --json": ReportDocument,
    "explain STUDY --json": ExplainDocument,
    "explain STUDY CELL --confirm --json": ConfirmDocument,
    "tune STUDY CELL --json": TuneDocument,
    "history PROGRAM --json": HistoryDocument,
    "explain --h2 H2 --h3 H3 --json": RecordingsDocument,
    "explain --h3 H3 --json": RecordingDocument,
    "explain --page PAGE --json": PageDocument,
    "explain --lost CLIENT SERVER --json": LossesDocument,
    "compare OLD NEW --json": CompareDocument,
    "figure --list --json": FiguresDocument,
    "sql STUDY --json": SqlTablesDocument,
    "sql STUDY QUERY --json": SqlDocument,
    "verify STUDY --json": VerifyDocument,
    "paths --json": PathsDocument,
    "doctor --json": DoctorDocument,
}
"""Command → what it prints."""
