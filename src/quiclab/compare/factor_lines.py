# SPDX-License-Identifier: Apache-2.0
"""Lines of a figure along a numeric factor: workloads, or paths, that differ in that factor alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from quiclab.compare import path_asked
from quiclab.model.number_text import counted
from quiclab.model.resolved_record import ResolvedPath, ResolvedWorkload

_UNTOLD = ("name", "title", "profile", "link_name")
"""Keys that say nothing of what an entry does, such as its name."""


@dataclass(frozen=True)
class Entry:
    """A workload or a path of the resolved spec."""

    told: ResolvedWorkload | ResolvedPath
    """The members that have a number."""
    table: Mapping[str, object]
    """All members, as resolved.json has them."""

    @property
    def name(self) -> str:
        """Name in the spec."""
        return self.told.name


@dataclass(frozen=True)
class Line:
    """Entries of the resolved spec that differ in the factor alone."""

    entries: Mapping[float, str]
    """Value of the factor → name of the workload or path, from the least value to the largest."""
    title: str
    """Factors held fixed, where other lines have them otherwise; else empty."""


def lines(name: str, entries: Sequence[Entry], values: Mapping[str, float], titles: Mapping[str, str]) -> list[Line]:
    """Every entry that has a value is on a line, on more than one where it belongs there too; no line is a part of
    another one."""
    groups: dict[str, dict[float, Entry]] = {}
    for entry in entries:
        value = values.get(entry.name)
        if value is None:
            continue
        for key in _rests(name, entry):
            while value in groups.setdefault(key, {}):
                key += " "  # differs from what is there in a way that no number tells
            groups[key][value] = entry
    found = [dict(sorted(group.items())) for group in groups.values()]
    members = [{entry.name for entry in group.values()} for group in found]
    whole = [
        group
        for place, group in enumerate(found)
        if not any(
            members[place] < other or (members[place] == other and before < place)
            for before, other in enumerate(members)
        )
    ]
    names = _titles(name, whole, entries, titles)
    return [
        Line({value: entry.name for value, entry in group.items()}, title)
        for group, title in zip(whole, names, strict=True)
    ]


def _rests(name: str, entry: Entry) -> Iterator[str]:
    """An entry without the factor, as text. What is the same in both directions may change with it or stay."""
    plain = json.loads(json.dumps({key: value for key, value in entry.table.items() if key not in _UNTOLD}))
    if name in _OF_ENTRY:
        plain.pop(_OF_ENTRY[name], None)
        yield json.dumps(plain, sort_keys=True)
        return
    factor, _, side = name.partition("_")
    links = [plain, *(plain.get("more_links") or ())]
    own, far = ([link.get(way) or {} for link in links] for way in (("up", "down") if side else ("down", "up")))
    if factor == "jitter":  # only its scale is the factor: its shape and mode stay
        own, far = ([each.get("jitter") or {} for each in directions] for directions in (own, far))
    fields = _OF_DIRECTIONS.get(factor, (factor,))
    alike = all(here.get(field) == there.get(field) for here, there in zip(own, far, strict=True) for field in fields)
    for direction in own:
        for field in fields:
            direction.pop(field, None)
    if factor != "rtt":
        yield "one way " + json.dumps(plain, sort_keys=True)
    if alike or factor == "rtt":
        for direction in far:
            for field in fields:
                direction.pop(field, None)
        yield "both ways " + json.dumps(plain, sort_keys=True)


_OF_ENTRY: Mapping[str, str] = MappingProxyType(
    {"size": "size_bytes", "count": "count", "concurrency": "concurrency", "mtu": "mtu"}
)
"""Factors that one member of a workload or path has."""
_OF_DIRECTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"rate": ("rate_bit_per_s", "edge_bit_per_s"), "rtt": ("delay_ns",), "jitter": ("scale_ns",)}
)
"""Factors that directions have under other names."""


def _object_size(workload: ResolvedWorkload) -> str:
    return "" if workload.size_bytes is None else _bytes(workload.size_bytes) + (" each" if workload.count else "")


def _object_count(workload: ResolvedWorkload) -> str:
    return counted(workload.count, "object") if workload.count else ""


def _bytes(size: float) -> str:
    unit, factor = ("MB", 1e6) if size >= 1e6 else ("KB", 1e3) if size >= 1e3 else ("bytes", 1.0)
    return f"{size / factor:g} {unit}"


def _rtt(path: ResolvedPath) -> str:
    return f"{path_asked.rtt_ms(path):g} ms RTT" if path.is_told else ""


def _jitter(path: ResolvedPath) -> str:
    jitter = path_asked.jitter_ms(path)
    return "" if jitter is None else f"{jitter:g} ms jitter"


def _queue(path: ResolvedPath) -> str:
    queue = path_asked.queue_bdp(path)
    return "" if queue is None else f"{queue:g} BDP queue"


def _rate(side: path_asked.Side, word: str) -> Callable[[ResolvedPath], str]:
    def value_of(path: ResolvedPath) -> str:
        rate = path_asked.rate_bit_per_s(path, side)
        return "" if rate is None else f"{rate / 1e6:g} Mbit/s{word}"

    return value_of


def _loss(side: path_asked.Side, word: str) -> Callable[[ResolvedPath], str]:
    def value_of(path: ResolvedPath) -> str:
        loss = path_asked.loss_pct(path, side)
        return "" if loss is None else f"{loss:g} % loss{word}"

    return value_of


_OF_WORKLOADS: Mapping[str, Callable[[ResolvedWorkload], str]] = MappingProxyType(
    {
        "size": _object_size,
        "count": _object_count,
        "concurrency": lambda workload: f"{workload.concurrency} at once" if workload.concurrency else "",
    }
)
_OF_PATHS: Mapping[str, Callable[[ResolvedPath], str]] = MappingProxyType(
    {
        "rate": _rate("down", ""),
        "rate_up": _rate("up", " up"),
        "rtt": _rtt,
        "loss": _loss("down", ""),
        "loss_up": _loss("up", " up"),
        "queue": _queue,
        "jitter": _jitter,
        "mtu": lambda path: f"MTU {path.mtu} bytes" if path.mtu else "",
    }
)
_TWIN = {"rate_up": "rate", "loss_up": "loss"}
"""Factors of the upward direction, left out where the downward one already says the same."""


def _titles(
    name: str, groups: Sequence[Mapping[float, Entry]], entries: Sequence[Entry], titles: Mapping[str, str]
) -> list[str]:
    """Name each line by the numbers that are fixed on it and vary in the study.

    Where two lines would have the same name, or one none, take what the titles of a line's entries share, or add one
    of these titles.
    """
    if len(groups) == 1:
        return [""]
    found = [_fixed(name, list(group.values()), entries) for group in groups]
    for doubtful in [title for title, times in Counter(found).items() if times > 1 or not title]:
        places = [place for place, title in enumerate(found) if title == doubtful]
        own = [[titles.get(entry.name, entry.name) for entry in groups[place].values()] for place in places]
        shared = [_shared(each) for each in own]
        for place, common, each in zip(places, shared, own, strict=True):
            known = common and shared.count(common) == 1 and common not in found
            found[place] = common if known else ", ".join(filter(None, (doubtful, f"as in “{each[-1]}”")))
    return found


def _fixed(factor: str, group: Sequence[Entry], entries: Sequence[Entry]) -> str:
    parts: dict[str, str] = {}
    in_group, in_study = ([_in_words(entry.told) for entry in each] for each in (group, entries))
    for name in (*_OF_WORKLOADS, *_OF_PATHS):
        here, everywhere = ({told.get(name, "") for told in each} for each in (in_group, in_study))
        if len(here) == 1 and len(everywhere) > 1:
            (text,) = here
            if text and parts.get(_TWIN.get(name, "")) != text.removesuffix(" up"):
                parts[name] = text
    return ", ".join(text for name, text in parts.items() if name != factor)


def _in_words(entry: ResolvedWorkload | ResolvedPath) -> dict[str, str]:
    """Numbers of a workload or of a path, in words."""
    if isinstance(entry, ResolvedWorkload):
        return {name: tell(entry) for name, tell in _OF_WORKLOADS.items()}
    return {name: tell(entry) for name, tell in _OF_PATHS.items()}


def _shared(titles: Sequence[str]) -> str:
    """The parts, between commas, that all have."""
    first, *others = (title.split(", ") for title in titles)
    return ", ".join(part for part in first if all(part in other for other in others))
