# SPDX-License-Identifier: Apache-2.0
"""Waiting for the programs of a trial."""

from __future__ import annotations

from collections.abc import Mapping

from quiclab.lab.testbed.process import Process
from quiclab.model.errors import TrialError
from quiclab.spec import model


def visit(client: Process, patience_s: float, trouble: str) -> None:
    """Let a throw-away client make its request. Raises TrialError, which begins with `trouble`, if that fails."""
    client.go()
    code = client.wait(patience_s)
    if code != 0:
        raise TrialError(f"{trouble}: {client.last_words() or 'no answer in time'}")


def ended(answering: Mapping[model.Role, Process], patience_s: float) -> str | None:
    """Say which of these programs has ended, if one has; the first is given `patience_s` to do so."""
    for role, process in answering.items():
        code = process.wait(patience_s)
        if code is not None:
            return f"the {role} ended during the transfer with exit code {code}: {process.last_words()}"
        patience_s = 0.0
    return None
