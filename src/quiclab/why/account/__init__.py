# SPDX-License-Identifier: Apache-2.0
"""The time of one transfer, shared out without a remainder: each nanosecond to the last byte belongs to one part."""

from __future__ import annotations

from quiclab.model.activity import What
from quiclab.model.cause import UNIONS, Why
from quiclab.model.metric_scope import MAIN, PLAYING, MetricScope, laid_out, rows_for, with_of
from quiclab.why.account.account_tables import account_table, account_totals, accounts_of
from quiclab.why.account.disturbance import Disturbance, disturbance_of
from quiclab.why.account.edges import PROMPT_NS, Edge, Reason
from quiclab.why.account.reason_runs import spells
from quiclab.why.account.transfer import account_of_transfer

__all__ = [
    "MAIN",
    "PLAYING",
    "PROMPT_NS",
    "UNIONS",
    "Disturbance",
    "Edge",
    "MetricScope",
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
