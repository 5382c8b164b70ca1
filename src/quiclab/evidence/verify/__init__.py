# SPDX-License-Identifier: Apache-2.0
"""The verdict on a trial, by what its tables and its programs' accounts prove.

`trial.py` gives it; `proof.py` and `decrypted.py` gather the facts, `asked.py` says which of them fail a trial.
`delivered.py` and `http_responses.py` judge what the client got by its packets, `bodies.py` by its account, `trial.py`
without keys by the bytes of each transport. `disturbed.py` (what the laboratory added to the trial's time) and the
link's own word (`crates/link-run/src/link.rs`) say whether the laboratory was at fault. `origin_leg.py` has what a
proxy's packets prove; logs that cannot be judged all the same are the affair of `unreadable.py`.
"""
