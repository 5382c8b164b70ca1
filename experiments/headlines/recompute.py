# SPDX-License-Identifier: Apache-2.0
"""Recompute the claims of headline cells from their trials, by numpy and scipy alone, beside what claims.csv has.

usage: recompute.py CELL…    CELL is a folder beside this file; ends with 1 where something differs

Trials are those of results/trials.csv, claims those of paper.toml, alpha and what matters those of spec.toml; the rules
are in docs/reference/paper.md and docs/explanation/difference.md. differences.csv tells which comparisons are corrected
together. `least` and `most` bound a value without what the machine added to the trial: an interval holds those of both
ends, and p is the greatest.
"""

import csv
import math
import sys
import tomllib
from pathlib import Path

import numpy as np
from scipy.stats import false_discovery_control, rankdata, t

np.seterr(all="ignore")  # failed trials are infinite
UNITS = {"ms": 1, "s": 1e3, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "%": 1}
NUMBERS = ("ours", "low", "high", "p", "adjusted_p", "n")
OPEN = "undecided here"


def chances(ranks):  # of each sum of the positive ranks, where each sign is as likely as the other
    found = np.ones(1)
    for rank in ranks:
        found = (np.pad(found, (0, rank)) + np.pad(found, (rank, 0))) / 2
    return found


def signed_rank(x):  # exact two-sided p: zeros are ranked and then dropped, equal sizes share a rank; ranks are doubled
    ranks = np.rint(2 * rankdata(np.abs(x))).astype(int)
    return min(1.0, 2 * chances(ranks[x != 0])[: min(ranks[x > 0].sum(), ranks[x < 0].sum()) + 1].sum())


def hodges_lehmann(x, level):  # the estimate and its exact interval: order statistics; of equal sizes as the test says
    walsh = ((x[:, None] + x) / 2)[np.triu_indices(x.size)]
    lows, highs = (np.sort(np.where(np.isnan(walsh), end, walsh)) for end in (-np.inf, np.inf))  # failures both ways
    skip = int(np.sum(np.cumsum(chances(range(1, x.size + 1))) <= (1 - level) / 2 * (1 + 1e-12)))
    if not skip:
        return np.nanmedian(walsh) if x.size else math.nan, math.nan, math.nan
    estimate, low, high, alpha = np.nanmedian(walsh), lows[skip - 1], highs[-skip], (1 - level) * (1 + 1e-9)
    if np.unique(np.abs(x)).size < x.size or not x.all():
        if signed_rank(x) > alpha:
            low, high = min(low, 0.0), max(high, 0.0)
        elif low <= 0 <= high and estimate:  # up to the first shift that is not rejected
            side = 1 if estimate > 0 else -1
            shifts = [each for each in np.unique(side * walsh[np.isfinite(walsh)]) if 0 < each < side * estimate]
            end = side * next((each for each in shifts if signed_rank(x - side * each) > alpha), side * estimate)
            low, high = (end, max(high, end)) if side > 0 else (min(low, end), end)
    return estimate, low, high


def ratio_of_means(first, second, level):  # each end the farther one of Student's and, of ten values, the bootstrap-t's
    def ratio(a, b):
        found = b.mean(-1) / a.mean(-1)
        return found, np.sqrt(((b - found[..., None] * a) ** 2).sum(-1) / (n - 1) / n) / np.abs(a.mean(-1))

    n = first.size
    if n < 3 or not np.isfinite([first, second]).all():  # of a failed trial there is no mean, of two no spread
        return second.mean() / first.mean() if np.isfinite([first, second]).all() else math.nan, math.nan, math.nan
    estimate, error = ratio(first, second)
    low = high = t.ppf((1 + level) / 2, n - 1)
    if n >= 10 and error > 1e-12 * abs(estimate):
        drawn = np.random.default_rng(0).integers(0, n, (1999, n))  # the resamples are always those of this seed
        ratios, errors = ratio(first[drawn], second[drawn])
        off = np.sort(np.where(ratios == estimate, 0, (ratios - estimate) / errors))
        cut = max(1, math.floor(1000 * (1 - level) * (1 + 1e-9)))
        low, high = max(low, off[-cut]), max(high, -off[cut - 1])
    return estimate, estimate - low * error, estimate + high * error


def per_cent(log_ratios):
    return np.where(np.isinf(log_ratios), log_ratios, 100 * np.expm1(log_ratios))


def hull(found):  # the estimate as measured, and the interval that holds those of all ends
    return np.array([found[0][0], min(each[1] for each in found), max(each[2] for each in found)])


def in_pairs(first, second):  # both arms' values in the blocks that both have: as measured, and at both ends
    blocks = [block for block in first if block in second and not np.isnan(first[block] + second[block]).any()]
    a, b = (np.array([arm[block] for block in blocks]).reshape(-1, 3).T for arm in (first, second))
    return (a[0], b[0]), (a[2], b[1]), (a[1], b[2])


