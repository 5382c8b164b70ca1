# SPDX-License-Identifier: Apache-2.0
"""Parts of a trial.json that are read by themselves: what is wrong elsewhere in the file does not hide them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from quiclab.model.trial_record import Artefact, RecordedLink


class TrialRegister(msgspec.Struct, frozen=True):
    """Verdict and files of a judged trial."""

    trial_id: str
    attempt: int
    status: str
    """`verified`, `failed`, `unproven` or `void`."""
    reason: str
    artefacts: tuple[Artefact, ...] = ()
    """Register of the files that belong to the trial."""

    @property
    def size_bytes(self) -> int:
        """Size of the registered files."""
        return sum(each.bytes for each in self.artefacts)


class TrialShortcomings(msgspec.Struct, frozen=True):
    """Failing of a trial, and what it was left without."""

    own_failure: str | None = None
    """Failing of its endpoints in a trial that the laboratory carried to its end."""
    logs_left_out: str | None = None
    """Rule (`--keep-raw`) by which raw files were not kept."""


class TrialFiles(msgspec.Struct, frozen=True):
    """Files of the links of a trial."""

    links: tuple[RecordedLink, ...]


class ClockReadings(msgspec.Struct, frozen=True):
    """CLOCK_REALTIME − CLOCK_MONOTONIC when the trial began and when it ended."""

    realtime_minus_monotonic_start_ns: int
    realtime_minus_monotonic_end_ns: int


class TrialClock(msgspec.Struct, frozen=True):
    """Clocks of a trial's machine."""

    clock: ClockReadings


class TrialTime(msgspec.Struct, frozen=True):
    """Time at which a trial ran."""

    started_utc: str
    time_ns: dict[str, int] = msgspec.field(default_factory=dict)
    """Step of the trial → how long it took."""
    boot_id: str = ""
    """Boot id of the kernel; empty where an earlier version of quiclab did not keep it."""

    @property
    def span(self) -> tuple[datetime, datetime] | None:
        """Begin and end; None where they cannot be read.

        A time without a zone, as no quiclab writes it, counts as UTC: the two kinds cannot be compared.
        """
        try:
            began = datetime.fromisoformat(self.started_utc)
            began = began if began.tzinfo else began.replace(tzinfo=UTC)
            return began, began + timedelta(seconds=sum(self.time_ns.values()) / 1e9)
        except (ValueError, OverflowError):
            return None
