# SPDX-License-Identifier: Apache-2.0
"""The sentence above a cell's list of causes, from steps and verdicts that were written by hand."""

from __future__ import annotations

from dataclasses import replace

from unit.report.words.test_account import waterfall

from quiclab.compare.model import StudyAnalysis
from quiclab.compare.statistics import Interval
from quiclab.evidence.metrics import METRICS
from quiclab.report.words.explanation_text import clause, compared_in, headline, sentence
from quiclab.why.account import Why
from quiclab.why.accounts import Step, Waterfall
from quiclab.why.causes import Status, Verdict
from quiclab.why.explanation import Explanation
from quiclab.why.mechanisms import BY_NAME
from quiclab.why.prediction.in_arm import PredictedEffect, Range


def _headline(found: Waterfall, *causes: Verdict) -> str:
    return headline(Explanation(found, causes, 0.05))


def _verdict(cause: str, difference_ms: float, status: Status = Status.INDICATED) -> Verdict:
    found = status.found
    ends = Interval(difference_ms - 1, difference_ms + 1, 0.95) if found else None
    p = 0.01 if found else 0.4
    step = Step(None, 500.0, 500.0 + difference_ms, difference_ms, ends, p, p)
    return Verdict(status, step, BY_NAME[cause], None, Why.SLOW_START, (), (), (), (), None)


def test_causes_are_those_of_the_list_with_its_numbers() -> None:
    """Waits say another thing of the same time: slow start takes 427 ms longer by the waits, and less by the causes."""
    found = waterfall(385.0, slow_start=426.7, set_up=-41.0)
    causes = (_verdict("largest_window", 451.0), _verdict("slow_start", -24.5))
    explained = Explanation(found, causes, 0.05)
    assert headline(explained) == (
        "h3 takes 385 ms longer on average (+384.5 … +385.5 ms): sender's maximum congestion window (+451 ms) "
        "and slow start (−24.5 ms)."
    )
    assert "24.5 ms less" in sentence(causes[1], explained)
    assert clause(explained.parts[1]) == "slow start (−24.5 ms)"
    assert explained.parts[1].why is Why.SLOW_START


def test_limit_that_would_hold_next_is_told_with_what_would_go() -> None:
    found, verdict = waterfall(385.0), _verdict("receive_window_limited", 451.0)
    alone, both = Range(325.0, 353.0, 0.95, 8), Range(660.0, 680.0, 0.95, 8)
    known = replace(verdict, without=PredictedEffect(alone, Why.SLOW_START, both))
    assert sentence(known, Explanation(found, (known,), 0.05)).endswith(
        " Without it h3 would take 325 ms … 353 ms less, by its records: slow start would hold it back next (without "
        "both: 660 ms … 680 ms less)."
    )


def test_prediction_that_equals_the_share_is_not_told() -> None:
    found, verdict = waterfall(385.0), _verdict("handshake_round_trips", 451.0)
    known = replace(verdict, without=PredictedEffect(Range(940.0, 960.0, 0.95, 8), None, None))
    assert "Without it" not in sentence(known, Explanation(found, (known,), 0.05))


def test_what_is_unclear_and_what_is_luck_are_told_as_such() -> None:
    """A cause that both arms have as much of makes no difference."""
    causes = (
        _verdict("loss_on_the_path", 90.0, Status.LUCK),
        _verdict("pacing", 40.0, Status.UNDECIDED),
        _verdict("handshake_round_trips", -20.0, Status.RECORDED),
        _verdict("slow_start", 0.5, Status.IN_BOTH),
    )
    assert _headline(waterfall(110.0), *causes) == (
        "h3 takes 110 ms longer on average (+109.5 … +110.5 ms): handshake round trips (−20.0 ms). Mostly chance: "
        "congestion window after loss on the path (+90.0 ms). Unclear with 8 pairs: pacing (+40.0 ms)."
    )