def change(first, second):  # of the second arm from the first in each pair: of logarithms, or of values if one is zero
    ends = in_pairs(first, second)
    known = np.isfinite(ends[0])
    ratios = bool((np.array(ends[0])[known] > 0).all())
    scaled = [[np.where(np.isinf(v), v, np.log(np.abs(v))) if ratios else v for v in end] for end in ends]
    x = [np.where(a == b, 0, b - a) for a, b in scaled]  # of two failures neither is worse
    p, leans = signed_rank(x[0]), [hodges_lehmann(each, 1)[0] for each in x]
    against = 1 if leans[0] > 0 else 2
    if not np.array_equal(x[against], x[0]):
        p = max(p, signed_rank(x[against])) if leans[against] * leans[0] > 0 else 1.0
    return {"x": x, "ratios": ratios, "p": p, "adjusted_p": math.nan, "n": x[0].size, "known": known.any()}


def interval(changes, level):  # estimate and ends: in per cent of the first arm, or where a value is zero in its unit
    found = hull([hodges_lehmann(each, level) for each in changes["x"]])
    return per_cent(found) if changes["ratios"] else found


def decide(family, alpha, matters):
    """Add to each comparison of a family its p by Benjamini and Hochberg, the level of its interval by Benjamini and
    Yekutieli, and what it amounts to: "less" than what matters, "different", "perhaps" less, or "open"."""
    tested = [each for each in family if each["known"] and 2.0 ** (1 - each["n"]) <= alpha]
    for each, p in zip(tested, false_discovery_control([each["p"] for each in tested]) if tested else (), strict=True):
        each["adjusted_p"] = p
    selected = alpha * max(1, sum(each["adjusted_p"] <= alpha for each in tested)) / max(1, len(tested))
    for each in family:
        estimate = interval(each, 1)[0]
        each["differs"] = each["adjusted_p"] <= alpha and estimate != 0
        each["level"] = 1 - (selected if each["p"] <= alpha and not math.isnan(each["adjusted_p"]) else alpha)
        is_small = each["ratios"] and abs(estimate) < matters
        each["amounts"] = ("perhaps" if is_small else "different") if each["differs"] else "open"

    def at(each, level):
        return max(each["level"], level) if each["differs"] else level

    def is_less(each, level):
        _, low, high = interval(each, level)
        return -matters < low and high < matters if each["ratios"] else low == high == 0

    left = [each for each in family if each["known"]]
    for number in range(len(left), 0, -1):  # the most that all are less at a level that depends on how many are
        level = 1 - alpha * number / max(len(tested), number)
        left = [each for each in left if is_less(each, at(each, level))]
        if len(left) >= number:
            for each in left:
                each |= {"level": at(each, level), "amounts": "less"}
            break


def direction(expected, changes, matters):
    estimate, low, high = interval(changes, changes["level"])
    numbers = changes | {"ours": estimate, "low": low, "high": high, "verdict": OPEN}
    amounts, towards = changes["amounts"], "higher" if estimate > 0 else "lower"
    if expected.startswith("not "):
        is_free = low > -matters if expected == "not lower" else high < matters
        if amounts == "different":
            numbers["verdict"] = "differs" if towards == expected[4:] else "agrees"
        elif amounts == "less" or (changes["ratios"] and is_free):
            numbers["verdict"] = "agrees"
    elif amounts == "less" and expected == "same":
        numbers["verdict"] = "agrees"
    elif changes["differs"] and (amounts == "different" or expected not in (towards, "same")):
        numbers["verdict"] = "agrees" if towards == expected else "differs"
    return numbers


def number(claim, arms, level, better):
    ends = in_pairs(arms[0], arms[-1])
    is_advantage, sign = claim["kind"] == "number" and len(arms) == 2, 1 if better == "higher" else -1
    if not is_advantage:  # the mean of one arm, or of the differences of two
        of_two = len(arms) == 2
        found = [ratio_of_means(np.ones_like(b), np.where(a == b, 0, b - a) if of_two else b, level) for a, b in ends]
    elif claim.get("statistic") == "mean":
        found = [sign * 100 * (np.array(ratio_of_means(a, b, level)) - 1) for a, b in ends]
    else:
        found = [sign * per_cent(hodges_lehmann(x, level)) for x in change(*arms)["x"]]
    found = [(each[0], *sorted(each[1:])) for each in found]
    ours, low, high = hull(found)
    says = [float(each.split()[0]) * UNITS[each.split()[1]] for each in claim["expected"].split(" to ")]
    if "margin" in claim:  # of an advantage in points, else a share of the number or a quantity
        margin, unit = claim["margin"].split()
        around = float(margin) * (abs(says[0]) / 100 if unit == "%" and not is_advantage else UNITS[unit])
        says = [says[0] - around, says[0] + around]
    is_within, is_beyond = says[0] <= low and high <= says[-1], low > says[-1] or high < says[0]
    verdict = "differs" if is_beyond else "agrees" if is_within else OPEN
    return {"ours": ours, "low": low, "high": high, "n": ends[0][0].size, "verdict": verdict}


