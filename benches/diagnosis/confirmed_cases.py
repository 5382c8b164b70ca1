# SPDX-License-Identifier: Apache-2.0
"""Verdicts on the golden twin put to the test as `explain --confirm` does it: is what is confirmed right?

    python benches/diagnosis/confirmed_cases.py RESULTS… [--set NAME | --seed N --cases N] [--shard I/N] [--out FILE]

RESULTS are lines that `run.py` wrote. Each largest verdict that names a mechanism is tested, and so is each name that
is given where the detector of the cause is missing. Predictions come from the case's own trials; the blocks that
follow have seeds of their own, and the laboratory's checks judge them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

import numpy as np
import polars as pl
from drawing import Plan, mechanisms, plans
from golden_twin import Run, Twin, built
from planted import CAUSES
from scoring import first_name, read
from trials import ALPHA, Result, ScoredVerdict, UnfitError, arms_of, hash_of, runs_of

from quiclab.compare import statistics
from quiclab.model.units import ByteCount
from quiclab.why.confirm.declaration import (  # fmt: skip
    DOSE,
    FAST,
    FAST_WITHOUT,
    REPLAY,
    SHAM,
    TOLERANCE,
    WITH,
    WITHOUT,
    Declared,
    Predicted,
    TrialPlace,
)
from quiclab.why.confirm.judge import judge
from quiclab.why.confirm.predict import without
from quiclab.why.confirm.times import WHYS, Times
from quiclab.why.mechanisms import BY_NAME, MECHANISMS, Mechanism, Setting, with_mechanisms
from quiclab.why.prediction import predicted_effects
from quiclab.why.prediction.in_arm import TrialEffect, Without, effects_in, predicted_in

FROZEN = Path(__file__).with_name("frozen.json")
LOOKS = (8, 10, 13, 17, 22, 28, 35, 44, 55)
"""Numbers of blocks at which it is judged: a quarter more each time, as in a real run."""
_SEGMENT = 1448
_MOST_DOSES = 2
_GONE: Mapping[str, Mapping[str, Any]] = {
    "loss": {"loss_down": 0.0, "loss_up": 0.0, "drop_down": []},
    "queue": {"queue_bytes": None},
    "initial_window": {"initial_window": 64},
    "hystart": {"threshold": None},
    "max_window": {"largest_window": None},
    "stream_window": {"stream_window": None, "send_buffer": None},
    "connection_window": {"receive_window": None},
    "receive_buffer": {"receive_window": None},
    "send_buffer": {"send_buffer": None},
    "packet_threshold": {"packet_threshold": 300},
    "reorder": {"reorder": 0.0},
    "pacing": {"pace": None},
    "ack_frequency": {"ack_every": 1, "ack_delay_ns": 0},
    "intermediates": {"flight_bytes": 1200},
}
"""Key of a setting → what takes its mechanism away in the twin."""
_OF_THE_PATH = ("loss", "queue", "reorder")
"""Keys of settings that take it away from both arms, where both have it."""
SHARED = "both arms have it"
"""Word in place of a verdict: the setting has one value in both arms, so that it is not what makes them differ."""


@dataclass(frozen=True)
class Tested:
    """One name that was put to the test."""

    name: str
    """Seed and number of the case."""
    kind: str
    """`one`, `two` or `none` causes planted; `open` where the detector of the cause was left out."""
    right: bool
    """True if the mechanism names a cause that was planted."""
    mechanism: str
    setting: str
    """Key that takes it away; "" where the twin has none."""
    verdict: str
    blocks: int
    states: tuple[tuple[str, str], ...]
    """Each check, and what is known of it."""
    predicted_ms: tuple[float, float]
    """The interval of the mechanism's own time."""
    expected_ms: tuple[float, float]
    """The interval within which the total is to fall."""
    effect_ms: float
    """Time by which it fell: median over all blocks."""


def names_given(plan: Plan, result: Result) -> Iterable[tuple[str, ScoredVerdict, bool]]:
    """Mechanisms that a result names: kind of the case, verdict, and whether that is a planted cause."""
    right = {name for names in mechanisms(plan) for name in names}
    for kind, told in ((plan.kind, result.verdicts), ("open", result.open_set)):
        if (first := first_name(told)) is not None:
            yield kind, first, first.mechanism in right


