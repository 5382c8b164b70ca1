# SPDX-License-Identifier: Apache-2.0
"""A study held against its spec: trials and attempts that should be there."""

from __future__ import annotations

from quiclab.store.layout import BLOCK_CUT, BLOCK_VOID, Attempt
from quiclab.study.as_specified import what_lacks

BLOCKS = {"a": "one", "b": "one", "c": "two"}
LATE = "the server waited for a processor"


def tried(trial: str, **reasons: str) -> list[Attempt]:
    """Attempts at a trial by their numbers, `_1` for the first: void for a reason, or verified without one."""
    return [Attempt(trial, int(name[1:]), "void" if why else "verified", why) for name, why in reasons.items()]


def test_an_attempt_at_a_block_ends_with_its_first_void_trial() -> None:
    """So a trial may lack some, as long as another one of its block was void in them, or the block was cut short."""
    attempts = {
        "a": tried("a", _1=LATE, _2=BLOCK_VOID, _3=BLOCK_CUT, _4=""),
        "b": tried("b", _2=LATE, _4=""),
        "c": tried("c", _1=""),
    }
    assert what_lacks([*BLOCKS], attempts, BLOCKS.__getitem__) == []


def test_what_was_taken_out_is_told() -> None:
    """An attempt after which nobody would have tried again, those that are not there, and a trial."""
    attempts = {"a": tried("a", _1="", _4=""), "b": tried("b", _2=BLOCK_VOID, _4="")}
    (lacking, earlier) = what_lacks([*BLOCKS], attempts, BLOCKS.__getitem__)
    assert "1 of 3 planned trials are missing" in lacking
    assert "The ledger lacks 3 attempts" in earlier
