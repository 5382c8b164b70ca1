# SPDX-License-Identifier: Apache-2.0
"""`quiclab explain --lost`: what lost the packets between two captures of one transfer, one of each end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quiclab.cli.voice import print_document
from quiclab.model.errors import DecodeError, ExitCode, SpecError

if TYPE_CHECKING:
    from quiclab.why.account.crossings import Crossed
    from quiclab.why.account.lost_between import Losses


@dataclass(frozen=True)
class BucketEntry:
    """A rate and a size that explain losses."""

    kind: str | None
    """`policer` or `queue`; null where the delay of packets is between these."""
    rate_bit_per_s: float
    """Rate of a policer, or of the service behind a queue."""
    rate_low_bit_per_s: float
    """Rate from which on as many losses are explained."""
    rate_high_bit_per_s: float
    """Rate up to which as many losses are explained."""
    size_bytes: float
    """Size of the bucket, or room of the queue."""
    explained: int
    """Losses that it explains."""
    contrary: int
    """Packets that came although it would have lost them."""


@dataclass(frozen=True)
class LostPacketEntry:
    """A packet that was sent and did not come."""

    number: int
    """Number of the IP packet in the sender's capture, counted from 0."""
    kind: str | None
    """`policer`, `queue` (full or managed) or `loss` (of the path); null where the captures do not tell."""


@dataclass(frozen=True)
class LossesEntry:
    """Packets of one direction."""

    direction: str
    """`up` from client to server, or `down`."""
    sent: int
    """Packets that the sender's capture shows, up to the last that came."""
    lost: tuple[LostPacketEntry, ...]
    """Packets among these that did not come."""
    bucket: BucketEntry | None
    """Bucket that explains most of them; null where none does."""
    unknown_why: str
    """Reason why some have no kind; empty where all have one."""
    lacking: int
    """Packets that came though the sender's capture lacks them: as many of the other direction may be no losses."""


@dataclass(frozen=True)
class LossesDocument:
    """Packets that were lost between two captures."""

    version: int
    """Version of the document's form."""
    transport: str
    """`tcp` or `quic`."""
    directions: tuple[LossesEntry, ...]
    """One for each direction."""


def explain_losses(arguments: argparse.Namespace) -> int:
    """Print what lost the packets between two captures. Raises SpecError and DecodeError with what to do."""
    from rich.text import Text

    from quiclab.cli.console import VisibleConsole
    from quiclab.cli.decode import find_logs
    from quiclab.evidence.metrics import Unknown
    from quiclab.evidence.metrics.evidence import CAPTURES
    from quiclab.report.words import losses_between as words
    from quiclab.why.account.crossings import crossed
    from quiclab.why.account.lost_between import kinds_of_losses
    from quiclab.why.account.one_recording import tables_of
    from quiclab.why.account.recorded import transports

    _refuse(arguments)
    client, server = arguments.lost
    if client == server:
        raise SpecError(f"--lost was given {client} twice", "name the client's capture, then the server's")
    found = find_logs([], [client], [server], [*arguments.keys])
    captures = [log for log in found.logs if log.decoder.format in CAPTURES]
    if len(captures) != 2 or len(found.logs) != 2:
        told = "--lost takes two captures of one transfer: the client's, then the server's"
        raise SpecError(told, "name one of each")
    tables = tables_of(found)
    errors = tables["decode_stats"].filter(severity="error")
    if errors.height:
        raise DecodeError(f"not all of it can be read: {errors['advice'][0]}", "record it again, or mend it")
    there = transports(tables)
    if len(there) != 1:
        told = "hold transfers over both TCP and QUIC" if there else "hold no transfer in which a server sends data"
        raise DecodeError(f"{client.name} and {server.name} {told}", "cut them to one transfer: tshark -Y … -w …")
    try:
        ways = crossed(tables, there[0], {log.name: log.path for log in captures})
    except Unknown as unknown:
        raise DecodeError(f"{client.name} and {server.name}: {unknown}") from unknown
    judged = [(each, kinds_of_losses(each.crossing)) for each in ways]
    if arguments.json:
        print_document(losses_document(there[0], judged))
        return ExitCode.OK
    console = VisibleConsole(highlight=False)
    console.print(Text(words.heading(judged), style="bold"))
    console.print(words.kinds_table(judged))
    for told in (told for each in judged for told in words.details(*each)):
        console.print(Text(told))
    console.print(Text(words.LIMITS, style="dim"))
    return ExitCode.OK


def _refuse(arguments: argparse.Namespace) -> None:
    beside = [("--h2", arguments.h2), ("--h3", arguments.h3), ("--page", arguments.page), ("-o", arguments.out)]
    beside += [("--url", arguments.url), ("--stream", None if arguments.stream is None else str(arguments.stream))]
    given = [option for option, value in beside if value]
    if given:
        raise SpecError(f"--lost is about all packets of one transfer, without {given[0]}", "leave one of them out")


def losses_document(transport: str, judged: Sequence[tuple[Crossed, Losses]]) -> object:
    """The document about packets that were lost between two captures."""
    from quiclab.cli.as_json import as_json
    from quiclab.cli.status_document import VERSION

    return as_json(LossesDocument(VERSION, transport, tuple(_entry(*each) for each in judged)))


def _entry(crossed: Crossed, losses: Losses) -> LossesEntry:
    bucket = losses.bucket
    return LossesEntry(
        crossed.direction,
        len(crossed.numbers),
        tuple(
            LostPacketEntry(crossed.numbers[at], kind and kind.value)
            for at, kind in zip(losses.at.tolist(), losses.kinds, strict=True)
        ),
        None
        if bucket is None
        else BucketEntry(
            bucket.kind and bucket.kind.value,
            bucket.rate_bit_per_s,
            *bucket.rates_bit_per_s,
            bucket.size_bytes,
            bucket.explained,
            bucket.contrary,
        ),
        losses.unknown_why,
        crossed.lacking,
    )
