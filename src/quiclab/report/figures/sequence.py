# SPDX-License-Identifier: Apache-2.0
"""Packets between both ends, as they left and as they arrived (Yu and Benson 2021, Figure 10)."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from quiclab.model.tables import Row
from quiclab.report.figures import _canvas as go
from quiclab.report.figures import _style
from quiclab.report.figures._api import Figure, Where
from quiclab.report.figures._asked import Asked
from quiclab.report.figures._crossings import crossings

_SPACES = {"Initial": 2, "Handshake": 4, "0-RTT": 3, "Retry": 5, "TCP": 2}
"""Packet number space → place of its colour, dash and marker; those that carry the responses have their arm's."""
_DATA = ("1-RTT", "TCP data")
_OTHER = 5
_SHORT = {"Initial": "Init", "Handshake": "HS"}
_HEIGHT_PX, _LINE_PX = 560, 16
_MOST_LINES, _LINE_CHARACTERS = 3, {1: 40, 2: 20}
_ROOM = {1: 0.9, 2: 1.3}
"""Width left for words beside the two ends, which are 1 apart, by the number of panels in a row."""
_LEAST_PX = 720
"""Width that the words need; a narrower screen scrolls."""
_ENDS = {"client": 0.0, "server": 1.0}


class Sequence(Figure):
    """A panel per arm: time runs down, the client stands at the left. An arrow per packet, a cross where it was lost.

    A full mark is the instant at which an end learns that a packet of its own arrived; an open one is an implicit
    acknowledgment (RFC 9001 section 4.9), which is no sample of the round trip.
    """

    name = "sequence"
    question = "Which packets cross each other, which are probes, and how does a sender learn that they arrived?"
    where = Where.PAIR
    tables = ("tables/packets/*.parquet", "tables/acks/*.parquet", "tables/frames/*.parquet", "tables/timers/*.parquet")
    columns: ClassVar = {
        "arm": "a panel each, the baseline first",
        "space": "packet number space, which colours and dashes tell",
        "number": "packet number, or TCP's sequence number",
        "label": "what it is called",
        "sender": "'client' or 'server'",
        "sent_ms": "when it left its end, since the client's first packet, ms",
        "arrived_ms": "when it came to the other end, ms; null where it was lost",
        "bytes": "its length",
        "probe": "why it is a probe or was sent again; empty of others",
        "acknowledged_ms": "when its sender learnt that it had arrived, ms; null where it did not, or did not need to",
        "implicit": "whether a packet of the next space said so, and no ACK",
    }

    def gather(self, asked: Asked) -> pl.DataFrame:
        """Return the packets of the window in the order in which they left."""
        return crossings(asked.study, asked.chosen().trials, asked.window)

    def draw(self, data: pl.DataFrame) -> Any:
        """One row of `data` per packet."""
        arms = data["arm"].unique(maintain_order=True).to_list()
        across = min(2, len(arms))
        down = -(-len(arms) // across)
        styles = dict(_style.arms(data))
        titles = [_style.arm_name(arm, styles[arm]) for arm in arms]
        figure = go.panels(titles, across=across, gap_across=0.1, gap_down=0.1 / down)
        instants = pl.concat([data["sent_ms"], data["arrived_ms"]]).drop_nulls()
        time = float(instants.min() or 0.0), float(instants.max() or 1.0)  # type: ignore[arg-type]
        named: set[str] = set()
        for place, arm in enumerate(arms):
            panel = _Panel(figure, go.in_panel(place), styles[arm], arm, named, time, _LINE_CHARACTERS[across])
            panel.add(data.filter(pl.col("arm") == arm))
        figure.update_layout(_style.with_legend(90 + _HEIGHT_PX * down), hovermode="closest")
        figure.update_layout(legend={"y": 1 + 30 / (_HEIGHT_PX * down)}, margin={"b": 30}, meta={"least_px": _LEAST_PX})
        room = _ROOM[across]
        figure.update_xaxes(
            range=[-room, 1 + room], tickvals=[0, 1], ticktext=["client", "server"], side="bottom",
            showgrid=False, zeroline=False, fixedrange=True,
        )  # fmt: skip
        # One scale for all panels: what takes longer is longer.
        room = 0.02 * (time[1] - time[0] or 1.0)
        figure.update_yaxes(range=[time[1] + room, time[0] - room], automargin=True, zeroline=False)
        for place in range(1, len(arms)):
            figure.update_layout({f"yaxis{go.axis_number(place)}": {"matches": "y"}})
        for place in range(0, len(arms), across):
            axis = f"yaxis{go.axis_number(place)}"
            figure.update_layout({axis: {"title": {"text": "time since the client's first packet, ms"}}})
        return figure


@dataclass(frozen=True)
class _Panel:
    """The drawing of one arm."""

    figure: go.Figure
    where: dict[str, str]
    style: _style.ArmStyle
    arm: str
    named: set[str]
    """Names that the legend has already."""
    time: tuple[float, float]
    """First and last instant of all panels, ms."""
    wide: int
    """Characters of a line of words."""

    def add(self, packets: pl.DataFrame) -> None:
        """Draw packets, what acknowledges them, and the words beside both ends."""
        low, high = self.time
        for x in _ENDS.values():
            self.figure.add_scatter(
                x=[x, x], y=[low, high], mode="lines", line={"color": _style.BLANK_TEXT, "width": 1},
                hoverinfo="skip", showlegend=False, **self.where,
            )  # fmt: skip
        for (space,), own in packets.group_by("space", maintain_order=True):
            self._arrows(str(space), own)
        for implicit, label in ((False, "acknowledged by an ACK"), (True, "implicitly acknowledged")):
            own = packets.filter((pl.col("acknowledged_ms") <= high) & (pl.col("implicit") == implicit))
            if own.height:
                self._acknowledged(own, label)
        for sender, x in _ENDS.items():
            own = packets.filter(pl.col("sender") == sender)
            heaps = _heaps(_events(own, high), _LINE_PX * (high - low) / _HEIGHT_PX, self.wide)
            _labels(self.figure, self.where, heaps, x)

    def _style_of(self, space: str) -> _style.ArmStyle:
        return self.style if space in _DATA else _style.arm_style(_SPACES.get(space, _OTHER))

    def _first(self, label: str) -> bool:
        """True if the legend has this for the first time."""
        first = label not in self.named
        self.named.add(label)
        return first

    def _arrows(self, space: str, packets: pl.DataFrame) -> None:
        style = self._style_of(space)
        name = f"{space} ({self.arm})" if space in _DATA else space
        x: list[float | None] = []
        y: list[float | None] = []
        symbols, sizes, hovers = [], [], []
        for packet in packets.iter_rows(named=True):
            begin = _ENDS[packet["sender"]]
            lost = packet["arrived_ms"] is None
            end = 1 - begin if not lost else begin + (0.5 - begin) * 0.7
            hover = _style.text(_hover_text(packet))
            x += [begin, end, None]
            y += [packet["sent_ms"], packet["sent_ms"] if lost else packet["arrived_ms"], None]
            symbols += ["circle", "x-thin-open" if lost else "arrow", "circle"]
            sizes += [0, 9, 0]
            hovers += [hover, hover, ""]
        self.figure.add_scatter(
            x=x, y=y, mode="lines+markers", name=_style.text(name), legendgroup=name, showlegend=self._first(name),
            line={"color": style.colour, "dash": "solid" if space in _DATA else style.dash, "width": 1.4},
            marker={"symbol": symbols, "size": sizes, "color": style.colour, "angleref": "previous",
                    "line": {"width": 1.5, "color": style.colour}},
            text=hovers, hovertemplate="%{text}<extra></extra>", **self.where,
        )  # fmt: skip

    def _acknowledged(self, packets: pl.DataFrame, label: str) -> None:
        colours = [self._style_of(space).colour for space in packets["space"]]
        implicit = bool(packets["implicit"][0])
        self.figure.add_scatter(
            x=[_ENDS[sender] for sender in packets["sender"]], y=packets["acknowledged_ms"].to_list(),
            mode="markers", name=label, legendgroup=label, showlegend=self._first(label),
            marker={"symbol": "circle-open" if implicit else "circle", "size": 9, "color": colours,
                    "line": {"width": 2, "color": colours}},
            text=[_style.text(f"{label}: {_hover_text(packet)}") for packet in packets.iter_rows(named=True)],
            hovertemplate="%{text}<extra></extra>", **self.where,
        )  # fmt: skip


def _hover_text(packet: Row) -> str:
    arrived = "lost" if packet["arrived_ms"] is None else f"arrived at {packet['arrived_ms']:.2f} ms"
    after = packet["acknowledged_ms"]
    known = "" if after is None else f", known {after - packet['sent_ms']:.2f} ms after it left"
    probe = f", {packet['probe']}" if packet["probe"] else ""
    return f"{packet['label']}{probe}: {packet['bytes']} bytes, left at {packet['sent_ms']:.2f} ms, {arrived}{known}"


Event = tuple[float, int, str, int, str]
"""An instant, the place in `_KINDS`, packet number space or what TCP sent, packet number, why it is a probe."""
_KINDS = ("", "ACK of ", "implicit ACK of ")


def _events(packets: pl.DataFrame, until_ms: float) -> list[Event]:
    """Events of one end: packets that it sends, and what it learns of those in the first two spaces."""
    events = [(row["sent_ms"], 0, _name(row), row["number"], row["probe"]) for row in packets.iter_rows(named=True)]
    early = packets.filter(pl.col("space").is_in(list(_SHORT)) & (pl.col("acknowledged_ms") <= until_ms))
    events += [
        (row["acknowledged_ms"], 2 if row["implicit"] else 1, row["space"], row["number"], "")
        for row in early.iter_rows(named=True)
    ]
    return sorted(events)


def _name(packet: Row) -> str:
    """Return the packet number space of a QUIC packet, and `SYN`, `ACK`, `data` … for a TCP segment."""
    return str(packet["label"].rsplit(" ", 1)[0] if packet["space"].startswith("TCP") else packet["space"])


def _heaps(events: list[Event], line_ms: float, wide: int) -> list[tuple[float, str]]:
    """Return instants and words: one text for all events of one end that lie too close together to be read apart."""
    heaps: list[tuple[list[Event], list[str]]] = []
    for event in events:
        here, lines = [event], _lines([event], wide)
        while heaps and event[0] - heaps[-1][0][0][0] < line_ms * (len(heaps[-1][1]) + len(lines)) / 2:
            here = [*heaps.pop()[0], *here]
            event, lines = here[0], _lines(here, wide)
        heaps.append((here, lines))
    return [(here[0][0], "<br>".join(map(_style.text, lines))) for here, lines in heaps]


def _lines(heap: list[Event], wide: int) -> list[str]:
    lines = textwrap.wrap(_summary(heap), wide)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], lines[_MOST_LINES - 1][: wide - 1] + "…"]


