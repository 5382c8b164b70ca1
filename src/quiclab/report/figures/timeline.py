# SPDX-License-Identifier: Apache-2.0
"""The critical path of one trial of each arm on one axis of time, in the colours of the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._reason_style import LABELS, ink, marker, reason_heading, reason_style
from quiclab.why.account import MetricScope, Why, laid_out, spells
from quiclab.why.account.levels import Part

SPELLS = {
    **dict.fromkeys(("arm", "why", "what", "evidence", "since"), pl.String),
    **dict.fromkeys(("from_ms", "until_ms", "event_ms"), pl.Float64),
    **dict.fromkeys(("edge", "edges", "packets", "event_packet"), pl.Int64),
}
_BAND_PX, _FRAME_PX = 120, 150
_COLUMNS = 400
"""Columns of a band: spells shorter than one are drawn together, by their shares."""
_NAMED = 0.08
"""Share of the time that is shown from which on a spell has its name on it."""
_EVENT_Y = 1.07
_SINCE = {
    MetricScope.PAGE: "navigation start",
    MetricScope.TTLB: "the client's first packet",
    MetricScope.START_UP: "the video was asked for",
    MetricScope.STALL: "the first stall began",
}


class Timeline(Figure):
    """A band per arm, from the client's first packet to its last byte; of a video from the request for it until it
    starts, or from its first stall to the end of its last. A spell that is long enough to be seen has the
    whole height; shorter ones that follow each other share it by their lengths."""

    name = "timeline"
    question = "Where did the time of each trial go, and what did the sender wait for?"
    where = Where.PAIR
    tables = ("tables/account/*.parquet", "tables/link_packets/*.parquet")
    columns: ClassVar = {
        "arm": "a band each, the baseline first",
        "why": "the reason of a spell, which its colour tells",
        "what": "what passes the time, the longest first",
        "evidence": "the tables that decided the reason",
        "from_ms": "its beginning, since that of the account, ms",
        "until_ms": "its end, ms",
        "since": "the event at 0 ms",
        "edge": "place of its first edge in the trial's account",
        "edges": "its edges",
        "packets": "packets that the bottleneck served in it",
        "event_ms": "when the window was last tightened, ms; null where that is not known or not the reason",
        "event_packet": "the packet that was lost then: `index` in link_packets; null where none is known",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the spells of one trial of each arm; none of a trial without an account."""
        parts = [pl.DataFrame(schema=SPELLS)]
        for arm, trial_id in asked.chosen().trials.items():
            known = asked.study.trial_table("account", trial_id)
            account = laid_out(known, asked.analysis.metric.name) if known is not None else None
            if account is None or account.is_empty():
                continue
            zero_ns = int(account["from_ns"][0])
            found = spells(account).with_columns(
                pl.lit(arm).alias("arm"),
                pl.lit(_SINCE[MetricScope(account["of"][0].partition(" ")[0])]).alias("since"),
                *(
                    (pl.col(f"{end}_ns") - zero_ns).truediv(1e6).alias(f"{end}_ms")
                    for end in ("from", "until", "event")
                ),
            )
            parts.append(found.select(pl.col(name).cast(kind) for name, kind in SPELLS.items()))
        return pl.concat(parts)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per spell."""
        arms = dict(_style.arms(data))
        figure = go.panels(
            [_style.arm_name(arm, style) for arm, style in arms.items()],
            across=1, gap_across=0, gap_down=0.16 if len(arms) > 1 else 0,
        )  # fmt: skip
        end_ms = float(data["until_ms"].max() or 1.0)  # type: ignore[arg-type]
        for place, arm in enumerate(arms):
            _Band(figure, place, data.filter(pl.col("arm") == arm), end_ms).add()
        used = set(data["why"].to_list())
        for rank, why in enumerate(each for each in LABELS if each in used):
            figure.add_bar(
                x=[None], y=[None], name=_style.text(reason_heading(why)), legendgroup=why, legendrank=rank,
                marker=marker(reason_style(why)),
            )  # fmt: skip
        figure.update_layout(
            _style.with_legend(_FRAME_PX + _BAND_PX * len(arms)), barmode="overlay", bargap=0, hovermode="closest",
            uniformtext={"minsize": 10, "mode": "hide"}, legend={"y": 1.02 + 24 / (_BAND_PX * len(arms))},
            meta={"bands": [_exact(data.filter(pl.col("arm") == arm)) for arm in arms], "columns": _COLUMNS},
        )  # fmt: skip
        figure.update_yaxes(
            range=[0, 1.15], fixedrange=True, showticklabels=False, showgrid=False, zeroline=False, ticks=""
        )
        figure.update_xaxes(range=[0, end_ms], automargin=True, zeroline=False, showticklabels=False)
        for place in range(1, len(arms)):
            figure.update_layout({f"xaxis{go.axis_number(place)}": {"matches": "x"}})
        last = f"xaxis{go.axis_number(len(arms) - 1)}"
        figure.update_layout({last: {"showticklabels": True, "title": {"text": f"time since {data['since'][0]}, ms"}}})
        return figure


def _exact(band: pl.DataFrame) -> dict[str, object]:
    """Spells as the page's script reads them: it draws them anew when a reader zooms."""
    whys = band["why"].unique(maintain_order=True).to_list()
    return {
        "from": band["from_ms"].to_list()[:1],
        "until": band["until_ms"].round(3).to_list(),
        "why": [whys.index(why) for why in band["why"]],
        "whys": whys,
        "headings": [reason_heading(why) for why in whys],
    }


