# SPDX-License-Identifier: Apache-2.0
"""A link described by command-line options, in the words of the spec and checked by the spec's own reader."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Collection, Iterator
from typing import Literal

from quiclab.model.errors import SpecError
from quiclab.model.study import Path
from quiclab.spec.effects import EFFECTS
from quiclab.spec.impairments import CHANGE_KEYS, ENDABLE_KEYS
from quiclab.spec.in_words import in_full
from quiclab.spec.lines import KeyPath
from quiclab.spec.nodes import Node, Source
from quiclab.spec.paths import read_path
from quiclab.spec.toml_text import Toml

Side = Literal["", "up", "down"]
"""Direction of an option; empty is both."""
_SIDES: tuple[Side, ...] = ("", "up", "down")
_OPTIONS = {
    "rate": ("RATE", 'bottleneck rate, "10mbit"; "1mbit 10mbit 1s" draws one from this range every second'),
    "burst": ("SIZE", 'bytes that pass at once after a pause, and then the rate, as tbf has it: "32KB"'),
    "peak_rate": ("RATE", 'rate at which such a burst passes, "1gbit" (default: at once)'),
    "delay": ("TIME", 'one-way delay, "50ms": without up- or down- it applies to both directions'),
    "loss": (
        "SHARE",
        'random loss, "1%%"; in outages of 50 ms with 2 s between them, "bursts 2s 50ms"; in bursts counted in '
        'packets, "gilbert-elliott 1%% 25%%"; "list 0 7" loses these packets',
    ),
    "loss_as": ("FATE", 'what random loss does to packets that understand ECN: "drop" (default) or "ecn mark"'),
    "delay_trace": ("FILE", "recorded delays in place of a delay: docs/reference/link-config.md has the form"),
    "queue": ("BOUND", 'queue before the bottleneck: "1 bdp", "100 packets", "64 KB" or "20 ms"'),
    "jitter": (
        "TIME",
        'standard deviation of a normal jitter that keeps the order, "5ms"; "5ms/20ms" also says its half-life; '
        '"uniform 5ms", "pareto 5ms/20ms" and "normal 5ms reorder" have other shapes, or let packets overtake',
    ),
    "reorder": ("SHARE TIME", 'packets that are held back and overtaken, and for how long, "1%% 5ms"'),
    "duplicate": ("SHARE", 'duplicated packets, "0.1%%"'),
    "corrupt": ("SHARE", 'corrupted packets, "0.1%%"'),
    "duplicate_correlation": ("SHARE", 'chance with which a packet comes twice as the one before it did, "25%%"'),
    "corrupt_correlation": ("SHARE", 'chance with which a packet is corrupted as the one before it was, "25%%"'),
    "overhead": ("BYTES", 'framing of each packet, which takes time at the rate, "38B"'),
    "edge": ("RATE", 'access rate before the bottleneck, "1gbit", or "none"'),
    "loss_at": ("PLACE", 'random loss before the queue, "entry" (default), or behind it, "exit"'),
    "loss_by": ("KEY", 'key by which losses are drawn: "index" (default), "class", "bytes" or "super-packet"'),
    "trace": ("FILE", "Mahimahi trace in place of a rate"),
    "aqm": (
        "MODEL",
        'management of the queue: "codel", "fq_codel", "pie", "dualpi2" or "step", "codel 5ms 100ms" with its times; '
        '"codel ecn" marks where it can',
    ),
    **{name: effect.option for name, effect in EFFECTS.items()},
}
_NAT_OPTIONS = {
    "rebind": 'the network forgets the client\'s flows at this time, "2s", and gives them new ports',
    "timeout": 'the network forgets a flow after this silence, "30s"',
}
ONLY_IN_A_FILE = frozenset({"schedule", "repeat", "drop", "spare"})
"""Keys of a direction that no option has: --path reads them from a file."""
_CHANGEABLE = tuple(effect for effect in _OPTIONS if effect in CHANGE_KEYS)
USUAL_MTU = Path.mtu
_GREATEST_SEED = 2**64 - 1


def add_link_options(parser: argparse.ArgumentParser) -> None:
    """`--rate`, `--up-rate`, `--down-rate` and so on."""
    group = parser.add_argument_group("the link", "each option also as --up-… (client to server) and --down-…")
    for effect, (unit, text) in _OPTIONS.items():
        for side in _SIDES:
            group.add_argument(_option(side, effect), metavar=unit, help=argparse.SUPPRESS if side else text)
    for key, text in _NAT_OPTIONS.items():
        group.add_argument(f"--nat-{key}", metavar="TIME", help=text)
    group.add_argument("--profile", metavar="NAME", help="begin with a named path; quiclab paths lists them")
    group.add_argument("--mtu", type=_whole, metavar="BYTES", help=f"IP packet bytes (default {USUAL_MTU})")
    group.add_argument("--seed", type=_whole, default=1, help="seed of everything random on the link (default 1)")


def add_change_options(parser: argparse.ArgumentParser) -> None:
    """Options for the settings that change while a link runs."""
    group = parser.add_argument_group("settings", "each option also as --up-… (client to server) and --down-…")
    for effect in _CHANGEABLE:
        unit, text = _OPTIONS[effect]
        ended = f'{text}; "none" ends it' if effect in ENDABLE_KEYS else text
        for side in _SIDES:
            group.add_argument(_option(side, effect), metavar=unit, help=argparse.SUPPRESS if side else ended)


def given_settings(arguments: argparse.Namespace) -> dict[Side, dict[str, object]]:
    """Settings that `add_change_options` made options of, by direction, as a spec has them."""
    sides: dict[Side, dict[str, object]] = {side: {} for side in _SIDES}
    for side, effect, value in _given(arguments, _CHANGEABLE):
        sides[side][effect] = in_full(effect, value)
    return sides


def _option(side: Side, effect: str) -> str:
    return "--" + "-".join(([side] if side else []) + effect.split("_"))


def _given(
    arguments: argparse.Namespace, effects: Collection[str] = tuple(_OPTIONS)
) -> Iterator[tuple[Side, str, str]]:
    """Effects that the options add: direction, name and value."""
    for side in _SIDES:
        for effect in effects:
            value = getattr(arguments, f"{side}_{effect}" if side else effect)
            if value is not None:
                yield side, effect, value


def words_of(arguments: argparse.Namespace) -> str:
    """Effects that the options add, for people: "delay 50ms, up loss 1%"; empty where they add nothing."""
    of_nat = [f"nat {key} {value}" for key in _NAT_OPTIONS if (value := getattr(arguments, f"nat_{key}")) is not None]
    return ", ".join([*(f"{side} {effect} {value}".strip() for side, effect, value in _given(arguments)), *of_nat])


def problems_beside_path(arguments: argparse.Namespace) -> list[str]:
    """Problems of the options where --path names a path, which says all of the link but the seed."""
    names = ("profile", "mtu", *(f"nat-{key}" for key in _NAT_OPTIONS))
    others = [f"--{name}" for name in names if getattr(arguments, name.replace("-", "_")) is not None]
    given = [_option(side, effect) for side, effect, _ in _given(arguments)] + others
    told = "--path says all of the link; leave this option out, or write it into the file"
    return [f"{option}: {told}" for option in given] + _seed_problems(arguments.seed)


def _seed_problems(seed: object) -> list[str]:
    if isinstance(seed, int) and 0 <= seed <= _GREATEST_SEED:
        return []
    return [f"--seed: {seed} is not a whole number from 0 to {_GREATEST_SEED}"]


def link_table(arguments: argparse.Namespace) -> Toml:
    """The path that the options describe, as a spec has it."""
    table: dict[str, object] = {"name": "link", "mtu": USUAL_MTU if arguments.mtu is None else arguments.mtu}
    if arguments.profile is not None:
        table["profile"] = arguments.profile
    sides: dict[Side, dict[str, object]] = {side: {} for side in _SIDES}
    for side, effect, value in _given(arguments):
        sides[side][effect] = in_full(effect, value)
    if nat := {key: value for key in _NAT_OPTIONS if (value := getattr(arguments, f"nat_{key}")) is not None}:
        table["nat"] = nat
    return table | sides.pop("") | {side: values for side, values in sides.items() if values}


def read_link_options(arguments: argparse.Namespace) -> Path:
    """The path that the options describe. Raises SpecError with every wrong option at once."""
    table = link_table(arguments)
    source = _CommandLine(table, {}, pathlib.Path.cwd())
    for problem in _seed_problems(arguments.seed):
        source.add(problem)
    try:
        path = read_path(Node(table, (), source))
    except Exception:
        if not source.problems:
            raise
        path = Path(name="link")
    if source.problems:
        raise SpecError("the link cannot be made as asked", "quiclab exec --help shows every option", source.problems)
    return path


def _whole(text: str) -> int | str:
    """A whole number, or what was written: it is reported together with all other offenders."""
    try:
        return int(text)
    except ValueError:
        return text


class _CommandLine(Source):
    """Reports problems by option instead of by line."""

    def report(self, path: KeyPath, text: str) -> None:
        parts = [str(part) for part in path]
        effect = next((number for number, part in enumerate(parts) if part in _OPTIONS), len(parts))
        option = "--" + "-".join(parts[: effect + 1]).replace("_", "-")
        self.add(f"{option}: {text}")

    def add(self, problem: str) -> None:
        """Note a problem that names its option."""
        self._note(0, problem)
