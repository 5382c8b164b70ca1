# SPDX-License-Identifier: Apache-2.0
"""Result of a study's analysis: the numbers that the terminal's table and the report are drawn from."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from quiclab.compare.statistics import Interval


class Outcome(enum.StrEnum):
    """Result of the deciding test of one comparison."""

    OTHER_BETTER = "other_better"
    BASELINE_BETTER = "baseline_better"
    NOT_SIGNIFICANT = "not_significant"
    UNDECIDED = "undecided"
    """Too few pairs, or a typical pair without a difference: `why` says which."""
    NOT_JUDGED = "not_judged"
    """The laboratory disturbed the trials by more than the answer bears, or left too few of them: `why` says which."""
    NOT_MEASURED = "not_measured"

    @property
    def significant(self) -> bool:
        """True if there is a difference to show."""
        return self in (Outcome.OTHER_BETTER, Outcome.BASELINE_BETTER)


class Conclusion(enum.StrEnum):
    """Conclusion of a comparison beside the smallest difference that matters."""

    DIFFERENT = "different"
    """A difference was found, and it is estimated to matter."""
    SMALL = "different, but by less than matters"
    """A difference was found, and its whole interval is less than what matters."""
    PERHAPS_SMALL = "different, undecided whether it matters"
    """A difference was found that is estimated at less than what matters; its interval reaches further."""
    ALIKE = "alike"
    """No difference was found, and the whole interval is less than what matters; so is that of the tail."""
    MEDIAN_ALIKE = "median alike"
    """The same, but the tail differs, is undecided, or is not known."""
    UNDECIDED = "undecided"
    NOT_JUDGED = "not judged"
    """The time that the laboratory added could turn the answer, or too few pairs are left to find one."""
    NOT_MEASURED = "not measured"

    @property
    def text(self) -> str:
        """The conclusion in words for readers; its value is the one that files keep."""
        return _KEPT_FOR_FILES.get(self.value, self.value)

    @property
    def found(self) -> bool:
        """True if the test found a difference."""
        return self in (Conclusion.DIFFERENT, Conclusion.SMALL, Conclusion.PERHAPS_SMALL)

    @property
    def decided(self) -> bool:
        """True if nothing is left to ask: it is known whether a difference that matters is there."""
        return self in (Conclusion.DIFFERENT, Conclusion.SMALL, Conclusion.ALIKE, Conclusion.MEDIAN_ALIKE)


class TailState(enum.StrEnum):
    """State of knowledge of the slow tail of two arms, their p90."""

    ALIKE = "alike"
    """The whole interval of its difference is less than what matters."""
    DIFFERENT = "different"
    UNDECIDED = "undecided"
    NOT_KNOWN = "not known"
    """Too few pairs to tell, or no ratio."""

    @property
    def text(self) -> str:
        """The state in words for readers; its value is the one that files keep."""
        return _KEPT_FOR_FILES.get(self.value, self.value)


_KEPT_FOR_FILES = {
    "alike": "equivalent",
    "median alike": "median equivalent",
    "undecided": "inconclusive",
    "different, undecided whether it matters": "different, unclear whether it matters",
}
"""Words for readers, by the value that files keep."""


@dataclass(frozen=True)
class Tail:
    """The worst tenth of both arms' trials: how their p90 (p10 of what is better high) compare."""

    state: TailState
    """State of knowledge of the tail."""
    difference_pct: float | None
    """The other arm's p90 less the baseline's, in per cent of the latter; None where it is not known or failures own
    it."""
    interval_pct: Interval | None
    """Interval of that difference; None where it is not known."""
    pairs_needed: int
    """Fewest pairs that tell anything of it."""


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
    least: float | None = None
    """Least that the value may be without what the laboratory added to the trial; None where that is the value."""
    most: float | None = None
    """Most that it may be; None where that is the value."""
    began_utc: str = ""
    """Date and time of its start; "" where that is not known."""

    @property
    def is_disturbed(self) -> bool:
        """True where the value may be another without what the laboratory added."""
        return self.least is not None or self.most is not None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Least and most that the value may be; None where there is no value."""
        return (
            self.value if self.least is None else self.least,
            self.value if self.most is None else self.most,
        )


@dataclass(frozen=True)
class Selection:
    """Comparison of an arm's repeated attempts with those that count, in their times without the disturbance."""

    attempts: int
    """Repeated attempts whose time is known."""
    shift_pct: float
    """Per cent by which the arm's time (mean of logarithms) would grow if they stood in place of those that count of
    the same blocks."""


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
    lost_blocks: tuple[int, ...] = ()
    """Blocks in which no attempt of this arm counted: each was void."""
    selection: Selection | None = None
    """Evidence that repeats left out slow or fast trials; None where nothing was repeated, or no times are known."""

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
    def is_disturbed(self) -> bool:
        """True where a value may be another without what the laboratory added."""
        return any(trial.is_disturbed for trial in self.trials)

    @property
    def median_trial(self) -> TrialResult | None:
        """The trial in the middle (the lower of two): the one that figures open on."""
        known = sorted((t for t in self.trials if t.value is not None), key=lambda t: (t.value or 0.0, t.block))
        return known[(len(known) - 1) // 2] if known else None


@dataclass(frozen=True)
class Comparison:
    """One arm against its baseline in one cell."""

    cell_id: str
    kind: str
    """'main', or 'aa' where both arms are the same stack."""
    workload: str
    path: str
    baseline: ArmResult
    other: ArmResult
    pairs: int
    difference_pct: float | None
    """The other arm's value less the baseline's in the typical pair, in per cent of the latter, `−12` for 12 % less
    time: the Hodges–Lehmann estimate of the log ratios within pairs, of a sequential study their median, told in per
    cent. None where failures own it, or a value has no ratio."""
    interval_pct: Interval | None
    """Interval of the difference in per cent, with an infinite end where failures own it; None where so few pairs
    allow none."""
    difference: float | None
    """The difference in the metric's unit, where a value of zero has no ratio; else None."""
    interval: Interval | None
    """Interval of the difference in the metric's unit."""
    leans: float
    """Sign of the typical pair: above zero where the other arm is better, 0 where neither is. Where failures leave
    none, the arm that failed less is the better."""
    p: float | None
    """Exact signed-rank test of the log ratios within pairs (of differences where there are none), two-sided, with each
    pair at the end of its disturbance that speaks against a difference; None without a pair."""
    adjusted_p: float | None
    """The p-value after Benjamini–Hochberg over all main comparisons of the study that are tested; None for A/A cells,
    and for a cell that is refused."""
    mann_whitney_p: float | None
    welch_p: float | None
    """The p-value of Welch's t-test; None where a trial failed, as a mean then has no meaning."""
    outcome: Outcome
    why: str
    """A sentence where the outcome is undecided or not measured."""
    conclusion: Conclusion = Conclusion.UNDECIDED
    """Conclusion: what it amounts to beside what matters."""
    tail: Tail | None = None
    """Comparison of the slow tails; None where it was not asked."""
    confidence: float = 0.95
    """Level that was asked for of the interval: wider than the study's where the cell was selected."""
    disturbance_pct: float = 0.0
    """Points of per cent by which what the laboratory added to the trials widened the interval, at the wider side."""

    @property
    def lost(self) -> int:
        """Blocks that did not count, as a trial in them was void each time."""
        return len({*self.baseline.lost_blocks, *self.other.lost_blocks})


@dataclass(frozen=True)
class Alone:
    """The single arm of a study in one cell, which nothing is compared with."""

    cell_id: str
    workload: str
    path: str
    arm: ArmResult
    kind: str = "main"
    """'main', as of every cell that is not of the A/A control."""


@dataclass(frozen=True)
class MeasuredCell:
    """A cell with all of its arms."""

    place: Comparison | Alone
    """Names of the cell: that of a comparison in it, or of its single arm."""
    arms: tuple[ArmResult, ...]
    """Results of its arms, each baseline before those that are compared with it."""


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
    """Gaps and limits of what can be said; a sentence each."""
    sequential: bool = False
    """True if p and intervals hold at any time, because the number of pairs was not fixed before."""
    matters_pct: float = 2.0
    """Smallest difference that matters, in per cent of the baseline's value."""
    page: str = "report"
    """Name of the page about this metric, and of the folder beside it: `report-METRIC` of one that is not the usual."""
    alone: tuple[Alone, ...] = ()
    """Main cells of a study with a single arm, rows by path, then workload; empty where arms are compared."""

    def cells(self, *, controls: bool = False) -> dict[str, MeasuredCell]:
        """Main cells by their ids in the order of the study, then, where they are asked for, those of the A/A
        control."""
        found: dict[str, MeasuredCell] = {each.cell_id: MeasuredCell(each, (each.arm,)) for each in self.alone}
        for each in (*self.comparisons, *(self.controls if controls else ())):
            cell = found.get(each.cell_id) or MeasuredCell(each, ())
            new = () if any(arm.arm == each.baseline.arm for arm in cell.arms) else (each.baseline,)
            found[each.cell_id] = MeasuredCell(cell.place, (*cell.arms, *new, each.other))
        return found

    @property
    def baselines(self) -> dict[str, str]:
        """Arm that is compared → its baseline, in the order of the spec."""
        return {each.other.arm: each.baseline.arm for each in self.comparisons}

    @property
    def most_different(self) -> str | None:
        """Id of the main cell with the largest difference that was found, else of the first; None where there is
        none."""
        found = [each for each in self.comparisons if each.outcome.significant]
        largest = max(found, key=lambda each: abs(each.difference_pct or 0), default=None)
        return next(iter(self.cells()), None) if largest is None else largest.cell_id

    @property
    def arms(self) -> list[str]:
        """Names of the arms of the main cells, the baseline first."""
        return list(dict.fromkeys(arm.arm for cell in self.cells().values() for arm in cell.arms))

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
        over = f"over {self.tested} comparison{'s' * (self.tested != 1)}"
        if not self.tested:
            return "exact signed-rank test (no cell could be tested)"
        if self.sequential:
            return f"sequential signed-rank test, Bonferroni {over}"
        return f"exact signed-rank test, Benjamini–Hochberg {over}"

    @property
    def noise_floor_pct(self) -> float | None:
        """Farthest bound of the intervals of an arm against itself; None without an A/A cell that has one."""
        intervals = [control.interval_pct for control in self.controls if control.interval_pct is not None]
        return max((max(abs(interval.low), abs(interval.high)) for interval in intervals), default=None)
