# SPDX-License-Identifier: Apache-2.0
"""The claims of a paper that a study follows, held against the study's own numbers."""
