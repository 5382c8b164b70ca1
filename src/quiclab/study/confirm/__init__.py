# SPDX-License-Identifier: Apache-2.0
"""A cause confirmed by running without it: the plan, the run in blocks, and the verdict.

`variants.py` makes arms and paths from a setting and asks the programs whether they have it (`own_words.py` has a
setting in a program's own words), `plan.py` predicts from the stored accounts, `confirming_run.py` runs blocks until
`why/confirm/judge.py` decides. Several causes at once: `together.py` (docs/explanation/confirming.md).
"""

from __future__ import annotations

from quiclab.study.confirm.confirming_run import Judged, run_confirmation, run_in_rounds
from quiclab.study.confirm.plan import Asked, Plan, plan_confirmation

__all__ = ["Asked", "Judged", "Plan", "plan_confirmation", "run_confirmation", "run_in_rounds"]
