# SPDX-License-Identifier: Apache-2.0
"""Onlookers of a trial: told of each step, and let in before anything is closed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from quiclab.lab.testbed.namespace import NetworkNamespace


class Onlooker:
    """An onlooker that does nothing, as in most trials. Subclasses look at what they like, in the trial's time."""

    def started(self, what: str, pid: int, argv: tuple[str, ...]) -> None:
        """A program of the trial runs."""

    def phase(self, name: str, ns: int) -> None:
        """A step is over, and took so long; the names are those of `time_ns` in trial.json."""

    def begins(self) -> None:
        """All programs are ready, and the measured client gets its go next."""

    def began(self) -> None:
        """The measured client has its go."""

    def stay(self, namespaces: Mapping[str, NetworkNamespace], raw: Path) -> None:
        """The transfer is over, well or not; link and servers still run until this returns."""


NOBODY = Onlooker()
