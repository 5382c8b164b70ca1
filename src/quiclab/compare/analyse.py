# SPDX-License-Identifier: Apache-2.0
"""Join a study's trials with their metrics and compare every cell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from quiclab.compare import statistics
from quiclab.compare.cell_comparison import arm_result, compare, decide, decide_all
from quiclab.compare.chosen_losses import chosen_loss_notes
from quiclab.compare.conclusions import conclude_all, conclude_by_sequence
from quiclab.compare.control_alarms import control_notes
from quiclab.compare.damaged import damage_notes
from quiclab.compare.disturbance import with_ends, with_most
from quiclab.compare.disturbance_notes import disturbance_notes
from quiclab.compare.interim_analyses import look_notes, looks_at
from quiclab.compare.model import Alone, ArmResult, Comparison, Conclusion, Metric, StudyAnalysis, TrialResult
from quiclab.compare.not_judged import advice_for
from quiclab.compare.occasions import occasion_notes
from quiclab.compare.pair_independence import independence_notes
from quiclab.compare.probe_notes import probe_notes
from quiclab.compare.refused_packets import refusal_notes
from quiclab.compare.run_notes import cache_notes, raw_file_notes, side_by_side_notes, source_notes, unfinished_notes
from quiclab.compare.sequential import rule_of, sequential_note, sequentially
from quiclab.compare.study import Study, read_study
from quiclab.compare.tail_quantiles import tail_notes
from quiclab.evidence.made_by import told_of_versions
from quiclab.evidence.metrics import declared, title_of
from quiclab.model import number_text
from quiclab.model.errors import SpecError, nearest
from quiclab.model.resolved_record import ResolvedSpec
from quiclab.store.go_on import going_on
from quiclab.store.layout import DAMAGED, WITH_ITS_BLOCK

_USUAL = {"page": "plt_ms", "video": "startup_ms"}
"""Kind of all workloads → the metric that is compared."""
USUAL_MATTERS_PCT = 2.0
"""Smallest effect of interest in a study whose spec was resolved before it had this key."""


def analyse_study(study_dir: Path, metric: str | None = None, baseline: str | None = None) -> StudyAnalysis:
    """Compare every cell of the study in `study_dir` by `metric`, or by `usual_metric`; with the arm `baseline` in
    place of the spec's.

    Missing files become notes, never errors. Raises DecodeError if `study_dir` is no directory, SpecError for an arm
    that the study does not have.
    """
    study = read_study(study_dir)
    return analyse(study if baseline is None else _against(study, baseline), metric)


def _against(study: Study, baseline: str) -> Study:
    """The study with one other baseline in all cells but those of the A/A control."""
    arms = list(study.arms)
    if baseline not in arms:
        raise SpecError(f"the study has no arm {baseline!r}", nearest(baseline, arms, "it has"))
    column = pl.when(pl.col("kind") == "main").then(pl.lit(baseline)).otherwise("baseline_arm")
    alone = [{key: value for key, value in arm.items() if key != "baseline"} for arm in study.tables("arms")]
    resolved = study.resolved | {"baseline": baseline, "arms": alone}
    return replace(study, resolved=resolved, trials=study.trials.with_columns(baseline_arm=column))


def usual_metric(study: Study) -> str:
    """The metric that a study is compared by, unless another one is asked for."""
    return usual_metric_of(study.spec)


def usual_metric_of(spec: ResolvedSpec) -> str:
    """The metric that a resolved spec names. Else a video is not over when its last byte is there, nor is a page; of a
    competition that the clock ends, or a video's watching, counts what the measured flow got until then."""
    if spec.metric:
        return spec.metric
    workloads = spec.measured_workloads
    kinds = {str(workload.kind) for workload in workloads}
    competitions = [workload.competition for workload in workloads]
    if competitions and all(each and (each.duration_ns or kinds == {"video"}) for each in competitions):
        return "shared_throughput_bit_per_s"
    return _USUAL.get(kinds.pop(), "ttlb_ms") if len(kinds) == 1 else "ttlb_ms"


def page_of(study: Study, metric: str) -> str:
    """Name of the page about a metric, and of the folder beside it."""
    return "report" if metric == usual_metric(study) else f"report-{metric}"


