# SPDX-License-Identifier: Apache-2.0
"""`[[path]]`: its links in a row, each with two directions (`directions.py`), and what holds for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from quiclab.model.bounds import MINUTE
from quiclab.model.nat import Nat
from quiclab.model.network import Oversize
from quiclab.model.study import Link, Path
from quiclab.model.units import Duration
from quiclab.spec import json_form, kinds
from quiclab.spec.directions import BOTH_DIRECTIONS, DIRECTION_KEYS, read_directions, without_replaced
from quiclab.spec.nodes import (
    FAILED,
    Kind,
    Node,
    ReportedError,
    WrongValueError,
    build,
    form_of,
    read_keys,
    read_or_report,
    show,
    table,
)
from quiclab.spec.profiles import profiles, with_profile
from quiclab.spec.toml_text import Toml

LEAST_IPV6_MTU = 1280
_PROFILE = kinds.choice(tuple(profiles()), 'the name of a profile such as "lte"')
RTT: Kind[Duration] = kinds.quantity(Duration, "a round-trip time", "40 ms", Duration(0), Duration(2 * MINUTE.ns))
NAT_KEYS = kinds.keys_of(Nat)


def _read_nat(node: Node) -> Nat:
    nat = build(Nat, node, NAT_KEYS)
    if nat == Nat():
        keys = " or ".join(NAT_KEYS)
        raise WrongValueError(f"a NAT that never forgets a flow changes nothing; write {keys} with a time")
    return nat


NAT: Kind[Nat] = table('a table such as {rebind = "2 s"} or {timeout = "30 s"}', Nat, NAT_KEYS, _read_nat)
LINK_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "profile": _PROFILE,
    "rtt": RTT,
    "nat": NAT,
    **BOTH_DIRECTIONS,
}


def _read_links(node: Node) -> list[Node]:
    if not isinstance(node.value, list) or not node.value:
        raise WrongValueError(f"{show(node.value)}; write {_LINKS.wanted}")
    return list(node.elements())


_LINKS: Kind[list[Node]] = Kind(
    "one table [[path.link]] for each link, from client to server",
    _read_links,
    json_form.array(form_of(LINK_KEYS, Link), 1),
)
PATH_KEYS: Mapping[str, Kind[Any]] = {
    "name": kinds.NAME,
    "title": kinds.TITLE,
    "profile": _PROFILE,
    "mtu": kinds.whole(576, 65535),
    "ip_version": kinds.choice((4, 6)),
    "link": _LINKS,
    "rtt": RTT,
    "nat": NAT,
    **BOTH_DIRECTIONS,
}


def read_path(node: Node) -> Path:
    """Read one `[[path]]` with its defaults filled in."""
    before = node.source.reports
    if isinstance(node.value, dict) and "link" not in node.value:
        node = _with_delay(node)
    if isinstance(node.value, dict) and _has_profile(node.value) and "link" not in node.value:
        node = replace(node, value=with_profile(node.value, DIRECTION_KEYS))
    values = without_replaced(node, read_keys(node, PATH_KEYS, required=("name",)))
    mtu = values.get("mtu", Path.mtu)
    if "link" in values:
        links = _several(node, values.pop("link"), mtu)
    else:
        directions = read_directions(node, values, mtu)
        links = (Link(Path.link_name, directions["up"], directions["down"]),)
    if values.get("ip_version") == 6:
        _check_told_mtus(node, links)
    if values.get("ip_version") == 6 and mtu < LEAST_IPV6_MTU:
        node.child("mtu").report(f"{mtu} is too small: IPv6 needs at least {LEAST_IPV6_MTU} (RFC 8200 section 5)")
    if node.source.reports > before:
        raise ReportedError
    own = {key: value for key, value in values.items() if key not in BOTH_DIRECTIONS}
    first, *more = links
    own = {"title": values["name"], "nat": first.nat, **own}
    return Path(**own, link_name=first.name, up=first.up, down=first.down, more_links=tuple(more))


def _check_told_mtus(node: Node, links: Iterable[Link]) -> None:
    """Report links that tell a sender of an MTU that IPv6 does not know."""
    for link in links:
        for direction in (link.up, link.down):
            sizes = [direction.oversize, *(change.oversize for change in direction.schedule)]
            told = [each.above.bytes for each in sizes if isinstance(each, Oversize) and each.too_big == "icmp"]
            if any(above < LEAST_IPV6_MTU for above in told):
                node.report(
                    f"oversize: {min(told)} bytes are no MTU of IPv6, which needs at least {LEAST_IPV6_MTU} "
                    '(RFC 8200 section 5); write more, or too_big = "black hole"'
                )
                return


PATH: Kind[Path] = table("a table", Path, PATH_KEYS, read_path)


def _several(path: Node, nodes: list[Node], mtu: int) -> tuple[Link, ...]:
    """Read several links in a row. Raises ReportedError."""
    before = path.source.reports
    for key in path.value:
        if key in (*BOTH_DIRECTIONS, "profile", "rtt", "nat"):
            path.child(key).report("where a path has [[path.link]], this key belongs to each of those links")
    links: dict[str, Link] = {}
    for node in nodes:
        link = read_link(node, mtu, LINK_KEYS, required=("name",))
        if link.name in links:
            node.child("name").report(f'"{link.name}" is the name of another link of this path; names are unique')
        links[link.name] = link
    if path.source.reports > before:
        raise ReportedError
    return tuple(links.values())


def read_link(node: Node, mtu: int, keys: Mapping[str, Kind[Any]], required: tuple[str, ...] = ()) -> Link:
    """A link that is described by a table of its own, with its profile's values and its defaults filled in."""
    if isinstance(node.value, dict):
        node = _with_delay(node)
    if isinstance(node.value, dict) and _has_profile(node.value):
        merged = with_profile(node.value, DIRECTION_KEYS)
        node = replace(node, value={key: value for key, value in merged.items() if key in keys})
    values = without_replaced(node, read_keys(node, keys, required=required))
    directions = read_directions(node, values, mtu)
    own = (values.get("profile", ""), values.get("nat"))
    return Link(values.get("name", ""), directions["up"], directions["down"], *own)


def _has_profile(table: Toml) -> bool:
    """True if a table names a profile that there is."""
    name = table.get("profile")
    return isinstance(name, str) and name in profiles()


def _with_delay(node: Node) -> Node:
    """The table of a link with a delay in place of its RTT: half of it in each direction."""
    if "rtt" not in node.value:
        return node
    rtt, at = read_or_report(node.child("rtt"), RTT), node.child("rtt")
    sides = [side for side in ("up", "down") if "delay" in (node.value.get(side) or ())]
    if "delay" in node.value or sides:
        beside = "" if "delay" in node.value else f" of {sides[0]}"
        at.report(f'it cannot stand beside "delay"{beside}, which is half of it; write one or the other')
    elif rtt is not FAILED and rtt.ns % 2:
        at.report(f"{rtt} is no whole number of nanoseconds each way; write an even number")
    elif rtt is not FAILED:
        kept = {key: value for key, value in node.value.items() if key != "rtt"}
        return replace(node, value={**kept, "delay": str(Duration(rtt.ns // 2))})
    return replace(node, value={key: value for key, value in node.value.items() if key != "rtt"})
