# SPDX-License-Identifier: Apache-2.0
"""Verdicts over synthetic runs: what holds, what fails, and that nothing without an effect is ever confirmed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from confirming import DECLARED, in_blocks

from quiclab.why.account import Why
from quiclab.why.confirm.declaration import NOT_APPLICABLE, TrialPlace, declared_from
from quiclab.why.confirm.judge import Judgement, State, Verdict, judge
from quiclab.why.confirm.times import WHYS, Times

BLOCKS = 12
AT = {why: place for place, why in enumerate(WHYS)}


def _times(cause_ms: float, slow_start_ms: float = 0.0, noise_ms: float = 5.0, seed: int = 0, n: int = BLOCKS) -> Times:
    """600 ms of a busy link, and the rest."""
    rng = np.random.default_rng(seed)
    why = np.zeros((n, len(WHYS)))
    why[:, AT[Why.LINK_BUSY]] = 600 + rng.normal(0, noise_ms, n)
    why[:, AT[Why.SEND_BUFFER]] = cause_ms
    why[:, AT[Why.SLOW_START]] = slow_start_ms
    return Times(why.sum(axis=1), np.full(n, float(cause_ms)), why)


def _run(without: Times, **other: Times) -> Mapping[str, Times]:
    return {
        "replay": _times(400, seed=1),
        "without": without,
        "sham": _times(400, seed=3),
        "fast": _times(0, seed=4),
        "dose-1": _times(200, seed=5),
        "dose-2": _times(100, seed=6),
        **other,
    }


def _states(found: Judgement) -> dict[str, State]:
    return {check.name: check.state for check in found.checks}


def test_a_cause_that_goes_with_its_time_is_confirmed() -> None:
    found = judge(DECLARED, _run(_times(0, seed=2)))
    assert found.verdict is Verdict.CONFIRMED
    assert set(_states(found).values()) == {State.HOLDS, State.NOT_RUN}
    assert _states(found)["given"] is State.NOT_RUN
    assert found.effects[0].ms == pytest.approx(400, abs=10)
    assert found.blocks == BLOCKS


def test_seven_blocks_decide_nothing() -> None:
    few = {role: in_blocks(times, slice(0, 7)) for role, times in _run(_times(0, seed=2)).items()}
    found = judge(DECLARED, few)
    assert found.verdict is Verdict.UNDECIDED
    assert set(_states(found).values()) == {State.OPEN, State.NOT_RUN}
    assert not found.final


def test_a_setting_that_leaves_the_mechanism_there_proves_nothing() -> None:
    found = judge(DECLARED, _run(_times(300, seed=2)))
    assert found.verdict is Verdict.UNDECIDED
    assert _states(found)["removed"] is State.FAILS
    assert found.check("removed").median == pytest.approx(0.25)
    assert found.final


def test_time_that_comes_back_elsewhere_is_no_confirmation_and_says_where() -> None:
    found = judge(DECLARED, _run(_times(0, slow_start_ms=200, seed=2)))
    assert found.verdict is Verdict.UNDECIDED
    assert _states(found)["stayed_away"] is State.FAILS
    assert found.check("stayed_away").median == pytest.approx(200, abs=10)
    assert found.limits_next == Why.SLOW_START
    assert found.limits_next_ms == pytest.approx(200)


def test_time_of_a_limit_that_was_predicted_to_hold_next_is_no_failure() -> None:
    run = _run(_times(0, slow_start_ms=150, seed=2), **{"dose-1": _times(300, seed=5), "dose-2": _times(250, seed=6)})
    foretold = replace(DECLARED.predicted, ms=250.0, low_ms=240.0, high_ms=260.0)
    declared = replace(DECLARED, predicted=foretold, replaced_ms=150.0)
    assert judge(declared, run).verdict is Verdict.CONFIRMED
    assert _states(judge(replace(declared, replaced_ms=0.0), run))["stayed_away"] is State.FAILS


def test_a_total_that_stays_rejects_the_cause() -> None:
    found = judge(DECLARED, _run(_times(0, slow_start_ms=400, seed=2)))
    assert found.verdict is Verdict.REJECTED


def test_a_total_that_falls_by_more_than_was_predicted_is_not_explained() -> None:
    shorter = _times(0, seed=2)
    why = shorter.why.copy()
    why[:, AT[Why.LINK_BUSY]] -= 300
    found = judge(DECLARED, _run(Times(why.sum(axis=1), shorter.cause, why)))
    assert found.verdict is Verdict.UNDECIDED
    assert _states(found)["moved"] is State.FAILS


def test_a_sham_that_moves_the_total_spoils_both_verdicts() -> None:
    for without in (_times(0, seed=2), _times(0, slow_start_ms=400, seed=2)):
        found = judge(DECLARED, _run(without, sham=_times(200, seed=3)))
        assert found.verdict is Verdict.UNDECIDED
        assert _states(found)["sham"] is State.FAILS


def test_doses_in_the_wrong_order_fail() -> None:
    wrong = {"dose-1": _times(250, -400, seed=5), "dose-2": _times(120, 900)}
    found = judge(DECLARED, _run(_times(0, seed=2), **wrong))
    assert _states(found)["dose"] is State.FAILS
    assert found.verdict is Verdict.UNDECIDED


def test_doses_that_leave_as_much_of_the_cause_as_each_other_say_nothing() -> None:
    """Two windows that no longer limit are as fast as chance has it."""
    alike = {"dose-1": _times(0, 20, seed=5), "dose-2": _times(0, -20, seed=6)}
    found = judge(DECLARED, _run(_times(0, seed=2), **alike))
    assert found.check("dose").state is State.HOLDS
    assert found.check("dose").median == 1.0


def test_what_goes_with_a_cause_widens_the_upper_end_of_the_prediction_alone() -> None:
    assert DECLARED.expected_ms == (280.0, 520.0)
    assert replace(DECLARED, beyond_ms=60.0).expected_ms == (280.0, 580.0)


def test_a_setting_without_degrees_needs_no_dose() -> None:
    found = judge(replace(DECLARED, doses=()), _run(_times(0, seed=2)))
    assert _states(found)["dose"] is State.NOT_RUN
    assert found.verdict is Verdict.CONFIRMED


def test_blocks_that_lack_an_account_are_counted_and_many_of_them_decide_nothing() -> None:
    without = _times(0, seed=2, n=20)
    run = {role: _times(times.cause[0], n=20, seed=at) for at, (role, times) in enumerate(_run(without).items())}
    run["without"] = without
    whole = judge(DECLARED, run)
    assert (whole.verdict, whole.lacking) == (Verdict.CONFIRMED, 0)
    without.total[:6] = without.cause[:6] = without.why[:6] = np.nan
    found = judge(DECLARED, run)
    assert (found.verdict, found.blocks, found.lacking) == (Verdict.UNDECIDED, 14, 6)


def test_failed_trials_rank_worst_and_are_not_left_out() -> None:
    without = _times(0, seed=2)
    without.total[:7] = np.inf
    without.cause[:7] = without.why[:7] = np.nan
    found = judge(DECLARED, _run(without))
    assert found.blocks == BLOCKS
    assert found.verdict is Verdict.UNDECIDED
    assert found.effects[0].ms == -np.inf


@pytest.mark.parametrize(
    ("others", "verdict", "state"),
    [
        ({"with": _times(390, seed=9)}, Verdict.CONFIRMED, State.HOLDS),
        ({"with": _times(0, seed=9)}, Verdict.UNDECIDED, State.FAILS),
        ({"with": _times(60, seed=9)}, Verdict.UNDECIDED, State.FAILS),
        ({"fast-without": _times(0, seed=9)}, Verdict.CONFIRMED, State.HOLDS),
        ({"fast": _times(400, seed=4), "fast-without": _times(0, seed=9)}, Verdict.UNDECIDED, State.FAILS),
    ],
    ids=["given", "the other arm does not mind", "or hardly", "a path hits one arm", "a path hits both arms alike"],
)
def test_what_costs_both_arms_as_much_is_not_what_makes_them_differ(
    others: Mapping[str, Times], verdict: Verdict, state: State
) -> None:
    found = judge(DECLARED, _run(_times(0, seed=2), **others))
    assert (found.verdict, _states(found)["given"]) == (verdict, state)


def test_given_to_the_other_arm_its_effect_is_told() -> None:
    found = judge(DECLARED, _run(_times(0, seed=2), **{"with": _times(390, seed=9)}))
    shown = {each.name: round(each.ms or 0, -1) for each in found.effects}
    assert shown == {"without": 400, "with": 390, "gap": 400, "gap_without": 0}


def test_without_a_paths_cause_both_arms_are_without_it() -> None:
    """The difference that is left is that of both arms over the path that lacks it."""
    others = {"fast": _times(300, seed=4), "fast-without": _times(0, seed=9)}
    found = judge(DECLARED, _run(_times(0, seed=2), **others))
    shown = {each.name: round(each.ms or 0, -1) for each in found.effects}
    assert shown == {"without": 400, "gap": 100, "gap_without": 0}


@pytest.mark.parametrize("noise_ms", [2.0, 40.0, 400.0])
def test_nothing_without_an_effect_is_ever_confirmed(noise_ms: float) -> None:
    """A/A: the mechanism's own time goes, or the whole varies by chance, and the total is drawn from one law."""
    verdicts = []
    for case in range(70):
        rng = np.random.default_rng((case, int(noise_ms)))
        run = {}
        for role in ("replay", "without", "sham", "fast", "dose-1", "dose-2"):
            why = np.zeros((30, len(WHYS)))
            cause = np.zeros(30) if role == "without" else np.abs(rng.normal(400, noise_ms, 30))
            why[:, AT[Why.SEND_BUFFER]] = cause
            why[:, AT[Why.WINDOW]] = 1000 + rng.standard_t(3, 30) * noise_ms - cause
            run[role] = Times(why.sum(axis=1), cause, why)
        declared = replace(DECLARED, doses=()) if case % 2 else DECLARED
        # Every look of a run that goes on.
        looks = [judge(declared, {role: in_blocks(t, slice(0, n)) for role, t in run.items()}) for n in (8, 13, 30)]
        verdicts.append(next((each.verdict for each in looks if each.final), Verdict.UNDECIDED))
    assert Verdict.CONFIRMED not in verdicts
    if noise_ms < 10:
        assert verdicts.count(Verdict.REJECTED) >= 63


