# SPDX-License-Identifier: Apache-2.0
"""Recompute a cell's claims from results/trials.csv by textbook statistics, with numpy and scipy alone.

usage: recompute.py CELL…    CELL is a folder beside this file; ends with 1 where claims.csv does not follow

The signed-rank test, Hodges and Lehmann's interval and Student's, all exact for what they assume. claims.csv must have
the same number and count, and be no surer: it also corrects for several comparisons, for skew, and for what the machine
may have added to a trial, so that its interval may be wider, its p greater, and a claim open that is decided here.
Not recomputed: interactions and correlations. Where values of pairs tie, intervals are shown and not compared.
"""

import csv
import math
import sys
import tomllib
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, t

np.seterr(all="ignore")  # failed trials are infinite
OPEN = ("inconclusive", "not judged", "undecided here")  # the last one in what earlier runs kept
UNITS = {"ms": 1, "s": 1e3, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "%": 1}


def chances(ranks):  # of each sum of the ranks with a positive sign, where each sign is a coin's
    found = np.ones(1)
    for rank in ranks:
        found = (np.pad(found, (0, rank)) + np.pad(found, (rank, 0))) / 2
    return found


def signed_rank(x):  # exact two-sided p; zeros have ranks and no sign (Pratt); ranks are doubled, as ties have halves
    ranks = np.rint(2 * rankdata(abs(x))).astype(int)
    return min(1.0, 2 * chances(ranks[x != 0])[: min(ranks[x > 0].sum(), ranks[x < 0].sum()) + 1].sum())


def hodges_lehmann(x, level):
    walsh = ((x[:, None] + x) / 2)[np.triu_indices(x.size)]
    skip = np.sum(np.cumsum(chances(range(1, x.size + 1))) <= (1 - level) / 2 * (1 + 1e-12))
    low, high = (np.sort(np.where(np.isnan(walsh), end, walsh)) for end in (-np.inf, np.inf))  # of failures both ways
    return np.array([np.nanmedian(walsh), *((low[skip - 1], high[-skip]) if skip else (math.nan, math.nan))])


def ratio_of_means(a, b, level):  # the error by linearisation (Cochran); of a failed trial there is no mean
    ratio, n = b.mean() / a.mean() if np.isfinite([a, b]).all() else math.nan, a.size
    error = np.sqrt(((b - ratio * a) ** 2).sum() / (n - 1) / n) / abs(a.mean()) if n > 2 else math.nan
    return ratio + np.array([0, -1, 1]) * t.ppf((1 + level) / 2, n - 1) * error


def within_pairs(a, b, level):  # p; number and interval, in per cent of a unless a value is zero; ties; in per cent
    in_pct = (np.array([a, b])[:, np.isfinite(a) & np.isfinite(b)] > 0).all()
    a, b = (np.where(np.isinf(v), v, np.log(v)) if in_pct else v for v in (a, b))
    x = np.where(a == b, 0, b - a)  # of two failures none is worse
    found, has_ties = hodges_lehmann(x, level), np.unique(abs(x)).size < x.size or not x.all()
    found = np.where(np.isinf(found), found, 100 * np.expm1(found)) if in_pct else found
    return signed_rank(x), found, has_ties, in_pct


def direction(expected, p, numbers, alpha, matters):
    towards, is_found = "higher" if numbers[0] > 0 else "lower", p <= alpha and numbers[0] != 0
    is_clear, (low, high) = is_found and abs(numbers[0]) >= matters, numbers[1:]
    if expected in ("lower", "higher"):
        if is_clear or (is_found and towards != expected):
            return "agrees" if towards == expected else "differs"
        return "inconclusive"
    is_free = (expected == "not higher" or low > -matters) and (expected == "not lower" or high < matters)
    is_against = is_clear and expected in ("same", f"not {towards}")
    return "agrees" if is_free else "differs" if is_against else "inconclusive"


def expectation(claim):  # ends of the paper's number; its margin: a share of it, a quantity, or points of an advantage
    says = [float(each.split()[0]) * UNITS[each.split()[1]] for each in claim["expected"].split(" to ")]
    margin, unit = (claim["margin"] if len(says) == 1 else "0 %").split()
    is_share = unit == "%" and (claim["kind"], len(claim["arms"])) != ("number", 2)
    around = float(margin) * (abs(says[0]) / 100 if is_share else UNITS[unit])
    return says[0] - around, says[-1] + around


