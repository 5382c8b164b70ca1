# SPDX-License-Identifier: Apache-2.0
"""The directory of a study: what is kept, where, and how it comes there whole or not at all.

`layout.py` and `ledger.py` are the directory and its ledger; `disk.py` brings files there, `study_folder.py` says
where a study may begin, `leases.py` which worker has which block. After `kill -9` at any instant the folder of a
trial is either whole or not there; `Ledger.adopt` does the rest. Tables are written beside and renamed
(`parquet.py`).

`record_form.py` reads the records of `model`, of trial.json first of all, and holds them to their form to full depth,
as `resolved_form.py` does resolved.json: everything behind relies on that. `trial_views.py` reads parts of a trial.json
that is damaged elsewhere. Logs but no captures are compressed on their way to the disk (`packed_logs.py`; captures:
`packed_captures.py`), and `keep_raw.py` is the rule by which raw files stay. `left_files.py` bounds what programs
leave. `own_files.py`, `secrets.py` and `archive.py` keep a stranger's study harmless and keys out of bundles;
`remarks.py` has trials that were excluded by hand, `look_records.py` when a result was seen.
"""
