# SPDX-License-Identifier: Apache-2.0
"""The command line: one file a verb, and the words that verbs share.

`main.py` has the verbs, their help and what is said of wrong words; `voice.py` is -q and --json, and `documents.py`,
`explain_documents.py`, `paper_document.py` and `as_json.py` what --json prints. While a study runs: the bar
(`trials.py`, put to work by `behind_bar.py`), the view below it (`live_view.py`, which draws a `tally.py`), medians
(`medians.py`), JSON lines (`events.py`); `ending.py` asks the analysis whether what ran decides. `trouble.py` turns
errors into a sentence and an exit code.
"""
