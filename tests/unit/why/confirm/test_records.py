# SPDX-License-Identifier: Apache-2.0
"""Verdicts as files: they are read back as they were, and what is not of their form is passed over."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confirming import DECLARED

from quiclab.compare.statistics import Interval
from quiclab.report.words.confirmation import declaration, in_a_line, next_to_try, time_needed, verdict
from quiclab.why.confirm.declaration import NOT_APPLICABLE
from quiclab.why.confirm.judge import Check, Effect, Judgement, State, Verdict
from quiclab.why.confirm.records import VERDICT, confirmations, keep_declaration, keep_judgement, unreadable

JUDGEMENT = Judgement(
    Verdict.CONFIRMED,
    (
        Check("removed", State.HOLDS, 0.98, Interval(70.0, 80.0, 0.95), 9),
        Check("moved", State.HOLDS, 402.0, Interval(390.0, math.inf, 0.95), 9),
        Check("stayed_away", State.HOLDS, -2.0, Interval(-10.0, 9.0, 0.95), 9),
        Check("dose", State.NOT_RUN, None, None, 0),
        Check("sham", State.HOLDS, 1.0, Interval(-4.0, 5.0, 0.95), 9),
    ),
    (Effect("without", 402.0, Interval(390.0, math.inf, 0.95), 9), Effect("with", None, None, 0)),
    9,
    1,
    "slow_start",
    12.0,
)


@pytest.fixture
def confirming(tmp_path: Path) -> Path:
    """A confirming study with its declaration and its verdict."""
    folder = tmp_path / "confirm" / "1MB-long-send_buffer_limited-1"
    folder.mkdir(parents=True)
    (folder / "spec.toml").write_text("[study]\n")
    declared = replace(DECLARED, spec_sha256=hashlib.sha256(b"[study]\n").hexdigest())
    keep_declaration(folder, declared)
    keep_judgement(folder, declared, JUDGEMENT)
    return folder


def test_a_verdict_is_read_back_as_it_was(confirming: Path) -> None:
    (found,) = confirmations(confirming.parent.parent)
    assert found.sound
    assert found.judgement == JUDGEMENT


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "proven"},
        {"checks": [{"name": "removed", "state": "perhaps", "blocks": 3}]},
        {"blocks": "9"},
        {"effects": None},
    ],
)
def test_a_verdict_of_another_form_is_none(confirming: Path, change: dict[str, Any]) -> None:
    file = confirming / VERDICT
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    (found,) = confirmations(confirming.parent.parent)
    assert found.judgement is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"declared": {}}'])
def test_a_folder_without_a_declaration_is_passed_over(confirming: Path, text: str) -> None:
    (confirming / "declared.json").write_text(text)
    assert confirmations(confirming.parent.parent) == []
    (told,) = unreadable(confirming.parent.parent)
    assert told.endswith("declared.json is damaged or of another version: its run is left out")


def test_a_verdict_that_was_changed_counts_for_nothing(confirming: Path) -> None:
    file = confirming / VERDICT
    file.write_text(file.read_text().replace('"confirmed"', '"rejected"'))
    (found,) = confirmations(confirming.parent.parent)
    assert not found.sound


def test_a_verdict_that_cannot_be_read_is_told(confirming: Path) -> None:
    (confirming / VERDICT).write_text("{")
    (told,) = unreadable(confirming.parent.parent)
    assert "verdict.json is damaged" in told


def test_what_can_be_read_is_not_complained_about(confirming: Path) -> None:
    assert unreadable(confirming.parent.parent) == []


def test_a_cause_whose_time_came_back_hides_another() -> None:
    came_back = replace(
        JUDGEMENT,
        verdict=Verdict.UNDECIDED,
        checks=tuple(
            replace(check, state=State.FAILS) if check.name == "stayed_away" else check for check in JUDGEMENT.checks
        ),
    )
    assert came_back.hidden
    assert not JUDGEMENT.hidden


def test_a_study_without_any_has_none(tmp_path: Path) -> None:
    assert confirmations(tmp_path) == []
    (tmp_path / "confirm").symlink_to(tmp_path)
    assert confirmations(tmp_path) == []


def test_the_words_never_say_more_than_the_verdict() -> None:
    title = "the sender's own send buffer"
    confirmed = " ".join(verdict(DECLARED, JUDGEMENT, title))
    assert confirmed.startswith("Confirmed: without the sender's own send buffer, 1MB/long in h3 takes 402 ms less")
    assert "1 block without an account of both is left out." in confirmed
    assert next_to_try(DECLARED, JUDGEMENT, "A larger buffer.", ("more memory",), ("x 1;",))
    for undecided in (
        replace(JUDGEMENT, verdict=Verdict.UNDECIDED),
        replace(JUDGEMENT, verdict=Verdict.UNDECIDED, checks=(replace(JUDGEMENT.checks[0], state=State.FAILS),)),
        replace(JUDGEMENT, verdict=Verdict.UNDECIDED, checks=(replace(JUDGEMENT.checks[1], state=State.OPEN),)),
        replace(JUDGEMENT, verdict=Verdict.REJECTED),
    ):
        told = " ".join(verdict(DECLARED, undecided, title))
        assert told.startswith("Rejected:" if undecided.verdict is Verdict.REJECTED else "Inconclusive:")
        assert "ndecided" not in told
        assert "onfirmed" not in told
        assert not next_to_try(DECLARED, undecided, "A larger buffer.", (), ())
    assert "failed" in in_a_line(
        DECLARED,
        replace(JUDGEMENT, verdict=Verdict.UNDECIDED, checks=(replace(JUDGEMENT.checks[0], state=State.FAILS),)),
        title,
    )
    assert "counts for nothing" in in_a_line(DECLARED, JUDGEMENT, title, sound=False)
    assert "not judged yet" in in_a_line(DECLARED, None, title)


@pytest.mark.parametrize("shown", [Verdict.CONDITION, Verdict.CONFIRMED])
def test_of_a_path_a_condition_is_told_and_no_cause_of_the_difference(shown: Verdict) -> None:
    """Runs of earlier versions called it confirmed; it is not told as such any more."""
    of_path = replace(DECLARED, table="path", key="loss", value="none")
    told = " ".join(verdict(of_path, replace(JUDGEMENT, verdict=shown), "losses"))
    assert told.startswith(
        "A condition: over a path with loss = none, without losses, 1MB/long in h3 takes 402 ms less"
    )
    assert "and not which setting makes it so." in told
    assert "onfirmed" not in told
    assert next_to_try(of_path, replace(JUDGEMENT, verdict=shown), "", (), ()) == []
    assert "condition" not in " ".join(verdict(DECLARED, JUDGEMENT, "losses"))


def test_what_the_other_transport_cannot_have_is_told_as_not_applicable() -> None:
    cannot = replace(DECLARED, left_out=(f"{NOT_APPLICABLE}: TCP has no such limit",))
    assert "(f) makes the difference: not applicable, TCP has no such limit" in " ".join(declaration(cannot, "x"))
    checks = (*JUDGEMENT.checks, Check("given", State.NOT_APPLICABLE, None, None, 0))
    told = verdict(cannot, replace(JUDGEMENT, checks=checks), "x")
    assert "  (f) makes the difference: not applicable: TCP has no such limit" in told


def test_a_plan_says_what_so_many_blocks_decide() -> None:
    assert DECLARED.sha256[:16] in " ".join(declaration(DECLARED, "x"))
    assert "hold about 60 blocks" in time_needed(10, 10_000, 8, 12)
    assert "probably stay inconclusive" in time_needed(1, 10_000, 8, 12)
    assert "hundreds would be needed" in time_needed(1, 10_000, 8, None)