class _Band:
    """The drawing of one arm."""

    def __init__(self, figure: go.Figure, place: int, spells_of_arm: pl.DataFrame, end_ms: float) -> None:
        self.figure, self.place, self.rows, self.end_ms = figure, place, spells_of_arm, end_ms

    def add(self) -> None:
        """Draw the heaps of each reason, and the events that tightened a window."""
        rows = self.rows
        found = heaps(
            rows["from_ms"].to_list(), rows["until_ms"].to_list(), rows["why"].to_list(), self.end_ms / _COLUMNS
        )
        for why in dict.fromkeys(rows["why"]):
            self._bars(why, [heap for heap in found if why in heap.parts])
        self._events()

    def _bars(self, why: str, own: Sequence[Heap]) -> None:
        heading = _style.text(reason_heading(why))
        style = reason_style(why)
        self.figure.add_bar(
            x=[round((heap.from_x + heap.until_x) / 2, 4) for heap in own],
            width=[round(heap.until_x - heap.from_x, 4) for heap in own],
            base=[round(heap.parts[why][0], 5) for heap in own],
            y=[round(heap.parts[why][1], 5) for heap in own],
            text=[heading if len(heap.parts) == 1 and heap.length >= _NAMED * self.end_ms else "" for heap in own],
            textposition="inside", insidetextanchor="middle", textangle=0, insidetextfont={"color": ink(style)},
            hovertext=[_hover_text(heading, heap, why) for heap in own],
            hovertemplate="%{hovertext}<extra></extra>", customdata=[[heap.first, heap.last] for heap in own],
            name=heading, legendgroup=why, showlegend=False, marker=marker(style),
            meta={"band": self.place, "why": why}, **go.in_panel(self.place),
        )  # fmt: skip

    def _events(self) -> None:
        known = self.rows.drop_nulls("event_ms").unique("event_ms", keep="first", maintain_order=True).sort("event_ms")
        if known.is_empty():
            return
        self.figure.add_scatter(
            x=known["event_ms"].to_list(), y=[_EVENT_Y] * known.height, mode="markers",
            name="what last tightened the window", legendgroup="event", showlegend=self.place == 0, legendrank=999,
            marker={"symbol": "triangle-down", "size": 9, "color": reason_style(Why.LOSS_TIMER).colour},
            hovertext=[_event_text(row) for row in known.iter_rows(named=True)],
            hovertemplate="%{hovertext}<extra></extra>", customdata=known["edge"].to_list(),
            meta={"band": self.place, "event": True}, **go.in_panel(self.place),
        )  # fmt: skip


def _hover_text(heading: str, heap: Heap, why: str) -> str:
    own, whole = heap.parts[why][1] * heap.length, heap.length
    span = f"{heap.from_x:.2f} to {heap.until_x:.2f} ms"
    return f"{heading}: {own:.2f} ms" + ("" if len(heap.parts) == 1 else f" of {whole:.2f} ms") + f"<br>{span}"


def _event_text(row: dict[str, object]) -> str:
    lost = "" if row["event_packet"] is None else f": loss of packet {row['event_packet']}"
    return f"the window was tightened at {row['event_ms']:.2f} ms{lost}"


# Spells that are too short to be seen, heaped up: each heap is a column, shared by its spells' lengths.
#
# `templates/timeline.js` does the same when a reader zooms.
_LOWEST = (str(Why.LINK_BUSY), Part.ARRIVING.label)


@dataclass(frozen=True)
class Heap:
    """Spells that follow each other."""

    first: int
    last: int
    """Places of the first and the last of them."""
    from_x: float
    until_x: float
    parts: dict[str, tuple[float, float]]
    """Reason → (share of those below it, own share), in the order of their names, with the busy link lowest."""

    @property
    def length(self) -> float:
        """Duration of the heap."""
        return self.until_x - self.from_x


def heaps(begins: Sequence[float], ends: Sequence[float], whys: Sequence[str], least: float) -> list[Heap]:
    """Spells of at least a length, each by itself, and between them heaps of about that length."""
    found: list[Heap] = []
    first = 0
    for place in range(len(ends)):
        if ends[place] - begins[place] >= least:
            if first < place:
                found.append(_heap(begins, ends, whys, first, place - 1))
            found.append(_heap(begins, ends, whys, place, place))
            first = place + 1
        elif ends[place] - begins[first] >= least:
            found.append(_heap(begins, ends, whys, first, place))
            first = place + 1
    if first < len(ends):
        found.append(_heap(begins, ends, whys, first, len(ends) - 1))
    return found


def _heap(begins: Sequence[float], ends: Sequence[float], whys: Sequence[str], first: int, last: int) -> Heap:
    lengths: dict[str, float] = {}
    for place in range(first, last + 1):
        lengths[whys[place]] = lengths.get(whys[place], 0.0) + ends[place] - begins[place]
    whole = sum(lengths.values()) or 1.0
    parts: dict[str, tuple[float, float]] = {}
    below = 0.0
    for why in sorted(lengths, key=lambda each: (each not in _LOWEST, each)):
        parts[why] = (below, lengths[why] / whole)
        below += lengths[why] / whole
    return Heap(first, last, begins[first], ends[last], parts)
