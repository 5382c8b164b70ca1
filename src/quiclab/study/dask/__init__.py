# SPDX-License-Identifier: Apache-2.0
"""Blocks of a study run by the workers of a Dask cluster, and merged as they come. Dask carries work and results; which
worker may run a block, and which result counts, stands in the study's ledger."""