def test_too_few_pairs_are_told_as_too_few() -> None:
    """Five alike show nothing at 5 %, and no interval beside them says otherwise."""
    found = replace(waterfall(385.0), pairs=5)
    found = replace(found, total=replace(found.total, p=0.0625, adjusted_p=0.0625, interval_ms=None))
    told = _headline(found, _verdict("largest_window", 451.0, Status.UNDECIDED))
    assert told == (
        "h3 takes 385 ms longer on average, and 5 pairs are too few to show a difference (6 are the least for one "
        "comparison, before any correction for several); 5 pairs show no cause. Largest on average: sender's maximum "
        "congestion window (+451 ms)."
    )


def _open(found: Waterfall, low: float, high: float, p: float) -> Waterfall:
    return replace(found, total=replace(found.total, interval_ms=Interval(low, high, 0.95), adjusted_p=p))


def test_effects_that_cancel_are_told_where_the_whole_does_not_differ() -> None:
    """No difference of the whole is no reason to be silent about two of its parts."""
    told = _headline(_open(waterfall(0.3, link_busy=21.2, set_up=-21.0), -0.2, 0.8, 0.6))
    assert told.endswith(
        ": transmitting (+21.2 ms) and handshake (−21.0 ms). 21.2 ms more and 21.0 ms less partly cancel out."
    )


def test_a_cause_that_is_a_part_of_another_one_is_told_with_the_sum_of_both() -> None:
    """Reno's waits below 70 % of a window are more, and those above it less: the losses cost both arms the same."""
    moved = (_verdict("larger_window_reduction", 1410.0), _verdict("loss_on_the_path", -1380.0))
    told = _headline(waterfall(30.0), *moved)
    assert told.endswith(
        " Larger window reduction after each loss than CUBIC's is counted apart from congestion window after loss on "
        "the path: together h3 takes 30.0 ms longer."
    )
    alone = _headline(waterfall(1390.0), _verdict("larger_window_reduction", 1410.0), _verdict("slow_start", -1380.0))
    assert "partly cancel out" in alone
    more = _headline(waterfall(1400.0), _verdict("larger_window_reduction", 1410.0), _verdict("loss_on_the_path", 50.0))
    assert "counted apart" not in more


def test_an_interval_has_the_unit_of_what_it_is_of_and_ends_that_are_not_0_do_not_look_like_it() -> None:
    """Seconds beside seconds."""
    assert _headline(waterfall(-1340.0)).startswith("h3 takes 1.34 s less on average (−1.34 … −1.34 s)")
    near = waterfall(3.3)
    near = replace(near, total=replace(near.total, interval_ms=Interval(0.04, 6.6, 0.95)))
    assert "(+0.04 … +6.6 ms)" in _headline(near)


def test_without_causes_the_waits_stand_in_their_place() -> None:
    """Tables of earlier versions name no mechanisms."""
    found = waterfall(40.0, link_busy=40.0)
    assert _headline(found).endswith(": transmitting (+40.0 ms).")
    steps = tuple(replace(each, adjusted_p=0.5) for each in found.steps)
    assert _headline(replace(found, steps=steps)).endswith(
        "; 8 pairs show no wait. Largest on average: transmitting (+40.0 ms)."
    )


def test_a_cell_names_its_arms_where_several_pairs_are_compared() -> None:
    """Cells of two servers have one name: which of them a sentence is about, its arms say."""
    found = waterfall(-72.0, set_up=-72.0)
    nginx, ttlb = found.comparison, next(metric for metric in METRICS if metric.name == "ttlb_ms")
    caddy = replace(nginx, other=replace(nginx.other, arm="h3-caddy"), baseline=replace(nginx.baseline, arm="h2-caddy"))
    explained = Explanation(found, (), 0.05)
    alone = StudyAnalysis("s", ttlb, 0.05, "", (), (), (), {}, {}, (nginx,), (), ())
    assert compared_in(explained, alone) == explained.cell_name
    told = compared_in(explained, replace(alone, comparisons=(nginx, caddy)))
    assert told == f"{explained.cell_name}, {nginx.other.arm} against {nginx.baseline.arm}"
