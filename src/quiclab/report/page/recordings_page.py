# SPDX-License-Identifier: Apache-2.0
"""The page of one recording from elsewhere, or of two against each other: the timeline, its waits, their packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from quiclab.evidence.metrics import Unknown
from quiclab.report import figures
from quiclab.report.figures.timeline import SPELLS, Timeline
from quiclab.report.page.column_packing import column, packed
from quiclab.report.page.critical_path import PACKET_TYPES, segment_kind
from quiclab.report.page.rendering import plotly, render
from quiclab.report.words import recordings as words
from quiclab.report.words.account import decimal
from quiclab.why.account.from_between import as_at_client
from quiclab.why.account.levels import BEFORE_ANSWER, Part
from quiclab.why.account.one_end import OneEnd, Span, Stretch, stretches
from quiclab.why.account.recorded import Recorded, recorded
from quiclab.why.recordings import Recording, Recordings

_LONGEST = 8
"""Waits of each recording that the page lists."""
_MOST_FRAMES = 4
"""Frames of a packet that its line names."""
_SINCE_REQUEST = "the request's first packet"


@dataclass(frozen=True)
class PartRow:
    """A part of the time as the page's table has it."""

    label: str
    heading: str
    definition: str
    colour: str
    times: tuple[str, ...]
    difference: str
    unsure: str


@dataclass(frozen=True)
class WaitRow:
    """One of the longest waits of a recording."""

    name: str
    band: int
    spell: int
    """Place among the stretches of its recording."""
    heading: str
    colour: str
    from_ms: str
    length_ms: str


def recordings_page(shown: Sequence[Recording], found: Recordings | None) -> str:
    """The page, which loads nothing; `found` compares the two that are shown, and is None of one."""
    parts = [stretches(each.account) for each in shown]
    data = pl.concat([_spells(each, found_parts) for each, found_parts in zip(shown, parts, strict=True)])
    spec = packed(figures.spec(Timeline().draw(data)))
    told = words.difference_told(found) if found else words.one_told(shown[0].name, shown[0].account)
    return render(
        "recordings_page.html.j2",
        title=f"{found.names[1]} against {found.names[0]}" if found else shown[0].file,
        difference=f"{found.names[1]} − {found.names[0]}, ms; − is faster" if found else "",
        told=told,
        has_rate=any(each.account.rate_bit_per_s for each in shown),
        endings=[*filter(None, map(words.ending_told, shown))],
        spec=spec,
        shown=shown,
        columns=[
            *(each.name for each in shown),
            *(["lower bound"] if not found and shown[0].account.lower_bound_ms else []),
        ],
        rows=_rows(shown[0].account, found),
        waits=[wait for band, each in enumerate(zip(shown, parts, strict=True)) for wait in _waits(band, *each)],
        evidence=[words.evidence(f"{each.name} ({each.file})", each.account) for each in shown],
        limits=words.limits([each.account for each in shown]),
        packets={
            "recorded": True,
            "arms": [_behind(each, found_parts) for each, found_parts in zip(shown, parts, strict=True)],
            "definitions": {part.label: part.definition for part in Part},
        },
        plotly=plotly(),
    )


def _spells(recording: Recording, parts: Sequence[Stretch]) -> pl.DataFrame:
    zero_ns, request = recording.account.seen.zero_ns, recording.account.seen.request
    alone = request is not None and not request.waited_for_handshake
    rows = [
        {
            "arm": recording.name,
            "why": each.part.label,
            "what": each.part.heading,
            "evidence": str(recording.account.level),
            "since": _SINCE_REQUEST if alone else "the client's first packet",
            "from_ms": (each.from_ns - zero_ns) / 1e6,
            "until_ms": (each.until_ns - zero_ns) / 1e6,
            "edge": place,
            "edges": 1,
        }
        for place, each in enumerate(parts)
    ]
    return pl.DataFrame(rows, schema=SPELLS)


