# SPDX-License-Identifier: Apache-2.0
"""Forms of values as JSON Schema (draft 7) has them: texts, arrays, tables, and one of several."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

Form = Mapping[str, Any]
"""A JSON Schema."""

TEXT: Form = {"type": "string"}
FLAG: Form = {"type": "boolean"}


def matching(pattern: str) -> Form:
    """A text all of which matches."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def quantity(units: Collection[str]) -> Form:
    """A number with its unit, in one text; the range is left to the reader."""
    longest_first = sorted(units, key=lambda unit: (-len(unit), unit))
    number = r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*"
    return matching(f"{number}(?:{'|'.join(map(re.escape, longest_first))})\\s*")


def one_of(values: Sequence[str | int]) -> Form:
    """One of a few values."""
    return {"enum": list(values)}


def array(items: Form, least: int = 0, most: int | None = None) -> Form:
    """An array of values of one form."""
    return {
        "type": "array",
        "items": items,
        **({"minItems": least} if least else {}),
        **({} if most is None else {"maxItems": most}),
    }


def either(*forms: Form) -> Form:
    """One form of several; those that are alternatives themselves are taken apart."""
    flat = [each for form in forms for each in form.get("anyOf", [form])]
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def table(keys: Mapping[str, Form], required: Collection[str] = (), title: str = "") -> Form:
    """A table with these keys and no others; `title` names the dataclass that describes them."""
    return {
        "type": "object",
        **({"title": title} if title else {}),
        "properties": dict(keys),
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def alternatives(form: Form) -> Sequence[Form]:
    """Forms that a value may have."""
    found: Sequence[Form] = form.get("anyOf", [form])
    return found
