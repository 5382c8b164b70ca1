# SPDX-License-Identifier: Apache-2.0
"""A case run by the twin: trials as a study's tables, the verdicts that a user would read, and the exact effects."""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from drawing import Plan, mechanisms
from golden_twin import Run, Twin

from quiclab.compare.cell_comparison import arm_result, compare
from quiclab.compare.model import ArmResult, Metric, StudyAnalysis, TrialResult
from quiclab.compare.study_tables import open_study
from quiclab.model.mechanism_names import current_name
from quiclab.model.tables import OF_STUDY
from quiclab.why.account import account_totals
from quiclab.why.causes import Verdict
from quiclab.why.explanation import explanations
from quiclab.why.mechanisms import MECHANISMS, Claim, Mechanism, Trial, with_mechanisms
from quiclab.why.prediction import predicted_effects

ALPHA = 0.05
_TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
_SEEDS = 1 << 32


@dataclass(frozen=True)
class ScoredVerdict:
    """One verdict, as far as it is scored."""

    name: str
    status: str
    found: bool
    mechanism: str | None
    family: str | None
    rivals: tuple[str, ...]
    difference_ms: float
    """Time of the planted arm less that of the other."""
    settings: tuple[str, ...]
    follows_ms: float = 0.0
    """Time among the difference that is of mechanisms which follow from it."""
    next_mechanism: str | None = None
    """Mechanism that is said to hold next without it; None where none is."""


@dataclass(frozen=True)
class Result:
    """Result of one case: the exact effects, and the verdicts with all detectors and without those of the cause."""

    name: str
    kind: str
    causes: tuple[str, ...]
    protocols: tuple[str, str]
    logs: str
    planted_ms: float
    """Mean time of the planted arm; so of the other."""
    other_ms: float
    effects_ms: tuple[float, ...]
    """Mean time that the planted arm takes longer with each cause than without it, all else equal; exact."""
    natural_ms: float
    """Mean difference of the arms without any of the causes; exact."""
    label: str
    """Meaning of the effects, before any verdict: `cause`, `null`, or `grey`, which is not scored."""
    verdicts: tuple[ScoredVerdict, ...]
    open_set: tuple[ScoredVerdict, ...]
    """Verdicts where the detectors that name the cause are left out; empty where not one cause is planted."""


class UnfitError(Exception):
    """A case whose transfer does not come to an end in the twin, or has no account."""


def result(twin: Twin, plan: Plan) -> Result:
    """Run a case: the effects first, and verdicts only where these are clear. Raises UnfitError where it fails."""
    planted, bare, other = arms_of(twin, plan)
    totals = [_totals(twin, arm) for arm in (other, planted)]
    effects = [_effect(totals[1], _totals(twin, _without(plan, planted, at))) for at in range(len(plan.causes))]
    bare_ms = _mean(_totals(twin, bare)) if plan.causes else _mean(totals[1])
    found = Result(
        plan.name,
        plan.kind,
        plan.causes,
        plan.protocols,
        plan.logs,
        _mean(totals[1]),
        _mean(totals[0]),
        tuple(effect for effect, _ in effects),
        bare_ms - _mean(totals[0]),
        _label(plan, effects, _mean(totals[1]), bare_ms - _mean(totals[0])),
        (),
        (),
    )
    if found.label == "grey":
        return found
    runs = [list(runs_of(twin, arm, plan)) for arm in (other, planted)]
    known = _remembered()
    excluded = set(mechanisms(plan)[0]) if found.label == "cause" and plan.kind == "one" else set()
    left = [each for each in known if each.name not in excluded]
    of_open_set = _verdicts(plan, runs, left) if excluded else ()
    return replace(found, verdicts=_verdicts(plan, runs, known), open_set=of_open_set)


def _remembered() -> list[Mechanism]:
    """All mechanisms, each of which looks at a trial once, however often it is asked."""

    def remembered(mechanism: Mechanism) -> Mechanism:
        claims: dict[int, Claim] = {}

        def claim(trial: Trial) -> Claim:
            if id(trial.evidence) not in claims:
                claims[id(trial.evidence)] = mechanism.claim(trial)
            return claims[id(trial.evidence)]

        return replace(mechanism, claim=claim)

    return [remembered(each) for each in MECHANISMS]


CLEAR = 0.05
"""Share of the time from which on an effect is one."""
_CLEAR_MS = 5.0
NOTHING = 0.005
"""Share of the time below which it is none."""
_NOTHING_MS = 0.5
_SURE = 3.0
"""Standard errors that it must have, as losses that fall otherwise change the time as well."""
NATURAL = 2.0
"""Factor by which it must be larger than what differs between the arms anyway."""


def _label(plan: Plan, effects: Sequence[tuple[float, float]], total_ms: float, natural_ms: float) -> str:
    if not effects:
        return "null"
    floor = max(CLEAR * total_ms, _CLEAR_MS)
    if all(effect >= max(floor, _SURE * error, NATURAL * abs(natural_ms)) for effect, error in effects):
        return "cause"
    nothing = max(NOTHING * total_ms, _NOTHING_MS)
    same = plan.protocols[0] == plan.protocols[1]
    return "null" if same and all(abs(effect) + error < nothing for effect, error in effects) else "grey"


def _effect(planted_ms: Sequence[float], without_ms: Sequence[float]) -> tuple[float, float]:
    """Mean of what a cause costs over the pairs, and its standard error."""
    each = np.array(planted_ms) - np.array(without_ms)
    return float(each.mean()), float(each.std(ddof=1) / len(each) ** 0.5)


Trials = list[dict[str, Any]]


