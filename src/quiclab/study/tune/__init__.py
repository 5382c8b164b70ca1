# SPDX-License-Identifier: Apache-2.0
"""A search for settings that make an arm faster over the network of one cell, and a test of what was found.

`candidates.py` has the knobs that are tried with their values, `racing.py` says which go on after each round and
`minutes.py` how many settings and blocks fit, all three without running anything. `planning.py` puts that together for
a cell (`tuning_plan.py`), and `search.py` runs it: heats of a race (`heats.py`), combinations, fresh blocks,
neighbouring networks, each a study below STUDY/tune (docs/how-to/tune-a-setting.md). `course.py` is its state, of which
`search_progress.py` keeps what one that was ended needs to go on. `findings.py` reads what a stage measured, `paste.py`
writes a setting in the programs' own words, `result.py` is what is shown and kept.
"""
