# SPDX-License-Identifier: Apache-2.0
"""Verdicts on causes, of tables that were written by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quiclab.compare.cell_comparison import arm_result, compare
from quiclab.compare.model import ArmResult, Metric, StudyAnalysis, TrialResult
from quiclab.compare.study_tables import open_study
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.why.account import Why, account_totals
from quiclab.why.cause_parts import Known
from quiclab.why.causes import Losses, Status, Verdict, is_luck, verdicts_of
from quiclab.why.explanation import explanations
from quiclab.why.mechanisms import LOST_ON_THE_PATH, TRIAL

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
PAIRS = 8
Parts = dict[tuple[str, str | None], float]
"""Reason and mechanism → ms."""
LOSS, BUSY = ("window_after_loss", "loss_on_the_path"), ("link_busy", "bytes_on_the_wire")


def _arm(name: str) -> ArmResult:
    trials = [TrialResult(f"{ord(name[-1]):x}{block}", block, "verified", 100.0, "") for block in range(PAIRS)]
    return arm_result(name, trials, PAIRS, 0, TTLB)


def _write(study: Path, trial_id: str, parts: Parts, facts: dict[str, float]) -> None:
    rows, at_ns = [], 0
    for (why, mechanism), ms in parts.items():
        until_ns = at_ns + round(ms * 1e6)
        row = ("ttlb", "payload", why, at_ns, until_ns, "down", 0, "raw/link.qplog", None, None, None, f"log_of_{why}")
        rows.append((*row, None, None, mechanism, None, None))
        at_ns = until_ns
    account = pl.DataFrame(rows, TABLES["account"].schema(), orient="row")
    shown = [
        ("trial", name.removeprefix("trial:"), value, "packets", "")
        if name.startswith("trial:")
        else ("loss_on_the_path", name, value, "", "")
        for name, value in facts.items()
    ]
    numbers = pl.DataFrame(shown, TABLES["mechanism_facts"].schema(), orient="row")
    tables = {"account": account, "account_totals": account_totals(account), "mechanism_facts": numbers}
    for name, table in tables.items():
        folder = study / "tables" / name
        folder.mkdir(parents=True, exist_ok=True)
        table.write_parquet(folder / f"{trial_id}.parquet")


Trial = Callable[[int], tuple[Parts, dict[str, float]]]
"""Block → the parts of a trial's time, and the numbers of its losses."""


