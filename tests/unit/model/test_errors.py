# SPDX-License-Identifier: Apache-2.0
"""Errors that users meet: a sentence, a hint, an exit code."""

from __future__ import annotations

import pytest

from quiclab.model.errors import BusyError, DecodeError, ExitCode, HostError, QuiclabError, SpecError, TrialError


@pytest.mark.parametrize(
    ("error", "code"), [(SpecError, 2), (HostError, 3), (DecodeError, 4), (BusyError, 5), (TrialError, 1)]
)
def test_each_error_has_its_documented_exit_code(error: type[QuiclabError], code: int) -> None:
    """Scripts tell the errors apart by number."""
    assert error("x").exit_code == code


def test_exit_codes_are_distinct_and_fit_a_process() -> None:
    """130 is what shells give for Ctrl-C."""
    assert len({int(code) for code in ExitCode}) == len(ExitCode)
    assert all(0 <= code <= 255 for code in ExitCode)
    assert ExitCode.INTERRUPTED == 130


def test_a_spec_error_carries_every_offender() -> None:
    """One exception, all problems, and the sentence is its text."""
    error = SpecError("spec.toml has 2 problems.", "Mend them.", ("line 1: a", "line 2: b"))
    assert str(error) == error.message == "spec.toml has 2 problems."
    assert error.hint == "Mend them."
    assert error.problems == ("line 1: a", "line 2: b")


def test_another_run_is_a_trouble_of_the_machine() -> None:
    """Who handles HostError handles BusyError too."""
    assert issubclass(BusyError, HostError)
