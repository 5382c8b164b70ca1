# SPDX-License-Identifier: Apache-2.0
"""A paragraph for the methods section of a paper: how a study was measured and tested, every number from its files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from quiclab.compare import comparison_words
from quiclab.compare.interim_analyses import looks_at
from quiclab.compare.model import StudyAnalysis
from quiclab.compare.sequential import rule_of
from quiclab.compare.study import Study, read_json
from quiclab.model import number_text
from quiclab.model.resolved_record import ResolvedWorkload
from quiclab.report.page.heading import Heading, heading, machine_text
from quiclab.store.layout import StudyDir
from quiclab.store.own_files import own_files

_LEAST_DISTURBANCE_PCT = 1.0
_UNKNOWN = "an unknown version"
_WAYS = {"upload": "an upload", "download": "a download"}
_COUNTED = (
    ("verified", "were verified (packets or the client's account prove what was delivered)"),
    ("failed", "failed by a client's or server's fault (ranked worst)"),
    ("unproven", "were unproven (left out)"),
    ("damaged", "were damaged later (left out)"),
    ("void", "were invalid or in a pair with an invalid one (left out, and repeated while attempts were left)"),
)
"""Ends of a trial, with their words, in the order in which they are told."""


def methods_text(study: Study, analysis: StudyAnalysis) -> str:
    """Return the paragraph; what a study's files do not tell is said to be unknown, or left out."""
    head = heading(study, analysis)
    host = read_json(study.directory / "host.json", [])
    return " ".join(
        [
            *_states(study, analysis),
            *_subject(analysis, head, host),
            *_setting(study, analysis, head, host),
            *_design(study, analysis),
            *_test(study, analysis),
            *_trials(study, analysis),
        ]
    )


def _states(study: Study, analysis: StudyAnalysis) -> Iterator[str]:
    """Sentences about a study that is not simply finished: they stand first, so that nobody overlooks them."""
    looks = looks_at(study, [analysis.metric.name])
    planned = study.spec.planned_blocks
    if looks is not None and looks.fewer and rule_of(study) is None:
        ran = sorted(set(looks.fewer.values()))
        span = f"{ran[0]}" if len(ran) == 1 else f"{ran[0]} to {ran[-1]}"
        of = "" if planned is None else f" of {planned} planned"
        yield f"This study is unfinished: {span}{of} pairs of {number_text.counted(len(looks.fewer), 'cell')} have run."
    if not analysis.comparisons:
        yield "This study has one arm, so nothing is compared or tested."


def _subject(analysis: StudyAnalysis, head: Heading, host: Mapping[str, object]) -> Iterator[str]:
    arms = [f"{each.arm} ({each.text})" if each.text else each.arm for each in head.arms]
    version = host.get("quiclab")
    ran = f"quiclab {version if isinstance(version, str) else _UNKNOWN}"
    verb = "compared" if analysis.comparisons else "measured"
    yield f"We {verb} the {analysis.metric.title} of {number_text.listed(arms)} with {ran}."
    if head.differ_in:
        yield f"The arms differ in {head.differ_in}."


def _setting(study: Study, analysis: StudyAnalysis, head: Heading, host: Mapping[str, object]) -> Iterator[str]:
    networks = [each.numbers or each.title for each in head.networks]
    machines = [machine_text(read_json(file, [])) for file in _merged_hosts(study)]
    backend = host.get("link_backend")
    link = "a link that quiclab emulates in user space" + (f" ({backend} devices)" if isinstance(backend, str) else "")
    where = f"on one machine ({head.machine})" if head.machine else "on one machine"
    if machines:
        each = "; ".join(dict.fromkeys(filter(None, [head.machine, *machines])))
        yield f"The study was merged from parts that ran on {len(machines) + 1} machines or sessions ({each})."
        where = "on one of these machines"
    yield f"Client and server ran in network namespaces {where}, joined by {link}."
    if networks:
        yield f"{_count(len(networks), 'network')}: {'; '.join(networks)}."
    kinds = [_workload(each) for each in study.spec.measured_workloads if each.name in analysis.workloads]
    if kinds:
        yield f"{_count(len(kinds), 'workload')}: {'; '.join(kinds)}."
    if head.when:
        yield f"Trials ran on {head.when}."


def _merged_hosts(study: Study) -> list[Path]:
    return own_files(StudyDir(study.directory).hosts, study.directory)


def _workload(workload: ResolvedWorkload) -> str:
    """Return a workload in words: `5MB, a download of 5 MB`."""
    way = _WAYS[workload.direction or "download"]
    count = f"{workload.count} objects of " if workload.count and workload.count > 1 else ""
    size = "" if workload.size_bytes is None else f" of {count}{number_text.size(workload.size_bytes)}"
    what = {"page": "a page", "video": "a video"}.get(workload.kind or "", way)
    return f"{workload.name}, {what}{size}"


