# SPDX-License-Identifier: Apache-2.0
"""Check of the account that a user's own client writes, which may be anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from quiclab.model.client_account import ClientAccount
from quiclab.store.forms import misfit
from quiclab.store.record_form import form_of

_NUMBERS = ("body_bytes", "start_ns", "last_byte_ns")
_INSTANTS = ("start_ns", "first_byte_ns", "last_byte_ns", "close_ns")
_MOST = 2**63
"""Least number that no table holds."""
_STATUSES = range(100, 1000)
_LONGEST_TEXT = 1 << 16


def text_problem(account: Any) -> str | None:
    """Reason why an account of any client cannot be kept: text in it that is none (a lone surrogate of UTF-16 has no
    UTF-8), or members inside members without end. None for one that can."""
    try:
        json.dumps(account, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return _unusable("it holds text that is not Unicode (a lone surrogate)")
    except RecursionError:
        return _unusable("its members are too deep inside each other")
    return None


def account_problem(account: Any, since_ns: int, until_ns: int) -> str | None:
    """Say why an account (docs/how-to/own-programs.md) cannot be used: a member is missing or of the wrong type, or an
    instant lies outside the trial, which lasted from `since_ns` to `until_ns`. None if it can be, or there is none."""
    if account is None:
        return None
    requests = account.get("requests") if isinstance(account, dict) else None
    if not isinstance(requests, list) or not all(isinstance(each, dict) for each in requests):
        return _unusable("it is not an object with a list of requests")
    if not isinstance(account.get("versions", {}), dict) or not _in_time(account.get("close_ns"), since_ns, until_ns):
        return _unusable("its `versions` is not an object, or its `close_ns` not an instant of the trial")
    for number, request in enumerate(requests, 1):
        if (problem := _request_problem(request, since_ns, until_ns)) is not None:
            return _unusable(f"request {number}: {problem}")
    wrong = misfit(account, form_of(ClientAccount))
    return wrong and _unusable(wrong)


def _request_problem(request: Mapping[str, object], since_ns: int, until_ns: int) -> str | None:
    for name, kinds in (("url", str), ("http_version", str), ("sha256", str), ("status", int | None)):
        value = request.get(name)
        if name not in request or not isinstance(value, kinds) or isinstance(value, bool):
            return f"`{name}` is missing or of the wrong type"
        if isinstance(value, str) and len(value) > _LONGEST_TEXT:
            return f"`{name}` is longer than {_LONGEST_TEXT} characters"
    if request["status"] is not None and request["status"] not in _STATUSES:
        return "`status` is no status of HTTP"
    if not isinstance(request.get("error", ""), str):
        return "`error` is no text"
    for name in _NUMBERS:
        number = request.get(name)
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            return f"`{name}` is not a whole number of 0 or more"
        if name == "body_bytes" and number >= _MOST:
            return "`body_bytes` is 2^63 or more"
    if not all(_in_time(request.get(name), since_ns, until_ns) for name in _INSTANTS):
        return "an instant lies outside the trial (CLOCK_MONOTONIC, in nanoseconds)"
    told = [instant for name in _INSTANTS if isinstance(instant := request.get(name), int)]
    return None if told == sorted(told) else "its instants are not in order"


def _in_time(instant: Any, since_ns: int, until_ns: int) -> bool:
    return instant is None or (type(instant) is int and since_ns <= instant <= until_ns)


def _unusable(what: str) -> str:
    return f"the client's account (client.json) cannot be used: {what}"
