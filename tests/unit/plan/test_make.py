# SPDX-License-Identifier: Apache-2.0
"""The plan: every trial once, blocks together, cells interleaved, identities from content."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import random
from collections import Counter, defaultdict

import pytest
from specs import SMALL, study_of

from quiclab.model.errors import SpecError
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import AaControl, Arm, Path, Program, Study, Tcp, Workload
from quiclab.model.units import ByteCount
from quiclab.plan import make
from quiclab.plan.make import grow_plan, make_plan, planned_rows
from quiclab.plan.order import as_kept, balanced_order, draw_order, order_block


def study(
    *, blocks: int = 6, aa_blocks: int | None = None, workloads: int = 3, paths: int = 2, arms: int = 2, seed: int = 1
) -> Study:
    """A matrix of any size."""
    program = Program("x")
    return Study(
        name="s",
        seed=seed,
        blocks=blocks,
        workloads=tuple(Workload(f"w{number}", ByteCount(1000)) for number in range(workloads)),
        paths=tuple(Path(f"p{number}") for number in range(paths)),
        arms=tuple(Arm(f"a{number}", "h2", program, program, Tcp("reno")) for number in range(arms)),
        baseline="a0",
        aa=AaControl("w0", "p0", blocks if aa_blocks is None else aa_blocks),
    )


def identity(row: PlanRow) -> PlanRow:
    """A row without its place in the order."""
    return dataclasses.replace(row, position=0)


def blocks_in_order(plan: tuple[PlanRow, ...]) -> list[tuple[PlanRow, ...]]:
    """Consecutive rows of the same block."""
    return [tuple(rows) for _, rows in itertools.groupby(plan, key=lambda row: row.block_id)]


@pytest.mark.parametrize("arms", [2, 3, 5])
def test_every_trial_is_planned_once(arms: int) -> None:
    """Each cell has each arm in each block; each arm has an A/A cell with two twins."""
    plan = make_plan(study(arms=arms, aa_blocks=4))
    main = [row for row in plan if row.kind == "main"]
    control = [row for row in plan if row.kind == "aa"]
    assert len(main) == len({(row.cell_id, row.block, row.arm) for row in main}) == 3 * 2 * 6 * arms
    assert len(control) == len({(row.cell_id, row.block, row.arm) for row in control}) == arms * 4 * 2
    assert len({row.trial_id for row in plan}) == len(plan)
    assert [row.position for row in plan] == list(range(len(plan)))


def test_a_block_runs_back_to_back_with_one_seed() -> None:
    """All its trials are neighbours, of the same cell, and meet the same draws."""
    plan = make_plan(study(arms=3))
    blocks = blocks_in_order(plan)
    assert len(blocks) == len({row.block_id for row in plan})
    for rows in blocks:
        assert len({(row.cell_id, row.block, row.seed) for row in rows}) == 1
        assert len({row.arm for row in rows}) == len(rows)


def test_seeds_are_64_bits_and_differ_between_blocks() -> None:
    """Also between an A/A cell and the main cell of the same work and path."""
    plan = make_plan(study())
    seeds = {row.block_id: row.seed for row in plan}
    assert len(set(seeds.values())) == len(seeds)
    assert all(0 <= seed < 2**64 for seed in seeds.values())
    assert max(seeds.values()) > 2**62


def test_rows_have_the_baseline_of_their_own_arm() -> None:
    """All arms are in one block, whatever they are compared with; identities and order do not depend on it."""
    one = study(arms=4)
    arms = tuple(dataclasses.replace(arm, baseline=f"a{number // 2 * 2}") for number, arm in enumerate(one.arms))
    rows, before = make_plan(dataclasses.replace(one, arms=arms)), make_plan(one)
    main = [row for row in rows if row.kind == "main"]
    assert {(row.arm, row.baseline_arm) for row in main} == {("a0", "a0"), ("a1", "a0"), ("a2", "a2"), ("a3", "a2")}
    assert [row.trial_id for row in rows] == [row.trial_id for row in before]
    assert [row for row in rows if row.kind == "aa"] == [row for row in before if row.kind == "aa"]


def test_aa_rows_run_one_arm_under_two_labels() -> None:
    """The first twin is what the second is compared with."""
    rows = [row for row in make_plan(study()) if row.cell_id == "w0/p0/aa-a1"]
    assert {row.arm for row in rows} == {"a1#1", "a1#2"}
    assert {row.arm_name for row in rows} == {"a1"}
    assert {row.baseline_arm for row in rows} == {"a1#1"}


def test_drift_hits_all_cells_alike() -> None:
    """Round by round, every cell has had the same number of blocks."""
    plan = make_plan(study(blocks=6))
    cells = len({row.cell_id for row in plan})
    for round_number, rows in enumerate(_rounds(plan, cells)):
        assert len({block[0].cell_id for block in rows}) == cells
        assert {block[0].block for block in rows} == {round_number}


def _rounds(plan: tuple[PlanRow, ...], cells: int) -> list[list[tuple[PlanRow, ...]]]:
    blocks = blocks_in_order(plan)
    return [blocks[start : start + cells] for start in range(0, len(blocks), cells)]


def test_the_first_rows_cost_the_same_however_long_the_plan_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn for blocks that nobody has asked for yet."""
    drawn: list[str] = []
    digest = make.digest
    monkeypatch.setattr(make, "digest", lambda purpose, *of: drawn.append(purpose) or digest(purpose, *of))
    first: dict[int, list[PlanRow]] = {}
    costs = {}
    for blocks in (20, 100_000):
        drawn.clear()
        first[blocks] = list(itertools.islice(planned_rows(study(blocks=blocks)), 20))
        costs[blocks] = len(drawn)
    assert costs[20] == costs[100_000]
    assert first[20] == first[100_000]


