# SPDX-License-Identifier: Apache-2.0
"""Mechanisms: the ways in which transfers lose time, one file each, held against the edges of each trial's account."""

from __future__ import annotations

from quiclab.diagnoses._api import Claim, Fact, Family, Follows, Mechanism, Rival, Setting
from quiclab.diagnoses._flights import AT_LEAST
from quiclab.diagnoses._measures import SENT_BY, TRIAL
from quiclab.diagnoses._registry import BY_NAME, MECHANISMS
from quiclab.diagnoses._trial import Trial
from quiclab.diagnoses.table import with_mechanisms

__all__ = [
    "AT_LEAST",
    "BY_NAME",
    "MECHANISMS",
    "SENT_BY",
    "TRIAL",
    "Claim",
    "Fact",
    "Family",
    "Follows",
    "Mechanism",
    "Rival",
    "Setting",
    "Trial",
    "with_mechanisms",
]
