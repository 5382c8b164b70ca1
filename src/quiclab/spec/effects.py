# SPDX-License-Identifier: Apache-2.0
"""Effects of a direction that a table of plain keys describes, and that are absent by default.

One entry of `EFFECTS` is all that the spec, its schedule, the link's configuration, `quiclab plan` and the options of
`quiclab exec` need of such an effect, beside its dataclass and a field of the same name in `Direction` and `Change`
(`model/network.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quiclab.model.network import Block, Oversize, Police, Slot
from quiclab.spec import kinds
from quiclab.spec.nodes import Kind, table


@dataclass(frozen=True)
class Effect:
    """An effect, with the words for it."""

    declared: type[Any]
    """Dataclass of its settings; `str` of one says what it does. One that has `after` begins then."""
    example: str
    """Table that describes one, as in a spec."""
    ended: str
    """Words for a change that ends it."""
    option: tuple[str, str]
    """Placeholder and help of its option of `quiclab exec`, which takes the values of its keys, in their order."""

    @property
    def keys(self) -> Mapping[str, Kind[Any]]:
        """Keys of its table."""
        return kinds.keys_of(self.declared)

    @property
    def kind(self) -> Kind[Any]:
        """Reader of its table."""
        return table(f"a table such as {self.example}", self.declared, self.keys)


EFFECTS: Mapping[str, Effect] = {
    "block": Effect(
        Block,
        '{protocol = "udp"}',
        "block lifted",
        ("TRANSPORT", 'a transport that is not let in: "udp", or "udp 5s" from then on'),
    ),
    "police": Effect(
        Police,
        '{protocol = "udp", rate = "5 Mbit/s", burst = "64 KB"}',
        "policing ended",
        (
            "LIMIT",
            'a transport that is policed, with its rate and burst: "udp 1mbit 30kB", or "udp 1mbit 30kB 5s"',
        ),
    ),
    "oversize": Effect(
        Oversize,
        '{above = "1300 B"}',
        "large packets pass again",
        (
            "SIZE",
            'a size above which packets are lost: "1300B", "1300B 4%%" for a share of them, or "1300B 100%% 5s"; '
            '"1300B icmp" tells their sender',
        ),
    ),
    "slot": Effect(
        Slot,
        '{least = "5 ms"}',
        "packets no longer held for slots",
        (
            "TIMES",
            'slots in which packets leave together: "5ms" between two, "5ms 10ms", or "5ms 10ms 64" for 64 packets',
        ),
    ),
}
"""Effects by the name of their key."""