def test_without_a_control_the_rest_is_the_same() -> None:
    """An A/A control of no blocks has no cells; other trials keep their identities."""
    without = make_plan(study(aa_blocks=0))
    assert {row.kind for row in without} == {"main"}
    assert {identity(row) for row in without} == {identity(row) for row in make_plan(study()) if row.kind == "main"}


@pytest.mark.parametrize("aa_blocks", [1, 2, 3, 4, 12])
def test_aa_blocks_are_spread_evenly(aa_blocks: int) -> None:
    """With fewer or more blocks than the others, they still cover the study from one end to the other."""
    plan = make_plan(study(blocks=6, aa_blocks=aa_blocks, workloads=4))
    places = [row.position / len(plan) for row in plan if row.arm == "a0#1"]
    assert len(places) == aa_blocks
    for number, place in enumerate(places):
        assert abs(place - (number + 0.5) / aa_blocks) < 0.5 / aa_blocks + 0.1


def test_orders_are_random_between_cells() -> None:
    """No cell always goes first: a fair die is within five standard deviations."""
    plan = make_plan(study(blocks=200, workloads=2, paths=1))
    first_cell = Counter(rows[0][0].cell_id for rows in _rounds(plan, 4))
    assert all(abs(count - 50) < 5 * 6.2 for count in first_cell.values())
    assert len(first_cell) == 4


@pytest.mark.parametrize("arms", [2, 3, 4, 5])
def test_orders_are_balanced_over_the_blocks_of_each_cell(arms: int) -> None:
    """In each two blocks every arm runs as often before another as after it; in twice as many blocks as there are arms
    each is at each place twice. A/A twins too."""
    cells = defaultdict(list)
    for rows in blocks_in_order(make_plan(study(arms=arms, blocks=4 * arms, workloads=2))):
        cells[rows[0].cell_id].append(rows)
    for blocks in cells.values():
        orders = [[row.arm for row in rows] for rows in sorted(blocks, key=lambda rows: rows[0].block)]
        for first, second in zip(orders[::2], orders[1::2], strict=True):
            assert first == second[::-1]
        width = len(orders[0])
        for start in range(0, len(orders), 2 * width):
            square = orders[start : start + 2 * width]
            for place in range(width):
                assert set(Counter(order[place] for order in square).values()) == {2}


@pytest.mark.parametrize("blocks", range(2, 13))
def test_no_arm_of_two_is_ahead_by_more_than_one_block(blocks: int) -> None:
    """Seven blocks are never six to one again."""
    for seed in range(40):
        first = Counter(balanced_order(seed, "w/p", block, 2)[0] for block in range(blocks))
        assert abs(first[0] - first[1]) == blocks % 2


@pytest.mark.parametrize("arms", [2, 3])
def test_each_order_of_a_block_is_as_likely(arms: int) -> None:
    """Over the seeds, whichever block of the square it is; and what one block was tells nothing of another pair."""
    for block in range(2 * arms):
        counts = Counter(balanced_order(seed, "w/p", block, arms) for seed in range(1200))
        even = 1200 / len(counts)
        assert set(counts) == set(itertools.permutations(range(arms)))
        assert all(abs(count - even) < 5 * even**0.5 for count in counts.values())
    if arms == 2:
        alike = sum(balanced_order(seed, "w/p", 0, 2) == balanced_order(seed, "w/p", 2, 2) for seed in range(1200))
        assert abs(alike - 600) < 5 * 17.4


