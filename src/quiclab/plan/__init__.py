# SPDX-License-Identifier: Apache-2.0
"""A study turned into rows, in a random order within blocks, and what can be foreseen of it before it runs.

`make.py` makes the rows; which arm is first: `order.py`; a part of them for a first look or for one machine of
several: `part.py`; how many pairs are enough: `power.py`; what a probe may ask: `probing.py`. What would be wasted is
found by `lost_packets.py`, `idle_settings.py`, `unmeasured.py`, `unmet_addresses.py` (packets that no arm can send)
and others, which `study/preflight.py` asks. Everything here is a pure function of the spec.
"""
