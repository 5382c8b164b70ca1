# SPDX-License-Identifier: Apache-2.0
"""A server that waits for a CPU: its program is ready to run, and others run."""

from __future__ import annotations

from quiclab.why.mechanisms._without_processor import mechanism_of

SERVER_WITHOUT_PROCESSOR = mechanism_of("server", "server")
