# SPDX-License-Identifier: Apache-2.0
"""A plan for people, readable at 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from quiclab.model import number_text
from quiclab.model.name_lines import name_lines
from quiclab.model.plan_row import PlanRow
from quiclab.model.study import (
    Change,
    Direction,
    Path,
    RandomRate,
    Study,
    Workload,
)
from quiclab.model.units import ByteCount, Duration, Share
from quiclab.plan.arms import ArmsSummary
from quiclab.plan.duration import Senders, expected_duration
from quiclab.plan.power import attainable
from quiclab.plan.size import PlanSize, plan_size
from quiclab.report.words.arm_heads import natural_width
from quiclab.spec.control import least_blocks
from quiclab.spec.effects import EFFECTS
from quiclab.spec.jitter import half_life
from quiclab.spec.link import queue_bytes, reference_rate
from quiclab.spec.random_rate import drawn_rates

_NARROW_NAME = 14
"""Columns of the name of a cell or an arm where there is no room for more."""
_ORDER = {"#": True, "Cell": False, "Block": True, "Arm": False, "Expected": True, "Trial": False}
"""Columns of the order, and whether their values stand to the right."""


def print_plan(
    console: Console,
    study: Study,
    size: PlanSize,
    arms: ArmsSummary,
    warnings: Sequence[str],
    matters: str,
    senders: Senders,
) -> None:
    """Arms first, then matrix, paths, size, power and what to beware of. `matters` says what it takes to find a
    difference that matters."""
    console.print(Text(arms["text"], style="bold"))
    console.print()
    console.print(Text(f"Study {study.name}" + (f": {study.question}" if study.question else "")))
    console.print()
    console.print(_paths(study))
    console.print(Text(_rtts(study)))
    for path in study.paths:
        for extra in extras(path, size.samples):
            console.print(Padding(Text(f"{path.name}: {extra}"), (0, 0, 0, 2)))
    console.print()
    for line in _size(study, size, senders):
        console.print(Text(line))
    power = attainable(study, study.blocks if study.only_blocks else size.pairs)
    if power.sentence not in warnings:
        console.print(Text(power.sentence))
    if power.comparisons:
        console.print(Text(matters))
    for warning in warnings:
        console.print(Text(f"warning: {warning}", style="yellow"))
    console.print()


def _paths(study: Study) -> Table:
    table = _table("Path", "", "Rate", "Delay", "Loss", "Queue", "Access rate")
    table.columns[0].no_wrap = True
    for path in study.paths:
        if path.more_links:
            table.add_row(path.name)
        for link in path.links:
            name = f"  {link.name}" if path.more_links else path.name
            if link.up == link.down:
                table.add_row(name, "each way", *_cells(link.up, path))
            else:
                table.add_row(name, "up", *_cells(link.up, path))
                table.add_row("", "down", *_cells(link.down, path))
    return table


def _rtts(study: Study) -> str:
    """Say the round-trip time of every path, as its delays are one way."""
    if len(study.paths) == 1:
        return f"Round-trip time without queues: {study.paths[0].base_rtt}."
    return f"Round-trip times without queues: {', '.join(f'{path.name} {path.base_rtt}' for path in study.paths)}."


def _cells(direction: Direction, path: Path) -> tuple[str, ...]:
    rate = reference_rate(direction)
    return (
        "unlimited" if rate is None else str(rate),
        str(direction.delay),
        "none" if direction.loss is None else str(direction.loss),
        _queue(direction, path),
        "none" if direction.edge is None else str(direction.edge),
    )


def _queue(direction: Direction, path: Path) -> str:
    if reference_rate(direction) is None:
        return "none"
    bounds = []
    size = queue_bytes(direction, path.base_rtt, path.mtu)
    if size is not None:
        full_packets = size // (path.mtu + direction.overhead.bytes)
        bounds.append(f"{ByteCount(size)} ({full_packets} packets)")
    if direction.queue.packets is not None:
        bounds.append(f"{direction.queue.packets} packets")
    if direction.queue.time is not None:
        bounds.append(str(direction.queue.time))
    return ", ".join(bounds) or "unbounded"


def _size(study: Study, size: PlanSize, senders: Senders) -> list[str]:
    added = size.trials - plan_size(study).trials
    main = size.trials - size.controls - added
    grown = [f"With {added} that `run --until` or `ask` added, {size.trials} trials are planned now."] if added else []
    sizes = ", ".join(_objects(workload) for workload in study.measured_workloads)
    several = any(len(workload.object_sizes) > 1 for workload in study.measured_workloads)
    aa = study.aa
    counted = _count(study.measured_workloads, "workload" if several else "object")
    return [
        f"Objects: {sizes}.",
        f"{counted} × {_count(study.paths, 'path')} × {_count(study.measured_arms, 'arm')} × "
        f"{study.blocks} block{'s' * (study.blocks != 1)} = "
        f"{main} trials,",
        f"and {size.controls} trials of A/A control ({aa.workload}/{aa.path}, {aa.blocks} blocks, each arm against "
        "itself)."
        if aa.blocks
        else _no_control(study),
        *grown,
        f"Expected time: about {_minutes(size.expected(study, senders).s)} (by arithmetic, one trial after another).",
        *_counted_trials(study),
    ]


def _counted_trials(study: Study) -> list[str]:
    """Say how many trials more count system calls, if any do."""
    counted, arms = study.count_system_calls, len(study.measured_arms)
    if counted is False:
        return []
    blocks = study.blocks if isinstance(counted, str) else min(counted, study.blocks)
    cells = len(study.measured_workloads) * len(study.paths)
    trials = arms if counted is True else arms * cells * blocks
    more = number_text.counted(trials, "trial")
    return [f"After that system calls are counted, in {more} more, which are not timed and take a few times as long."]


def _no_control(study: Study) -> str:
    least = least_blocks(study.alpha)
    trials = 2 * least * len(study.measured_arms)
    return (
        f"and no A/A control: the noise floor will be unknown (aa = {{ blocks = {least} }} measures it, in {trials} "
        "more trials)."
    )


def _objects(workload: Workload) -> str:
    """Say what a workload asks for, and which flows use the link beside it."""
    competition = workload.competition
    if competition is None:
        return _asked_for(workload)
    flows = _count(range(competition.flows), "other flow")
    ends = "until the measured client ends" if competition.duration is None else f"for {competition.duration}"
    return f"{_asked_for(workload)} beside {flows} {ends}"


def _asked_for(workload: Workload) -> str:
    """Say what a workload asks for: one object by its size, several by all that decides how they come."""
    if workload.page is not None:
        return f"{workload.name} (a page of {workload.total})"
    if workload.video is not None:
        return f"{workload.name} ({workload.video})"
    way = ", uploaded" if workload.upload else ""
    if len(workload.object_sizes) == 1:
        size = str(workload.object_sizes[0])
        return size if workload.name == size.replace(" ", "") and not way else f"{workload.name} ({size}{way})"
    sizes = workload.object_sizes
    alike = f"{len(sizes)} × {sizes[0]}"
    told = alike if len(set(sizes)) == 1 else f"{len(sizes)} of {min(sizes)} to {max(sizes)}, {workload.total} together"
    at_once = "all at once" if workload.at_once == len(sizes) else f"{workload.at_once} at once"
    return f"{workload.name} ({told}, on one connection, {at_once}{way})"


def _minutes(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def order_table(study: Study, rows: Iterable[PlanRow], senders: Senders, console: Console) -> Table:
    """Return trials in their order as a table; where names are too long for the console, a cell's path begins a line,
    then names of cells and arms are broken between their words."""
    told = [_row_texts(study, row, senders) for row in rows]
    table = _order_of(told)
    if natural_width(table) > console.width:
        table = _order_of([(number, cell.replace("/", "/\n"), *others) for number, cell, *others in told])
    if natural_width(table) > console.width:
        lines = [
            (number, name_lines(cell, _NARROW_NAME), block, name_lines(arm, _NARROW_NAME), *others)
            for number, cell, block, arm, *others in told
        ]
        table = _order_of(lines)
    return table


def _order_of(rows: Iterable[Sequence[str]]) -> Table:
    table = _table(*_ORDER)
    for column, to_right in zip(table.columns, _ORDER.values(), strict=True):
        column.justify, column.no_wrap = "right" if to_right else "left", True
    for row in rows:
        table.add_row(*row)
    return table


def order_lines(study: Study, rows: Iterable[PlanRow], size: PlanSize, senders: Senders) -> Iterator[str]:
    """Return a heading and a line for each trial as soon as it is known: a plan may be of any length."""
    cells, arms = (max(len(getattr(row, what)) for row in size.samples) for what in ("cell_id", "arm"))
    blocks = len(str(max(number for _, number in size.cells)))
    widths = (len(str(size.trials)), max(cells, len("Cell")), max(blocks, len("Block")), max(arms, len("Arm")), 8, 0)
    for told in chain([tuple(_ORDER)], (_row_texts(study, row, senders) for row in rows)):
        columns = zip(told, widths, _ORDER.values(), strict=True)
        yield "   ".join(text.rjust(width) if to_right else text.ljust(width) for text, width, to_right in columns)


def _row_texts(study: Study, row: PlanRow, senders: Senders) -> tuple[str, ...]:
    expected = f"{expected_duration(row, study, senders).s:.1f} s"
    return (str(row.position + 1), row.cell_id, str(row.block), row.arm, expected, row.trial_id)


def _table(*columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _count(things: Sequence[object], word: str) -> str:
    return f"{len(things)} {word}{'s' * (len(things) != 1)}"


# Words for what a path does besides rate, delay, loss and queue.
_SHOWN_RATES = 5


def direction_text(direction: Direction, path: Path) -> str:
    """A direction in one line: what the table of a plan has, and what few paths have."""
    rate, delay, loss, queue, edge = _cells(direction, path)
    told = [f"rate {rate}", f"delay {delay}", f"loss {loss}", f"queue {queue}", f"access rate {edge}"]
    return "; ".join(each for each in (*told, *_parts(direction)) if not each.endswith((" none", " unlimited")))


def extras(path: Path, rows: Sequence[PlanRow]) -> list[str]:
    """Lines for effects that few paths have: one for the path, and one for each direction of a link that has
    something."""
    lines = []
    if path.mtu != 1500 or path.ip_version != 4:
        lines.append(f"IPv{path.ip_version}, MTU {path.mtu} bytes")
    for link in path.links:
        of_link = f"{link.name}, " if path.more_links else ""
        if link.nat is not None:
            lines.append(f"{of_link}{link.nat}")
        both = link.up == link.down
        for side, direction in (("each way", link.up),) if both else (("up", link.up), ("down", link.down)):
            if parts := list(_parts(direction)):
                lines.append(f"{of_link}{side}: {'; '.join(parts)}")
    first = next((row for row in rows if row.path == path.name and row.kind == "main"), None)
    if first is not None:
        lines += [
            f"{side}: in block {first.block + 1} of {first.cell_id} the rates are "
            f"{_drawn(direction.rate, first, link.name, side)}"
            for link in path.links
            for side, direction in (("up", link.up), ("down", link.down))
            if isinstance(direction.rate, RandomRate)
        ]
    return lines


def _drawn(rate: RandomRate, row: PlanRow, link: str, side: str) -> str:
    rates = islice(drawn_rates(rate, row.seed, link, side), _SHOWN_RATES)
    return ", ".join(f"{drawn.bit_per_s / 1e6:.4g}" for drawn in rates) + ", … Mbit/s"


def _parts(direction: Direction) -> Iterator[str]:
    if isinstance(rate := direction.rate, RandomRate):
        yield f"rate {rate} (the mean is shown)"
    if direction.burst is not None:
        yield f"bursts of {direction.burst} {'at once' if direction.peak_rate is None else f'at {direction.peak_rate}'}"
    if direction.loss is not None and direction.loss_at == "exit":
        yield "loss behind the queue"
    if direction.loss_as == "ecn mark":
        yield "random loss marks ECN-capable packets instead"
    if direction.loss_by == "super-packet":
        yield "one draw for all that a sender's offload joins, as netem has it: fewer loss events for TCP than for QUIC"
    elif direction.loss_by != "index":
        yield f"losses drawn by {direction.loss_by}"
    if direction.drop is not None:
        yield f"drops {direction.drop}"
    if direction.spare is not None:
        yield f"spares {direction.spare}"
    for name in EFFECTS:
        if (effect := getattr(direction, name)) is not None:
            yield f"{effect} {_after(effect.after)}" if hasattr(effect, "after") else str(effect)
    if direction.aqm is not None:
        yield str(direction.aqm)
    if direction.jitter is not None:
        jitter = direction.jitter
        how = f"in order, half-life {half_life(jitter)}" if jitter.mode == "inorder" else "reorders"
        yield f"jitter {jitter.distribution} {jitter.scale} ({how})"
    if direction.reorder is not None:
        yield str(direction.reorder)
    if direction.duplicate.value:
        yield f"{direction.duplicate} duplicated{_correlated(direction.duplicate_correlation)}"
    if direction.corrupt.value:
        yield f"{direction.corrupt} corrupted{_correlated(direction.corrupt_correlation)}"
    if direction.overhead.bytes:
        yield f"{direction.overhead} of framing per packet"
    if direction.delay_trace is not None:
        yield f"delay varies with {direction.delay_trace} (the least is shown)"
    if direction.trace is not None:
        yield f"rate varies with {direction.trace} (the mean is shown)"
    if direction.schedule:
        again = "" if direction.repeat is None else f", again every {direction.repeat}"
        yield "changes at " + ", ".join(_change(change) for change in direction.schedule) + again


def _correlated(correlation: Share | None) -> str:
    return "" if correlation is None else f" (correlation {correlation})"


def _change(change: Change) -> str:
    """Say when a change happens, and what an operator does then, as that decides which packets get through."""
    done = []
    if change.rate == "none":
        done.append("no rate any more")
    if change.aqm is not None:
        done.append("queue no longer managed" if change.aqm == "none" else str(change.aqm))
    for name, effect in EFFECTS.items():
        if (value := getattr(change, name)) is not None:
            done.append(effect.ended if value == "none" else str(value))
    return f"{change.at} ({', '.join(done)})" if done else str(change.at)


def _after(start: Duration) -> str:
    return f"after {start}" if start.ns else "from the start"
