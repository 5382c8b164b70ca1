# SPDX-License-Identifier: Apache-2.0
"""Reading the column `detail` of http_frames: JSON, as each log has it."""

from __future__ import annotations

import json
from typing import Any


def names_and_values(detail: str | None) -> list[tuple[str, str]]:
    """Header fields or settings: an object, or a list (alone, or as `fields`) of pairs or of `name: value`."""
    content = _read(detail)
    if isinstance(content, dict):
        if not isinstance(content.get("fields"), list):
            return [(str(name), str(value)) for name, value in content.items()]
        content = content["fields"]
    found: list[tuple[str, str]] = []
    for each in content if isinstance(content, list) else []:
        if isinstance(each, dict):
            found.append((str(each.get("name", "")), str(each.get("value", ""))))
        elif isinstance(each, list) and len(each) == 2:
            found.append((str(each[0]), str(each[1])))
        elif isinstance(each, str):
            # The name of a pseudo-header begins with a colon.
            end = each.find(":", 1)
            found.append((each[:end], each[end + 1 :].strip()) if end > 0 else (each, ""))
    return found


def members(detail: str | None) -> dict[str, object]:
    """Members of an object; empty for anything else."""
    content = _read(detail)
    return content if isinstance(content, dict) else {}


def priority(detail: str | None) -> str:
    """The value of a priority field: a text, or `priority` of an object."""
    content = _read(detail)
    if isinstance(content, dict):
        content = content.get("priority", "")
    return content if isinstance(content, str) else detail or ""


def _read(detail: str | None) -> Any:
    try:
        return json.loads(detail or "null")
    except ValueError:
        return detail
