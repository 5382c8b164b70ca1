# SPDX-License-Identifier: Apache-2.0
"""The share of time in which a sender had nothing to send, by states written by hand."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from trial_records import record
from unit.evidence.metrics import scenes

from quiclab.evidence.metrics.evidence import Evidence, Unknown
from quiclab.evidence.metrics.states import STATES
from quiclab.logs.decoders.trial import decode_trial
from quiclab.model.tables import TABLES

_SHARE = STATES[0].compute


def _evidence(folder: Path, *states: tuple[float, str], **keys: object) -> Evidence:
    """A transfer of 1084 ms in which the server's log tells of these states; `keys` replace columns of each row."""
    scene = scenes.tcp_scene()
    trial = scene.lay_out(folder)
    own = {"source": "s.sqlog", "vantage": "server", "connection": "c", "transport": "quic", "estimate": False}
    rows = [own | {"time_ns": scenes.ns(ms), "new_state": state} | keys for ms, state in states]
    states_table = pl.DataFrame(rows, schema=TABLES["cc_states"].schema())
    return Evidence({**decode_trial(folder).tables, "cc_states": states_table}, record(trial))


def test_what_lies_between_the_first_packet_and_the_last_byte_counts(tmp_path: Path) -> None:
    """Application-limited from 100 to 300 ms, and from 1000 ms until after the end at 1084 ms."""
    evidence = _evidence(
        tmp_path,
        (50, "slow_start"), (100, "application_limited"), (300, "congestion_avoidance"), (1000, "application_limited"),
        (1200, "recovery"),
    )  # fmt: skip
    assert _SHARE(evidence) == pytest.approx(100 * (200 + 84) / 1084)


def test_a_sender_that_was_never_held_up_has_none(tmp_path: Path) -> None:
    """A share of 0 is not unknown."""
    assert _SHARE(_evidence(tmp_path, (50, "slow_start"))) == 0


@pytest.mark.parametrize("keys", [{"estimate": True}, {"vantage": "client"}])
def test_only_the_senders_own_log_tells(keys: dict[str, object], tmp_path: Path) -> None:
    """Neither a capture's estimate nor the client's log."""
    with pytest.raises(Unknown, match="no log of the server names the states"):
        _SHARE(_evidence(tmp_path, (50, "application_limited"), **keys))
