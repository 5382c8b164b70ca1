# SPDX-License-Identifier: Apache-2.0
"""Sentences and a table about packets that were lost between two captures: how many, and what lost them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from quiclab.model import number_text
from quiclab.model.tables.drop_reasons import DropKind
from quiclab.why.account.crossings import Crossed
from quiclab.why.account.lost_between import Bucket, Losses

LOST_BY: Mapping[DropKind | None, str] = {
    DropKind.POLICER: "a policer",
    DropKind.QUEUE: "a queue",
    DropKind.LOSS: "the path",
    None: "unknown",
}
"""Kind of a loss → what lost the packet."""
_WAYS = {"up": "client to server", "down": "server to client"}
LIMITS = (
    "A queue may have been full, or managed: its delay does not tell which. What other flows sent is in no capture: "
    "a policer or a queue that they share is told as unknown where it cannot be told apart."
)


def heading(found: Sequence[tuple[Crossed, Losses]]) -> str:
    """Say how many packets were lost each way, and what lost them; the way with more losses first."""
    return " ".join(_one_way(*each) for each in sorted(found, key=lambda each: -len(each[1].at)))


def _one_way(crossed: Crossed, losses: Losses) -> str:
    sent, lost = number_text.count(len(crossed.numbers)), len(losses.at)
    way = f"of {sent} packets from {_WAYS[crossed.direction]}"
    if not lost:
        return f"None {way} were lost."
    kinds = sorted((kind for kind in LOST_BY if losses.number(kind)), key=lambda kind: -losses.number(kind))
    by = [
        f"{number_text.count(losses.number(kind))} {'for an unknown reason' if kind is None else f'by {LOST_BY[kind]}'}"
        for kind in kinds
    ]
    return f"{number_text.count(lost)} {way} {'was' if lost == 1 else 'were'} lost: {number_text.listed(by)}."


def kinds_table(found: Sequence[tuple[Crossed, Losses]]) -> Table:
    """Return a row for each direction: packets sent and lost, and the losses by what lost the packet."""
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("packets")
    for name in ("sent", "lost", *(f"by {told}" if kind else told for kind, told in LOST_BY.items())):
        table.add_column(name, justify="right", no_wrap=True)
    for crossed, losses in found:
        numbers = (len(crossed.numbers), len(losses.at), *(losses.number(kind) for kind in LOST_BY))
        table.add_row(_WAYS[crossed.direction], *map(number_text.count, numbers))
    return table


def details(crossed: Crossed, losses: Losses) -> list[str]:
    """Say what bucket explains the losses of one direction, why some have no kind, and what a capture lacks."""
    way = _WAYS[crossed.direction]
    told = [f"{way}: {_explained(losses.bucket)}"] if losses.bucket is not None else []
    if losses.number(None):
        told.append(f"{way}: {number_text.count(losses.number(None))} unknown, as {losses.unknown_why}.")
    if crossed.lacking:
        lacking = number_text.counted(crossed.lacking, "packet")
        told.append(
            f"{way}: {lacking} arrived that the sender's capture lacks, so it has holes: some packets told as lost the "
            "other way may have arrived."
        )
    return told


def _explained(bucket: Bucket) -> str:
    rate = number_text.measured(bucket.rate_bit_per_s, bucket.rates_bit_per_s, "bit/s")
    size = number_text.size(round(bucket.size_bytes))
    if bucket.kind is DropKind.POLICER:
        what = f"a policer of {rate} with a bucket of {size} has too few tokens, and packets do not wait for it"
    elif bucket.kind is DropKind.QUEUE:
        what = f"a queue of {size} in front of {rate} is full, and packets wait for as long as it takes to drain"
    else:
        what = f"a bucket of {size} that drains at {rate} is full"
    came = f"{number_text.count(bucket.contrary)} of the packets" if bucket.contrary else "no packet"
    return f"at {number_text.count(bucket.explained)} of the losses, and at {came} that came, {what}."