def analyse(study: Study, metric_name: str | None = None, *, sequential: bool | None = None) -> StudyAnalysis:
    """Compare every cell of a study that has been read, by `metric_name` or by `usual_metric`.

    Whether it is decided by a confidence sequence follows from its files, unless `sequential` says so.
    """
    metric = metric_of(study, metric_name or usual_metric(study))
    alpha = alpha_of(study)
    measured = list(measured_cells(study, metric))
    compared = [each for cell in measured for each in _comparisons(*cell, metric, alpha)]
    alone = _alone(measured) if len(study.arms) == 1 else []
    main = [comparison for comparison in compared if comparison.kind == "main"]
    controls = [decide(comparison, None, alpha) for comparison in compared if comparison.kind == "aa"]
    by_rule, looks = sequential_note(study, alpha, len(main)), looks_at(study, [usual_metric(study)])
    if sequential is None:
        sequential = bool(by_rule) or (looks is not None and looks.stopping_is_open)
    matters_pct = matters_of(study)
    controls = [conclude_all([(control, metric)], alpha, matters_pct)[0] for control in controls]
    if sequential:
        main = conclude_by_sequence(sequentially(main, metric, alpha), metric, alpha, matters_pct)
    else:
        main = conclude_all([(each, metric) for each in decide_all(main, alpha)], alpha, matters_pct)
    command, tolerated = f"`{going_on(study.directory)}`", tolerated_pct(study)
    main = [replace(each, why=advice_for(each.why, command, tolerated)) for each in main]

    paths = study.order("paths", {c.path for c in main} | {c.path for c in alone})
    workloads = study.order("workloads", {c.workload for c in main} | {c.workload for c in alone})
    main.sort(key=lambda c: (paths.index(c.path), workloads.index(c.workload)))
    alone.sort(key=lambda c: (paths.index(c.path), workloads.index(c.workload)))
    text, differences = _arms_summary(study, compared)
    return StudyAnalysis(
        name=study.name,
        metric=metric,
        alpha=alpha,
        arms_text=text,
        arms_differences=differences,
        paths=tuple(paths),
        workloads=tuple(workloads),
        path_titles={name: study.titles("paths").get(name, name) for name in paths},
        workload_titles={name: study.titles("workloads").get(name, name) for name in workloads},
        comparisons=tuple(main),
        controls=tuple(controls),
        notes=(
            *study.missing,
            *told_of_versions(study.directory),
            *unfinished_notes(study),
            *damage_notes(study),
            *raw_file_notes(study),
            *by_rule,
            *(look_notes(looks, sequential=bool(by_rule)) if looks is not None else ()),
            *independence_notes(main, metric),
            *occasion_notes(study, main, metric, alpha, matters_pct),
            *tail_notes(main, matters_pct),
            *control_notes(controls, alpha),
            *probe_notes(study),
            *chosen_loss_notes(study),
            *refusal_notes(study),
            *source_notes(study, metric, main),
            *cache_notes(study),
            *disturbance_notes(study, main, metric),
            *side_by_side_notes(study, main),
            *_limits(main, controls, metric, alpha, sequential=sequential, alone=bool(alone)),
        ),
        sequential=sequential,
        matters_pct=matters_pct,
        page=page_of(study, metric.name),
        alone=tuple(alone),
    )


def with_notes(analysis: StudyAnalysis, notes: Iterable[str]) -> StudyAnalysis:
    """The analysis with more sentences about gaps and limits."""
    return replace(analysis, notes=(*analysis.notes, *notes))


def _comparisons(
    place: tuple[str, str, str, str],
    baselines: Mapping[str, str],
    arms: Mapping[str, ArmResult],
    metric: Metric,
    alpha: float,
) -> list[Comparison]:
    return [compare(place, arms[baselines[arm]], arms[arm], metric, alpha) for arm in arms if arm != baselines[arm]]


def _alone(measured: Iterable[tuple[tuple[str, str, str, str], object, Mapping[str, ArmResult]]]) -> list[Alone]:
    """The main cells of a study with a single arm."""
    return [
        Alone(cell_id, workload, path, next(iter(arms.values())))
        for (cell_id, kind, workload, path), _, arms in measured
        if kind == "main"
    ]


def measured_cells(
    study: Study, metric: Metric
) -> Iterator[tuple[tuple[str, str, str, str], dict[str, str], dict[str, ArmResult]]]:
    """Every cell as (cell_id, kind, workload, path), the baseline of each of its arms, and the results of the arms."""
    rows = with_values(study, study.trials.filter(pl.col("trial_id").is_not_null()), metric.name)
    for (kind, cell_id, workload, path), cell in rows.group_by(
        "kind", "cell_id", "workload", "path", maintain_order=True
    ):
        attempts = {str(arm): group for (arm,), group in cell.group_by("arm")}
        present = {arm: str(group["baseline_arm"][0]) for arm, group in attempts.items()}
        baselines = _baselines(study, str(cell["baseline_arm"][0]), present, kind)
        arms = {arm: arm_in_cell(study, arm, attempts.get(arm, cell.clear()), metric) for arm in baselines}
        yield (str(cell_id), str(kind), str(workload), str(path)), baselines, arms


def _baselines(study: Study, first: str, present: Mapping[str, str], kind: object) -> dict[str, str]:
    """The baseline of each arm of a cell: first of the baselines themselves, then of the spec's others in their order
    though none has run yet, then of any that has."""
    spec = {arm: told.baseline or first for arm, told in study.arms.items()}
    planned = spec if kind == "main" else {f"{first.partition('#')[0]}#2": first}
    found = {**planned, **dict(sorted(present.items()))}
    return {**{each: each for each in found.values()}, **found}