def read(file):
    with file.open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))


def trials_of(file):  # place → block → value, least and most; metric → which is better; places with a failed trial
    values, better, failed = {}, {}, set()
    for row in read(file):
        place = (row["workload"], row["path"], row["arm"], row["metric"])
        better[row["metric"]] = row["better"]
        if row["ended"] == "failed":
            failed.add(place)
        worst = -math.inf if row["better"] == "higher" else math.inf
        value = worst if row["ended"] == "failed" else float(row["value"] or math.nan)
        ends = (value, float(row["least"] or value), float(row["most"] or value))
        values.setdefault(place, {})[int(row["block"])] = np.array(ends)
    return values, better, failed


def quotients(first, second):  # of two arms in each block, with their ends
    found = {block: second[block] / first[block][[0, 2, 1]] for block in first if block in second}
    return {block: each for block, each in found.items() if np.isfinite(each).all()}


def recompute(folder):
    """Yield each row of claims.csv with our numbers and verdict, or with the reason why there are none."""
    spec, paper = (tomllib.loads((folder / name).read_text("utf-8")) for name in ("spec.toml", "paper.toml"))
    alpha, matters = spec["study"].get("alpha", 0.05), float(spec["study"].get("matters", "2 %").split()[0])
    values, better, failed = trials_of(folder / "results" / "trials.csv")
    claims = {claim["id"]: claim for claim in paper["claim"]}
    rows = [row for row in read(folder / "results" / "claims.csv") if row["verdict"] != "not testable here"]

    def arms_of(row, names):
        found = [values.get((row["workload"], row["path"], name, row["metric"]), {}) for name in names]
        return found if len(names) < 4 else [quotients(*found[:2]), quotients(*found[2:])]

    def key(row, names):
        return row["workload"], row["path"], frozenset(names) if len(names) < 4 else tuple(names), row["metric"]

    of_map, others = {}, {}  # families of comparisons: those of the map, and directions that it does not have
    for row in read(folder / "results" / "differences.csv"):
        names = (row["baseline_arm"], row["other_arm"])
        of_map[key(row, names)] = change(*arms_of(row, names))
    for row in rows:
        names = claims[row["claim"]]["arms"]
        if claims[row["claim"]]["kind"] in ("direction", "interaction") and key(row, names) not in of_map:
            others[key(row, names)] = change(*arms_of(row, names))
    for family in (of_map, others):
        decide(list(family.values()), alpha, matters)
    for row in rows:
        claim = claims[row["claim"]]
        kind, arms = claim["kind"], arms_of(row, claim["arms"])
        if kind == "correlation":
            found = "a difference of rank correlations"
        elif kind in ("direction", "interaction"):
            decided = (of_map | others)[key(row, claim["arms"])]
            found = direction(claim["expected"], decided | {"x": change(*arms)["x"]}, matters)  # the claim's way round
        else:
            found = number(claim, arms, 1 - alpha, better[row["metric"]])
        needs_values = kind == "interaction" or (kind != "direction" and claim.get("statistic") == "mean")
        has_failed = any((row["workload"], row["path"], name, row["metric"]) in failed for name in claim["arms"])
        if has_failed and isinstance(found, dict) and (needs_values or better[row["metric"]] == "none"):
            found["verdict"] = OPEN
        yield row, found


def told(numbers):
    ours, low, high, p, adjusted_p, n = (f"{numbers.get(name, math.nan):.6g}" for name in NUMBERS)
    return f"{ours} ({low} … {high}), p {p}, corrected {adjusted_p}, n {n}: {numbers['verdict']}"


def main(cells):
    code = 0 if cells else 2
    for folder in (Path(__file__).parent / cell for cell in cells):
        if not (folder / "results" / "trials.csv").exists():
            print(f"{folder.name}: no trials are kept of it")
            code = 2
            continue
        for row, found in recompute(folder):
            print(f"{folder.name}, {row['claim']}, {row['workload']}, {row['path']}")
            kept = {name: float(row[name] or math.nan) for name in NUMBERS} | {"verdict": row["verdict"]}
            if isinstance(found, str):
                print(f"  not recomputed: {found}")
                continue
            ours = {name: float(found.get(name, math.nan)) for name in NUMBERS} | {"verdict": found["verdict"]}
            if math.isinf(ours["ours"]):
                ours["ours"] = math.nan  # failed trials own the typical pair, which then has no number
            differing = [name for name in NUMBERS if not np.isclose(ours[name], kept[name], 1e-6, 1e-9, equal_nan=True)]
            differing += ["verdict"] * (ours["verdict"] != kept["verdict"])
            print(f"  recomputed  {told(ours)}\n  claims.csv  {told(kept)}")
            if differing:
                print(f"  DIFFERS in {', '.join(differing)}")
                code = code or 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