def test_the_hash_changes_with_anything_that_is_declared() -> None:
    assert declared_from(DECLARED.document()) == DECLARED
    changed = [
        replace(DECLARED, tolerance_ms=101.0),
        replace(DECLARED, predicted=replace(DECLARED.predicted, low_ms=0.0)),
        replace(DECLARED, places={**DECLARED.places, "sham": TrialPlace("1MB/long", "replay")}),
        replace(DECLARED, replaced_ms=5.0),
    ]
    assert len({each.sha256 for each in (DECLARED, *changed)}) == 5
    assert all(declared_from(each.document()) == each for each in changed)


@pytest.mark.parametrize("key", ["predicted", "places", "value", "spec_sha256"])
def test_a_document_of_another_form_is_no_declaration(key: str) -> None:
    document = DECLARED.document()
    assert declared_from({**document, key: None}) is None
    assert declared_from({name: each for name, each in document.items() if name != key}) is None
    assert declared_from({**document, "more": 1}) is None


def test_a_setting_of_the_path_shows_a_condition() -> None:
    """Both arms share it: what makes them differ there is not shown."""
    of_path = replace(DECLARED, table="path", key="loss", value="none")
    run = _run(_times(0, seed=2), **{"fast-without": _times(0, seed=7)})
    assert judge(of_path, run).verdict is Verdict.CONDITION


