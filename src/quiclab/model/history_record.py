# SPDX-License-Identifier: Apache-2.0
"""History of a program, as the history.json of its study has it."""

from __future__ import annotations

import msgspec


def most_pairs(releases: int) -> int:
    """Number of pairs that a search among so many releases compares at most, among which its level is shared; 1 at
    least."""
    return max(1, 2 * releases - 3)


class HistoryRelease(msgspec.Struct, frozen=True):
    """One release."""

    arm: str
    """Name of its arm: the version, or the beginning of a commit's name."""
    date: str | None = None
    """Date of it, such as 2024-11-26; None where it is not known."""
    subject: str | None = None
    """First line of a commit's message; None of a release."""


class HistoryRecord(msgspec.Struct, frozen=True):
    """Releases of one program, the oldest first, and what is known of them beside their trials."""

    program: str
    role: str
    """Role of the program in every arm: `server` or `client`."""
    releases: tuple[HistoryRelease, ...]
    of_commits: bool = False
    """True if the releases are commits of a repository."""
    unusable: dict[str, str] = {}
    """Arms whose program could not be installed or built, each with the reason."""
