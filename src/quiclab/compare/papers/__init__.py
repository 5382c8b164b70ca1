# SPDX-License-Identifier: Apache-2.0
"""The claims of a paper that a study follows, held against the study's own numbers.

`claims.py` holds each claim against its cells, `claim_verdict.py` has the rules. Correlations, spreads and counts of
cells have files of their own: `claim_correlations.py`, `claim_spread.py`, `claim_counts.py`.
`quiclab paper` prints what came of the claims of experiments/headlines, and `tools/headlines.py` makes docs/papers.md
and its pictures of them.
"""
