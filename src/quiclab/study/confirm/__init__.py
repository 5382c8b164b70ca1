# SPDX-License-Identifier: Apache-2.0
"""A cause confirmed by running without it: the plan, the run in blocks, and the verdict."""

from __future__ import annotations

from quiclab.study.confirm.confirming_run import Judged, run_confirmation, run_in_rounds
from quiclab.study.confirm.plan import Asked, Plan, plan_confirmation

__all__ = ["Asked", "Judged", "Plan", "plan_confirmation", "run_confirmation", "run_in_rounds"]
