# SPDX-License-Identifier: Apache-2.0
"""A study from its spec to its tables, for programs: run → decode → judge → keep. It prints nothing.

>>> from quiclab.study import run_study  # doctest: +SKIP
>>> run_study("spec.toml", "studies/demo").failed  # doctest: +SKIP
0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quiclab.study.run import run_study

__all__ = ["run_study"]


def __getattr__(name: str) -> object:
    """`run_study` is imported when it is asked for: the sandbox is entered before much is."""
    if name == "run_study":
        from quiclab.study.run import run_study

        return run_study
    raise AttributeError(f"module 'quiclab.study' has no attribute {name!r}")
