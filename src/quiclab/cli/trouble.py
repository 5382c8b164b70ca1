# SPDX-License-Identifier: Apache-2.0
"""How trouble is told: one place for every verb."""

from __future__ import annotations

import sys

from quiclab.errors import QuiclabError


def tell(error: QuiclabError) -> None:
    """Print an error: what happened, every offender, what to do."""
    print(f"quiclab: {error.message}", file=sys.stderr)
    for problem in error.problems:
        print(f"  {problem}", file=sys.stderr)
    if error.hint:
        print(f"  hint: {error.hint}", file=sys.stderr)
