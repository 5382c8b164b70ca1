# SPDX-License-Identifier: Apache-2.0
"""Looks at a study, and whether its number of blocks could have followed from what they showed.

A test of a fixed number of pairs keeps its level only if nobody chose that number by the result. So it decides where a
cell has as many blocks as were planned before its result was first seen. With fewer (a look before the end, or a study
that was ended early) or with more (blocks added after a look) the sequential test decides, whose level holds
whenever one looks and stops. Blocks that stayed void count as run: what voids a block is not its result.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from quiclab.compare.sequential import rule_of
from quiclab.compare.study import Study, read_study
from quiclab.model import number_text
from quiclab.model.errors import QuiclabError
from quiclab.store.look_records import FILE, InterimLook, keep_look, read_looks, unreadable_lines

_NAMED = 5
"""Most looks whose blocks are listed in the sentence."""


@dataclass(frozen=True)
class Looks:
    """The state of a study, and the looks at it before."""

    now: InterimLook
    before: tuple[InterimLook, ...]
    unreadable: int = 0
    """Lines of the file of looks that are none."""

    def planned_first(self, cell: str) -> int:
        """Blocks of a cell that were planned when its result was seen first; by now, where that is now."""
        return next((look.planned for look in self.before if look.blocks.get(cell)), self.now.planned)

    @property
    def fewer(self) -> dict[str, int]:
        """Cells that have fewer blocks than were planned at first, with their blocks."""
        return {cell: run for cell, run in self.now.blocks.items() if run < self.planned_first(cell)}

    @property
    def added(self) -> dict[str, int]:
        """Cells that were seen and have more blocks than were planned then, with their blocks."""
        seen = {cell for look in self.before for cell, run in look.blocks.items() if run}
        return {c: run for c, run in self.now.blocks.items() if c in seen and run > self.planned_first(c)}

    @property
    def stopping_is_open(self) -> bool:
        """True if the number of blocks could follow from what was seen of them."""
        return bool(self.fewer or self.added)

    @property
    def with_fewer_blocks(self) -> tuple[InterimLook, ...]:
        """Looks that saw fewer blocks of some cell than there are now, the first at each number of blocks."""
        fewer = {
            tuple(sorted(look.blocks.items())): look
            for look in reversed(self.before)
            if any(look.blocks.get(cell, 0) < run for cell, run in self.now.blocks.items())
        }
        return tuple(reversed(fewer.values()))


def looks_at(study: Study, metrics: Sequence[str]) -> Looks | None:
    """Return the looks at a study that is compared by these metrics; None where nothing says how many blocks were
    planned, and of single blocks, such as a bundle."""
    spec = study.spec
    planned = spec.planned_blocks
    if planned is None:
        return None
    asked = pl.col("workload").is_in(list(study.workloads)) & pl.col("path").is_in(list(study.paths))
    main = study.trials.filter((pl.col("kind") == "main") & asked)
    blocks = main.group_by("cell_id").agg(pl.col("block").n_unique()).sort("cell_id")
    now = InterimLook(
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        planned,
        dict(blocks.rows()),
        0.05 if spec.alpha is None else float(spec.alpha),
        tuple(metrics),
        _matters(study),
    )
    return Looks(now, tuple(read_looks(study.directory)), unreadable_lines(study.directory))


def _matters(study: Study) -> float | None:
    """Smallest difference that matters, in per cent: by the rule of a study that goes on until it is decided, else by
    its spec; None where nothing says so."""
    if (rule := rule_of(study)) is not None:
        return rule.effect_pct
    return None if study.spec.matters_pct is None else float(study.spec.matters_pct)


def remember_look(study: Study, metrics: Sequence[str]) -> None:
    """Keep what somebody is about to see of a study, before it is shown. Raises HostError where the disk refuses."""
    looks = looks_at(study, metrics)
    if looks is not None and looks.now.blocks:
        keep_look(study.directory, looks.now)


def note_look(directory: Path, *metrics: str | None) -> None:
    """Keep what somebody is about to see of a study by the metric that it compares, and by these; None is that metric.

    It never fails: what cannot be written, or is no study that can be read, is looked at all the same.
    """
    from quiclab.compare.analyse import usual_metric

    with suppress(QuiclabError, OSError, pl.exceptions.PolarsError):
        study = read_study(directory)
        usual = usual_metric(study)
        remember_look(study, list(dict.fromkeys([usual, *(name for name in metrics if name is not None)])))


def look_notes(looks: Looks, *, sequential: bool) -> tuple[str, ...]:
    """Return what must be said at the answer; of a `sequential` study nothing about its number of blocks."""
    return (*(() if sequential else (*_notes_on_lost(looks), *_notes_on_blocks(looks))), *_notes_on_choices(looks))


def _notes_on_lost(looks: Looks) -> tuple[str, ...]:
    if not looks.unreadable:
        return ()
    return (
        f"{FILE} has {number_text.counted(looks.unreadable, 'line')} that cannot be read. If the result was seen "
        "before the others, blocks may have been added for what it showed, and the usual test is too lenient.",
    )


def builds_note(looks: Looks) -> str | None:
    """Return what must be said of a study that is compared with another; None where its number of blocks was fixed
    before anybody saw a result."""
    if looks.added:
        return (
            f"blocks were added after an interim look: {_first_plans(looks, looks.added)} were planned, "
            f"{_span(looks.added)} have run."
        )
    if looks.fewer:
        return (
            f"only {_span(looks.fewer)} of the {_first_plans(looks, looks.fewer)} planned blocks have run. Once all "
            "have, the usual test decides."
        )
    return None


def _notes_on_blocks(looks: Looks) -> tuple[str, ...]:
    if looks.added:
        return (
            f"Blocks were added after an interim look: {_first_plans(looks, looks.added)} were planned when the result "
            f"was first seen, {_span(looks.added)} have run, and the study was looked at "
            f"{_times(looks.with_fewer_blocks)} before. Adding blocks until a test at 5 % finds a difference finds one "
            "between equal arms in 12 to 23 % of studies. So this one is decided by the sequential test, which errs "
            f"in {100 * looks.now.alpha:g} % at most however often one looks, and needs more pairs. For the usual test "
            "plan a new study with another seed and all of its blocks.",
        )
    if looks.fewer:
        return (
            f"Only {_span(looks.fewer)} of the {_first_plans(looks, looks.fewer)} blocks that were planned have run. "
            "A study may be stopped for what an interim look shows, so until all have run it is decided by the "
            f"sequential test, which errs in {100 * looks.now.alpha:g} % at most however often one looks, and "
            "needs more pairs.",
        )
    return ()


def _notes_on_choices(looks: Looks) -> tuple[str, ...]:
    """Choices made anew since the result was first seen: the test knows nothing of them."""
    if not looks.before:
        return ()
    first, now, notes = looks.before[0], looks.now, []
    since = "when the result was first seen"
    if first.alpha != now.alpha:
        notes.append(
            f"alpha was {first.alpha:g} {since}, and is {now.alpha:g} now. A level that is chosen after the result is "
            "no error rate."
        )
    if first.metrics[:1] != now.metrics[:1]:
        notes.append(
            f"The study compared {first.metrics[0] if first.metrics else 'nothing'} {since}, and compares "
            f"{now.metrics[0]} now. A free choice among metrics finds a difference by chance more often than in "
            f"{100 * now.alpha:g} % of studies."
        )
    if None not in (first.matters_pct, now.matters_pct) and first.matters_pct != now.matters_pct:
        notes.append(
            f"A difference mattered from {first.matters_pct:g} % on {since}, and matters from {now.matters_pct:g} % on "
            "now. That size says something only if it is chosen before the result."
        )
    return tuple(notes)


def _first_plans(looks: Looks, cells: dict[str, int]) -> str:
    return _span({cell: looks.planned_first(cell) for cell in cells})


def _span(blocks: dict[str, int]) -> str:
    least, most = min(blocks.values()), max(blocks.values())
    return str(least) if least == most else f"{least} to {most}"


def _times(before: Sequence[InterimLook]) -> str:
    """Count looks, with the blocks that each saw: `2 times (with 7 and 10 blocks)`."""
    seen = [_span(look.blocks) for look in before if look.blocks]
    listed = number_text.listed(seen[:_NAMED] + (["more"] if len(seen) > _NAMED else []))
    return f"{number_text.counted(len(seen), 'time')} (with {listed} {'block' if seen == ['1'] else 'blocks'})"
