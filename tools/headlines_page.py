# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md: every headline result of the papers beside what was measured here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from headlines_results import (
    BETTER,
    CellResults,
    Counterfactual,
    Headline,
    Headlines,
    Paper,
    Verdict,
    rows_of,
    verdict_of,
)

from quiclab.evidence.metrics import title_of
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
per cent. How a claim is judged is in [the reference](reference/paper.md#what-the-report-makes-of-it). Where a result
differs, what is said to be the cause was taken away, in another arm of the same blocks or in a cell of its own, or it
is what `quiclab explain` read from the logs: indicated, and not proven.
{machines}
"""
_MEANINGS = {
    Verdict.REPRODUCED: "every claim agrees, in every cell of it",
    Verdict.IN_PART: "some claims agree, the others are undecided or cannot be tested",
    Verdict.DIFFERS: "a claim is contradicted: the difference is the other way, or the number outside its margin",
    Verdict.UNDECIDED: "what was measured neither confirms nor contradicts it",
    Verdict.PARTLY_RUN: "what has been run of it contradicts no claim; cells of it have not been run",
    Verdict.NOT_RUN: "no study of this size has been run",
    Verdict.NOT_TESTABLE: "no study here can be held against it, for the reason given",
}
_MOST_CAUSES = 3
_CORRELATION = "correlation with "
_DIRECTIONS = frozenset({"lower", "higher", "same", "not lower", "not higher"})
_DETECTED = "Significantly "
_EXPLAINED = frozenset({"ttlb_ms", "total_request_time_ms", "plt_ms", "startup_ms", "stall_ms"})
"""Metrics that `quiclab explain` has an account of: the reasons of a page's load are not those of its Speed Index."""


def page(headlines: Headlines, results: Mapping[str, CellResults]) -> str:
    """The whole page."""
    verdicts = {each.id: verdict_of(each, results) for each in headlines.headlines}
    counted = Counter(verdicts.values())
    counts = "\n".join(f"| {each} | {counted[each]} | {_MEANINGS[each]} |" for each in Verdict)
    head = _HEAD.format(total=len(verdicts), counts=counts, machines=_machines(results))
    return "\n".join([head, *(_paper(paper, headlines, results, verdicts) for paper in headlines.papers)])


def _machines(results: Mapping[str, CellResults]) -> str:
    """Place and time of the measurements; programs that stand in the specs are in each cell's host.json."""
    dates: dict[str, set[str]] = {}
    for host in (each.host for each in results.values() if each.host):
        told = f"{host['cpus']} processors ({host['cpu_model']}), Linux {host['kernel']}, quiclab {host['quiclab']}"
        dates.setdefault(told, set()).update([host["measured"]] if "measured" in host else [])
    when = {
        told: f" ({' to '.join(dict.fromkeys((min(days), max(days))))})" if days else "" for told, days in dates.items()
    }
    return f"\nMeasured on {'; '.join(told + when[told] for told in sorted(when))}." if when else ""


def _paper(
    paper: Paper, headlines: Headlines, results: Mapping[str, CellResults], verdicts: Mapping[str, Verdict]
) -> str:
    lines = [f"## {paper.name}\n", f"*{paper.title}*: {paper.conditions}.\n", "| | the paper says | where | here |"]
    lines.append("|---|---|---|---|")
    own = headlines.for_paper(paper)
    for each in own:
        why = each.not_testable or (each.not_run if verdicts[each.id] is Verdict.NOT_RUN else "")
        told = f"**{verdicts[each.id]}**{_agreeing(each, results)}{f': {why}' if why else ''}"
        lines.append(f"| {each.id} | {each.text} | {each.where} | {told} |")
    rows = [line for each in own for line in _measured(each, results)]
    if rows:
        lines += [f"\n![The claims that have a ratio, here beside the paper's]({picture_of(paper)})"]
        lines += ["", "| | claim and cell | arms, work, path | paper | here | n | |", "|---|---|---|---|---|---|---|"]
        lines += rows
    lines += [*_with(own, results), *_not_quite(own, results)]
    lines += [line for each in own for line in _why(each, results, verdicts[each.id])]
    return "\n".join(lines) + "\n"


def _agreeing(headline: Headline, results: Mapping[str, CellResults]) -> str:
    """Number of claims that agree, counted in each of their cells, where there are several and not all do."""
    found = [row["verdict"] for _, row in rows_of(headline, results)]
    number = found.count("agrees")
    return f"; {number} of {len(found)} agree" if len(found) > 1 and number < len(found) else ""


def picture_of(paper: Paper) -> str:
    """Name of a paper's picture, from the page's folder."""
    return f"papers/{paper.name.lower().replace(' ', '-').replace('.', '')}.svg"


def _with(headlines: Sequence[Headline], results: Mapping[str, CellResults]) -> Iterator[str]:
    """Programs that the cells were measured with."""
    cells = dict.fromkeys(cell for each in headlines for cell, _ in rows_of(each, results))
    programs = {f"{name} {version}" for cell in cells for name, version in results[cell].host["programs"].items()}
    if programs:
        yield f"\nMeasured with {number_text.listed(sorted(programs))}."


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
        title = title_of(row["metric"])
        of_means = row["statistic"] == "mean" and row["paper"] not in _DIRECTIONS and not title.startswith("mean ")
        statistic = "mean " if of_means else ""
        declared = results[cell].expected.get(row["claim"], {}).get("margin", "")
        margin = f" ± {declared}" if declared else ""
        paper = f"{statistic}{title}: {_claimed(row)}{margin}"
        if (row["statistic"] or "").startswith(_CORRELATION):
            beside = title_of(row["statistic"].removeprefix(_CORRELATION))
            stronger = "stronger" if row["paper"] == "higher" else "weaker"
            paper = f"{title_of(row['metric'])}: correlation with {beside} {stronger}"
        link = f"{row['claim']}, {_link(cell)}"
        n = "" if row["n"] is None else f"{row['n']:.0f}"
        yield f"| {headline.id} | {link} | {_claim_cell(row)} | {paper} | {_ours(row)} | {n} | {_judged(row)} |"


def _claim_cell(row: Mapping[str, Any]) -> str:
    """Arms, work and path of a claim."""
    arms = " → ".join(filter(None, (row["first_arm"], row["second_arm"])))
    return f"{arms}; {', '.join(filter(None, (row['workload'], row['path'])))}"


def _judged(row: Mapping[str, Any]) -> str:
    """The verdict; where a difference was detected and is too small to decide, that as well."""
    why = (row["why"] or "").rstrip(".")
    detected = row["verdict"] == "undecided here" and why.startswith(_DETECTED)
    return f"{row['verdict']}: {why[0].lower()}{why[1:]}" if detected else str(row["verdict"])


def _is_advantage(row: Mapping[str, Any]) -> bool:
    """True if a claim's number is by how much the second arm is better, in per cent."""
    return row["unit"] == "%" and bool(row["second_arm"]) and row["paper"][-1:] == "%"


def _claimed(row: Mapping[str, Any]) -> str:
    """The paper's finding, as it is told of ours: an advantage and a negative difference by how much less it is."""
    if _is_advantage(row):
        return _change_of(row, row["paper"])
    return f"{row['paper'][1:]} less" if row["paper"].startswith("-") and row["second_arm"] else str(row["paper"])


def _change_of(row: Mapping[str, Any], advantage: str) -> str:
    """An advantage as the paper prints it, as a change of the metric: `90 % less`."""
    worse, number = advantage.startswith("-"), advantage.lstrip("-+")
    return f"{number} {'less' if worse is (BETTER[row['metric']] == 'higher') else 'more'}"


def _ours(row: Mapping[str, Any]) -> str:
    """Our number, its interval and, of a direction, the corrected p. In per cent it is a change of the metric from the
    first arm to the second."""
    if row["ours"] is None:
        return row["why"] or "–"
    if (row["statistic"] or "").startswith(_CORRELATION):
        return f"{row['why'].rstrip('.')}, p {number_text.p_sign(row['adjusted_p'])}"
    unit = row["unit"] or ""
    sign = -1 if _is_advantage(row) and BETTER[row["metric"]] == "lower" else 1
    ends = () if row["low"] is None else tuple(sorted(sign * row[end] for end in ("low", "high")))

    def shown_value(value: float) -> str:
        if not row["second_arm"]:
            return number_text.percent(value, signed=False) if unit == "%" else number_text.quantity(value, unit)
        if not unit:  # of things that are counted, such as stalls
            return f"{number_text.count(abs(value))} {'fewer' if value < 0 else 'more'}" if value else "0"
        size = number_text.percent(abs(value), signed=False) if unit == "%" else number_text.quantity(abs(value), unit)
        return f"{size} {'less' if value < 0 else 'more'}"

    interval = f" ({' … '.join(shown_value(each) for each in ends)})" if ends else ""
    p = "" if row["adjusted_p"] is None else f", p {number_text.p_sign(row['adjusted_p'])}"
    return f"{shown_value(sign * row['ours'])}{interval}{p}"


def _why(headline: Headline, results: Mapping[str, CellResults], verdict: Verdict) -> Iterator[str]:
    """Known reasons why it came out otherwise."""
    if headline.note and verdict is not Verdict.NOT_RUN:
        yield f"\n**{headline.id}.** {headline.note}"
    if verdict not in (Verdict.DIFFERS, Verdict.IN_PART):
        return
    taken_away = [told for each in headline.counterfactuals if (told := _counterfactual(each, results))]
    for told in taken_away:
        yield f"\n**{headline.id}.** {told}"
    causes = _causes(headline, results)
    if causes:
        yield f"\n**{headline.id}**, by `quiclab explain`:\n"
        yield from causes
    elif verdict is Verdict.DIFFERS and not taken_away:
        yield f"\n**{headline.id}**: the cause is unknown."
    awaited = {each.cell: each.what for each in headline.counterfactuals if not results[each.cell].claims}
    for cell, what in awaited.items():
        yield f"\n**{headline.id}.** Not run yet: {_link(cell)}, which has {what}."


def _link(cell: str) -> str:
    return f"[{cell}](../experiments/headlines/{cell}/spec.toml)"


def _counterfactual(of: Counterfactual, results: Mapping[str, CellResults]) -> str:
    """Result of running without the cause: the same claim again, or the medians of an arm as the paper has it and of
    the one without, in the same blocks."""
    if of.claim:
        again = [
            f"{_claim_cell(row)}: {_ours(row).rstrip('.')}, {_count(row)}{row['verdict']}"
            for row in results[of.cell].claims.get(of.claim, ())
        ]
        return f"Held again against {_link(of.cell)}, which has {of.what}: {'; '.join(again)}." if again else ""
    table = results[of.cell].differences
    if table.is_empty():
        return ""
    told = []
    for cell in table.select("workload", "path", "unit").unique(maintain_order=True).iter_rows(named=True):
        rows = table.filter(pl.col("workload") == cell["workload"], pl.col("path") == cell["path"])
        medians = {row["other_arm"]: row["other_median"] for row in rows.iter_rows(named=True)}
        medians |= {row["baseline_arm"]: row["baseline_median"] for row in rows.iter_rows(named=True)}
        if of.without in medians and of.with_ in medians:
            values = [number_text.quantity(medians[arm], cell["unit"]) for arm in (of.without, of.with_)]
            told.append(f"{cell['workload']}, {cell['path']}: {values[1]} in place of {values[0]}")
    instead = f"`{of.with_}` in place of `{of.without}` ({of.what})"
    return f"Run again with {instead}, in the same blocks, medians: {'; '.join(told)}." if told else ""


def _count(row: Mapping[str, Any]) -> str:
    return "" if row["ours"] is None else f"n = {row['n']:.0f}, "


def _causes(headline: Headline, results: Mapping[str, CellResults]) -> list[str]:
    """A line for each cell of a claim that was not met, with the largest causes that were named there."""
    told: list[str] = []
    for cell, row in rows_of(headline, results):
        if row["verdict"] == "agrees":
            continue
        if row["metric"] not in _EXPLAINED:
            continue
        if not row["second_arm"]:
            told += _spent(results[cell].accounts, row)
            continue
        table = results[cell].causes
        if table.is_empty():
            continue
        of = table.filter(
            pl.col("cell_id") == f"{row['workload']}/{row['path']}",
            pl.col("baseline") == row["first_arm"],
            pl.col("other") == row["second_arm"],
            ~pl.col("status").is_in(["excluded", "in both arms"]),
        )
        largest = of.sort(pl.col("difference_ms").abs(), descending=True).head(_MOST_CAUSES)
        if largest.filter(pl.col("status") != "undecided").is_empty():
            continue
        named = [
            f"{cause['cause_title']} ({number_text.quantity(cause['difference_ms'], 'ms')}, {cause['status']})"
            for cause in largest.iter_rows(named=True)
        ]
        line = f"* {row['workload']}, {row['path']}, {row['first_arm']} → {row['second_arm']}: {'; '.join(named)}."
        if named and line not in told:
            told.append(line)
    return told


def _spent(accounts: pl.DataFrame, row: Mapping[str, Any]) -> list[str]:
    """A line with what the time of one arm passed with, of a claim about a time that was not met."""
    if accounts.is_empty():
        return []
    of = accounts.filter(pl.col("cell_id") == f"{row['workload']}/{row['path']}", pl.col("arm") == row["first_arm"])
    largest = of.sort("ms", descending=True).head(_MOST_CAUSES)
    named = [f"{each['why']} {number_text.quantity(each['ms'], 'ms')}" for each in largest.iter_rows(named=True)]
    return [
        f"* {row['workload']}, {row['path']}, {row['first_arm']} takes its time with {number_text.listed(named)}."
    ] * bool(named)