def arms_of(twin: Twin, plan: Plan) -> tuple[Trials, Trials, Trials]:
    """Trials of the planted arm, of the same without any cause, and of the other arm."""
    none: dict[str, Any] = {}
    for each in plan.without:
        none |= each
    all_of_them = dict(none)
    for each in plan.planted:
        all_of_them |= each
    planted = [_trial(plan, block, 1, all_of_them) for block in range(len(plan.blocks))]
    bare = [_trial(plan, block, 1, none) for block in range(len(plan.blocks))]
    other = [_trial(plan, block, 0, none) for block in range(len(plan.blocks))]
    if plan.drops:
        for trial, packets in zip(planted, _packets(twin, bare), strict=True):
            trial["drop_down"] = [packets - back for back in plan.drops]
    return planted, bare, other


def _trial(plan: Plan, block: int, arm: int, keys: Mapping[str, Any]) -> dict[str, Any]:
    seed = hash_of(f"{plan.name}/{block}/{arm}")
    own = {"protocol": plan.protocols[arm], "seed": seed, "reaction_ns": plan.reactions[block][arm]}
    return {**plan.base, **keys, **plan.blocks[block], **own}


def hash_of(text: str) -> int:
    """A seed of 32 bits; the same for the same text on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % _SEEDS


def _without(plan: Plan, planted: Trials, at: int) -> Trials:
    """The planted arm without one of its causes."""
    keys = dict(plan.without[at])
    return [trial | keys for trial in planted]


def _answers(twin: Twin, trials: Trials) -> Iterator[dict[str, Any]]:
    try:
        answers = twin.answers({"case": trial, "only_total": True} for trial in trials)
    except RuntimeError as error:
        raise UnfitError(str(error)) from error
    return map(json.loads, answers)


def _totals(twin: Twin, trials: Trials) -> list[float]:
    return [each["total_ns"] / 1e6 for each in _answers(twin, trials)]


def _packets(twin: Twin, trials: Trials) -> list[int]:
    return [int(each["packets_down"]) for each in _answers(twin, trials)]


def runs_of(twin: Twin, trials: Trials, plan: Plan) -> Iterator[Run]:
    try:
        for run in twin.runs(trials, logs=plan.logs):
            if run.account.is_empty():
                raise UnfitError("no account")
            yield run
    except RuntimeError as error:
        raise UnfitError(str(error)) from error


def _verdicts(plan: Plan, runs: Sequence[Sequence[Run]], looked_for: Sequence[Mechanism]) -> tuple[ScoredVerdict, ...]:
    """The verdicts on a study of these trials, by the functions that `quiclab explain` calls."""
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder)
        (study / "tables").mkdir()
        OF_STUDY["trials"].empty().write_parquet(study / "tables" / "trials.parquet")
        arms = [_written(study, name, arm, looked_for) for name, arm in zip("ab", runs, strict=True)]
        first, second = reversed(arms) if plan.planted_first else arms
        opened = open_study(study)
        comparison = compare(("case", "main", "case", "twin"), first, second, _TTLB, ALPHA)
        analysis = StudyAnalysis("case", _TTLB, ALPHA, "", (), (), (), {}, {}, (comparison,), (), ())
        (found,) = explanations(opened, analysis)
    sign = -1 if plan.planted_first else 1
    return tuple(_scored_verdict(each, sign) for each in found.causes)


def _written(study: Path, name: str, runs: Iterable[Run], looked_for: Sequence[Mechanism]) -> ArmResult:
    trials = []
    for block, run in enumerate(runs):
        trial_id = f"{name}{block}"
        account, facts = with_mechanisms(run.evidence, run.account, looked_for)
        effects = predicted_effects(run.evidence, account)
        totals = account_totals(account)
        tables = {"account": account, "account_totals": totals, "mechanism_facts": facts, "predicted_effects": effects}
        for table, rows in tables.items():
            _write(study, table, trial_id, rows)
        trials.append(TrialResult(trial_id, block, "verified", run.total_ns / 1e6, ""))
    return arm_result(name, trials, len(trials), 0, _TTLB)


def _write(study: Path, table: str, trial_id: str, rows: pl.DataFrame) -> None:
    folder = study / "tables" / table
    folder.mkdir(parents=True, exist_ok=True)
    rows.write_parquet(folder / f"{trial_id}.parquet")


def _scored_verdict(verdict: Verdict, sign: int) -> ScoredVerdict:
    mechanism = verdict.mechanism
    return ScoredVerdict(
        verdict.name,
        verdict.status.value,
        verdict.status.found,
        mechanism.name if mechanism else None,
        mechanism.family.value if mechanism else None,
        tuple(each.name for each in verdict.rivals),
        sign * verdict.step.difference_ms,
        tuple(dict.fromkeys(each.key for each in mechanism.settings)) if mechanism else (),
        sum(abs(each.difference_ms) for each in verdict.followers),
        _next(verdict),
    )


def _next(verdict: Verdict) -> str | None:
    following = verdict.without.next if verdict.without is not None else None
    return None if following is None else following.name


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def as_line(found: Result) -> str:
    """A result as one line of JSON."""
    return json.dumps(asdict(found))


def result_from_json(line: str) -> Result:
    """The result that a line of JSON holds."""
    row = json.loads(line)
    for key in ("verdicts", "open_set"):
        row[key] = tuple(
            ScoredVerdict(
                **{
                    **each,
                    "name": current_name(each["name"]) if each["mechanism"] else each["name"],
                    "mechanism": each["mechanism"] and current_name(each["mechanism"]),
                    "rivals": tuple(map(current_name, each["rivals"])),
                    "settings": tuple(each["settings"]),
                }
            )
            for each in row[key]
        )
    for key in ("causes", "protocols", "effects_ms"):
        row[key] = tuple(row[key])
    return Result(**row)
