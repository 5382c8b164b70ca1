# SPDX-License-Identifier: Apache-2.0
"""Releases of one program, or commits, as the axis of a study, and the search for those that changed its time.

`bisection.py` is the search: a function of whatever compares two releases. `history_plan.py` has the releases of a
program and the spec of their study, `commits.py` those of a repository; both are made ready when they are first asked
for (`release_programs.py`). `rounds.py` compares them by trials, until the sequential test decides, and `changes.py`
says what was found (docs/how-to/history.md).
"""