def _count(number: int, thing: str) -> str:
    return f"There {'was one ' + thing if number == 1 else f'were {number} {thing}s'}"


def _design(study: Study, analysis: StudyAnalysis) -> Iterator[str]:
    seed = study.spec.seed
    drawn = "" if seed is None else f" (seed {seed:g})"
    cells = number_text.counted(len(analysis.cells()), "cell")
    if analysis.comparisons:
        pairs = sorted({each.pairs for each in analysis.comparisons})
        span = f"{pairs[0]}" if len(pairs) == 1 else f"{pairs[0]} to {pairs[-1]}"
        planned = study.spec.planned_blocks
        where = "the one cell" if len(analysis.cells()) == 1 else f"each of {cells}"
        rule = rule_of(study)
        yield (
            f"In {where} (a workload over a network) every block ran each arm once, in an order drawn at random"
            f"{drawn}; two trials of a block are a pair."
        )
        asked = "" if planned is None or rule is not None else f" of {planned} planned"
        each = number_text.counted(pairs[-1], "pair") if len(pairs) == 1 else f"{span} pairs"
        yield f"The analysis has {each}{asked} in {'each' if len(pairs) == 1 else 'a'} cell."
    else:
        yield f"There were {cells}, with trials in an order drawn at random{drawn}."
    if analysis.controls:
        arms = [
            (each.baseline.arm.partition("#")[0], number_text.counted(each.pairs, "pair")) for each in analysis.controls
        ]
        told = [f"{arm} was compared with itself in {pairs}" for arm, pairs in arms]
        yield f"As {'a control' if len(told) == 1 else 'controls'}, {number_text.listed(told)}."


def _baselines(analysis: StudyAnalysis) -> str:
    """Return the arm that others are compared with: `h2, the baseline`; of several, that of each arm."""
    names = dict.fromkeys(analysis.baselines.values())
    if len(names) == 1:
        return f"{next(iter(names))}, the baseline"
    return f"each arm's own baseline, {comparison_words.arms_compared(analysis.baselines)},"


def _test(study: Study, analysis: StudyAnalysis) -> Iterator[str]:
    if not analysis.comparisons:
        return
    cells = len(analysis.comparisons)
    level = f"{analysis.alpha:g}"
    typical = (
        f"Differences are those of the typical pair in per cent of {_baselines(analysis)} (the Hodges–Lehmann "
        "estimate of the log ratios within pairs)"
    )
    if analysis.sequential:
        rule = rule_of(study)
        if rule is not None:
            yield (
                "The number of pairs was not fixed beforehand: a cell ran until its answer was decided, with at most "
                f"{rule.at_most} pairs, and results were looked at {rule.looks} times."
            )
        yield (
            f"{typical}, tested by a sequential signed-rank test with its confidence sequence, which errs with a "
            f"probability of at most {level} however often one looks, corrected after Bonferroni over "
            f"{number_text.counted(cells, 'cell')}."
        )
    else:
        yield (
            f"{typical}, tested by the exact two-sided Wilcoxon signed-rank test at the level {level} after the "
            f"correction of Benjamini and Hochberg over {number_text.counted(cells, 'cell')}."
        )
    sure = sorted({round(100 * each.interval_pct.confidence, 1) for each in analysis.comparisons if each.interval_pct})
    if sure:
        span = f"{sure[0]:g} %" if len(sure) == 1 else f"{sure[0]:g} to {sure[-1]:g} %"
        yield f"Intervals belong to this test and have a confidence of {span}."
    yield f"A difference of {analysis.matters_pct:g} % or more was declared to matter."


def _trials(study: Study, analysis: StudyAnalysis) -> Iterator[str]:
    counts = dict(study.trials.group_by("status").len().rows())
    total = sum(counts.values())
    said = [f"{counts[status]} {words}" for status, words in _COUNTED if counts.get(status)]
    if said:
        yield f"Of {number_text.counted(total, 'attempt')}, {number_text.listed(said)}."
    if not counts.get("void"):
        yield "No trial was invalid."
    limits = read_json(study.directory / "resolved.json", []).get("limits")
    limits = limits if isinstance(limits, dict) else {}
    bound = study.spec.limits.disturbance_pct if study.spec.limits else None
    if bound is not None or "disturbance" in limits:
        share = float(bound) if bound is not None else max(_LEAST_DISTURBANCE_PCT, analysis.matters_pct / 2)
        yield f"A trial is invalid where the testbed, such as a late link, added more than {share:g} % to its time."
    elif isinstance(limits.get("lateness_p99_ns"), int):
        late = limits["lateness_p99_ns"] / 1000
        yield f"A trial is invalid where the slowest 1 % of packets left the link more than {late:g} µs late."