def _summary(heap: list[Event]) -> str:
    """`Init 1 (probe), ACK of Init 0, 1-RTT 3–7`: equal things once, in the order in which they first come."""
    parts: dict[tuple[int, str, str], list[int]] = {}
    for _, kind, space, number, probe in heap:
        parts.setdefault((kind, space, probe), []).append(number)
    texts = []
    for (kind, space, probe), numbers in parts.items():
        if space not in _SPACES and space not in _DATA:
            what = space if len(numbers) == 1 else f"{len(numbers)} × {space}"
        else:
            span = f"{numbers[0]}" if len(numbers) == 1 else f"{min(numbers)}–{max(numbers)}"
            what = f"{_SHORT.get(space, space)} {span}"
        texts.append(f"{_KINDS[kind]}{what}" + (f" ({probe})" if probe else ""))
    return ", ".join(texts)


def _labels(figure: go.Figure, where: dict[str, str], heaps: list[tuple[float, str]], x: float) -> None:
    figure.add_scatter(
        x=[x + (0.07 if x else -0.07)] * len(heaps), y=[instant for instant, _ in heaps], mode="text",
        text=[words for _, words in heaps], textposition="middle right" if x else "middle left",
        textfont={"size": 10}, hoverinfo="skip", showlegend=False, cliponaxis=False, **where,
    )  # fmt: skip
