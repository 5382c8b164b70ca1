# SPDX-License-Identifier: Apache-2.0
"""The time of one transfer, shared out without a remainder: each nanosecond to the last byte belongs to one part."""

from __future__ import annotations

from quiclab.accounting.disturbance import Disturbance, disturbance_of
from quiclab.accounting.edges import PROMPT_NS, Edge, Reason
from quiclab.accounting.of import MAIN, PLAYING, Of, laid_out, rows_for, with_of
from quiclab.accounting.spells import spells
from quiclab.accounting.table import account_table, account_totals, accounts_of
from quiclab.accounting.transfer import account_of_transfer
from quiclab.accounting.what import What
from quiclab.accounting.why import UNIONS, Why

__all__ = [
    "MAIN",
    "PLAYING",
    "PROMPT_NS",
    "UNIONS",
    "Disturbance",
    "Edge",
    "Of",
    "Reason",
    "What",
    "Why",
    "account_of_transfer",
    "account_table",
    "account_totals",
    "accounts_of",
    "disturbance_of",
    "laid_out",
    "rows_for",
    "spells",
    "with_of",
]
