# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md: every headline result of the papers beside what was measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headlines_reasons import why
from headlines_results import CellResults, Counterfactual, Headline, Headlines, Paper, StandIn, Verdict, rows_of
from headlines_row import SINCE, claim_cell, judged, link, ours, tested_as
from headlines_verdict import AGREES, MEANINGS, verdict_of, verdicts

from quiclab.model import number_text

_HEAD = """\
# The papers' headline results

{total} results that five papers are known for, each that can be held against a study of its own: the paper's sizes
and path, with enough pairs to decide ([experiments/headlines](../experiments/headlines/README.md)); where a cell has
less than the paper, a note says so. `make papers` runs them all and writes this page anew from what it measured; the
page can also be made from the results that are kept beside each spec (`tools/headlines.py write`).

| verdict | results | meaning |
|---|---|---|
{counts}

Every number of a claim stands beside its interval and *n*, the pairs that it is of, or the trials, where it is of one
arm. "Less" and "more" are changes of the metric from the first arm to the second: where the paper gives a direction,
the typical one within pairs (Hodges and Lehmann), which need not be that of means or medians. Arms and paths have the
names of the cell's `spec.toml`, which says what each is; its `paper.toml` says what stands in for a program of the
paper's time. A margin in per cent, after ±, is a share of the number, or points where that is itself a difference in
per cent. "Lower by 2 %" and "same within 5 %" have the smallest difference that matters, which each cell declares
before its run; whether one is excluded is decided by an interval that is corrected for the cells and arms that are
compared, and so wider than the one shown. "3 of 4 agree" counts rows. Where the machine may have added to a trial, the
interval is wider by it. How a claim is judged is in [the reference](reference/paper.md#what-the-report-makes-of-it).
Where a result differs, what is said to be the cause was taken away, in another arm of the same blocks or in a cell of
its own, or it is what `quiclab explain` read from the logs: indicated, and not proven.

Values of each trial are kept of {with_trials} of the {measured} cells that were measured (`results/trials.csv`;
earlier runs kept none). `experiments/headlines/recompute.py CELL` computes numbers, tests and verdicts of a cell's
claims from them by textbook statistics, numpy and scipy alone, and says where this page has others or is surer. What
was measured over a path that is another one in the spec now, "before its spec changed", is shown and counts for no
verdict.
{machines}
"""


def page(headlines: Headlines, results: Mapping[str, CellResults]) -> str:
    """The whole page."""
    found = {each.id: verdict_of(each, results) for each in headlines.headlines}
    counted = Counter(found.values())
    counts = "\n".join(f"| {each} | {counted[each]} | {MEANINGS[each]} |" for each in Verdict)
    measured = [each for each in results.values() if each.claims]
    with_trials = sum(each.has_trials for each in measured)
    head = _HEAD.format(
        total=len(found), counts=counts, machines=_machines(results), measured=len(measured), with_trials=with_trials
    )
    return "\n".join([head, *(_paper(paper, headlines, results, found) for paper in headlines.papers)])


def _machines(results: Mapping[str, CellResults]) -> str:
    """Places and times of the measurements, each with its cells; programs that stand in the specs are in each cell's
    host.json."""
    cells: dict[str, list[str]] = {}
    for cell, host in ((name, each.host) for name, each in results.items() if each.host):
        told = f"{host['cpus']} processors ({host['cpu_model']}), Linux {host['kernel']}, quiclab {host['quiclab']}"
        day = f", {host['measured']}" if "measured" in host else ""
        cells.setdefault(told + day, []).append(cell)
    lines = [f"* {told}: {', '.join(sorted(there))}" for told, there in sorted(cells.items())]
    return "\n".join(["\nMeasured on:\n", *lines]) if lines else ""


def _paper(paper: Paper, headlines: Headlines, results: Mapping[str, CellResults], found: Mapping[str, Verdict]) -> str:
    own = headlines.for_paper(paper)
    again = any(each.read_again for each in own)
    lines = [f"## {paper.name}\n", f"*{paper.title}*: {paper.conditions}.\n"]
    lines += [f"| | the paper says | where | here |{' read or set up again after a first run |' * again}"]
    lines += [f"|---|---|---|---|{'---|' * again}"]
    for each in own:
        outcome = _outcome(each, results, found[each.id])
        lines.append(f"| {each.id} | {each.text} | {each.where} | {outcome} |{f' {each.read_again} |' * again}")
    if paper.remark:
        lines += ["", paper.remark]
    rows = [line for each in own for line in _measured(each, results)]
    if rows:
        lines += [f"\n![The claims that have a ratio, here beside the paper's]({picture_of(paper)})"]
        lines += ["", "| | claim and cell | arms, work, path | paper | here | n | |", "|---|---|---|---|---|---|---|"]
        lines += rows
    lines += [*_with(own, results), *_changed(own, results), *_not_quite(own, results)]
    lines += [line for each in own for line in why(each, results)]
    return "\n".join(lines) + "\n"


