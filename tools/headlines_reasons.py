# SPDX-License-Identifier: Apache-2.0
"""Known reasons why a headline came out otherwise: notes, cells without the cause, and what `quiclab explain` named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
from headlines_results import CellResults, Counterfactual, Headline, Verdict, rows_again, rows_of
from headlines_row import SINCE, SPREAD, claim_cell, is_count, link, ours, since
from headlines_verdict import verdict_of

from quiclab.model import number_text

_MOST_CAUSES = 3
_EXPLAINED = frozenset({"ttlb_ms", "total_request_time_ms", "plt_ms", "startup_ms", "stall_ms"})
"""Metrics that `quiclab explain` has an account of: the reasons of a page's load are not those of its Speed Index."""
_CONTRADICTED = (Verdict.DIFFERS, Verdict.CAUSE_TAKEN, Verdict.STANDS_IN)


def why(headline: Headline, results: Mapping[str, CellResults]) -> Iterator[str]:
    """Known reasons why it came out otherwise, also by what was measured before a spec changed."""
    verdict = verdict_of(headline, results, before=True)
    if headline.note and verdict is not Verdict.NOT_RUN:
        yield f"\n**{headline.id}.** {headline.note}"
    if verdict not in (*_CONTRADICTED, Verdict.IN_PART):
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
    awaited = {each.cell: each.what for each in headline.counterfactuals if _is_awaited(each, results[each.cell])}
    for cell, what in awaited.items():
        yield f"\n**{headline.id}.** Not run yet: {link(cell)}, which has {what}."


def _is_awaited(counterfactual: Counterfactual, results: CellResults) -> bool:
    return not results.claims or (bool(counterfactual.claim) and counterfactual.claim not in results.claims)


def _counterfactual(of: Counterfactual, results: Mapping[str, CellResults]) -> str:
    """Result of running without the cause: the same claim again, or the medians of an arm as the paper has it and of
    the one without, in the same blocks."""
    if of.claim:
        again = [
            f"{claim_cell(row)}: {ours(row).rstrip('.')}, {_count(row)}{row['verdict']}{since(row)}"
            for row in rows_again(of, results)
        ]
        return f"Held again against {link(of.cell)}, which has {of.what}: {'; '.join(again)}." if again else ""
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
            arms = (of.without, of.with_)
            changed = results[of.cell].changed.since(cell["workload"], cell["path"], arms)
            told.append(
                f"{cell['workload']}, {cell['path']}: {values[1]} in place of {values[0]}"
                + (f" ({SINCE})" if changed else "")
            )
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
        if row["metric"] not in _EXPLAINED or row["statistic"] == SPREAD or is_count(row):
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
        arms = f"{row['first_arm']} → {row['second_arm']}"
        line = f"* {row['workload']}, {row['path']}, {arms}: {'; '.join(named)}{since(row)}."
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
        f"* {row['workload']}, {row['path']}, {row['first_arm']} takes its time with {number_text.listed(named)}"
        f"{since(row)}."
    ] * bool(named)
