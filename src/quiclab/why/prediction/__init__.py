# SPDX-License-Identifier: Apache-2.0
"""Prediction: by how much a transfer would be shorter without a mechanism, by its own records.

`conditions.py` makes the graph of a transfer: for each packet of both ends the condition on which it left, and the
limits that could have held next. `evaluation.py` evaluates it again, with all conditions or without those of some
mechanisms. `effects.py` has the table `predicted_effects` that is made of it, `in_arm.py` what it says of an arm.
"""

from __future__ import annotations

from quiclab.why.prediction.effects import predicted_effects

__all__ = ["predicted_effects"]