def _rows(account: OneEnd, found: Recordings | None) -> list[PartRow]:
    """The parts and their sum, each with the time of every recording."""
    if found is None:
        bound = account.lower_bound_ms
        least = [*bound.values(), sum(bound.values())] if bound else []
        spans: list[tuple[Part | None, Span]] = [*account.parts.items(), (None, account.total)]
        return [
            _row(part, (_ms(span.ms), *map(_ms, least[at : at + 1])), "", _range(span.low_ms, span.high_ms))
            for at, (part, span) in enumerate(spans)
        ]
    return [
        _row(
            step.part,
            (_ms(step.first.ms), _ms(step.second.ms)),
            _ms(step.difference.ms, signed=True),
            _range(step.difference.low_ms, step.difference.high_ms, signed=True),
        )
        for step in (*found.steps, found.total)
    ]


def _row(part: Part | None, times: tuple[str, ...], difference: str, unsure: str) -> PartRow:
    if part is None:
        return PartRow("total", "time to last byte", "", "", times, difference, unsure)
    return PartRow(part.label, part.heading, part.definition, part.style.colour, times, difference, unsure)


def _ms(value: float, *, signed: bool = False) -> str:
    return decimal(value, signed=signed)


def _range(low: float, high: float, *, signed: bool = False) -> str:
    return f"{_ms(low, signed=signed)} … {_ms(high, signed=signed)}"


def _waits(band: int, recording: Recording, parts: Sequence[Stretch]) -> list[WaitRow]:
    """The longest waits of the answer, in the order of their times."""
    waits = [
        (place, each)
        for place, each in enumerate(parts)
        if each.part not in (*BEFORE_ANSWER, Part.ARRIVING, Part.ANSWER)
    ]  # fmt: skip
    longest = sorted(waits, key=lambda wait: wait[1].from_ns - wait[1].until_ns)[:_LONGEST]
    zero_ns = recording.account.seen.zero_ns
    return [
        WaitRow(
            recording.name, band, place, each.part.heading, each.part.style.colour,
            f"{(each.from_ns - zero_ns) / 1e6:.2f}", f"{(each.until_ns - each.from_ns) / 1e6:.2f}",
        )
        for place, each in sorted(longest)
    ]  # fmt: skip


