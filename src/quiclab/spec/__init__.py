# SPDX-License-Identifier: Apache-2.0
"""A study as it is asked for: a TOML file read into frozen dataclasses, with all its mistakes told at once.

What each key means stands where it is declared, in `quiclab.model`; `workloads.py`, `paths.py` with `directions.py`,
and `arms.py` read them. Lists stand for a table for each value (`grid.py`), and each arm has a baseline
(`baselines.py`). `nodes.py` and `kinds.py` are the reader, which names the line of every offender. Paths by name,
with their sources, are in `profiles.toml`; a page comes from a HAR file (`har.py`), how large the A/A control is:
`control.py`; what takes part in ECN: `ecn.py`. An effect of the link is translated for its process by `link.py`.

Specs that no user writes are made here: of two builds as arms (`two_builds.py`), of a run without a cause
(`counterfactual.py`), with few pairs (`fewer_pairs.py`). A paper's claims are read by `paper.py` and cross to the
report as JSON (`paper_json.py`); `headlines.py` reads which results papers are known for, and `headline_choice.py` the
words by which a user names some of them.
"""
