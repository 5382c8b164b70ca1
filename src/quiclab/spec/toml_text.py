# SPDX-License-Identifier: Apache-2.0
"""A document as TOML text, in the layout of a spec: top tables and arrays of tables with headings, all else inline."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Toml = dict[str, Any]
"""A table of TOML as it is written, before its keys are read: its values may be anything."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(document: Mapping[str, object]) -> str:
    """Return TOML that `tomllib` reads back as the same document; its top level holds tables and arrays of tables."""
    parts = []
    for name, content in document.items():
        if isinstance(content, dict):
            parts.append(_table(f"[{_key(name)}]", content))
        elif isinstance(content, list | tuple):
            parts += [_table(f"[[{_key(name)}]]", item) for item in content]
    return "\n".join(parts)


def _table(heading: str, content: Mapping[str, object]) -> str:
    lines = [heading, *(f"{_key(key)} = {_value(value)}" for key, value in content.items())]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return str(value)  # numbers are written alike, dates cannot stand in a spec


def _text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, and TOML wants DEL escaped, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
