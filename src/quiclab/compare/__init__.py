# SPDX-License-Identifier: Apache-2.0
"""Comparisons of a study's arms: effects, costs, and how far they can be trusted. Nothing here words an answer.

`analyse.py` compares a study, `cell_comparison.py` a cell, `paired.py` what is compared in each pair (a ratio);
`conclusions.py` says what it amounts to beside what matters. Further views of the same trials: `tail_quantiles.py`,
`factor_effects.py`, `program_factors.py`, `least_time.py`, `cost.py`, `occasions.py`, `over_occasions.py`.

How far it can be trusted: `disturbance.py` and `between_ends.py` (what the laboratory added to trials, and the widest
interval and p that leaves), `not_judged.py`, `damaged.py`, `pair_independence.py`, `control_alarms.py`,
`chosen_losses.py`. How often one looked, and how many pairs are enough: `sequential.py`, `interim_analyses.py`,
`power.py`.

`study.py` and `study_tables.py` read a study's tables; `sql_views.py` is what a query may reach, `sql_mistakes.py`
what is said of a wrong one.
"""