def test_what_the_other_transport_cannot_have_fails_no_check() -> None:
    cannot = replace(DECLARED, left_out=(f"{NOT_APPLICABLE}: TCP has no such limit",))
    found = judge(cannot, _run(_times(0, seed=2)))
    assert found.verdict is Verdict.CONFIRMED
    assert _states(found)["given"] is State.NOT_APPLICABLE


@pytest.mark.parametrize(("left_ms", "expected"), [(105, State.HOLDS), (300, State.FAILS), (0, State.HOLDS)])
def test_arms_that_are_made_equal_keep_what_both_have(left_ms: float, expected: State) -> None:
    """400 ms in one and 100 in the other: 300 more of it are to go, and not all 400."""
    equal = replace(
        DECLARED, equal=True, doses=(), predicted=replace(DECLARED.predicted, ms=300, low_ms=290, high_ms=310)
    )
    equal = replace(equal, tolerance_ms=75.0)
    run = _run(_times(left_ms, seed=2), fast=_times(100, seed=4))
    found = judge(equal, {role: run[role] for role in ("replay", "without", "sham", "fast")})
    assert _states(found)["removed"] is expected
    assert (found.verdict is Verdict.CONFIRMED) is (left_ms == 105)
    assert judge(DECLARED, run).check("removed").state is (State.HOLDS if left_ms == 0 else State.FAILS)
    again = declared_from(equal.document())
    assert again == equal
    assert "equal" not in DECLARED.document()
