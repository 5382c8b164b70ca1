# SPDX-License-Identifier: Apache-2.0
"""Two studies of the same programs in two builds: what changed between them, and whether a gate lets it pass."""