def confirmation_of(twin: Twin, plan: Plan, kind: str, told: ScoredVerdict, *, right: bool) -> Tested:
    """Put one verdict to the test. Raises UnfitError where a transfer has no account."""
    mechanism = BY_NAME[str(told.mechanism)]
    setting = next((each for each in mechanism.settings if each.key in _GONE), None)
    # Without the detectors of the cause their time is another's, in the prediction and in the run.
    excluded = set(mechanisms(plan)[0]) if kind == "open" else set()
    looked_for = [each for each in MECHANISMS if each.name not in excluded]
    if setting is None:
        return _not_run(plan, kind, mechanism, "", right=right)
    planted, _, other = arms_of(twin, plan)
    slow, fast = (planted, other) if told.difference_ms > 0 else (other, planted)
    runs = list(runs_of(twin, slow, plan))
    own = _own_ms(runs, mechanism, looked_for)
    found = statistics.median_interval(own, 1 - ALPHA)
    if found is None or not np.median(own) > 0:
        return _not_run(plan, kind, mechanism, setting.key, right=right)
    predicted = Predicted(float(np.median(own)), found.low, found.high, found.confidence, own.size)
    effect = predicted_in([_effects(run, looked_for) for run in runs], mechanism.name, ALPHA)
    predicted, replaced_ms = without(predicted, effect)
    known = setting.key in _OF_THE_PATH or not _can_be_given(setting.key, fast[0])
    if not known and not _given(setting.key, slow[0], fast[0]):
        return _not_run(plan, kind, mechanism, setting.key, right=right, verdict=SHARED)
    beyond = told.follows_ms + _also_ms(runs, mechanism, setting, looked_for)
    declared = _declared(setting, predicted, beyond, replaced_ms, slow[0])
    return _run(twin, plan, declared, (kind, right), slow, fast, mechanism, looked_for)


def _not_run(
    plan: Plan, kind: str, mechanism: Mechanism, setting: str, *, right: bool, verdict: str = "not run"
) -> Tested:
    return Tested(plan.name, kind, right, mechanism.name, setting, verdict, 0, (), (0, 0), (0, 0), 0)