# The packets behind each stretch, as the timeline's script lists them: instants in µs since the client's first packet.
def _behind(recording: Recording, parts: Sequence[Stretch]) -> dict[str, object]:
    zero_ns = recording.account.seen.zero_ns
    edges = {
        "why": column([each.part.label for each in parts]),
        "until": column([(each.until_ns - zero_ns) // 1000 for each in parts]),
        "seen": column([(max(each.until_ns, each.seen_ns) - zero_ns) // 1000 for each in parts]),
    }
    packets = _packets(recording, parts[-1].until_ns)
    return {
        "arm": recording.name,
        "edges": {"points": len(parts), **edges},
        "packets": {
            "points": packets.height,
            **{name: column(packets[name].to_list()) for name in packets.columns},
        },
    }


def _packets(recording: Recording, until_ns: int) -> pl.DataFrame:
    """Packets until the end: direction, number, bytes, came, label. None where the recording has no packets."""
    zero_ns = recording.account.seen.zero_ns
    schema = {"direction": pl.String, "number": pl.Int64, "bytes": pl.Int64, "came": pl.Int64, "label": pl.String}
    try:
        seen = recording.account.seen
        of = recorded(
            recording.tables,
            "tcp" if seen.transport == "tcp" else "quic",
            seen.request.connection if seen.request else None,
        )
    except Unknown:  # a browser's log of TCP has none
        return pl.DataFrame(schema=schema)
    if seen.between is not None:  # the stretches are the client's
        of = as_at_client(of, seen.between.place.client_ns)
    captured = "ip_packet" in of.packets.columns
    rows = of.packets.filter(pl.col("time_ns").is_between(zero_ns, until_ns))
    labels = _labels(of, captured=captured)
    keys = ["ip_packet"] if captured else ["direction", "number"]
    rows = rows.join(labels, on=keys, how="left", maintain_order="left").with_columns(
        # Wireshark counts from 1.
        (pl.col("ip_packet").cast(pl.Int64) + 1 if captured else pl.col("number")).alias("place"),
        pl.col("label").fill_null(""),
    )
    return rows.select(
        "direction",
        pl.col("place").cast(pl.Int64).alias("number"),
        pl.col("size_bytes").cast(pl.Int64).alias("bytes"),
        ((pl.col("time_ns") - zero_ns) // 1000).cast(pl.Int64).alias("came"),
        "label",
    )


def _labels(of: Recorded, *, captured: bool) -> pl.DataFrame:
    """A label for each packet: what it carries, by its place in a capture, or direction and number in a log."""
    if of.transport == "tcp":
        return of.packets.select("ip_packet", _tcp_label().alias("label"))
    rows = of.table("packets").filter(pl.col("event").is_in(["sent", "received", "seen"]))
    name = pl.concat_str(
        pl.col("packet_type").replace(PACKET_TYPES).fill_null("unreadable"), pl.lit(" "),
        pl.col("packet_number").cast(pl.String).fill_null(""),
    ).str.strip_chars_end()  # fmt: skip
    frames = _frames(of)
    own = rows.join(frames, on=["direction", "packet_type", "packet_number"], how="left", maintain_order="left")
    own = own.with_columns(
        pl.when(pl.col("frames").is_null())
        .then(name)
        .otherwise(pl.concat_str(name, pl.lit(": "), "frames"))
        .alias("label")
    )
    keys = ["ip_packet"] if captured else ["direction", pl.col("packet_number").alias("number")]
    return own.group_by(keys, maintain_order=True).agg(pl.col("label").unique(maintain_order=True).str.join(" + "))


def _frames(of: Recorded) -> pl.DataFrame:
    """The frames of each packet in a few words: `stream 0 from 14480, max_data`."""
    keys = ["direction", "packet_type", "packet_number"]
    rows = of.table("frames")
    if rows.is_empty():
        return pl.DataFrame(
            schema={"direction": pl.String, "packet_type": pl.String, "packet_number": pl.Int64, "frames": pl.String}
        )
    stream = pl.concat_str(
        pl.lit("stream "), pl.col("stream_id").cast(pl.String).fill_null("?"), pl.lit(" from "),
        pl.col("offset").cast(pl.String).fill_null("0"),
        pl.when(pl.col("fin").fill_null(value=False)).then(pl.lit(", its end")).otherwise(pl.lit("")),
    )  # fmt: skip
    limit = pl.concat_str(
        "frame_type", pl.lit(" "), pl.col("value").cast(pl.String).fill_null("")
    ).str.strip_chars_end()
    text = (
        pl.when(pl.col("frame_type") == "stream").then(stream)
        .when(pl.col("frame_type").str.starts_with("max_")).then(limit)
        .otherwise(pl.col("frame_type"))
    )  # fmt: skip
    return (
        rows.drop_nulls(keys).filter(pl.col("frame_type") != "padding")
        .group_by(keys, maintain_order=True)
        .agg(text.unique(maintain_order=True).alias("all"))
        .select(
            *keys,
            pl.concat_str(
                pl.col("all").list.head(_MOST_FRAMES).list.join(", "),
                pl.when(pl.col("all").list.len() > _MOST_FRAMES).then(pl.lit(", …")).otherwise(pl.lit("")),
            ).alias("frames"),
        )
    )  # fmt: skip


def _tcp_label() -> pl.Expr:
    """`SYN`, `data from 14481`, `ACK` of a segment."""
    kind = segment_kind(pl.col("flags").cast(pl.Int64), pl.col("payload_bytes"))
    number = pl.concat_str(pl.lit(" from "), pl.col("number").cast(pl.String).fill_null("?"))
    place = pl.when(kind == "data").then(number).otherwise(pl.lit(""))
    again = pl.when(pl.col("again")).then(pl.lit(" (again)")).otherwise(pl.lit(""))
    return pl.concat_str(kind, place, again)
