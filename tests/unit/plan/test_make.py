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

from quiclab.errors import SpecError
from quiclab.plan import make
from quiclab.plan.make import draw_order, make_plan, order_block, planned_rows
from quiclab.plan.rows import PlanRow
from quiclab.spec.model import AaControl, Arm, Path, Program, Study, Tcp, Workload
from quiclab.units import ByteCount


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
    digest = make._digest
    monkeypatch.setattr(make, "_digest", lambda purpose, *of: drawn.append(purpose) or digest(purpose, *of))
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


def test_orders_are_random_between_cells_and_arms() -> None:
    """No cell and no arm always goes first: a fair coin is within five standard deviations."""
    plan = make_plan(study(blocks=200, workloads=2, paths=1))
    blocks = blocks_in_order(plan)
    first_arm = Counter(rows[0].arm for rows in blocks if rows[0].kind == "main")
    assert abs(first_arm["a0"] - 200) < 5 * 10
    first_cell = Counter(rows[0][0].cell_id for rows in _rounds(plan, 4))
    assert all(abs(count - 50) < 5 * 6.2 for count in first_cell.values())
    assert len(first_cell) == 4


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
