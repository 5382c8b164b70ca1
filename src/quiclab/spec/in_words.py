# SPDX-License-Identifier: Apache-2.0
"""Values of a direction in one text, as a command line has them: the values of a table's keys, in their order.

What the keys are follows from the declarations that a spec is read by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from quiclab.model.units import Bitrate, ByteCount, Duration
from quiclab.spec import kinds
from quiclab.spec.aqm import AQM_MODELS
from quiclab.spec.effects import EFFECTS
from quiclab.spec.impairments import JITTER_KEYS, LOSS_MODELS, REORDER_KEYS
from quiclab.spec.nodes import Kind
from quiclab.spec.random_rate import RANDOM_RATE_KEYS

_TABLES: Mapping[str, Mapping[str, Kind[Any]]] = {
    "reorder": REORDER_KEYS,
    **{name: effect.keys for name, effect in EFFECTS.items()},
}
"""Key of a direction → keys of the table behind it."""
_MODELS: Mapping[str, Mapping[str, tuple[type[Any], Mapping[str, Kind[Any]]]]] = {
    "loss": LOSS_MODELS,
    "aqm": AQM_MODELS,
}
"""Key of a direction → models of the table behind it, each with its keys."""
_UNITS = "|".join(re.escape(unit) for of in (Bitrate, ByteCount, Duration) for unit in of.units())
_BEFORE_A_UNIT = re.compile(rf"(?<=\d)\s+(?=(?:{_UNITS}|%)(?!\w))")
_USUAL_SHAPE = "normal"
_OWN_WORD = "none"
"""Word that stands by itself where a change may end an effect."""


def in_full(key: str, text: str) -> object:
    """A value as a spec has it; a text that is none stays as it is, and the reader of the key says what is wrong."""
    words = _BEFORE_A_UNIT.sub("", text).split()
    if text == _OWN_WORD:
        return text
    if key == "jitter":
        return _jitter(words, text)
    if key == "rate" and len(words) == len(RANDOM_RATE_KEYS):
        return dict(zip(RANDOM_RATE_KEYS, words, strict=True))
    if key in _MODELS:
        models = _MODELS[key]
        if words and words[0] in models and len(words) + (key == "loss") > 1:
            values = _table(models[words[0]][1], words[1:])
            return text if values is None else {"model": words[0], **values}
        return text
    if key in _TABLES:
        values = _table(_TABLES[key], words)
        return text if values is None else values
    return text


def _table(keys: Mapping[str, Kind[Any]], words: Sequence[str]) -> dict[str, object] | None:
    """Words as the values of keys, in their order; None of too many. A key that is true or false is named where it is
    true, and one with a choice has its value, wherever they stand; one with an array takes all words that are left."""
    flags = [key for key, kind in keys.items() if kind is kinds.FLAG]
    table: dict[str, object] = {word: True for word in words if word in flags}
    left = [word for word in words if word not in flags]
    for key, kind in keys.items():
        if chosen := next((word for word in left if word in kind.form.get("enum", ())), None):
            table[key] = chosen
            left.remove(chosen)
    for key, kind in keys.items():
        if key in flags or key in table or not left:
            continue
        if kind.form.get("type") == "array":
            table[key], left = [_number(word) for word in left], []
        else:
            first = left.pop(0)
            table[key] = _number(first) if kind.form.get("type") == "integer" else first
    return None if left else table


def _jitter(words: Sequence[str], text: str) -> object:
    """`5ms`, `5ms/20ms`, `uniform 5ms`, `normal 5ms reorder`: shape, scale with its half-life, mode."""
    shape, *rest = words if len(words) > 1 and words[0].isalpha() else [_USUAL_SHAPE, *words]
    if not rest or len(rest) > 2:
        return text
    scale, slash, half_life = rest[0].partition("/")
    values = {"distribution": shape, "scale": scale}
    values |= {"half_life": half_life} if slash else {}
    values |= {"mode": rest[1]} if len(rest) > 1 else {}
    assert values.keys() <= JITTER_KEYS.keys()
    return values


def _number(word: str) -> object:
    """A whole number, or what was written."""
    return int(word) if word.isdecimal() else word