def recompute(claim, arms, sign, confidence, alpha, matters):  # p, number with interval, ties, count, verdict
    blocks = [each for each in arms[0] if each in arms[-1] and not np.isnan(arms[0][each] + arms[-1][each])]
    a, b = (np.array([arm[block] for block in blocks]) for arm in (arms[0], arms[-1]))
    p, numbers, has_ties, in_pct = within_pairs(a, b, confidence)
    if claim["kind"] == "direction":
        matters = matters if in_pct else 1e-9
        return p, numbers, has_ties, len(blocks), direction(claim["expected"], p, numbers, alpha, matters)
    if claim["kind"] == "number" and len(arms) == 2:  # the advantage of the second arm
        if claim.get("statistic") == "mean":
            numbers, has_ties = 100 * (ratio_of_means(a, b, confidence) - 1), False
        numbers = sign * (numbers if sign > 0 else numbers[[0, 2, 1]])
    else:
        numbers, has_ties = ratio_of_means(np.ones(a.size), b - a if len(arms) == 2 else b, confidence), False
    (low, high), ends = expectation(claim), numbers[1:]
    is_within, is_beyond = low <= ends[0] and ends[1] <= high, ends[0] > high or ends[1] < low
    verdict = "agrees" if is_within else "differs" if is_beyond else "inconclusive"
    return math.nan, numbers, has_ties, len(blocks), verdict


def problems(row, p, numbers, has_ties, count, verdict):  # what claims.csv says that does not follow
    kept = [float(row[name] or math.nan) for name in ("ours", "low", "high", "p", "n")]
    slack = 1e-6 * abs(np.nan_to_num(numbers)) + 1e-9
    if np.isfinite(numbers[0]) and not abs(kept[0] - numbers[0]) <= slack[0]:
        yield f"its number is {kept[0]}"
    if not has_ties and (kept[1] > numbers[1] + slack[1] or kept[2] < numbers[2] - slack[2]):
        yield f"its interval is {kept[1]} to {kept[2]}"
    if kept[3] < p * (1 - 1e-6) or kept[4] != count:
        yield f"its p is {kept[3]}, n {kept[4]}"
    if row["verdict"] not in (verdict, *OPEN):
        yield f"its verdict is {row['verdict']}"


def read(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def main(cells):
    code = 0 if cells else 2
    for cell in (Path(__file__).parent / name for name in cells):
        if not (cell / "results" / "trials.csv").exists():
            print(f"{cell.name}: no trials are kept of it")
            code = 2
            continue
        study = tomllib.loads((cell / "results" / "spec.toml").read_text("utf-8"))["study"]
        rule = study.get("alpha", 0.05), float(study.get("matters", "2 %").split()[0])
        claims = {each["id"]: each for each in tomllib.loads((cell / "paper.toml").read_text("utf-8"))["claim"]}
        trials, signs = {}, {}
        for row in read(cell / "results" / "trials.csv"):
            signs[row["metric"]] = sign = 1 if row["better"] == "higher" else -1
            value = -sign * math.inf if row["ended"] == "failed" else float(row["value"] or math.nan)
            trials.setdefault((row["workload"], row["path"], row["metric"], row["arm"]), {})[row["block"]] = value
        for row in read(cell / "results" / "claims.csv"):
            claim, place = claims[row["claim"]], (row["workload"], row["path"], row["metric"])
            if row["verdict"] == "not testable here" or claim["kind"] in ("interaction", "correlation"):
                print(f"{cell.name}, {claim['id']}: not recomputed")
                continue
            arms = [trials[*place, name] for name in claim["arms"]]
            found = recompute(claim, arms, signs[row["metric"]], float(row["confidence"] or 1 - rule[0]), *rule)
            wrong = list(problems(row, *found))
            p, (ours, low, high), _, count, verdict = found
            numbers = f"{ours:.6g} ({low:.6g} to {high:.6g}), p {p:.2g}, n {count}: {verdict}"
            said = f"claims.csv: {row['verdict']}{''.join(f'; WRONG: {each}' for each in wrong)}"
            print(f"{cell.name}, {claim['id']}, {place[0]}, {place[1]}: {numbers}; {said}")
            code = code or (1 if wrong else 0)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
