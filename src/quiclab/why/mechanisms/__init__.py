# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: the ways in which transfers lose time, one file each, held against the edges of each trial's account.

They stand in the order of `_registry.py`, and the first that claims an edge has it. `_trial.py` is what a claim is
handed (`_course.py`: what became of packets over several links), `facts_table.py` fills the column `mechanism` of the
account and the table `mechanism_facts`. docs/reference/causes.md lists all, and docs/how-to/add-a-mechanism.md has
the steps.
"""

from __future__ import annotations

from quiclab.why.mechanisms._api import (
    Claim,
    Counted,
    Divides,
    Each,
    Fact,
    Family,
    Follows,
    Mechanism,
    Rival,
    Setting,
    Transport,
)
from quiclab.why.mechanisms._flights import AT_LEAST
from quiclab.why.mechanisms._measures import LOST_ON_THE_PATH, ROUND_TRIP, SENT, SENT_BY, TRIAL
from quiclab.why.mechanisms._registry import BY_NAME, MECHANISMS
from quiclab.why.mechanisms._trial import Trial
from quiclab.why.mechanisms.facts_table import PART_OF, with_mechanisms

__all__ = [
    "AT_LEAST",
    "BY_NAME",
    "LOST_ON_THE_PATH",
    "MECHANISMS",
    "PART_OF",
    "ROUND_TRIP",
    "SENT",
    "SENT_BY",
    "TRIAL",
    "Claim",
    "Counted",
    "Divides",
    "Each",
    "Fact",
    "Family",
    "Follows",
    "Mechanism",
    "Rival",
    "Setting",
    "Transport",
    "Trial",
    "with_mechanisms",
]
