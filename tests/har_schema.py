# SPDX-License-Identifier: Apache-2.0
"""HAR 1.2 as JSON Schema, written by hand after its specification (Odvarko, Jain, Davies: HAR 1.2).

Members that begin with an underscore are free to use; all others are closed.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT, SIZE = {"type": "string"}, {"type": "integer", "minimum": -1}
DATE = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"}
LENGTH = {"type": "number", "minimum": 0}
LENGTH_OR_UNKNOWN = {"type": "number", "minimum": -1}


def members(required: Schema, optional: Schema | None = None) -> Schema:
    """An object with these members, a comment and custom ones."""
    known = required | (optional or {}) | {"comment": TEXT}
    return {
        "type": "object",
        "properties": known,
        "required": list(required),
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
    }


NAME_VALUE = {"type": "array", "items": members({"name": TEXT, "value": TEXT})}
COOKIES = {
    "type": "array",
    "items": members(
        {"name": TEXT, "value": TEXT},
        {"path": TEXT, "domain": TEXT, "expires": TEXT, "httpOnly": {"type": "boolean"}, "secure": {"type": "boolean"}},
    ),
}
MESSAGE = {
    "httpVersion": TEXT,
    "cookies": COOKIES,
    "headers": NAME_VALUE,
    "headersSize": SIZE,
    "bodySize": SIZE,
}
REQUEST = members(
    {"method": TEXT, "url": {"type": "string", "pattern": "^[a-z]+:"}, "queryString": NAME_VALUE, **MESSAGE},
    {"postData": {"type": "object"}},
)
RESPONSE = members(
    {
        "status": {"type": "integer", "minimum": 0, "maximum": 999},
        "statusText": TEXT,
        "content": members(
            {"size": SIZE, "mimeType": TEXT},
            {"compression": {"type": "integer"}, "text": TEXT, "encoding": TEXT},
        ),
        "redirectURL": TEXT,
        **MESSAGE,
    }
)
TIMINGS = members(
    {"send": LENGTH, "wait": LENGTH, "receive": LENGTH},
    dict.fromkeys(("blocked", "dns", "connect", "ssl"), LENGTH_OR_UNKNOWN),
)
ENTRY = members(
    {
        "startedDateTime": DATE,
        "time": LENGTH,
        "request": REQUEST,
        "response": RESPONSE,
        "cache": members({}, {"beforeRequest": {}, "afterRequest": {}}),
        "timings": TIMINGS,
    },
    {"pageref": TEXT, "serverIPAddress": TEXT, "connection": TEXT},
)
PAGE = members(
    {
        "startedDateTime": DATE,
        "id": TEXT,
        "title": TEXT,
        "pageTimings": members({}, dict.fromkeys(("onContentLoad", "onLoad"), LENGTH_OR_UNKNOWN)),
    }
)
PROGRAM = members({"name": TEXT, "version": TEXT})
HAR: Schema = {
    "type": "object",
    "required": ["log"],
    "additionalProperties": False,
    "properties": {
        "log": members(
            {"version": {"const": "1.2"}, "creator": PROGRAM, "entries": {"type": "array", "items": ENTRY}},
            {"browser": PROGRAM, "pages": {"type": "array", "items": PAGE}},
        )
    },
}
