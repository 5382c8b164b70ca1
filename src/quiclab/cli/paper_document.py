# SPDX-License-Identifier: Apache-2.0
"""The documents of `quiclab paper --json`: the papers' results as they can be run, and what came of those that ran.

Nothing is imported for it that a verb would wait for, or that has threads: studies are judged in other processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quiclab.cli.status_document import TrialCounts
from quiclab.model.interval import Interval


@dataclass(frozen=True)
class PlannedSize:
    """Size of a study's plan."""

    pairs: int
    """Pairs of each comparison."""
    trials: int
    """Trials, those of an A/A control included."""
    expected_ns: int
    """Expected time of all trials, one after another."""


@dataclass(frozen=True)
class StudyEntry:
    """A study that results of a paper are held against."""

    spec: str
    """File of its spec at the paper's size."""
    question: str
    """Question of the study."""
    missing: tuple[str, ...]
    """Programs that are not here, each with what installs it; none where the study can run."""
    whole: PlannedSize
    """Plan at the paper's size."""
    small: PlannedSize
    """Plan of `--small`."""


@dataclass(frozen=True)
class ResultEntry:
    """A result that a paper is known for."""

    id: str
    """Id, which `quiclab paper PAPER ID` takes."""
    where: str
    """Sections, figures and tables of the paper that have it."""
    text: str
    """Result in a sentence."""
    studies: tuple[str, ...]
    """Names of the studies that hold it; none where it cannot be run."""
    not_testable: str
    """Reason why no study can be held against it; empty where one can."""
    not_run: str
    """Reason why it was not run when the others were; empty where it was."""
    note: str
    """Remark on how it is held against the study, and on what came of that before."""
    limits: tuple[str, ...]
    """Reasons why claims that agree need not be the paper's result again, a sentence each."""


@dataclass(frozen=True)
class PaperEntry:
    """A paper with its results."""

    paper: str
    """Word that `quiclab paper` takes."""
    name: str
    """Authors and year."""
    title: str
    """Title of the paper."""
    conditions: str
    """Conditions of its measurements."""
    remark: str
    """Remark that is about several of its results; empty where there is none."""
    results: tuple[ResultEntry, ...]
    """Results in the order of the paper."""


@dataclass(frozen=True)
class PapersDocument:
    """The papers' results, and the studies that they are held against."""

    version: int
    """Version of the document's form."""
    papers: tuple[PaperEntry, ...]
    """Papers; with `--dry-run` the one that was asked for, with the results that were."""
    studies: Mapping[str, StudyEntry]
    """Name of a study → what it needs and takes."""


@dataclass(frozen=True)
class ClaimResult:
    """A claim of the paper beside what was measured, of one workload over one path."""

    study: str
    """Name of the study."""
    claim: str
    """Id of the claim in the study's paper.toml."""
    text: str
    """Sentence of the paper."""
    says: str
    """Test in a few words: the metric, the arms and the paper's finding."""
    claim_verdict: str
    """Verdict on the claim in all of its workloads and paths: agrees, differs, inconclusive, not judged, not
    testable here."""
    verdict: str
    """Verdict on it for this workload and path."""
    why: str
    """Reason in a sentence where it does not agree."""
    caveat: str
    """Reason why the study is not quite the paper's; empty where nothing is known."""
    metric: str
    """Name of the metric; empty where the claim is not testable."""
    unit: str
    """Unit of the numbers, `cells` of a count of them; empty where a metric has none."""
    first_arm: str | None
    """First arm of the claim, or the mean of several; of an interaction the ratio of its first two, of a count all arms
    but the last."""
    second_arm: str | None
    """Second arm; of an interaction the ratio of the other two, of a count the last; null of a claim about one arm."""
    workload: str | None
    """Name of the workload; null where the claim has no cell, and of a count of cells."""
    path: str | None
    """Name of the path; null where the claim has no cell, and of a count of cells."""
    paper: str | None
    """Finding of the paper as it is printed there: a direction or a number."""
    here: str
    """Our number in words, with its interval and what it is of; empty where there is none."""
    ours_in_unit: float | None
    """Our number for that of the paper; of a direction the change of the second arm from the first, of a count the
    cells that are shown to count."""
    interval_in_unit: Interval | None
    """Interval of our number; of a count the least and the most that it may be."""
    n: int
    """Pairs of two arms, trials of one, cells of a count."""
    p: float | None
    """Value of p of a direction."""
    adjusted_p: float | None
    """Value of p after correction over all comparisons of its family."""


@dataclass(frozen=True)
class StudyResult:
    """Outcome of the trials of a study."""

    study: str
    """Name of the study."""
    directory: str
    """Directory of the study."""
    report: str
    """File of the report, which has the claims as well."""
    exit_code: int
    """Exit code of this study: as of `quiclab run --json`."""
    pairs: int
    """Pairs that were planned of each comparison."""
    trials: TrialCounts
    """Numbers of trials by how they ended."""
    notes: tuple[str, ...]
    """Limits of what can be said of its claims, a sentence each."""


@dataclass(frozen=True)
class HeadlineResult:
    """A result of the paper with its claims."""

    id: str
    """Id of the result."""
    where: str
    """Sections, figures and tables of the paper that have it."""
    text: str
    """Result in a sentence."""
    claims: tuple[ClaimResult, ...]
    """Claims of the studies that ran."""
    not_run: tuple[str, ...]
    """Studies of it that were not run."""
    not_testable: str
    """Reason why no study can be held against it; empty where one can."""
    note: str
    """Remark on how it is held against the study, and on what came of that before."""
    limits: tuple[str, ...]
    """Reasons why claims that agree need not be the paper's result again, a sentence each."""


@dataclass(frozen=True)
class PaperDocument:
    """Results of a paper beside what was measured."""

    version: int
    """Version of the document's form."""
    exit_code: int
    """The exit code that the command ends with: 0; 1 where trials failed; 8 where trials stayed disturbed."""
    paper: str
    """Word of the paper."""
    title: str
    """Title of the paper."""
    small: bool
    """True if the studies have fewer pairs than the paper's size has."""
    results: tuple[HeadlineResult, ...]
    """Results that were asked for."""
    studies: tuple[StudyResult, ...]
    """Studies that ran."""
    go_on: str
    """Command that runs what is left."""


@dataclass(frozen=True)
class JudgedStudy:
    """A study that ran, with all of its claims."""

    result: StudyResult
    claims: tuple[ClaimResult, ...]
