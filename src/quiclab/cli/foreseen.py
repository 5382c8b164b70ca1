# SPDX-License-Identifier: Apache-2.0
"""Warnings before a study runs, as `quiclab plan` has them too."""

from __future__ import annotations

import sys

from quiclab.cli.own_programs import absent_commands
from quiclab.model.study import Study
from quiclab.study.preflight import foreseen


def print_foreseen(study: Study) -> None:
    """Print what will not do what was meant, a line each, to standard error."""
    for told in (*(f"Not on this machine: {absent}." for absent in absent_commands(study)), *foreseen(study)):
        print(f"warning: {told}", file=sys.stderr)
