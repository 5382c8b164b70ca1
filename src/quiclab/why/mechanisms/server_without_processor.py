# SPDX-License-Identifier: Apache-2.0
"""A server without a processor: its program was ready to run, and others ran."""

from __future__ import annotations

from quiclab.why.mechanisms._without_processor import mechanism_of

SERVER_WITHOUT_PROCESSOR = mechanism_of("server", "server")
