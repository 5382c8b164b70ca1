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
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import binom, rankdata, t

np.seterr(all="ignore")  # failed trials are infinite
warnings.simplefilter("ignore", RuntimeWarning)  # of a cell none of whose trials counts, there is no median
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
    if claim["kind"] == "spread":
        return spread(claim["expected"], a, b, alpha)
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


def spread(expected, a, b, alpha):  # deviations of logarithms from their medians, as Brown and Forsythe have them
    if not (np.isfinite([a, b]).all() and (np.array([a, b]) > 0).all() and a.size > 2):
        return math.nan, np.full(3, math.nan), True, 0, "inconclusive"
    one, other = (abs(np.log(each) - np.median(np.log(each))) for each in (a, b))
    p, ranks = signed_rank(other - one), rankdata(abs(other - one))
    leans = (np.sign(other - one) * ranks).sum()
    ours = 100 * (b.std(ddof=1) / b.mean() / (a.std(ddof=1) / a.mean()) - 1)
    is_so = "agrees" if (leans > 0) == (expected == "higher") else "differs"
    return p, np.array([ours, math.nan, math.nan]), True, a.size, is_so if p <= alpha and leans else "inconclusive"


def share_of(text):  # "22 of 30", "60 %"
    words = text.split()
    return (int(words[0]) / int(words[2]), int(words[2])) if "of" in words else (float(words[0]) / 100, 0)


def is_papers(number, n, claim):  # whether so many of n cells are what the paper says
    text, share = claim["expected"], number / n + 1e-9
    if text in ("most", "all", "none"):
        return {"most": number > n / 2, "all": number == n, "none": number == 0}[text]
    if text.startswith("at "):
        bound = share_of(text[8:])[0]
        return share >= bound if text.startswith("at least") else share <= bound + 2e-9
    ends = [share_of(each) for each in text.split(" to ")]
    around = share_of(claim["margin"])[0] if "margin" in claim else 0.5 / min(n, ends[0][1] or n)
    around = 0 if len(ends) == 2 else around
    return ends[0][0] - around <= share <= ends[-1][0] + around + 2e-9


def median_interval(x, level):  # between two values in order
    below = binom.cdf(np.arange(x.size), x.size, 0.5) <= (1 - level) / 2
    low, ordered = int(below.sum()), np.sort(x)
    return (ordered[low - 1], ordered[-low]) if low else (-math.inf, math.inf)


def is_counted(claim, sides, level, alpha, matters):  # True, False, or None where it is open
    counted = claim["counted"]
    if len(sides) == 1:
        values = np.array([each for each in sides[0].values() if not np.isnan(each)])
        is_mean = claim.get("statistic") == "mean"
        of_mean = ratio_of_means(np.ones(values.size), values, level)[1:]
        low, high = of_mean if is_mean else median_interval(values, level)
        words = counted.removeprefix("below ").removeprefix("above ").split(" to ")
        ends = [float(each.split()[0]) * UNITS[each.split()[1]] for each in words]
        least, most = (ends[0] if not counted.startswith("below") else -math.inf), ends[-1]
        most = math.inf if counted.startswith("above") else most
        return True if least < low and high < most else False if high < least or low > most else None
    found = []
    for other in sides[:-1]:
        blocks = [each for each in other if each in sides[-1] and not np.isnan(other[each] + sides[-1][each])]
        a, b = (np.array([side[block] for block in blocks]) for side in (other, sides[-1]))
        p, numbers, _, in_pct = within_pairs(a, b, level)
        towards, bound = "higher" if numbers[0] > 0 else "lower", matters if in_pct else 1e-9
        is_alike = numbers[1] > -bound and numbers[2] < bound
        states = {"lower", "same", "higher"} if p > alpha else {towards, "same"}
        states = {"same"} if is_alike else {towards} if p <= alpha and abs(numbers[0]) >= bound else states
        asked = {"lowest": {"lower"}, "highest": {"higher"}}.get(counted, {counted})
        asked = {"lower", "same", "higher"} - {counted[4:]} if counted.startswith("not ") else asked
        found.append(True if states <= asked else None if states & asked else False)
    return True if all(found) else False if False in found else None


def count_cells(claim, metric, trials, level, alpha, matters):  # numbers that our cells may have, and the verdict
    places = [(workload, path, metric) for workload in claim["workloads"] for path in claim["paths"]]
    places = [each for each in places if all((*each, name) in trials for name in np.hstack(claim["arms"]))]
    cells = [[side_of(trials, place, each) for each in claim["arms"]] for place in places]
    found = [is_counted(claim, sides, level, alpha, matters) for sides in cells]
    least, n = found.count(True), len(found)
    most = n - found.count(False)
    possible = {is_papers(number, n, claim) for number in range(least, most + 1)}
    verdict = "agrees" if possible == {True} else "differs" if possible == {False} else "inconclusive"
    return math.nan, np.array([least, least, most]), True, n, verdict


def side_of(trials, place, side):  # value in each block: of several arms their mean, where all of them are
    arms = [trials[*place, name] for name in ([side] if isinstance(side, str) else side)]
    return {
        block: sum(arm[block] for arm in arms) / len(arms) for block in arms[0] if all(block in arm for arm in arms)
    }


def problems(row, p, numbers, has_ties, count, verdict):  # what claims.csv says that does not follow
    kept = [float(row[name] or math.nan) for name in ("ours", "low", "high", "p", "n")]
    if row["unit"] == "cells":  # fewer may be decided there
        if kept[1] > numbers[1] or kept[2] < numbers[2] or kept[4] != count:
            yield f"its cells are {kept[1]:g} to {kept[2]:g} of {kept[4]:g}"
        if row["verdict"] not in (verdict, *OPEN):
            yield f"its verdict is {row['verdict']}"
        return
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
    if not cells:
        print(__doc__, file=sys.stderr)
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
            level = float(row["confidence"] or 1 - rule[0])
            if claim["kind"] == "count":
                found = count_cells(claim, row["metric"], trials, level, *rule)
            else:
                arms = [side_of(trials, place, each) for each in claim["arms"]]
                found = recompute(claim, arms, signs[row["metric"]], level, *rule)
            wrong = list(problems(row, *found))
            p, (ours, low, high), _, count, verdict = found
            numbers = f"{ours:.6g} ({low:.6g} to {high:.6g}), p {p:.2g}, n {count}: {verdict}"
            said = f"claims.csv: {row['verdict']}{''.join(f'; WRONG: {each}' for each in wrong)}"
            print(f"{cell.name}, {claim['id']}, {place[0]}, {place[1]}: {numbers}; {said}")
            code = code or (1 if wrong else 0)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
