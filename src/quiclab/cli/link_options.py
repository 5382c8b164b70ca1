# SPDX-License-Identifier: Apache-2.0
"""A link described by command-line options, in the words of the spec and checked by the spec's own reader."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

from quiclab.model.errors import SpecError
from quiclab.model.study import Path
from quiclab.spec.effects import EFFECTS
from quiclab.spec.lines import KeyPath
from quiclab.spec.nodes import Node, Source
from quiclab.spec.paths import read_path

_OPTIONS = {
    "rate": ("RATE", 'bottleneck rate, "10mbit"'),
    "burst": ("SIZE", 'bytes that pass at once after a pause, and then the rate, as tbf has it: "32KB"'),
    "delay": ("TIME", 'one-way delay, "50ms": without up- or down- it applies to both directions'),
    "loss": ("SHARE", 'random loss, "1%%"'),
    "queue": ("BOUND", 'queue before the bottleneck: "1 bdp", "100 packets", "64 KB" or "20 ms"'),
    "jitter": (
        "TIME",
        'standard deviation of a normal jitter that keeps the order, "5ms"; "5ms/20ms" also says its half-life',
    ),
    "duplicate": ("SHARE", 'duplicated packets, "0.1%%"'),
    "corrupt": ("SHARE", 'corrupted packets, "0.1%%"'),
    "trace": ("FILE", "Mahimahi trace in place of a rate"),
    "aqm": (
        "MODEL",
        'management of the queue: "codel", "fq_codel", "pie", "dualpi2" or "step"; "codel ecn" marks where it can',
    ),
    **{name: effect.option for name, effect in EFFECTS.items()},
}
_GREATEST_SEED = 2**64 - 1


def add_link_options(parser: argparse.ArgumentParser) -> None:
    """`--rate`, `--up-rate`, `--down-rate` and so on."""
    group = parser.add_argument_group("the link", "each option also as --up-… (client to server) and --down-…")
    for effect, (unit, text) in _OPTIONS.items():
        group.add_argument(f"--{effect}", metavar=unit, help=text)
        for side in ("up", "down"):
            group.add_argument(f"--{side}-{effect}", metavar=unit, help=argparse.SUPPRESS)
    group.add_argument("--profile", metavar="NAME", help="begin with a named path; quiclab paths lists them")
    group.add_argument("--mtu", type=_whole, default=1500, metavar="BYTES", help="IP packet bytes (default 1500)")
    group.add_argument("--seed", type=_whole, default=1, help="seed of everything random on the link (default 1)")


def words_of(arguments: argparse.Namespace) -> str:
    """Effects that the options add, for people: "delay 50ms, up loss 1%"; empty where they add nothing."""
    told = []
    for side in ("", "up", "down"):
        for effect in _OPTIONS:
            value = getattr(arguments, f"{side}_{effect}" if side else effect)
            if value is not None:
                told.append(f"{side} {effect} {value}".strip())
    return ", ".join(told)


def read_link_options(arguments: argparse.Namespace) -> Path:
    """The path that the options describe. Raises SpecError with every wrong option at once."""
    table: dict[str, object] = {"name": "link", "mtu": arguments.mtu}
    if arguments.profile is not None:
        table["profile"] = arguments.profile
    for side in ("", "up", "down"):
        values = {}
        for effect in _OPTIONS:
            value = getattr(arguments, f"{side}_{effect}" if side else effect)
            if value is not None:
                values[effect] = _in_full(effect, value)
        table |= {side: values} if side else values
    table = {key: value for key, value in table.items() if value != {}}
    source = _CommandLine(table, {}, pathlib.Path.cwd())
    if not (isinstance(arguments.seed, int) and 0 <= arguments.seed <= _GREATEST_SEED):
        source.report(("seed",), f"{arguments.seed} is not a whole number from 0 to {_GREATEST_SEED}")
    try:
        path = read_path(Node(table, (), source))
    except Exception:
        if not source.problems:
            raise
        path = Path(name="link")
    if source.problems:
        raise SpecError("the link cannot be made as asked", "quiclab exec --help shows every option", source.problems)
    return path


def _in_full(effect: str, value: str) -> Any:
    """Full form of an option given in one text, as the spec has it."""
    words = value.split()
    match effect:
        case "jitter":
            scale, _, half_life = value.partition("/")
            return {"distribution": "normal", "scale": scale} | ({"half_life": half_life} if "/" in value else {})
        case "aqm" if words[1:] == ["ecn"]:
            return {"model": words[0], "ecn": True}
    if effect in EFFECTS:
        keys = list(EFFECTS[effect].keys)
        values = [int(word) if word.isdecimal() else word for word in words]
        return dict(zip(keys, values, strict=False)) if len(words) <= len(keys) else value
    return value


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
        option = "--" + "-".join(parts[: effect + 1])
        self._note(0, f"{option}: {text}")
