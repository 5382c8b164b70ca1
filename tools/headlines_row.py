# SPDX-License-Identifier: Apache-2.0
"""Words for one row of claims.csv: its cell, the paper's finding, ours and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headlines_results import BETTER

from quiclab.evidence.metrics import title_of
from quiclab.model import number_text

INCONCLUSIVE = "inconclusive"
CORRELATION = "correlation with "
COUNT = "count of cells: "
SPREAD = "coefficient of variation"
SINCE = "before its spec changed"
_DETECTED = "Significantly "
_DIRECTIONS = frozenset({"lower", "higher", "same", "not lower", "not higher"})


def claim_cell(row: Mapping[str, Any]) -> str:
    """Arms, work and path of a claim."""
    arms = " → ".join(filter(None, (row["first_arm"], row["second_arm"])))
    if is_count(row):
        return f"{arms}; {row['n'] or 0:.0f} cells"
    return f"{arms}; {', '.join(filter(None, (row['workload'], row['path'])))}"


def is_count(row: Mapping[str, Any]) -> bool:
    """True if the row is of all cells that a claim counts."""
    return (row["statistic"] or "").startswith(COUNT)


def tested_as(row: Mapping[str, Any], margin: str, matters: float) -> str:
    """The paper's finding with what it is of: metric, statistic and margin; of a direction the share that `matters`."""
    title, statistic = title_of(row["metric"]), row["statistic"] or ""
    within = f" ± {margin}" if margin else ""
    if is_count(row):
        return f"cells with {title} {statistic.removeprefix(COUNT)}: {row['paper']}{within}"
    if statistic == SPREAD:
        return f"{title}: varies {'more' if row['paper'] == 'higher' else 'less'}"
    if statistic.startswith(CORRELATION):
        stronger = "stronger" if row["paper"] == "higher" else "weaker"
        return f"{title}: correlation with {title_of(statistic.removeprefix(CORRELATION))} {stronger}"
    of_means = statistic == "mean" and row["paper"] not in _DIRECTIONS and not title.startswith("mean ")
    word = "within" if row["paper"] == "same" else "by"
    by = f" {word} {100 * matters:g} %" if matters and row["paper"] in _DIRECTIONS else ""
    return f"{'mean ' if of_means else ''}{title}: {claimed(row)}{by}{within}"


def judged(row: Mapping[str, Any]) -> str:
    """The verdict; where a difference was detected and is too small to decide, that as well."""
    why = (row["why"] or "").rstrip(".")
    detected = row["verdict"] == INCONCLUSIVE and why.startswith(_DETECTED)
    return (f"{row['verdict']}: {why[0].lower()}{why[1:]}" if detected else str(row["verdict"])) + since(row)


def since(row: Mapping[str, Any]) -> str:
    """Remark that a row is of a path, arm or workload that is another one now; empty where it is not."""
    return f" ({SINCE})" if row.get("changed") else ""


def _is_advantage(row: Mapping[str, Any]) -> bool:
    """True if a claim's number is by how much the second arm is better, in per cent."""
    return row["unit"] == "%" and bool(row["second_arm"]) and row["paper"][-1:] == "%"


def claimed(row: Mapping[str, Any]) -> str:
    """The paper's finding, as it is told of ours: an advantage and a negative difference by how much less it is."""
    if _is_advantage(row):
        return _change_of(row, row["paper"])
    return f"{row['paper'][1:]} less" if row["paper"].startswith("-") and row["second_arm"] else str(row["paper"])


def _change_of(row: Mapping[str, Any], advantage: str) -> str:
    """An advantage as the paper prints it, as a change of the metric: `90 % less`."""
    worse, number = advantage.startswith("-"), advantage.lstrip("-+")
    return f"{number} {'less' if worse is (BETTER[row['metric']] == 'higher') else 'more'}"


def ours(row: Mapping[str, Any]) -> str:
    """Our number, its interval and, of a direction, the corrected p. In per cent it is a change of the metric from the
    first arm to the second."""
    if row["ours"] is None:
        return row["why"] or "–"
    if (row["statistic"] or "").startswith(CORRELATION):
        return f"{row['why'].rstrip('.')}, p {number_text.p_sign(row['adjusted_p'])}"
    unit = row["unit"] or ""
    if is_count(row):
        return f"{row['ours']:.0f} of {row['n']:.0f}: {(row['why'] or '').partition('.')[0]}"
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


def link(cell: str) -> str:
    """Link from the page to a cell's spec."""
    return f"[{cell}](../experiments/headlines/{cell}/spec.toml)"
