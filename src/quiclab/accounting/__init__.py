# SPDX-License-Identifier: Apache-2.0
"""The time of one transfer, shared out without a remainder: each nanosecond to the last byte belongs to one part."""

from __future__ import annotations

from quiclab.accounting.download import account_of_download
from quiclab.accounting.parts import Part
from quiclab.accounting.table import account_table

__all__ = ["Part", "account_of_download", "account_table"]
