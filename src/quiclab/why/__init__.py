# SPDX-License-Identifier: Apache-2.0
"""Explanation of the time of a transfer: its account, the mechanisms that take it, causes and their proof.

Of one trial: `account` shares out its time, `mechanisms` names what each share is due to. Of two arms:
`account_shares.py` finds the categories that both arms' evidence supports, `accounts.py` sets them against each other,
`divergence.py` finds where they part. `cause_parts.py` finds the mechanisms that both arms' records can tell,
`upstream.py` joins those that follow from another one (`follows` of a mechanism; the numbers of
`mechanisms/_measures.py`), `divided.py` takes out those that are a part of others' time, and `causes.py` gives each
its verdict (docs/explanation/causes.md). `explanation.py` makes one `Explanation` of a cell of all this, which
terminal, JSON, report, the end of a run and the map of causes render. `prediction` says by how much a transfer would
be shorter without a mechanism, and `confirm` puts that to the test. `recordings.py` compares two recordings from
elsewhere.
"""
