# SPDX-License-Identifier: Apache-2.0
"""Words of `quiclab paper`: the papers' results, the plan of some of them, and claims beside what was measured."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from quiclab.cli.own_name import as_typed
from quiclab.cli.paper_document import ClaimResult, HeadlineResult, JudgedStudy, StudyResult
from quiclab.model import number_text
from quiclab.plan.power import attainable
from quiclab.project import MORE_PROGRAMS
from quiclab.spec.headline_choice import Choice
from quiclab.spec.headlines import Headline
from quiclab.study.paper_studies import Foretold, PaperStudy

_NARROWEST, _WIDEST = 60, 120
"""Columns between which lines are broken."""


def print_lines(lines: Iterable[str]) -> None:
    """Print lines as wide as the terminal; what follows in a paragraph stands below its first word."""
    width = min(_WIDEST, max(_NARROWEST, shutil.get_terminal_size().columns))
    for line in lines:
        indent = len(line) - len(line.lstrip())
        print(
            "\n".join(
                textwrap.wrap(
                    as_typed(line), width, subsequent_indent=" " * (indent + 2), break_long_words=False,
                    break_on_hyphens=False,
                )
            )
        )  # fmt: skip


def list_lines(choices: Iterable[Choice], studies: Mapping[str, PaperStudy]) -> Iterator[str]:
    """List papers with their results, the study of each, what it needs and how long it takes."""
    for choice in choices:
        yield f"{choice.paper.word}: {choice.paper.name}, {choice.paper.title}"
        yield f"  measured: {choice.paper.conditions}"
        yield from _remarks(choice)
        for headline in choice.headlines:
            yield f"  {headline.id}  {headline.where}: {headline.text}"
            yield from (f"      {line}" for line in _reasons(headline))
            yield from (f"      {_study_line(studies[study])}" for study in headline.studies)
        yield ""
    lacking = [study for study in studies.values() if study.missing]
    if lacking:
        yield f"{len(lacking)} of {len(studies)} studies need programs that are not here: {MORE_PROGRAMS}"
    yield "Times are of trials one after another; quiclab paper PAPER RESULT runs them, with --small in few pairs."


def _remarks(choice: Choice) -> Iterator[str]:
    """The paper's remark where it is about a result that was chosen."""
    named = re.findall(r"\w+", choice.paper.remark)
    if any(each.id in named for each in choice.headlines):
        yield f"  {choice.paper.remark}"


def _reasons(headline: Headline) -> Iterator[str]:
    if headline.not_testable:
        yield f"not testable here: {headline.not_testable}"
    if headline.not_run:
        yield f"not run yet: {headline.not_run}"


def _study_line(study: PaperStudy) -> str:
    """One line for a study: its two sizes, and what is missing."""
    whole, small = study.foretold(small=False), study.foretold(small=True)
    line = f"{study.name}: {_size(whole)}; --small {_size(small)}"
    return f"{line}; cannot run here: {'; '.join(study.missing)}" if study.missing else line


def _size(size: Foretold) -> str:
    return f"{number_text.counted(size.pairs, 'pair')}, about {number_text.span(size.expected.s)}"


def opening_lines(choice: Choice, studies: Sequence[PaperStudy], *, small: bool) -> Iterator[str]:
    """Say what is about to run: results, their studies, pairs and time, and what the other size would be."""
    paper, results = choice.paper, number_text.listed([each.id for each in choice.headlines])
    number = "1 study" if len(studies) == 1 else f"{len(studies)} studies"
    yield f"{paper.name}, {paper.title}: {results}, in {number}"
    size, other = _all(studies, small=small), _all(studies, small=not small)
    if small:
        yield f"--small: {size}. These are the fewest pairs that can decide anything. The paper's size: {other}."
    else:
        yield f"At the paper's size: {size}. With --small: {other}."
    yield from _remarks(choice)
    for headline in choice.headlines:
        yield from (f"{headline.id}: {line}" for line in _reasons(headline))


def _all(studies: Sequence[PaperStudy], *, small: bool) -> str:
    """Pairs of all studies, and the time that they take together."""
    sizes = [study.foretold(small=small) for study in studies]
    least, most = min(each.pairs for each in sizes), max(each.pairs for each in sizes)
    pairs = f"{least} to {most} pairs" if least < most else number_text.counted(least, "pair")
    span = number_text.span(sum(each.expected.s for each in sizes))
    return f"{pairs} a cell, about {span}"


def plan_lines(studies: Sequence[PaperStudy], out: Path, *, small: bool) -> Iterator[str]:
    """Say of each study what would run, what it can decide, and where it would be kept."""
    for study in studies:
        size = study.foretold(small=small)
        folder = number_text.from_here(study.folder(out, small=small))
        yield ""
        yield f"{study.name}: {study.whole.question}"
        yield f"  {number_text.counted(size.trials, 'trial')}, {_size(size)}, in {folder}"
        yield f"  {attainable(study.sized(small=small)).sentence}"
    yield ""
    yield f"Arms, paths and order, at the paper's size: quiclab plan {number_text.from_here(studies[0].file)}"


def result_lines(results: Iterable[HeadlineResult]) -> Iterator[str]:
    """Set each result's claims beside what was measured, and say how its claims came out."""
    for result in results:
        yield ""
        yield f"{result.id} ({result.where}): {result.text}"
        for claim in result.claims:
            yield f"  {claim.verdict}: {_tested(claim)}"
            if told := ": ".join(filter(None, (f"here {claim.here}" if claim.here else "", claim.why))):
                yield f"      {told}"
            if claim.caveat:
                yield f"      not quite the paper's: {claim.caveat}"
        if result.not_testable:
            yield f"  not testable here: {result.not_testable}"
        if result.not_run:
            yield f"  not run: {number_text.listed(result.not_run)}"
        if result.claims:
            yield f"  {_sum(result.claims)}"
            yield from (f"  {limit}" for limit in result.limits)
            yield from [f"  Known before: {result.note}"] * bool(result.note)


def _tested(claim: ClaimResult) -> str:
    """Say in a line what is tested, for which work over which path, in which study."""
    says = claim.says if claim.paper is not None else claim.text
    return "; ".join(filter(None, (says, ", ".join(filter(None, (claim.workload, claim.path))), claim.study)))


def _sum(claims: Iterable[ClaimResult]) -> str:
    """Count the claims by their verdicts: `Of 3 claims: agrees 2, inconclusive 1.`"""
    verdicts = {(each.study, each.claim): each.claim_verdict for each in claims}
    counts = Counter(verdicts.values())
    told = ", ".join(f"{verdict} {number}" for verdict, number in counts.most_common())
    return f"Of {number_text.counted(len(verdicts), 'claim')}: {told}."


def study_line(study: JudgedStudy) -> str:
    """Say in one line how a study that has just run came out."""
    return f"{study.result.study}: {_sum(study.claims)}" if study.claims else study.result.study


def closing_lines(studies: Iterable[StudyResult], *, small: bool, whole: str) -> Iterator[str]:
    """Say what limits the answers, what is kept and where; `whole` is the command of the paper's size."""
    yield ""
    for study in studies:
        yield from (f"{study.study}: {note}" for note in study.notes)
    for study in studies:
        counting = f"{study.trials.verified} of {study.trials.planned} trials count"
        yield f"kept: {number_text.from_here(Path(study.directory))} ({study.pairs} pairs, {counting})"
        yield f"  report: {number_text.from_here(Path(study.report))}"
    if small:
        yield f'Few pairs: "inconclusive" may only say that they are few. The paper\'s size: {whole}'
