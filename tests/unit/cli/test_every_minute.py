# SPDX-License-Identifier: Apache-2.0
"""A function that is called again and again while a run goes on."""

from __future__ import annotations

import threading

from quiclab.cli.trials import EveryMinute


def test_it_is_called_until_it_is_stopped() -> None:
    calls, enough = [], threading.Event()

    def call() -> None:
        calls.append(1)
        if len(calls) == 3:
            enough.set()

    again = EveryMinute(call, every_s=0.001)
    again.start()
    assert enough.wait(30)
    again.stop()
    before = len(calls)
    assert not enough.wait(0.01) or len(calls) == before


def test_what_was_not_started_can_be_stopped() -> None:
    EveryMinute(lambda: None).stop()