def with_values(study: Study, attempts: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The attempts with their `value` of this metric, and what the laboratory added at most to their time."""
    values = study.metrics.filter(pl.col("name") == metric).select("trial_id", "value").unique("trial_id")
    return with_most(study, attempts.join(values, on="trial_id", how="left"))


def arm_in_cell(study: Study, arm: str, attempts: pl.DataFrame, metric: Metric) -> ArmResult:
    """An arm by its attempts `with_values`. The last attempt of each trial counts, unless it was void or is damaged:
    then the trial has no result."""
    last = attempts.sort("attempt").group_by("trial_id", maintain_order=True).last()
    damaged = last.filter(pl.col("status") == DAMAGED).height
    lost = last.filter(pl.col("status") == "void")["block"].drop_nulls().to_list()
    last = last.filter(~pl.col("status").is_in(["void", DAMAGED]))
    trials = [
        TrialResult(
            row["trial_id"],
            -1 if row["block"] is None else row["block"],
            row["status"],
            _finite(row["value"]) if row["status"] == "verified" else None,
            row["reason"] or "",
            began_utc=row.get("began_utc") or "",
        )
        for row in last.iter_rows(named=True)
    ]
    own_voids = attempts.filter(
        (pl.col("status") == "void") & ~pl.col("reason").fill_null("").is_in(WITH_ITS_BLOCK)
    ).height
    bounded, selection = with_ends(study, trials, attempts, metric)
    return arm_result(arm, bounded, attempts.height, own_voids, metric, damaged, lost, selection)


def metric_of(study: Study, name: str) -> Metric:
    """A metric as the study's own table has it; as it is declared where the study has no value of it."""
    row = study.metrics.filter(pl.col("name") == name).head(1)
    known = declared(name)
    if row.height:
        unit, better = str(row["unit"][0] or ""), row["better"][0]
    else:
        unit, better = (known.unit, known.better) if known else ("", "lower")
    return Metric(name, title_of(name), unit, better != "higher")


def alpha_of(study: Study) -> float:
    """Level of the deciding test."""
    alpha = study.spec.alpha
    return float(alpha) if alpha is not None and 0 < alpha < 1 else 0.05


def matters_of(study: Study) -> float:
    """Smallest difference that matters, in per cent: that of `--until` where the study went on until it was decided,
    else the spec's."""
    rule = rule_of(study)
    matters = study.spec.matters_pct if rule is None else rule.effect_pct
    return float(matters) if matters is not None and 0 < matters < 100 else USUAL_MATTERS_PCT


def tolerated_pct(study: Study) -> float | None:
    """Disturbance of a trial that the study tolerates, in per cent; None in one of an earlier version."""
    return None if study.spec.limits is None else study.spec.limits.disturbance_pct


def _arms_summary(study: Study, compared: list[Comparison]) -> tuple[str, tuple[str, ...]]:
    summary = study.spec.arms_summary
    if summary is not None and summary.text:
        return summary.text, summary.differences
    main = [comparison for comparison in compared if comparison.kind == "main"]
    arms = ", ".join(dict.fromkeys(comparison.other.arm for comparison in main))
    against = f"{arms} against {main[0].baseline.arm}; " if main else ""
    return f"{against}the resolved spec does not say how the arms differ.", ()


def _limits(
    main: list[Comparison], controls: list[Comparison], metric: Metric, alpha: float, *, sequential: bool, alone: bool
) -> list[str]:
    """Limits of what this study can show, with their reasons."""
    notes: list[str] = []
    if alone:
        notes.append("One arm: nothing is compared. `quiclab compare OLD NEW` sets two studies beside each other.")
    elif not main:
        notes.append("No cell was compared.")
    if not controls:
        notes.append("There is no A/A cell, so the noise floor is unknown.")
    unmeasured = sum(c.baseline.unmeasured + c.other.unmeasured for c in main)
    if unmeasured:
        notes.append(
            f"No {metric.title} of {number_text.counted(unmeasured, 'verified trial')}: left out of the comparison."
        )
    unproven = sum(c.baseline.unproven + c.other.unproven for c in main)
    if unproven:
        notes.append(
            f"Nothing shows what the client got in {number_text.counted(unproven, 'unproven trial')}: left out of the "
            "comparison."
        )
    measured = [c for c in main if c.pairs and c.conclusion is not Conclusion.NOT_JUDGED]
    pairs = min((comparison.pairs for comparison in measured), default=0)
    needed = statistics.pairs_needed(alpha, len(measured)) if measured else 0
    open_cells = any(comparison.conclusion is Conclusion.UNDECIDED for comparison in measured)
    if 0 < pairs < needed and open_cells and not sequential:
        over = number_text.counted(len(measured), "comparison")
        notes.append(
            f"{number_text.counted(pairs, 'pair')} per cell are few: p is corrected for {over}, so a "
            f"difference in a single cell takes {needed} pairs to be significant at {alpha:g}."
        )
    return notes


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
