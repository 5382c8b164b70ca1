# SPDX-License-Identifier: Apache-2.0
"""A paper.toml in pieces: its head, and a claim of each kind."""

from __future__ import annotations

PAPER = """\
[paper]
authors = "A. Writer"
title = "On Protocols"
venue = "A workshop"
year = 2024

"""
CLAIM = """\
[[claim]]
id = "faster"
section = "4.1, Figure 4"
text = "H3 is faster."
kind = "direction"
metric = "ttlb_ms"
arms = ["h2", "h3"]
workloads = ["100KB"]
paths = ["plain"]
expected = "lower"
testable = true
"""
NUMBER = CLAIM.replace('"direction"', '"number"')
DIFFERENCE = CLAIM.replace('"direction"', '"difference"')
ONE_ARM = NUMBER.replace('["h2", "h3"]', '["h2"]')
