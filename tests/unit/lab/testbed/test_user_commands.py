# SPDX-License-Identifier: Apache-2.0
"""The account that `quiclab exec` closes with: what waited, and what would help of what was not done."""

from __future__ import annotations

import pytest

from quiclab.lab.testbed.run_delay import TURN
from quiclab.lab.testbed.user_commands import closing_account
from quiclab.model.host_findings import ProgramCost, RunDelay
from quiclab.model.link_account import LinkAccount
from quiclab.why.account.disturbance import GRAIN_NS

MS = 1_000_000
LATE = LinkAccount(sound=False, unsound_reasons=("REASON",))


SOUND = LinkAccount(sound=True)


def _costs(longest_ns: int | None, turns: int | None) -> dict[str, ProgramCost]:
    return {"client": ProgramCost(run_delay=RunDelay(sum_ns=0, longest_ns=longest_ns, longest_turns=turns))}


def test_a_turn_of_a_thread_costs_what_it_costs_in_a_trial() -> None:
    """Decision 4 has one grain, which both sides of the laboratory take off."""
    assert TURN.ns == GRAIN_NS


@pytest.mark.parametrize(("waited_ms", "turns", "told_ms"), [(766, 300, 760), (8, 160, None), (5, 0, None), (9, 0, 9)])
def test_waits_are_told_without_what_each_turn_costs(waited_ms: int, turns: int, told_ms: int | None) -> None:
    """Many short waits delay nothing; they are no wait of that length."""
    told = list(closing_account(SOUND, {}, _costs(waited_ms * MS, turns), by_root=True))
    assert [f"waited {told_ms} ms" in line for line in told] == ([] if told_ms is None else [True])
    assert list(closing_account(SOUND, {}, _costs(None, None), by_root=True)) == []


@pytest.mark.parametrize(
    ("account", "by_root", "has_root", "has_processors"),
    [
        (LATE, False, True, False),
        (LATE, True, False, False),
        (LinkAccount(sound=False, unsound_reasons=("REASON",), gave_way_ns=5), True, False, True),
    ],
)
def test_what_was_done_already_is_no_advice(
    account: LinkAccount, by_root: bool, has_root: bool, has_processors: bool
) -> None:
    """Root need not become root; a link that gave way needs a processor of its own."""
    (told,) = closing_account(account, {}, {}, by_root=by_root)
    assert "REASON" in told
    assert ("as root" in told) is has_root
    assert ("three processors" in told) is has_processors
