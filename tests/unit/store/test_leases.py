# SPDX-License-Identifier: Apache-2.0
"""Of all leases of a block only the newest counts, and only until it ends."""

from __future__ import annotations

from pathlib import Path

from quiclab.store.layout import StudyDir
from quiclab.store.ledger import open_ledger


def test_only_the_newest_lease_of_a_block_holds(tmp_path: Path) -> None:
    """A later lease of another block changes nothing."""
    with open_ledger(StudyDir(tmp_path)) as ledger:
        leases = ledger.leases
        first = leases.grant("block", "one")
        assert leases.holds(first.fence, "block")
        second, other = leases.grant("block", "two"), leases.grant("another", "one")
        assert first.fence < second.fence < other.fence
        assert not leases.holds(first.fence, "block")
        assert leases.holds(second.fence, "block")
        assert not leases.holds(other.fence, "block")
        assert not leases.holds(other.fence + 1, "block")
        assert not leases.holds(1, "unknown")


def test_a_lease_that_ended_holds_no_more_and_stays_ended(tmp_path: Path) -> None:
    """Even if it is the newest: what comes after its end comes late."""
    with open_ledger(StudyDir(tmp_path)) as ledger:
        leases = ledger.leases
        lease = leases.grant("block", "one")
        assert leases.block_of(lease.fence) == "block"
        leases.end(lease, "lost")
        leases.end(lease, "merged")
        assert not leases.holds(lease.fence, "block")
        assert leases.block_of(lease.fence) is None


def test_fences_grow_from_run_to_run(tmp_path: Path) -> None:
    """What a killed run had granted ends with the next one, whose leases are above it."""
    with open_ledger(StudyDir(tmp_path)) as ledger:
        before = ledger.leases.grant("block", "one")
    with open_ledger(StudyDir(tmp_path)) as ledger:
        assert ledger.leases.holds(before.fence, "block")
        ledger.leases.end_all()
        assert not ledger.leases.holds(before.fence, "block")
        assert ledger.leases.grant("block", "one").fence > before.fence
