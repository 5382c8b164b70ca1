# SPDX-License-Identifier: Apache-2.0
"""Responses that answer what a trial asked for: a client may ask for other things beside it."""

from __future__ import annotations

from collections.abc import Iterable

from quiclab.model.trial_record import TrialRecord

ASK_NOTHING = ("HEAD", "OPTIONS", "CONNECT")
"""Methods whose answer is not the object."""


def asked_for(trial: TrialRecord) -> list[str] | None:
    """Names of the objects of a trial; None of a page or a video, whose resources a browser finds, and of a probe, as
    what the path of a foreign server's URL becomes in a request is its client's affair."""
    expected = trial.expected
    if expected.page is not None or expected.video is not None or trial.probe is not None:
        return None
    if expected.objects is None and expected.name is None:
        return None
    return [each.name for each in expected.listed]


def is_named_by(url: str, name: str) -> bool:
    """True if a URL is that of an object."""
    path = url.partition("://")[2].partition("/")[2]
    return path == name.lstrip("/") or path.partition("?")[0].rpartition("/")[2] == name


def answers(url: str | None, method: str | None, names: Iterable[str]) -> bool:
    """True if the response to such a request can be that of an object: what stayed closed of a request in 0-RTT packets
    is None."""
    return method not in ASK_NOTHING and (url is None or any(is_named_by(url, name) for name in names))
