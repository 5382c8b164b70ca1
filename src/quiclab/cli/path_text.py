# SPDX-License-Identifier: Apache-2.0
"""What a path does besides rate, delay, loss and queue, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from quiclab.model.plan_row import PlanRow
from quiclab.model.units import Duration
from quiclab.spec.jitter import half_life
from quiclab.spec.model import Aqm, Block, Change, CoDel, Direction, Path, Police, RandomRate, Step
from quiclab.spec.random_rate import drawn_rates

_SHOWN_RATES = 5


def extras(path: Path, rows: Sequence[PlanRow]) -> list[str]:
    """What few paths have, as lines: one for the path, and one for each direction of a link that has something."""
    lines = []
    if path.mtu != 1500 or path.ip_version != 4:
        lines.append(f"IPv{path.ip_version}, MTU {path.mtu} bytes")
    for link in path.links:
        of_link = f"{link.name}, " if path.more_links else ""
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
        yield f"rate drawn between {rate.least} and {rate.most} every {rate.every} (the mean is shown)"
    if direction.loss is not None and direction.loss_at == "exit":
        yield "loss behind the queue"
    if direction.loss_by != "index":
        yield f"losses drawn by {direction.loss_by}"
    if direction.drop is not None:
        yield f"drops {direction.drop}"
    if direction.spare is not None:
        yield f"spares {direction.spare}"
    if direction.block is not None:
        yield f"{_block(direction.block)} {_after(direction.block.after)}"
    if direction.police is not None:
        yield f"{_police(direction.police)} {_after(direction.police.after)}"
    if direction.aqm is not None:
        yield _aqm(direction.aqm)
    if direction.jitter is not None:
        jitter = direction.jitter
        how = f"in order, half-life {half_life(jitter)}" if jitter.mode == "inorder" else "reorders"
        yield f"jitter {jitter.distribution} {jitter.scale} ({how})"
    if direction.reorder is not None:
        yield f"{direction.reorder.probability} overtaken by {direction.reorder.extra_delay}"
    if direction.duplicate.value:
        yield f"{direction.duplicate} duplicated"
    if direction.corrupt.value:
        yield f"{direction.corrupt} corrupted"
    if direction.overhead.bytes:
        yield f"{direction.overhead} of framing per packet"
    if direction.trace is not None:
        yield f"rate varies with {direction.trace} (the mean is shown)"
    if direction.schedule:
        yield "changes at " + ", ".join(_change(change) for change in direction.schedule)


def _change(change: Change) -> str:
    """Say when a change happens, and what an operator does then, as that decides which packets get through."""
    done = []
    if change.aqm is not None:
        done.append("queue no longer managed" if change.aqm == "none" else _aqm(change.aqm))
    if change.block is not None:
        done.append("block lifted" if change.block == "none" else _block(change.block))
    if change.police is not None:
        done.append("policing ended" if change.police == "none" else _police(change.police))
    return f"{change.at} ({', '.join(done)})" if done else str(change.at)


def _block(block: Block) -> str:
    return f"{block.protocol} blocked"


def _police(police: Police) -> str:
    return f"{police.protocol} policed to {police.rate} with bursts of {police.burst}"


def _after(start: Duration) -> str:
    return f"after {start}" if start.ns else "from the start"


def _aqm(aqm: Aqm) -> str:
    if isinstance(aqm, Step):
        return f"ECT(1) marked after {aqm.threshold} in the queue"
    name = "CoDel" if isinstance(aqm, CoDel) else "FQ-CoDel"
    return f"queue under {name}, target {aqm.target}, interval {aqm.interval}, {'marks' if aqm.ecn else 'drops'}"