def _verdicts(folder: Path, h2: Trial, h3: Trial) -> dict[str, Verdict]:
    (folder / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(folder / "tables" / "trials.parquet")
    for block in range(PAIRS):
        _write(folder, f"{ord('2'):x}{block}", *h2(block))
        _write(folder, f"{ord('3'):x}{block}", *h3(block))
    study = open_study(folder)
    comparison = compare(("1MB/p", "main", "1MB", "p"), _arm("h2"), _arm("h3"), TTLB, 0.05)
    (found,) = explanations(study, StudyAnalysis("s", TTLB, 0.05, "", (), (), (), {}, {}, (comparison,), (), ()))
    return {each.name: each for each in found.causes}


def _plain(parts: Parts) -> Trial:
    return lambda block: ({part: ms + block / 100 for part, ms in parts.items()}, {})


def test_a_mechanism_whose_time_differs_is_indicated_and_the_largest_first(tmp_path: Path) -> None:
    """Its evidence is named; time that is alike and small is not told."""
    found = _verdicts(
        tmp_path,
        _plain({BUSY: 800, LOSS: 500, ("request", None): 10}),
        _plain({BUSY: 900, LOSS: 100, ("request", None): 10}),
    )
    assert [(name, each.status) for name, each in found.items()] == [
        ("loss_on_the_path", Status.INDICATED),
        ("bytes_on_the_wire", Status.INDICATED),
    ]
    assert found["loss_on_the_path"].step.difference_ms == pytest.approx(-400)
    assert found["loss_on_the_path"].evidence == ("log_of_window_after_loss",)


def test_time_without_a_mechanism_is_an_unknown_cause(tmp_path: Path) -> None:
    """Nothing is guessed from the reason alone."""
    found = _verdicts(tmp_path, _plain({BUSY: 800}), _plain({BUSY: 800, ("unexplained", None): 300}))
    assert found["unknown:unexplained"].status is Status.UNKNOWN
    assert found["unknown:unexplained"].mechanism is None


def test_what_one_arm_cannot_tell_apart_is_not_named_in_the_other(tmp_path: Path) -> None:
    """h3's log shows only full windows: a loss that h2's names is one of several."""
    found = _verdicts(tmp_path, _plain({BUSY: 800, LOSS: 500}), _plain({BUSY: 800, ("window", None): 150}))
    verdict = found["several:window"]
    assert verdict.status is Status.SEVERAL
    assert [each.name for each in verdict.rivals] == ["loss_on_the_path"]
    assert "loss_on_the_path" not in found


@pytest.mark.parametrize(("lost", "is_candidate"), [(3.0, True), (0.0, False)])
def test_where_no_record_tells_all_mechanisms_of_the_union_are_candidates(
    tmp_path: Path, lost: float, is_candidate: bool
) -> None:
    """A full queue, a policer and an AQM like a loss of the path, which a path that lost nothing excludes."""

    def arm(ms: float) -> Trial:
        return lambda _: ({BUSY: 800, ("window", None): ms}, {"trial:lost_on_the_path": lost})

    rivals = {each.name for each in _verdicts(tmp_path, arm(50), arm(500))["several:window"].rivals}
    assert {"slow_start", "overshoot", "policed", "active_queue_management", "largest_window"} <= rivals
    assert ("loss_on_the_path" in rivals) is is_candidate
    assert "pacing" not in rivals


def test_a_difference_that_the_pairs_do_not_show_is_undecided(tmp_path: Path) -> None:
    """The pairs that it would take are told."""

    def h3(block: int) -> tuple[Parts, dict[str, float]]:
        return {BUSY: 800 + block / 100, LOSS: 100 + 60 * (-1) ** block * (block + 1)}, {}

    verdict = _verdicts(tmp_path, _plain({BUSY: 800, LOSS: 100}), h3)["loss_on_the_path"]
    assert verdict.status is Status.UNDECIDED
    assert verdict.pairs_needed is None or verdict.pairs_needed > PAIRS


def test_a_mechanism_in_both_arms_makes_no_difference(tmp_path: Path) -> None:
    """The time is told, as no cause of anything."""
    found = _verdicts(tmp_path, _plain({BUSY: 800, LOSS: 500}), _plain({BUSY: 900, LOSS: 500}))
    assert found["loss_on_the_path"].status is Status.IN_BOTH


@pytest.mark.parametrize("sent", [1000, 3000])
def test_more_losses_are_no_luck_where_chance_does_not_make_them(tmp_path: Path, sent: int) -> None:
    """h3 loses three times as many packets, each at the same cost: of three times as many packets that is to be
    expected, and of as many chance does not lose three times more in every pair."""

    def trial(lost: int, sent: int) -> Trial:
        facts = {"lost_packets": float(lost), "sent_packets": float(sent)}
        return lambda block: ({BUSY: 800 + block / 100, LOSS: 20.0 * lost + block / 100}, facts)

    found = _verdicts(tmp_path, trial(10, 1000), trial(30, sent))
    assert found["loss_on_the_path"].status is Status.INDICATED


ALPHA = 0.05
_LOSS, _BUSY = (Why.WINDOW_AFTER_LOSS, "loss_on_the_path"), (Why.LINK_BUSY, "bytes_on_the_wire")
Drawn = tuple[Known, list[tuple[str, str]]]


def _study(
    rng: np.random.Generator, rates: tuple[float, float], costs_ms: tuple[float, float], sent: int, pairs: int
) -> Drawn:
    """Each packet is lost by itself, and each loss costs about as much. A trial without a loss has no fact of it."""
    ms, facts = {}, {}
    for block in range(pairs):
        for arm, rate, cost in zip("ab", rates, costs_ms, strict=True):
            trial, lost = f"{arm}{block}", int(rng.binomial(sent, rate))
            ms[trial] = {_BUSY: 300.0 + rng.normal(0, 0.3)}
            facts[trial] = {TRIAL: {(LOST_ON_THE_PATH, "packets"): float(lost)}}
            if lost:
                ms[trial][_LOSS] = float(sum(rng.gamma(8, cost / 8) for _ in range(lost)))
                facts[trial]["loss_on_the_path"] = {
                    ("lost_packets", ""): float(lost),
                    ("sent_packets", ""): float(sent),
                }
    return Known(ms, {trial: {} for trial in ms}, facts, {}), [(f"a{n}", f"b{n}") for n in range(pairs)]


def _found(
    studies: int, seed: int, rates: tuple[float, float], costs_ms: tuple[float, float], sent: int = 200
) -> list[Status]:
    """Statuses of the losses' time in the studies that show a difference of it."""
    rng, shown = np.random.default_rng(seed), []
    for _ in range(studies):
        judged = verdicts_of(*_study(rng, rates, costs_ms, sent, 8), ALPHA)
        shown += [each.status for each in judged if each.name == "loss_on_the_path" and each.status.found]
    return shown


def test_of_arms_that_are_alike_what_is_found_is_luck() -> None:
    """0.5 % of 200 packets: a third of the trials lose none. What a study finds by chance is told as luck."""
    shown = _found(1200, 1, (0.005, 0.005), (40.0, 40.0))
    assert 8 <= len(shown) <= 80
    assert shown.count(Status.LUCK) >= 0.8 * len(shown)


def test_losses_that_cost_one_arm_more_are_no_luck() -> None:
    """Equally many losses, each at four times the cost, are no luck."""
    shown = _found(150, 2, (0.01, 0.01), (20.0, 80.0))
    assert len(shown) >= 60
    assert shown.count(Status.LUCK) <= 0.1 * len(shown)


def test_a_path_that_loses_more_of_one_arm_is_no_luck() -> None:
    """A path that drops large packets alone loses the arms' packets at two rates."""
    shown = _found(60, 3, (0.0, 0.04), (40.0, 40.0), sent=700)
    assert len(shown) == 60
    assert Status.LUCK not in shown


@pytest.mark.parametrize(("bursts", "expected"), [(True, True), (False, False)])
def test_bursts_may_be_chance_where_single_losses_are_not(bursts: bool, expected: bool) -> None:
    """Sixty losses against ten: of two bursts in eight pairs chance may have made it, of losses in every pair not."""
    lost = np.zeros((8, 2))
    lost[:, 0] = 1.25
    lost[:, 1] = [30, 0, 0, 30, 0, 0, 0, 0] if bursts else 7.5
    assert is_luck(20.0 * lost, Losses(lost, np.full((8, 2), 1000.0))) is expected
