# SPDX-License-Identifier: Apache-2.0
"""Results as text: for the terminal, and as tables for the page.

`answers.py`, `results.py` and `terminal.py` word comparisons, `account.py` and `explanation_text.py` why arms differ,
`confirmation.py` what a run without a cause showed, `recordings.py` two recordings from elsewhere. `arm_heads.py` keeps
tables readable whose columns are arms with long names.
"""