def test_more_blocks_change_no_order() -> None:
    """Neither those of a larger spec nor those that an open cell grows by."""
    before = make_plan(study(arms=3, aa_blocks=3))
    larger = make_plan(study(arms=3, aa_blocks=3, blocks=11))
    grown = grow_plan(study(arms=3, aa_blocks=3), {"w0/p0": 11})

    def orders(plan: tuple[PlanRow, ...]) -> dict[str, list[str]]:
        return {rows[0].block_id: [row.arm for row in rows] for rows in blocks_in_order(plan)}

    assert orders(before).items() <= orders(larger).items()
    assert orders(before).items() <= orders(grown).items() <= orders(larger).items()


def test_a_study_that_was_begun_keeps_its_order() -> None:
    """The first attempt at a block follows the positions that the ledger has, whatever this version would plan; blocks
    that are new follow the plan, and a block that is run again draws."""
    small, large = make_plan(study(blocks=3)), make_plan(study(blocks=5))
    kept = {row.trial_id: len(small) - row.position for row in small}
    for rows, planned in zip(blocks_in_order(as_kept(large, kept)), blocks_in_order(large), strict=True):
        known = rows[0].trial_id in kept
        expected = planned[::-1] if known else planned
        assert [row.trial_id for row in order_block(rows, 1)] == [row.trial_id for row in expected]
        assert [row.arm for row in order_block(rows, 2)] == [row.arm for row in order_block(planned, 2)]


@pytest.mark.parametrize(
    "grow", [{"blocks": 9}, {"workloads": 5}, {"paths": 4}, {"blocks": 8, "aa_blocks": 3, "paths": 3}]
)
def test_a_plan_can_grow(grow: dict[str, int]) -> None:
    """What was planned stays: same identities, same seeds."""
    before = {identity(row) for row in make_plan(study(aa_blocks=3))}
    after = {identity(row) for row in make_plan(study(**{"aa_blocks": 3, **grow}))}
    assert before < after


def test_another_seed_is_another_plan() -> None:
    """No identity and no draw is shared."""
    one, two = make_plan(study(seed=1)), make_plan(study(seed=2))
    assert not {row.trial_id for row in one} & {row.trial_id for row in two}
    assert not {row.seed for row in one} & {row.seed for row in two}
    assert [row.cell_id for row in one] != [row.cell_id for row in two]


def test_identities_do_not_change_between_versions(tmp_path: pathlib.Path) -> None:
    """A study that was begun can be continued by the next version: these hashes are part of the format."""
    row = min(make_plan(study_of(tmp_path, SMALL)), key=lambda row: (row.cell_id, row.block, row.arm))
    assert (row.cell_id, row.block, row.arm) == ("100KB/plain", 0, "h2")
    assert (row.trial_id, row.block_id, row.seed) == EXPECTED


EXPECTED = ("3601d59f1c3c3c71", "18e8680adede514f", 3130176718167222436)
"""The first 16 hex digits of SHA-256 over trial, block or seed, then 7, 100KB/plain, 0 (and h2), with NUL between."""


def test_an_order_is_a_permutation_and_is_drawn_anew() -> None:
    """Each of the six orders of three arms comes about equally often, over blocks and over attempts."""
    over_blocks = Counter(draw_order(f"block{number}", 1, 3) for number in range(1200))
    over_attempts = Counter(draw_order("block", attempt, 3) for attempt in range(1200))
    for counts in (over_blocks, over_attempts):
        assert set(counts) == set(itertools.permutations(range(3)))
        assert all(abs(count - 200) < 5 * 13 for count in counts.values())
    assert draw_order("block", 1, 3) == draw_order("block", 1, 3)


def test_a_block_has_one_order_per_attempt_however_it_is_handed_over() -> None:
    """The first attempt is the plan's; whoever asks again gets the same."""
    draw = random.Random(3)
    again = defaultdict(list)
    for rows in blocks_in_order(make_plan(study(arms=4))):
        shuffled = draw.sample(rows, len(rows))
        assert order_block(shuffled, 1) == rows
        again[order_block(rows, 2) == rows].append(rows)
    assert len(again[False]) > len(again[True])


def test_only_blocks_leaves_the_others_out_and_changes_nothing_else() -> None:
    """The rows of a named block are those of the whole plan; one that is not there is refused."""
    whole = make_plan(study())
    chosen = whole[-1].block_id
    only = make_plan(dataclasses.replace(study(), only_blocks=(chosen,)))
    assert {row.trial_id: row.seed for row in only} == {
        row.trial_id: row.seed for row in whole if row.block_id == chosen
    }
    with pytest.raises(SpecError, match="no block nothing"):
        make_plan(dataclasses.replace(study(), only_blocks=("nothing",)))