def _outcome(headline: Headline, results: Mapping[str, CellResults], verdict: Verdict) -> str:
    """The verdict with what it rests on: claims that agree, servers, a reason; and what came of it before a change."""
    told = f"**{verdict}**{_counts(headline, results)}"
    if reason := headline.not_testable or (headline.not_run if verdict is Verdict.NOT_RUN else ""):
        told += f": {reason}"
    if headline.but and verdict not in (Verdict.NOT_RUN, Verdict.NOT_TESTABLE):
        told += f"; {headline.but}"
    if any(row.get("changed") for _, row in rows_of(headline, results)):
        told += f"; {SINCE}: {verdict_of(headline, results, before=True)}{_counts(headline, results, before=True)}"
    return told


def _counts(headline: Headline, results: Mapping[str, CellResults], *, before: bool = False) -> str:
    """Claims that agree, counted in each of their cells, where there are several and not all do; of servers that stand
    in, each."""
    if headline.stands_in:
        agreeing = sum(set(verdicts(each, results, before=before)) == {AGREES} for each in headline.stands_in)
        servers = "; ".join(_server(each, results, before=before) for each in headline.stands_in)
        return f"; {agreeing} of {number_text.counted(len(headline.stands_in), 'stand-in')} agree: {servers}"
    found = verdicts(headline, results, before=before)
    number = found.count(AGREES)
    return f"; {number} of {len(found)} agree" if len(found) > 1 and number < len(found) else ""


def _server(server: StandIn, results: Mapping[str, CellResults], *, before: bool) -> str:
    found = verdicts(server, results, before=before)
    counted = f"{found.count(AGREES)} of {number_text.counted(len(found), 'claim')}"
    return f"{server.server} {counted if found else 'not run yet'}"


def picture_of(paper: Paper) -> str:
    """Name of a paper's picture, from the page's folder."""
    return f"papers/{paper.name.lower().replace(' ', '-').replace('.', '')}.svg"


def _with(headlines: Sequence[Headline], results: Mapping[str, CellResults]) -> Iterator[str]:
    """Programs that the cells were measured with."""
    cells = dict.fromkeys(cell for each in headlines for cell, _ in rows_of(each, results))
    programs = {f"{name} {version}" for cell in cells for name, version in results[cell].host["programs"].items()}
    if programs:
        yield f"\nMeasured with {number_text.listed(sorted(programs))}."


def _changed(headlines: Sequence[Headline], results: Mapping[str, CellResults]) -> Iterator[str]:
    """Cells that were measured before their spec changed, by what is otherwise now."""
    cells: dict[str, dict[str, dict[str, None]]] = {}
    for each in headlines:
        held = [(again.cell, row) for again in each.counterfactuals for row in _again(again, results)]
        for cell, row in [*rows_of(each, results), *held]:
            if row.get("changed"):
                cells.setdefault(row["changed"], {}).setdefault(cell, {})[row["path"]] = None
    if cells:
        yield "\nMeasured before their specs changed, and not run again yet:\n"
    for change, names in cells.items():
        where = "; ".join(f"{link(cell)} ({', '.join(paths)})" for cell, paths in names.items())
        yield f"* {change}: {where}."


def _again(counterfactual: Counterfactual, results: Mapping[str, CellResults]) -> Sequence[Mapping[str, Any]]:
    return results[counterfactual.cell].claims.get(counterfactual.claim, ())


def _not_quite(headlines: Sequence[Headline], results: Mapping[str, CellResults]) -> Iterator[str]:
    """Reasons that keep claims that were held against a cell from being quite the paper's, by the claims' file."""
    told = {
        f"* {each.id}, {row['claim']}: {row['known_before']}."
        for each in headlines
        for _, row in rows_of(each, results)
        if row.get("known_before")
    }
    if told:
        yield "\nNot quite as in the paper:\n"
        yield from sorted(told)


def _measured(headline: Headline, results: Mapping[str, CellResults]) -> Iterator[str]:
    """One row for each claim and cell that was measured."""
    for cell, row in rows_of(headline, results):
        paper = tested_as(row, results[cell].expected.get(row["claim"], {}).get("margin", ""), results[cell].matters)
        claim = f"{row['claim']}, {link(cell)}"
        n = "" if row["n"] is None else f"{row['n']:.0f}"
        yield f"| {headline.id} | {claim} | {claim_cell(row)} | {paper} | {ours(row)} | {n} | {judged(row)} |"
