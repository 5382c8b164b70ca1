# SPDX-License-Identifier: Apache-2.0
"""What an analysis of a study says: the numbers that the terminal's table and the report are drawn from."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from quiclab.statistics import Interval


class Outcome(enum.StrEnum):
    """What the deciding test says about one comparison."""

    OTHER_BETTER = "other_better"
    BASELINE_BETTER = "baseline_better"
    NOT_SIGNIFICANT = "not_significant"
    UNDECIDED = "undecided"
    """The laboratory was too slow, or the numbers contradict each other: `why` says which."""
    NOT_MEASURED = "not_measured"

    @property
    def significant(self) -> bool:
        """Whether there is a difference to show."""
        return self in (Outcome.OTHER_BETTER, Outcome.BASELINE_BETTER)


@dataclass(frozen=True)
class Metric:
    """The quantity that is compared."""

    name: str
    title: str
    unit: str
    lower_is_better: bool


@dataclass(frozen=True)
class TrialResult:
    """The last attempt of one trial, void attempts apart."""

    trial_id: str
    block: int
    status: str
    """'verified', 'failed' or 'unproven'."""
    value: float | None
    """The metric's value, in its unit; None where the trial failed, is unproven or could not be measured."""
    reason: str


@dataclass(frozen=True)
class ArmResult:
    """One arm in one cell."""

    arm: str
    trials: tuple[TrialResult, ...]
    attempts: int
    """All attempts, voids included."""
    voids: int
    """Attempts that were void by themselves, not for another trial of their block."""
    median: float | None
    """Failed trials rank worst: infinite once they are half of all; None of no trial."""
    interval: Interval | None
    """Interval of the median; its own level says what so few values attain."""
    mean: float | None
    """Mean of the trials that have a value."""
    sd: float | None
    damaged: int = 0
    """Trials that were verified, and whose files are no longer whole: without a result, as is their pair."""

    @property
    def failures(self) -> int:
        """Trials that failed or reached their time limit: censored, never dropped."""
        return sum(trial.status == "failed" for trial in self.trials)

    @property
    def unproven(self) -> int:
        """Trials without a proof of what their client got: left out, and said so."""
        return sum(trial.status == "unproven" for trial in self.trials)

    @property
    def unmeasured(self) -> int:
        """Verified trials with an unknown metric: left out, and said so."""
        return sum(trial.status == "verified" and trial.value is None for trial in self.trials)

    @property
    def median_trial(self) -> TrialResult | None:
        """The trial in the middle (the lower of two): the one that figures open on."""
        known = sorted((t for t in self.trials if t.value is not None), key=lambda t: (t.value or 0.0, t.block))
        return known[(len(known) - 1) // 2] if known else None


@dataclass(frozen=True)
class Comparison:
    """One arm against the baseline in one cell."""

    cell_id: str
    kind: str
    """'main', or 'aa' where both arms are the same stack."""
    workload: str
    path: str
    baseline: ArmResult
    other: ArmResult
    pairs: int
    difference_pct: float | None
    """(median baseline − median other) / median baseline × 100: positive where the other arm is better."""
    shift_pct: float | None
    """Hodges–Lehmann shift within pairs, in per cent of the baseline's median, same sign; of a sequential study the
    median within pairs, in per cent of the baseline's value in the pair."""
    interval_pct: Interval | None
    """Interval of the shift; None where so few pairs allow none."""
    p: float | None
    """Exact signed-rank test, two-sided; None without a pair."""
    adjusted_p: float | None
    """The p-value after Benjamini–Hochberg over all main comparisons of the study that are tested; None for A/A cells,
    and for a cell that is refused."""
    mann_whitney_p: float | None
    welch_p: float | None
    """The p-value of Welch's t-test; None where a trial failed, as a mean then has no meaning."""
    outcome: Outcome
    why: str
    """A sentence where the outcome is undecided or not measured."""


@dataclass(frozen=True)
class StudyAnalysis:
    """Everything the comparison of a study found."""

    name: str
    metric: Metric
    alpha: float
    arms_text: str
    """The first line of every result: what the arms are and where they still differ."""
    arms_differences: tuple[str, ...]
    paths: tuple[str, ...]
    workloads: tuple[str, ...]
    path_titles: dict[str, str]
    workload_titles: dict[str, str]
    comparisons: tuple[Comparison, ...]
    """Main cells, rows by path, then workload, then arm."""
    controls: tuple[Comparison, ...]
    """A/A cells."""
    notes: tuple[str, ...]
    """What is missing or limits what can be said; a sentence each."""
    sequential: bool = False
    """Whether p and intervals hold at any time, because the number of pairs was not fixed before."""
    page: str = "report"
    """Name of the page about this metric, and of the folder beside it: `report-METRIC` of one that is not the usual."""

    @property
    def confidence(self) -> float:
        """Level that is asked for of the comparisons' intervals."""
        return 1 - self.alpha / (max(1, len(self.comparisons)) if self.sequential else 1)

    @property
    def tested(self) -> int:
        """Number of comparisons that p is corrected over: cells that are refused are not tested."""
        if self.sequential:
            return len(self.comparisons)
        return sum(comparison.adjusted_p is not None for comparison in self.comparisons)

    @property
    def decided_by(self) -> str:
        """The deciding test with its correction, in words."""
        over = f"over {self.tested} comparisons"
        if self.sequential:
            return f"confidence sequence of the median within pairs, Bonferroni {over}"
        return f"exact signed-rank test, Benjamini–Hochberg {over}"

    @property
    def noise_floor_pct(self) -> float | None:
        """How far the intervals of an arm against itself reach, at most; None without an A/A cell that has one."""
        intervals = [control.interval_pct for control in self.controls if control.interval_pct is not None]
        return max((max(abs(interval.low), abs(interval.high)) for interval in intervals), default=None)
