# SPDX-License-Identifier: Apache-2.0
"""Every mechanism claims its own time in a trial written for it, and nothing where a rival is at work."""

from __future__ import annotations

import pytest
from trial_records import record
from unit.why.mechanisms.cases import CASES
from unit.why.mechanisms.scenes import Case, full, named

from quiclab.evidence.metrics import evidence_of
from quiclab.why.account import Why
from quiclab.why.mechanisms import BY_NAME, MECHANISMS, Trial
from quiclab.why.mechanisms._measures import measures

RIVALS = [(each.name, rival.name) for each in MECHANISMS for rival in each.rivals]


def test_there_is_a_trial_for_each() -> None:
    """A mechanism that is added needs one."""
    assert CASES.keys() == BY_NAME.keys()


@pytest.mark.parametrize("name", BY_NAME)
def test_it_claims_its_own_time(name: str) -> None:
    """To the ms, whatever stands before it in the registry."""
    make, ms = CASES[name]
    assert named(make()).get(name) == pytest.approx(ms)


@pytest.mark.parametrize(("name", "rival"), RIVALS)
def test_it_claims_nothing_of_a_rival(name: str, rival: str) -> None:
    """In the rival's own trial."""
    make, ms = CASES[rival]
    found = named(make())
    assert found[rival] == pytest.approx(ms)
    own = {"handshake_round_trips", "bytes_on_the_wire"}  # every trial has some of these
    assert name not in found or name in own


@pytest.mark.parametrize(
    "why",
    [Why.WINDOW, Why.AWAITING_ACKS, Why.CONTESTED, Why.KEPT_IN_KERNEL, Why.PACING_OR_PROGRAM, Why.UNEXPLAINED],
)
def test_what_the_records_do_not_tell_apart_is_claimed_by_none(why: Why) -> None:
    """Else nothing could be called unknown."""
    assert named(Case(full(why))) == {"": 20}


def test_time_is_only_taken_by_mechanisms_that_declare_its_label() -> None:
    """Else they are no candidates where the records show no more than a union, and the docs' tables lack them."""
    for make, _ in CASES.values():
        trial = make().trial()
        for each in MECHANISMS:
            taken = trial.account.filter(each.claim(trial).edges)
            declared = taken["why"].is_in(list(map(str, each.reasons)))
            declared |= taken["what"].is_in(list(map(str, each.activities)))
            assert declared.all(), each.name


def test_what_a_mechanism_needs_is_a_number_of_trials() -> None:
    """A number that no trial has would exclude nothing."""
    numbers = {fact.name for fact in measures(CASES["overshoot"][0]().trial())}
    assert {each.needs for each in MECHANISMS if each.needs} <= numbers


@pytest.mark.parametrize("name", CASES)
def test_a_claim_needs_no_table(name: str) -> None:
    """Of a trial with an account and nothing else no claim raises, and all are of its length."""
    account = CASES[name][0]().account()
    for protocol in ("h2", "h3"):
        trial = Trial(evidence_of({}, record({"protocol": protocol})), account)
        assert {claim.edges.len() for claim in (each.claim(trial) for each in MECHANISMS)} == {account.height}


def test_each_setting_says_what_it_is_for() -> None:
    """Tables and texts of declarations, which the reference and the confirmation read."""
    tables = {"sender", "receiver", "client", "server", "proxy", "tcp", "certificate", "path"}
    for each in MECHANISMS:
        assert {setting.table for setting in each.settings} <= tables
        assert all(setting.gain.endswith(".") for setting in each.settings)
        assert all(setting.value == setting.doses[-1] for setting in each.settings if setting.doses)
        assert all(text.endswith(".") for text in (each.what, each.shows))
        assert {rival.name for rival in each.rivals} <= BY_NAME.keys()
