# SPDX-License-Identifier: Apache-2.0
"""Waterfalls from tables that were written by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from quiclab.compare.cell_comparison import arm_result, compare
from quiclab.compare.model import ArmResult, Conclusion, Metric, StudyAnalysis, TrialResult
from quiclab.compare.statistics import Interval, signed_rank
from quiclab.compare.study_tables import open_study
from quiclab.model.tables import OF_STUDY, TABLES
from quiclab.report.words.explanation_text import headline, parting
from quiclab.why.account import MetricScope, Why, account_totals
from quiclab.why.accounts import Waterfall, family, waterfalls, why_without
from quiclab.why.explanation import Explanation, explanations

TTLB = Metric("ttlb_ms", "time to last byte", "ms", lower_is_better=True)
PAIRS = 8


def _arm(name: str, status: str = "verified") -> ArmResult:
    trials = [TrialResult(f"{ord(name[-1]):x}{block}", block, status, 100.0, "") for block in range(PAIRS)]
    return arm_result(name, trials, PAIRS, 0, TTLB)


def _write(study: Path, trial_id: str, **ms: float) -> None:
    """The account of a trial, with labels in the order given; "what" is the first of its kind."""
    _keep(study, trial_id, _rows("ttlb", **ms))


def _rows(of: str, **ms: float) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    at_ns = 0
    for why, length_ms in ms.items():
        until_ns = at_ns + round(length_ms * 1e6)
        busy = why == "link_busy"
        what = "payload" if busy else "propagation_up"
        sizes = (4000, 5_000_000) if busy else (None, None)
        evidence = "link_packets" if busy else f"evidence_{why}"
        packet = ("down", 0, "raw/link.qplog")
        rows.append((of, what, why, at_ns, until_ns, *packet, *sizes, None, evidence, None, None, None, None, None))
        at_ns = until_ns
    return rows


def _keep(study: Path, trial_id: str, rows: list[tuple[object, ...]]) -> None:
    account = pl.DataFrame(rows, TABLES["account"].schema(), orient="row")
    for name, table in (("account", account), ("account_totals", account_totals(account))):
        folder = study / "tables" / name
        folder.mkdir(parents=True, exist_ok=True)
        table.write_parquet(folder / f"{trial_id}.parquet")


def _study(folder: Path, lacking: int = 0) -> Path:
    """h3 saves 20 ms of set-up and loses 30 ms of busy time in each pair; its slow start varies around h2's."""
    (folder / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(folder / "tables" / "trials.parquet")
    for block in range(PAIRS):
        noise = (-1) ** block * (block // 2)
        h2 = {"tcp_handshake": 20, "tls_round_trip": 20 + block / 10, "request": 10, "link_busy": 800, "slow_start": 50}
        _write(folder, f"{ord('2'):x}{block}", **h2)
        if block >= lacking:
            h3 = {"quic_handshake": 20.0, "request": 10.0, "link_busy": 830 + block / 10, "slow_start": 50.0 + noise}
            _write(folder, f"{ord('3'):x}{block}", **h3)
    return folder


def _waterfall(study: Path, other: ArmResult | None = None, metric: str = "ttlb_ms") -> Waterfall:
    comparison = compare(("1MB/p", "main", "1MB", "p"), _arm("h2"), other or _arm("h3"), TTLB, 0.05)
    return waterfalls(open_study(study), [comparison], 0.05, metric)[0]


def test_reasons_add_up_and_those_that_differ_are_told(tmp_path: Path) -> None:
    """Set-up and busy time differ in each pair by nearly the same, slow start by chance; *what* and roles sum alike."""
    found = _waterfall(_study(tmp_path))
    assert found.pairs == PAIRS
    for steps in (found.steps, found.floor, found.roles):
        assert sum(step.difference_ms for step in steps) == pytest.approx(found.total.difference_ms)
    assert found.total.difference_ms == pytest.approx(10, abs=0.5)
    assert [step.label for step in found.steps if step.differs(0.05)] == [Why.SET_UP, Why.LINK_BUSY]
    assert found.gross_ms > 50
    assert found.served_bytes == (5e6, 5e6)
    assert found.steps[0].baseline_decided_by == ("evidence_tcp_handshake", "evidence_tls_round_trip")
    assert found.steps[0].other_decided_by == ("evidence_quic_handshake",)


def test_p_is_adjusted_and_intervals_allow_for_those_that_are_told(tmp_path: Path) -> None:
    """Four categories have time, three are tested, and two of these are told, so that an interval errs two thirds as
    often as the one of the whole. The request is equal in all pairs: it could show nothing, and has no p."""
    found = _waterfall(_study(tmp_path))
    assert [step.label for step in found.steps] == [Why.SET_UP, Why.REQUEST, Why.LINK_BUSY, Why.SLOW_START]
    intervals = [step.interval_ms for step in (found.steps[0], found.total)]
    assert [each.confidence for each in intervals if each] == pytest.approx([1 - 0.05 * 2 / 3, 0.95])
    p = 2 / 2**PAIRS
    assert [found.steps[0].p, found.steps[0].adjusted_p] == pytest.approx([p, p * 3 / 2])
    assert (found.steps[1].adjusted_p, found.tested) == (None, 3)


def test_what_is_tested_does_not_depend_on_signs() -> None:
    """Swapped arms of a pair change which way a part differs, and neither what is tested nor how many are."""
    rng = np.random.default_rng(5)
    parts = [rng.normal(100, noise, (12, 2)) for noise in (20.0, 5.0, 0.05)]
    swapped = [np.where(rng.random((12, 1)) < 0.5, each, each[:, ::-1]) for each in parts]
    for each in (parts, swapped):
        assert [step.adjusted_p is not None for step in family(each, 0.05)] == [True, True, False]


def test_parts_that_do_not_move_leave_the_level_of_those_that_do() -> None:
    """Equal arms: one part of three alike is found in 5 % of studies at most, whatever else stands beside it."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(400):
        parts = [rng.normal(100, 20, (8, 2)) for _ in range(3)] + [rng.normal(100, 0.01, (8, 2)) for _ in range(5)]
        found += any(step.differs(0.05) for step in family(parts, 0.05))
    assert found <= 28  # 20 are expected at most; the binomial's 97th of 100


def test_an_interval_excludes_zero_only_where_the_difference_is_shown() -> None:
    """Five pairs that are all alike: Student's interval knows the spread, and the exact test cannot tell anything of
    five. One verdict, no interval; with one pair more both agree, and an outlier keeps both from it."""
    noise = np.array([0.1, -0.2, 0.0, 0.3, -0.1, 0.2, -0.3])
    five, six = (family([np.column_stack([100 + noise[:n], 485 + noise[:n][::-1]])], 0.05)[0] for n in (5, 6))
    assert not five.differs(0.05)
    assert five.interval_ms is None
    assert six.differs(0.05)
    assert six.interval_ms is not None
    assert six.interval_ms.low > 380
    # Seven pairs of which one points the other way by more than all others.
    swapped = np.column_stack([np.zeros(7), [4.0, 5.0, 6.0, 5.0, 4.0, 6.0, -6.5]])
    (open_,) = family([swapped], 0.05)
    assert not open_.differs(0.05)
    assert open_.interval_ms is not None
    assert open_.interval_ms.low <= 0


def test_an_interval_and_its_p_say_the_same() -> None:
    """In 250 cells of three to thirteen pairs, with six parts that stand still, move by whole numbers or have a long
    tail: a part's interval excludes 0 exactly where its adjusted p is at most the level."""
    rng = np.random.default_rng(8)
    shown = []
    for _ in range(250):
        pairs = int(rng.integers(3, 14))
        moves = (
            rng.normal(0.6, 1, pairs),
            rng.exponential(1, pairs) - 0.3,
            rng.integers(0, 3, pairs).astype(np.float64),
            rng.choice([0.0, 0.0, 40.0], pairs),
            rng.normal(3, 1, pairs),
            np.zeros(pairs),
        )
        parts = [np.column_stack([np.full(pairs, 50.0), 50 + rng.choice([1, 3]) * each]) for each in moves]
        for step in family(parts, 0.05):
            excluded = step.interval_ms is not None and not step.interval_ms.low <= 0 <= step.interval_ms.high
            assert excluded == step.differs(0.05) == (step.adjusted_p is not None and step.adjusted_p <= 0.05)
            shown.append(excluded)
    assert 150 < sum(shown) < len(shown) - 150


def test_pairs_that_lean_without_moving_the_mean_are_not_shown() -> None:
    """Seven of eight pairs are longer, and the eighth takes it all back: the exact test finds that they lean, and the
    mean of them does not; the table has one p for both."""
    moved = np.array([3.0, 4, 5, 6, 7, 8, 9, -2])
    far = np.array([3.0, 4, 5, 6, 7, 8, 90, -2])
    near_step, far_step = (family([np.column_stack([np.full(8, 50.0), 50 + each])], 0.05)[0] for each in (moved, far))
    assert near_step.differs(0.05)
    assert not far_step.differs(0.05)
    assert far_step.p is not None
    assert far_step.p > 0.05 >= signed_rank(far).p


def _undecided(folder: Path, **h3: float) -> Waterfall:
    (folder / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(folder / "tables" / "trials.parquet")
    for block in range(PAIRS):
        _write(folder, f"{ord('2'):x}{block}", request=10, slow_start=20, window_after_loss=30, pacing=5)
        _write(folder, f"{ord('3'):x}{block}", request=10, **h3)
    return _waterfall(folder)


def test_only_what_both_arms_evidence_supports_is_compared(tmp_path: Path) -> None:
    """h3's evidence does not tell which window it was: then h2's is not told apart either, and the sums stay."""
    found = _undecided(tmp_path, slow_start=1, window=44, pacing=5)
    assert [(step.label, step.baseline_ms, step.other_ms) for step in found.steps] == [
        (Why.REQUEST, 10, 10),
        (Why.WINDOW, 50, 45),
        (Why.PACING, 5, 5),
    ]


def test_the_widest_union_takes_in_the_narrower_one(tmp_path: Path) -> None:
    """Where one arm only awaits ACKs, whatever for, all windows are that; a little that is undecided is a row of its
    own."""
    found = _undecided(tmp_path, awaiting_acks=40, window=5, pacing=4.9, pacing_or_program=0.1)
    assert [(str(step.label), step.other_ms) for step in found.steps] == [
        ("request", 10),
        ("awaiting_acks", pytest.approx(45)),
        ("pacing", pytest.approx(4.9)),
        ("pacing_or_program", pytest.approx(0.1)),
    ]


def test_a_wait_that_one_arm_shows_and_the_other_cannot_have_is_its_own(tmp_path: Path) -> None:
    """h3 waits 130 ms after losses, h2 30, which leaves nothing undecided: h3 has 100 ms more of that at least. Slow
    start, of which h3 shows none, may be what h3 leaves undecided."""
    found = _undecided(tmp_path, window_after_loss=130, window=20, pacing=5)
    assert [(step.label, step.baseline_ms, step.other_ms) for step in found.steps] == [
        (Why.REQUEST, 10, 10),
        (Why.WINDOW_AFTER_LOSS, 30, 130),
        (Why.WINDOW, 20, 20),
        (Why.PACING, 5, 5),
    ]


@pytest.mark.parametrize(("undecided_ms", "label"), [(24, Why.WINDOW_AFTER_LOSS), (26, Why.WINDOW)])
def test_a_little_undecided_time_of_the_other_arm_hides_no_large_difference(
    tmp_path: Path, undecided_ms: float, label: Why
) -> None:
    """Both arms leave some of it undecided: h2's part may be more than a quarter of what h3 shows beyond it."""
    (tmp_path / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(tmp_path / "tables" / "trials.parquet")
    for block in range(PAIRS):
        _write(tmp_path, f"{ord('2'):x}{block}", request=10, window=undecided_ms)
        _write(tmp_path, f"{ord('3'):x}{block}", request=10, window=30, window_after_loss=100)
    found = _waterfall(tmp_path)
    assert found.steps[1].label is label


def test_roles_are_cut_where_the_bytes_are(tmp_path: Path) -> None:
    """Ten tenths of 800 ms each take 80, and what is idle behind the last byte served belongs to the last one."""
    found = _waterfall(_study(tmp_path))
    ms = [step.baseline_ms for step in found.roles]
    assert ms == pytest.approx([40.35, 10, *[80] * 9, 130])


def test_pairs_without_an_account_are_counted(tmp_path: Path) -> None:
    """A trial without rows takes its pair with it, and nothing is filled in."""
    found = _waterfall(_study(tmp_path, lacking=3))
    assert (found.pairs, found.without, found.first_without) == (PAIRS - 3, 3, f"{ord('3'):x}0")
    assert why_without(open_study(tmp_path), found) == "the trial has no log of its link's packets"


def test_failed_trials_have_no_account(tmp_path: Path) -> None:
    """What did not end has no time to share out."""
    found = _waterfall(_study(tmp_path), _arm("h3", "failed"))
    assert (found.pairs, found.without, found.steps) == (0, 0, ())


def test_a_study_of_an_older_version_has_none(tmp_path: Path) -> None:
    """Without the table all pairs lack an account; nothing is raised."""
    (tmp_path / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(tmp_path / "tables" / "trials.parquet")
    found = _waterfall(tmp_path)
    assert (found.pairs, found.without) == (0, PAIRS)


def test_videos_are_compared_by_their_start_up_or_by_their_stalls(tmp_path: Path) -> None:
    """A video that never stalled has an account of no time; stalls of a trial are summed up."""
    (tmp_path / "tables").mkdir()
    OF_STUDY["trials"].empty().write_parquet(tmp_path / "tables" / "trials.parquet")
    for block in range(PAIRS):
        start_up = _rows("start_up", player=100, link_busy=400)
        stalls = [*_rows("stall 1", link_busy=30), *_rows("stall 2", link_busy=15, player=5)]
        _keep(tmp_path, f"{ord('2'):x}{block}", [*start_up, *stalls])
        _keep(tmp_path, f"{ord('3'):x}{block}", start_up)
    stalled, started = (_waterfall(tmp_path, metric=metric) for metric in ("stall_ms", "startup_ms"))
    assert (stalled.of, stalled.pairs, stalled.total.difference_ms) == (MetricScope.STALL, PAIRS, -50)
    assert {step.label: step.difference_ms for step in stalled.steps} == {Why.PLAYER: -5, Why.LINK_BUSY: -45}
    assert stalled.roles == ()
    assert (started.of, started.total.baseline_ms, started.total.difference_ms) == (MetricScope.START_UP, 500, 0)
    assert _waterfall(tmp_path, metric="throughput_bit_per_s").of is MetricScope.START_UP


def test_older_tables_have_transfers_alone(tmp_path: Path) -> None:
    """They do not say what an account is of."""
    study = _study(tmp_path)
    known = _waterfall(study)
    for file in (study / "tables").glob("account*/*.parquet"):
        pl.read_parquet(file).drop("of").write_parquet(file)
    assert _waterfall(study) == known


def test_nothing_is_shown_of_a_cell_that_is_not_judged(tmp_path: Path) -> None:
    """The numbers stay, without a test; the sentence says why, and causes are told neither."""
    study = open_study(_study(tmp_path))
    comparison = compare(("1MB/p", "main", "1MB", "p"), _arm("h2"), _arm("h3"), TTLB, 0.05)
    spoiled = replace(comparison, conclusion=Conclusion.NOT_JUDGED, why="Disturbed: run it again.")
    analysis = StudyAnalysis("s", TTLB, 0.05, "", (), (), (), {}, {}, (spoiled,), (), ())
    usual, (explained,) = _waterfall(study.directory), explanations(study, analysis)
    found = explained.waterfall
    assert [step.difference_ms for step in found.steps] == [step.difference_ms for step in usual.steps]
    assert not any(step.differs(0.05) for step in (*found.steps, *found.floor, *found.roles, found.total))
    assert {step.interval_ms for step in (*found.steps, *found.floor, *found.roles, found.total)} == {None}
    assert headline(explained) == "not judged. Disturbed: run it again."
    assert parting(explained) == ""
    assert not explained.causes


@pytest.mark.parametrize(
    ("conclusion", "pct", "told"),
    [
        (Conclusion.ALIKE, 0.4, "equivalent"),
        (Conclusion.MEDIAN_ALIKE, -0.4, "equivalent"),
        (Conclusion.DIFFERENT, -5.0, "5.0 % less time"),
        (Conclusion.DIFFERENT, 5.0, ""),
        (Conclusion.UNDECIDED, -5.0, ""),
    ],
)
def test_the_mean_is_told_beside_the_typical_pair_where_they_part(
    tmp_path: Path, conclusion: Conclusion, pct: float, told: str
) -> None:
    """The means are 10 ms apart; where the cell is called alike, or the other way round, the headline has both."""
    found = _waterfall(_study(tmp_path))
    answered = replace(found.comparison, conclusion=conclusion, difference_pct=pct)
    text = headline(Explanation(replace(found, comparison=answered), (), 0.05))
    assert "longer on average" in text
    assert ("typical pair" in text) == bool(told)
    assert told in text


def test_a_difference_of_the_typical_pair_that_the_mean_does_not_show(tmp_path: Path) -> None:
    """The sentence about the means does not deny it."""
    found = _waterfall(_study(tmp_path))
    unshown = replace(found.total, adjusted_p=0.4, interval_ms=Interval(-5.0, 25.0, 0.95))
    answered = replace(found.comparison, conclusion=Conclusion.DIFFERENT, difference_pct=5.0)
    text = headline(Explanation(replace(found, comparison=answered, total=unshown), (), 0.05))
    assert "not significant" in text
    assert "5.0 % more time" in text
