# SPDX-License-Identifier: Apache-2.0
"""Blocks of a study run by the workers of a Dask cluster, and merged as they come.

Dask carries work and results; which worker may run a block, and which result counts, stands in the study's ledger:
`coordinator.py` grants leases, `remote.py` is what a worker does, `results.py` merges what comes under the newest
lease. `cluster.py` is all that knows Dask, `members.py` which workers get blocks (docs/decisions/0015-dask.md).
"""
