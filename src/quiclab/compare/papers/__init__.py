# SPDX-License-Identifier: Apache-2.0
"""The claims of a paper that a study follows, held against the study's own numbers.

`claims.py` has the claims, those of two metrics that go together too, `claim_verdict.py` the verdict on each.
`quiclab paper` prints what came of the claims of experiments/headlines, and `tools/headlines.py` makes docs/papers.md
and its pictures of them.
"""