def _given(key: str, slow: Mapping[str, Any], fast: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that the slow arm has and the fast one has not; of listed packets each arm has its own."""
    keys = _GONE[key].keys() - {"drop_down"}
    return {each: slow.get(each) for each in sorted(keys) if slow.get(each) != fast.get(each)}


def _can_be_given(key: str, fast: Mapping[str, Any]) -> bool:
    """True if the fast arm's transport has the setting at all."""
    return all(fast["protocol"] in cause.protocols for cause in CAUSES if cause.setting == key)


def _own_ms(runs: Iterable[Run], mechanism: Mechanism, looked_for: Sequence[Mechanism]) -> np.ndarray:
    return np.array([_times(run, mechanism, looked_for)[1] for run in runs])


def _times(run: Run, mechanism: Mechanism, looked_for: Sequence[Mechanism]) -> tuple[float, float, np.ndarray]:
    """Whole time, the mechanism's, and each *why*'s, in ms."""
    account, _ = with_mechanisms(run.evidence, run.account, looked_for)
    length = (account["until_ns"] - account["from_ns"]) / 1e6
    whys = np.array([float(length.filter(account["why"] == str(why)).sum()) for why in WHYS])
    mine = (account["mechanism"] == mechanism.name).fill_null(value=False)
    return run.total_ns / 1e6, float(length.filter(mine).sum()), whys


def _also_ms(runs: Iterable[Run], mechanism: Mechanism, setting: Setting, looked_for: Sequence[Mechanism]) -> float:
    """Medians of the arm's other mechanisms that the setting takes away as well, added up."""
    others = [
        each
        for each in looked_for
        if each.name != mechanism.name
        and any((of.table, of.key) == (setting.table, setting.key) for of in each.settings)
    ]
    return sum(float(np.median(_own_ms(runs, other, looked_for))) for other in others)


def _effects(run: Run, looked_for: Sequence[Mechanism]) -> Mapping[Without, TrialEffect]:
    account, _ = with_mechanisms(run.evidence, run.account, looked_for)
    rows = predicted_effects(run.evidence, account).with_columns(trial_id=pl.lit("one"))
    return effects_in(rows, "ttlb_ms").get("one", {})


def _declared(
    setting: Setting, predicted: Predicted, beyond: float, replaced: float, case: Mapping[str, Any]
) -> Declared:
    doses = _doses(setting, case)
    return Declared(
        study="twin", cell="case", cause="", arm="slow", other="fast", table=setting.table, key=setting.key,
        value=setting.value, doses=tuple(doses), alpha=ALPHA, seed=0, predicted=predicted, total_ms=0.0, noise_ms=0.0,
        tolerance_ms=TOLERANCE * predicted.ms, beyond_ms=beyond, places={REPLAY: TrialPlace("case", REPLAY)},
        sham="the same again", left_out=(), spec_sha256="", replaced_ms=replaced,
    )  # fmt: skip


def _doses(setting: Setting, case: Mapping[str, Any]) -> dict[str | int | float, Mapping[str, Any]]:
    """Value of a dose → keys of the twin: those between what the arm has and what takes the mechanism away."""
    found: dict[str | int | float, Mapping[str, Any]] = {}
    for dose in setting.doses:
        if setting.key == "initial_window":
            keys = {"initial_window": dose}
        elif setting.key in ("max_window", "stream_window", "connection_window"):
            size = ByteCount.parse(str(dose)).bytes
            (key, *_) = [key for key in _GONE[setting.key] if case.get(key) is not None] or [""]
            keys = {key: size // _SEGMENT if key == "largest_window" else size}
        else:
            continue
        (key, value), *_ = keys.items()
        if key and dose != setting.value and value > (case.get(key) or 0):
            found[dose] = keys
    return dict(list(found.items())[:_MOST_DOSES])


def _run(
    twin: Twin, plan: Plan, declared: Declared, about: tuple[str, bool], slow: Sequence[Mapping[str, Any]],
    fast: Sequence[Mapping[str, Any]], mechanism: Mechanism, looked_for: Sequence[Mechanism],
) -> Tested:  # fmt: skip
    """Blocks until it is decided, at most the last of LOOKS."""
    doses = _doses_of(declared, slow[0])
    arms: dict[str, Mapping[str, Any]] = {
        REPLAY: slow[0], WITHOUT: {**slow[0], **_GONE[declared.key]}, SHAM: slow[0], FAST: fast[0],
        **{f"{DOSE}{at + 1}": {**slow[0], **keys} for at, keys in enumerate(doses)},
        **_others(declared.key, slow[0], fast[0]),
    }  # fmt: skip
    rng = random.Random(f"{plan.name}/{declared.key}/confirm")
    rows: dict[str, list[tuple[float, float, np.ndarray]]] = {role: [] for role in arms}
    done = 0
    for blocks in LOOKS:
        cases = [_block(plan, arms, block, rng) for block in range(done, blocks)]
        for role, found in rows.items():
            trials = [dict(each[role]) for each in cases]
            found += [_times(run, mechanism, looked_for) for run in runs_of(twin, trials, plan)]
        done = blocks
        shown = judge(declared, {role: _stacked(each) for role, each in rows.items()})
        if shown.final:
            break
    effect = np.median([a[0] - b[0] for a, b in zip(rows[REPLAY], rows[WITHOUT], strict=True)])
    kind, right = about
    return Tested(
        plan.name, kind, right, mechanism.name, declared.key, shown.verdict.value, shown.blocks,
        tuple((each.name, each.state.value) for each in shown.checks),
        (declared.predicted.low_ms, declared.predicted.high_ms), declared.expected_ms, float(effect),
    )  # fmt: skip


def _others(key: str, slow: Mapping[str, Any], fast: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The fast arm with the mechanism, or without what the path has for both."""
    if not _can_be_given(key, fast) or slow.get("drop_down"):
        return {}
    given = _given(key, slow, fast)
    return {WITH: {**fast, **given}} if given else {FAST_WITHOUT: {**fast, **_GONE[key]}}


def _doses_of(declared: Declared, case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    setting = Setting(declared.table, declared.key, declared.value, "", (), declared.doses)
    return list(_doses(setting, case).values())


def _block(
    plan: Plan, arms: Mapping[str, Mapping[str, Any]], block: int, rng: random.Random
) -> dict[str, Mapping[str, Any]]:
    """The trials of one block: of one seed and one delay, each with its own time to react."""
    delay_ns = round(rng.choice(plan.blocks)["delay_ns"] * rng.uniform(0.99, 1.01))
    shared = {"seed": hash_of(f"{plan.name}/confirm/{block}"), "delay_ns": delay_ns}
    return {role: {**case, **shared, "reaction_ns": rng.randrange(10_000, 60_000)} for role, case in arms.items()}


def _stacked(rows: Sequence[tuple[float, float, np.ndarray]]) -> Times:
    total, own, whys = zip(*rows, strict=True)
    return Times(np.array(total), np.array(own), np.array(whys))


def lines(files: Iterable[Path]) -> list[Tested]:
    """Tests of some files."""
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    for row in rows:
        row |= {key: tuple(row[key]) for key in ("predicted_ms", "expected_ms")}
        row["states"] = tuple(tuple(each) for each in row["states"])
    return [Tested(**row) for row in rows]


def main() -> None:
    """Test the verdicts of some results."""
    parser = argparse.ArgumentParser(
        allow_abbrev=False, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="RESULTS")
    parser.add_argument("--set", default="development", help="the frozen set that the results are of")
    parser.add_argument("--seed", type=int, help="another seed, in place of a frozen set")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="every N-th result, from the I-th on")
    parser.add_argument("--out", type=Path, default=Path("diagnosis-confirmed.jsonl"))
    arguments = parser.parse_args()
    if arguments.seed is None:
        frozen = json.loads(FROZEN.read_text())[arguments.set]
        arguments.seed, arguments.cases = frozen["seed"], frozen["cases"]
    by_name = {plan.name: plan for plan in plans(arguments.seed, arguments.cases)}
    first, step = (int(each) for each in arguments.shard.split("/"))
    twin = Twin(Path(os.environ["QUICLAB_TWIN"])) if "QUICLAB_TWIN" in os.environ else built("release")
    with arguments.out.open("w") as out:
        for result in read(arguments.results)[first - 1 :: step]:
            plan = by_name[result.name]
            for kind, told, right in names_given(plan, result):
                try:
                    out.write(json.dumps(asdict(confirmation_of(twin, plan, kind, told, right=right))) + "\n")
                except UnfitError as why:
                    print(f"{plan.name} {plan.causes}: {str(why)[:200]}", file=sys.stderr)
                out.flush()


if __name__ == "__main__":
    main()
