# SPDX-License-Identifier: Apache-2.0
"""One spec of two: each arm under test twice, with the programs of OLD and with those of NEW, side by side in a block.

Two studies, one after the other, also compare two hours of a machine. In one study both builds share every block: its
seed, its minute, and the state that the machine is in.
"""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quiclab.model import number_text
from quiclab.model.errors import SpecError
from quiclab.model.study import Arm, Study
from quiclab.spec.kinds import INSTALLED
from quiclab.spec.nodes import closest
from quiclab.spec.read import load_spec
from quiclab.spec.resolved import resolved_json
from quiclab.spec.toml_text import Toml, toml_text

OLD, NEW = "-old", "-new"
"""Suffixes to the name of an arm under test."""
_HEADING = "# Written by `quiclab compare --interleave`: both builds of each arm under test, in the same blocks.\n\n"
_FREE = {"name", "question", "seed", "blocks", "aa", "baseline", "only_blocks", "captures", "arms"}
"""Keys of [study] that OLD decides, or that the new spec has of its own."""
_MOST_TOLD = 12
"""Most settings in which two specs are told to differ: with more, they are two studies."""
_PLACES = {"prefix", "folder", "har", "trace", "delay_trace"}
"""Keys whose values are files or folders, relative to their spec."""


@dataclass(frozen=True)
class Build:
    """One of the two specs."""

    file: pathlib.Path
    study: Study

    def document(self) -> Toml:
        """The spec as written, with files and folders by their whole names."""
        rooted: Toml = _rooted(load_spec(self.file).document, self.file.resolve().parent)
        return rooted


def interleave(old: Build, new: Build, asked: Sequence[str], blocks: int | None) -> str:
    """Return a spec, as TOML, with both builds of the arms `asked` for (else of every arm that differs) as its arms.

    Workloads, paths and limits are OLD's. Raises SpecError where NEW has others, for an arm that one of them lacks, and
    where no arm differs.
    """
    _refuse_others(old.study, new.study)
    arms = _under_test(old.study, new.study, asked)
    before, after = old.document(), new.document()
    study = {key: value for key, value in before["study"].items() if key not in {"question", "only_blocks"}}
    study |= {
        "name": f"{old.study.name[:52]}-interleaved",
        "question": f"Does NEW differ from OLD, of {', '.join(arms)}?",
        "blocks": blocks or old.study.blocks,
        "baseline": arms[0] + OLD,
        # Both builds in the same blocks are the control of one another where nothing changed.
        "aa": {**study.get("aa", {}), "blocks": min(1, study.get("aa", {}).get("blocks", 1))},
    }
    over_quic = {arm.name for arm in new.study.measured_arms if _over_quic(arm)}
    lent = {name: own_arm(before, old.study, name) for name in arms}
    twins = [
        {"name": name + label}
        | ({"baseline": name + OLD} if label == NEW else {})
        | own_arm(document, build.study, name)
        | ({key: value for key, value in lent[name].items() if key == "tcp"} if name in over_quic else {})
        for name in arms
        for document, build, label in ((before, old, OLD), (after, new, NEW))
    ]
    others = [
        {"name": name, **own_arm(before, old.study, name), "only_for": "competition"} for name in competitors(old.study)
    ]
    return _HEADING + toml_text(before | {"study": study, "arm": [*twins, *others]})


def _under_test(old: Study, new: Study, asked: Sequence[str]) -> list[str]:
    both = [{arm.name: arm for arm in study.measured_arms} for study in (old, new)]
    for name in asked:
        for label, arms in zip(("OLD", "NEW"), both, strict=True):
            if name not in arms:
                raise SpecError(f"{label} has no arm {name!r}", closest(name, list(arms), "arms"))
    differing = [name for name, arm in both[0].items() if name in both[1] and _differ(arm, both[1][name])]
    if not (asked or differing):
        raise SpecError(
            "no arm of OLD and NEW differs: there is one build only",
            'give one of them another prefix (prefix = "/builds/new"), argv or env; or name an arm to run it against '
            "itself (--arm)",
        )
    return list(dict.fromkeys(asked)) or differing


def _differ(old: Arm, new: Arm) -> bool:
    """True if two arms of one name are two builds: TCP's settings, which every arm has, are none of one that speaks
    QUIC only."""
    return old != (dataclasses.replace(new, tcp=old.tcp) if _over_quic(old) and _over_quic(new) else new)


def _over_quic(arm: Arm) -> bool:
    return all(protocol == "h3" for _, _, protocol in arm.programs())


def _refuse_others(old: Study, new: Study) -> None:
    before, after = (dict(_leaves(resolved_json(study))) for study in (old, new))
    found = [
        f"{key}: {before.get(key)} in OLD, {after.get(key)} in NEW"
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]
    if found:
        if len(found) > _MOST_TOLD:
            found = [*found[:_MOST_TOLD], f"and {number_text.counted(len(found) - _MOST_TOLD, 'other setting')}"]
        hint = "make everything but the arms the same in both specs: blocks that both builds share have one setting"
        raise SpecError("OLD and NEW ask for different studies", hint, tuple(found))


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting that trials run under, by its dotted name; tables in an array go by their names."""
    if isinstance(value, list) and value and all(isinstance(item, dict) and "name" in item for item in value):
        value = {item["name"]: item for item in value}
    if isinstance(value, dict):
        for key, inner in value.items():
            if place or key not in _FREE:
                yield from _leaves(inner, f"{place}.{key}" if place else key)
    elif not place.endswith(".title"):
        yield place, value


def own_arm(document: Toml, study: Study, name: str) -> Toml:
    """An arm's table without its name and baseline, with the settings of TCP that it takes from another arm if it has
    none itself (see `read_arms`)."""
    arms: list[Toml] = document["arm"]
    lenders = [*(arm.baseline for arm in study.arms if arm.name == name), document["study"].get("baseline")]
    pinned: list[Toml] = [arm for arm in arms if "tcp" in arm]
    of_baseline = [arm for each in lenders for arm in pinned if arm["name"] == each]
    own = next(arm for arm in arms if arm["name"] == name)
    # Of HTTP/3 arms none may have any.
    taken = {"tcp": (of_baseline or pinned)[0]["tcp"]} if pinned else {}
    return {**taken, **{key: value for key, value in own.items() if key not in ("name", "baseline")}}


def competitors(study: Study) -> list[str]:
    """Arms that run beside the measured ones."""
    names = (
        competitor.arm
        for workload in study.workloads
        for competitor in (workload.competition.competitors if workload.competition else ())
    )
    return list(dict.fromkeys(names))


def _rooted(value: Any, folder: pathlib.Path) -> Any:
    if isinstance(value, dict):
        return {
            key: str((folder / inner).resolve())
            if key in _PLACES and isinstance(inner, str) and not inner.startswith(INSTALLED)
            else _rooted(inner, folder)
            for key, inner in value.items()
        }
    return [_rooted(item, folder) for item in value] if isinstance(value, list) else value
